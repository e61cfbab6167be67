"""The notebook of the bundle runs where it lies, offline."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from processes import CHAPTER
from sample_class import FOLDER, filled_in, read_answers

from autograder.catalogue import of_chapter

pytestmark = pytest.mark.slow

WHERE = "import autograder; print(autograder.__file__)"


def executed(folder: Path, sample: str) -> Any:
    """Run the notebook with the answers of a sample; without a network nothing is installed."""
    names = [one.id for one in of_chapter(CHAPTER)]
    notebook = nbformat.read(folder / f"{CHAPTER}.ipynb", as_version=4)
    written = filled_in(notebook, read_answers(FOLDER / CHAPTER / f"{sample}.py", names))
    written.cells.append(nbformat.v4.new_code_cell(WHERE))
    client = NotebookClient(written, timeout=120, resources={"metadata": {"path": str(folder)}})
    return client.execute()


def test_the_notebook_runs_and_every_check_gives_full_marks(unzipped):
    cells = executed(unzipped, "einsum__pass").cells
    first = next(cell for cell in cells if cell.cell_type == "code")
    assert "find_spec" in first.source
    assert first.outputs == []
    assert cells[-1].outputs[0].text.strip() == str(unzipped / "autograder" / "__init__.py")
    points = {cell.id: cell.outputs[-1].data["text/plain"] for cell in cells if "check-" in cell.id}
    assert points == {f"check-{one.id}": f"{one.points:.1f}" for one in of_chapter(CHAPTER)}
