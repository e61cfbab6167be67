"""A notebook's first cell installs what is missing, says so, and otherwise does nothing."""

import json
from pathlib import Path

import pytest
import yaml
from machine import ROOT, Machine

from autograder.editions.notebook import LICENCE, SOURCES, first_cell

URL, BRANCH = "https://github.com/someone/a-course", "spring"
COURSE = f"git+{URL}@{BRANCH}"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*/*.ipynb"))


def run(folder: Path, *absent: str) -> tuple[str, list[str]]:
    return Machine(folder, absent).run(first_cell(URL, BRANCH))


def test_where_all_is_there_nothing_is_installed_or_said(tmp_path):
    assert run(tmp_path) == ("", [])


@pytest.mark.parametrize(
    ("absent", "sources"),
    [
        (("altair",), ["altair"]),  # beside a bundle, the package needs no installation
        (("autograder",), [COURSE]),
        (tuple(SOURCES), [COURSE, "torch", "numpy", "matplotlib", "altair"]),
    ],
)
def test_what_is_missing_is_installed_and_said(absent, sources, tmp_path):
    said, asked = run(tmp_path, *absent)
    assert asked == ["install", "-q", *sources]
    assert said.startswith(f"Installing {' '.join(sources)}\n")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_notebook_begins_with_it_and_ends_with_the_licences(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    first = next(
        text for cell, text in zip(cells, texts, strict=True) if cell["cell_type"] == "code"
    )
    assert first == first_cell(repository["url"], repository["branch"])
    assert texts[-1] == LICENCE


def test_there_are_notebooks():
    assert NOTEBOOKS
