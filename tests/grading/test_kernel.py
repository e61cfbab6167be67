"""Whatever cells do, the notebook comes back with what was seen."""

from typing import Any

import nbformat
import pytest

from autograder.kernel import execute

pytestmark = pytest.mark.slow


def executed(*sources: str, seconds: int = 30, **environment: str) -> list[Any]:
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    return list(execute(nbformat.v4.new_notebook(cells=cells), environment, seconds).cells)


def names(cell: Any) -> list[str]:
    return [output.get("ename", output.output_type) for output in cell.outputs]


def test_an_error_does_not_stop_the_others() -> None:
    cells = executed("1 / 0", "import os\nos.environ['COURSE_SEED']", COURSE_SEED="winter")
    assert names(cells[0]) == ["ZeroDivisionError"]
    assert cells[1].outputs[0].data["text/plain"] == "'winter'"


def test_a_cell_out_of_time_is_stopped_and_the_next_one_runs() -> None:
    cells = executed("while True:\n    pass", "7", seconds=1)
    assert "CellTimeoutError" in names(cells[0])
    assert names(cells[1]) == ["execute_result"]


def test_a_dead_kernel_leaves_what_was_seen_before() -> None:
    cells = executed("x = 1", "x", "import os\nos._exit(0)", "x")
    assert [names(cell) for cell in cells] == [
        [],
        ["execute_result"],
        ["DeadKernelError"],
        ["DeadKernelError"],
    ]


def test_the_kernel_starts_in_an_empty_folder() -> None:
    (cell,) = executed("import os\nos.listdir()")
    assert cell.outputs[0].data["text/plain"] == "[]"
