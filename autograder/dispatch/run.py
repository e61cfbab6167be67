"""Hand out jobs to any `concurrent.futures` executor until each has a result or has failed.

Workers may be killed, a cluster may go away: what was handed out is handed out again. A job that
was lost too often is tried once more with nothing beside it, since the loss may have been the doing
of a neighbour; only then is it given up. So `work` may run several times for one job and must be
pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Generic, TypeVar

LONGEST_REASON = 300
GIVEN_UP_IN_A_ROW = 10

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Failed:
    """What stands for the result of a job that was given up: a fault of ours or of the machine."""

    reason: str


class WorkersDie(RuntimeError):  # noqa: N818 - what happened, not that it is an error
    """Job after job was given up, each tried alone: it is not the jobs."""


@dataclass
class _Handed(Generic[T]):
    """A job and how often it was lost."""

    job: T
    losses: int = 0


def run(
    jobs: Iterable[T],
    work: Callable[[T], R],
    make_executor: Callable[[], Executor],
    window: int,
    attempts: int = 3,
) -> Iterator[tuple[T, R | Failed]]:
    """Give each job with its result, in the order in which they are done.

    At most `window` jobs are handed out at a time, and `jobs` is read no further. A job whose
    `work` raises, or that was on a worker that ended, is handed out again; after `attempts` times
    it is tried alone, and its result is `Failed` if that does not help. An executor that is broken
    is replaced by a new one.

    Raises WorkersDie when 10 jobs in a row are given up, and what `make_executor` raises. After
    this, and after KeyboardInterrupt or `close`, nothing is handed out and workers are let go at
    once (`shutdown` with `cancel_futures`).
    """
    desk = _Desk(iter(jobs), work, make_executor, window, attempts)
    try:
        while desk.hand_out():
            yield from desk.take_back()
    except BaseException:
        desk.let_go()
        raise
    desk.close()


class _Desk(Generic[T, R]):
    """What is handed out, what is to be handed out again, and the executor of the moment."""

    def __init__(
        self,
        jobs: Iterator[T],
        work: Callable[[T], R],
        make_executor: Callable[[], Executor],
        window: int,
        attempts: int,
    ) -> None:
        self._fresh = (_Handed(job) for job in jobs)
        self._work = work
        self._make_executor = make_executor
        self._window = window
        self._attempts = attempts
        self._executor: Executor | None = None
        self._out: dict[Future[R], _Handed[T]] = {}
        self._done: SimpleQueue[Future[R]] = SimpleQueue()
        self._again: deque[_Handed[T]] = deque()
        self._suspects: deque[_Handed[T]] = deque()
        self._alone = False
        self._given_up = 0

    def hand_out(self) -> bool:
        """Hand out what may be; False when all is done."""
        while not self._alone and len(self._out) < self._window:
            handed = self._next()
            if handed is None:
                break
            self._submit(handed)
        return bool(self._out)

    def _next(self) -> _Handed[T] | None:
        """Choose the next job; a suspect waits until nothing else is out."""
        if self._again:
            return self._again.popleft()
        if not self._suspects:
            return next(self._fresh, None)
        if self._out:
            return None
        self._alone = True
        return self._suspects.popleft()

    def _submit(self, handed: _Handed[T]) -> None:
        """Hand out one job, to a new executor if the last one broke."""
        try:
            self._executor = self._executor or self._make_executor()
            future = self._executor.submit(self._work, handed.job)
        except BrokenExecutor as error:  # since the last result came back
            future = Future()
            future.set_exception(error)
        self._out[future] = handed
        future.add_done_callback(self._done.put)

    def take_back(self) -> Iterator[tuple[T, R | Failed]]:
        """Wait until a job is done, and give its result if that settles it."""
        future = self._done.get()
        handed = self._out.pop(future, None)
        if handed is None:
            return  # it was handed out again when its executor broke
        error = CancelledError() if future.cancelled() else future.exception()
        if error is None:
            self._alone, self._given_up = False, 0
            yield handed.job, future.result()
        elif isinstance(error, BrokenExecutor | CancelledError):
            lost = [handed, *self._out.values()]
            self.let_go()
            for one in lost:
                yield from self._lose(one, error)
        else:
            yield from self._lose(handed, error)

    def _lose(self, handed: _Handed[T], error: BaseException) -> Iterator[tuple[T, Failed]]:
        """Put a job where it is handed out again, or give it up if it was alone."""
        handed.losses += 1
        if self._alone:
            self._alone = False
            yield handed.job, Failed(_reason(error))
            self._count_given_up(error)
        elif handed.losses >= self._attempts:
            self._suspects.append(handed)
        else:
            self._again.append(handed)

    def _count_given_up(self, error: BaseException) -> None:
        self._given_up += 1
        if self._given_up == GIVEN_UP_IN_A_ROW:
            raise WorkersDie(
                f"{GIVEN_UP_IN_A_ROW} submissions in a row could not be graded, each tried alone; "
                f"the last one: {_reason(error)}"
            )

    def let_go(self) -> None:
        """Forget what is out and have the workers stop, without waiting for them."""
        out, self._out = self._out, {}
        executor, self._executor = self._executor, None
        for future in out:
            future.cancel()
        if executor:
            executor.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Wait for the workers to end; nothing is out any more."""
        if self._executor:
            self._executor.shutdown(wait=True)


def _reason(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}..."
