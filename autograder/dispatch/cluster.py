"""Workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import logging
import socket
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from autograder.usage import UsageError

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 30  # a scheduler that restarts is back within them
CLOSE_SECONDS = 5
START = "dask worker ADDRESS --nthreads 1 --nworkers CORES"

P = ParamSpec("P")
R = TypeVar("R")


def dask_executor(address: str) -> Executor:
    """Connect to the scheduler at an address such as tcp://10.0.0.1:8786.

    Raises UsageError if the extra is not installed, or if nobody answers or no worker is there for
    half a minute, or if a worker runs several threads: a process grades one submission at a time.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
        from distributed.comm import get_address_host_port  # noqa: PLC0415
    except ImportError:
        install = "pip install 'transformer-course[cluster]'"
        raise UsageError(f"--scheduler needs a package that is missing: {install}") from None
    try:
        _expect_scheduler(*get_address_host_port(address))
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at '{address}': {error}") from error
    for logger in ("distributed", "distributed.client"):
        # Pages of tracebacks for a connection that was lost, while we already make a new one.
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    executor = _Cluster(client)
    try:
        _expect_workers(client, address)
    except UsageError:
        executor.shutdown()
        raise
    return executor


def _expect_scheduler(host: str, port: int) -> None:
    """Wait until somebody listens: a client that never connected takes a minute to close."""
    end = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.5)


def _expect_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        text = f"the Dask scheduler at {address} has no workers; start some: {START}"
        raise UsageError(text) from None
    several = [name for name, threads in client.nthreads().items() if threads > 1]
    if several:
        text = f"the Dask worker {several[0]} runs several threads; start workers with: {START}"
        raise UsageError(text)


class _Cluster(Executor):
    """A client as an executor. Its own one leaves a result that is lost on the way open for ever.

    Dask hands out a job again when its worker ends, until it gives the job up (KilledWorker).
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def submit(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        theirs = self._client.submit(work, *args, pure=False, retries=0, **kwargs)
        ours: Future[R] = Future()
        ours.set_running_or_notify_cancel()
        self._client.loop.add_callback(_pass_on, theirs, ours)
        return ours

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Leave; the scheduler forgets what is still asked for."""
        with contextlib.suppress(TimeoutError):
            self._client.close(timeout=CLOSE_SECONDS)


async def _pass_on(theirs: Any, ours: Future[R]) -> None:
    """Give what became of Dask's future; whatever is not the job's own doing is the cluster's."""
    try:
        result = await theirs
    except BaseException as error:  # cancelled, or raised by the job
        lost = BrokenExecutor(f"the cluster lost it: {error}")
        ours.set_exception(error if theirs.status == "error" else lost)
    else:
        ours.set_result(result)
