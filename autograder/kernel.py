"""Run a notebook in a fresh kernel, in an empty folder, as a graded class does."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat import from_dict

SECONDS_PER_CELL = 30
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # the same numbers on every machine
# What a kernel writes outside of its cells, warnings of its own above all, is not for the terminal.
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
KERNEL_DIED = {
    "output_type": "error",
    "ename": "DeadKernelError",
    "evalue": "Python ended before this cell ran.",
    "traceback": [],
}


def execute(notebook: Any, environment: Mapping[str, str], seconds: int = SECONDS_PER_CELL) -> Any:
    """Run every code cell in place and return the notebook, whatever the cells do.

    environment  variables for the kernel, besides our own
    seconds      a cell that takes longer is interrupted; the next ones still run

    Cells that a dead kernel leaves unrun get an error output that says so.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = NotebookClient(
            notebook,
            timeout=seconds,
            interrupt_on_timeout=True,
            error_on_timeout=_timeout(seconds),
            allow_errors=True,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": folder}},
        )
        done: set[int] = set()
        client.on_cell_executed = partial(_finished, done)
        try:
            _run(client, {**os.environ, **ONE_THREAD, **environment})
        except DeadKernelError:
            mark_dead(notebook, done)
    return notebook


def _run(client: NotebookClient, environment: Mapping[str, str]) -> None:
    # Not client.execute(): it takes Ctrl-C for itself and then fails in its own way.
    client.reset_execution_trackers()
    with client.setup_kernel(env=environment, **SILENT):
        for i, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, i)


def mark_dead(notebook: Any, done: Collection[int]) -> None:
    """Add an error output to the cells that a dead kernel did not finish."""
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and i not in done:
            cell.outputs.append(from_dict(KERNEL_DIED))


def _timeout(seconds: int) -> dict[str, Any]:
    text = f"stopped after {seconds} seconds"
    return {"ename": "CellTimeoutError", "evalue": text, "traceback": [text]}


def _finished(done: set[int], cell: Any, cell_index: int, execute_reply: Any, **_: Any) -> None:
    """Note that a cell ended; keep the error of a reply without an output, as of a timeout."""
    done.add(cell_index)
    content = execute_reply["content"]
    shown = [output for output in cell.outputs if output.output_type == "error"]
    if content["status"] == "error" and content["ename"] not in {one.ename for one in shown}:
        fields = ("ename", "evalue", "traceback")
        cell.outputs.append(from_dict({"output_type": "error", **{f: content[f] for f in fields}}))
