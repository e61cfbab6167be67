"""In a real kernel: the check of the course, and that of a class bundle."""

import io
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.bundle.archive import zipped
from autograder.bundle.contents import bundle_files
from autograder.course import Course
from autograder.progress.journal import read_journal

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CHAPTER = "02_scaled_dot_product"
ANSWER = """import torch
def softmax(x, dim=-1):
    weights = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return weights / weights.sum(dim=dim, keepdim=True)"""
WHERE = "import autograder; print(autograder.__file__)"
CHECK = "from autograder import check\ncheck(softmax)"


def executed(folder: Path) -> list[Any]:
    """Run the cells in a folder and give them with their outputs."""
    cells = [nbformat.v4.new_code_cell(text) for text in (WHERE, ANSWER, CHECK)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(folder)}}
    found: list[Any] = NotebookClient(notebook, timeout=120, resources=resources).execute().cells
    return found


def unzipped(folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(zipped(bundle_files(Course(ROOT), CHAPTER)))) as archive:
        archive.extractall(folder)
    return folder / CHAPTER


@pytest.fixture(params=["course", "bundle"])
def folder(request, tmp_path, monkeypatch) -> Path:
    """Where a notebook lies that finds the check beside it."""
    place = ROOT if request.param == "course" else unzipped(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(place))
    return place


def test_a_check_shows_the_chapter_and_keeps_the_score(folder, kept):
    where, _, check = executed(folder)
    assert Path(where.outputs[0].text.strip()).parents[1] == folder
    (output,) = check.outputs
    assert output.data["text/plain"] == "4.0"
    assert f"{CHAPTER}: 4 of 20 points so far. Next: product_moments" in output.data["text/html"]
    assert read_journal(kept).best == {"softmax": 4.0}


def test_graded_by_plain_nbgrader_it_shows_the_check_alone(kept, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    (output,) = executed(ROOT)[-1].outputs
    assert output.data["text/plain"] == "4.0"
    assert "<details>" not in output.data["text/html"]
    assert not kept.exists()
