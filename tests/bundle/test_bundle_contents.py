"""What is in the zip, and what is not."""

import ast
import inspect
import io
import json
import re
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from anywhere import ANYWHERE
from processes import CHAPTER, PACKAGES, ROOT, ended, started

from autograder.bundle import contents
from autograder.bundle.archive import zipped
from autograder.bundle.contents import bundle_files
from autograder.bundle.modules import needed
from autograder.catalogue import exercises, of_chapter
from autograder.course import Course
from autograder.editions.source import answer_lines
from autograder.spec import hint_of
from autograder.usage import UsageError

EXERCISES = of_chapter(CHAPTER)
SHORTEST = 20  # a line of code with fewer characters may stand in any program


def squeezed(text: str) -> str:
    return re.sub(r"\s", "", text)


def held(files: dict[str, bytes], lines: set[str]) -> list[tuple[str, str]]:
    """List the lines of code that a file of the bundle holds, whatever its spaces."""
    flat = {path: squeezed(data.decode("utf-8", "replace")) for path, data in files.items()}
    long = {line for line in map(squeezed, lines - ANYWHERE) if len(line) >= SHORTEST}
    assert long
    return [(path, line) for path, text in flat.items() for line in long if line in text]


def code_lines(function: Callable[..., Any]) -> set[str]:
    """List the lines of a known answer without its signature and docstring."""
    tree = ast.parse(inspect.getsource(function).strip()).body[0]
    assert isinstance(tree, ast.FunctionDef)
    body = tree.body[ast.get_docstring(tree) is not None :]
    return {line for statement in body for line in ast.unparse(statement).splitlines()}


def test_no_file_holds_a_line_of_an_answer(files):
    lines = {line for one in EXERCISES for line in answer_lines(one)}
    assert held(files, lines) == []
    marks = [path for path, data in files.items() if b"### BEGIN SOLUTION" in data]
    assert marks == []


def test_no_file_holds_the_code_of_a_known_mistake_or_alternative(files):
    known = [f for one in EXERCISES for f in (*one.mistakes, *one.alternatives)]
    hints = squeezed(" ".join(hint_of(function) for function in known))
    lines = {line for function in known for line in code_lines(inspect.unwrap(function))}
    assert held(files, {line for line in lines if squeezed(line) not in hints}) == []


def test_a_line_that_is_there_is_found():
    assert held({"a": b"x = 1\ny = some_function( x,  2 )\n"}, {"y = some_function(x, 2)"}) != []


def test_it_names_no_place_of_this_machine_and_no_file_is_left_out(files):
    home = str(ROOT.parent).encode()
    assert [path for path, data in files.items() if home in data] == []
    assert {path.split("/")[0] for path in files} == {CHAPTER}
    assert {path.split("/")[1] for path in files} == {
        f"{CHAPTER}.ipynb", "README.txt", "LICENSE", "LICENSE-text",
        "autograder", "book", "solutions",
    }  # fmt: skip


def test_the_notebook_is_the_students(files):
    committed = Course(ROOT).student_notebook(CHAPTER).read_bytes()
    assert files[f"{CHAPTER}/{CHAPTER}.ipynb"] == committed


def test_of_the_solutions_only_given_code_is_there(files):
    solutions = {path.split("/")[-1] for path in files if "/solutions/" in path}
    assert solutions == {"__init__.py", "device.py"}


def test_the_zip_is_the_same_each_time(files):
    again = dict(reversed(bundle_files(Course(ROOT), CHAPTER).items()))
    assert zipped(files) == zipped(again)
    with zipfile.ZipFile(io.BytesIO(zipped(files))) as archive:
        assert archive.namelist() == sorted(files)
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        assert archive.testzip() is None
    assert zipped(files) != zipped({**files, "one more": b""})


LOADS = """
import importlib.util, sys
sys.path[:0] = sys.argv[1:]
from autograder.catalogue import exercises
import solutions.device, book.figures.style
names = [n for n in ("solutions.softmax", "solutions.attention", "nbformat_", "known")
         if importlib.util.find_spec(n)]
ours = [m for n, m in sys.modules.items() if n.split(".")[0] in ("autograder", "solutions", "book")]
print(*exercises(), names, {m.__file__.startswith(sys.argv[1]) for m in ours if m.__file__})
"""


def test_it_stands_alone(unzipped):
    """Every module is the bundle's own, and those with answers are nowhere."""
    said = ended(started("-c", LOADS, unzipped, PACKAGES, cwd=unzipped))
    assert said.split() == [*(one.id for one in EXERCISES), "[]", "{True}"]


def test_the_check_needs_no_package_but_torch_and_numpy(files):
    sources = [
        ast.parse(data) for path, data in files.items()
        if path.startswith(f"{CHAPTER}/autograder/") and path.endswith(".py")
    ]  # fmt: skip
    found = {name.split(".")[0] for tree in sources for name in contents.imports(tree)}
    assert found - sys.stdlib_module_names <= {"autograder", "torch", "numpy"}


def test_the_readme_names_every_exercise_and_folder_and_fits_a_window(files):
    text = files[f"{CHAPTER}/README.txt"].decode()
    for word in (*(one.id for one in EXERCISES), f"{CHAPTER}.ipynb", "autograder/", "solutions/"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 80
    assert "{" not in text


# Other chapters


@dataclass(frozen=True)
class OtherNotebook(Course):
    """The course, with one notebook from elsewhere."""

    notebook: Path = Path()

    def student_notebook(self, chapter: str) -> Path:
        return self.notebook


@pytest.fixture
def bundle_of(tmp_path, monkeypatch):
    """Make the bundle of a chapter 03 that asks for `attention_cost` alone, from one cell."""
    later = {
        name: replace(one, chapter="03_cost") if name == "attention_cost" else one
        for name, one in exercises().items()
    }
    monkeypatch.setattr(contents, "exercises", lambda: later)
    monkeypatch.setattr(contents, "of_chapter", lambda chapter: [later["attention_cost"]])

    def made(*cells: str) -> set[str]:
        code = [{"cell_type": "code", "source": [cell]} for cell in cells]
        path = tmp_path / "notebook.ipynb"
        path.write_text(json.dumps({"cells": code}), encoding="utf-8")
        files = bundle_files(OtherNotebook(ROOT, path), "03_cost")
        return {path.removeprefix("03_cost/") for path in files}

    return made


def test_a_later_chapter_has_the_earlier_answers_that_it_imports_and_no_others(bundle_of):
    files = bundle_of("%matplotlib inline\nfrom solutions.attention import attention_weights")
    assert {"solutions/softmax.py", "solutions/attention.py"} <= files
    assert "solutions/moments.py" not in files
    assert "solutions/costs.py" not in files
    assert "solutions/device.py" not in files
    assert not any("chapter_02" in path for path in files)
    assert "autograder/exercises/recorded/attention_cost.py" in files


@pytest.mark.parametrize(
    "cell",
    [
        "import solutions.costs",
        "def f():\n    from solutions import costs",
        "from autograder.exercises.chapter_02 import softmax",
    ],
)
def test_a_notebook_that_imports_an_answer_makes_no_bundle(bundle_of, cell):
    with pytest.raises(ValueError, match=r"would hold answers: (solutions|autograder\.exercises)"):
        bundle_of(cell)


def test_a_chapter_without_a_notebook_is_told_how_to_get_one(tmp_path):
    with pytest.raises(UsageError, match="make it with `course notebooks`"):
        bundle_files(Course(tmp_path), CHAPTER)


def test_modules_are_followed_to_the_end(tmp_path):
    package = tmp_path / "solutions" / "inner"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("def f():\n    from solutions.b import c, d\n")
    (tmp_path / "solutions" / "b.py").write_text("import os.path, torch, solutions.inner.a\n")
    (tmp_path / "os.py").write_text("")
    found = needed(tmp_path, ["solutions.inner.a", "nothing.at.all"])
    assert [*found] == ["solutions.b", "solutions.inner", "solutions.inner.a"]
