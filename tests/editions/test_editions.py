"""One chapter, three editions: what each must and must not hold."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from anywhere import ANYWHERE

from autograder.catalogue import exercise, exercises, of_chapter
from autograder.celltext import bound_names, used_names
from autograder.editions.book import expand
from autograder.editions.chapter import (
    CODE_CELL,
    read_cells,
    replace_exercises,
)
from autograder.editions.notebook import instructor_notebook, write
from autograder.editions.source import BEGIN, answer, answer_lines, clean_answer, signature
from autograder.plugins.nbgrader import release

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("[0-9][0-9]_*.md"))
RAISED = {"NotImplementedError"}
REPOSITORY = ("https://example.org/course", "main")
LEFTOVERS = re.compile(r"^(:{3,}|`{3,}\{)|\{[\w:]+\}`|^\([\w-]+\)=", re.MULTILINE)
LONGEST_LINE, LONGEST_BOX_LINE = 80, 79
STUB = "raise NotImplementedError()"


def text_of(chapter: str) -> str:
    return (BOOK / f"{chapter}.md").read_text(encoding="utf-8")


def instructor(chapter: str):
    return instructor_notebook(BOOK / f"{chapter}.md", *REPOSITORY)


def telling(lines: list[str]) -> list[str]:
    """Lines long enough that finding one by chance is out of the question."""
    return [line for line in lines if len(line) > 20 and line not in ANYWHERE]


@pytest.fixture(scope="module", params=CHAPTERS)
def chapter(request):
    return request.param


@pytest.fixture(scope="module")
def student(chapter):
    return release(instructor(chapter))


def test_there_are_chapters():
    assert "02_scaled_dot_product" in CHAPTERS


def test_a_chapter_holds_its_exercises_in_the_order_of_the_catalogue(chapter):
    written = [cell.exercise for cell in read_cells(text_of(chapter)) if cell.exercise]
    assert written == [one.id for one in of_chapter(chapter)]


def test_an_exercise_cell_imports_the_answer_that_its_spec_names(chapter):
    for cell in read_cells(text_of(chapter)):
        if cell.exercise:
            module = exercise(cell.exercise).solution.__module__
            assert cell.source == f"from {module} import {cell.exercise}"


def test_a_student_notebook_holds_no_line_of_an_answer(chapter, student):
    whole = nbformat.writes(student)
    for one in of_chapter(chapter):
        assert not [line for line in telling(answer_lines(one)) if line in whole]


def test_a_student_notebook_holds_no_marker(student):
    assert "BEGIN SOLUTION" not in nbformat.writes(student)


def test_an_instructor_notebook_holds_every_answer(chapter):
    whole = "\n".join(cell.source for cell in instructor(chapter).cells)
    assert all(answer(one) in whole for one in of_chapter(chapter))


def test_no_myst_is_left_in_a_notebook(student):
    prose = [cell.source for cell in student.cells if cell.cell_type == "markdown"]
    assert prose
    assert not [match[0] for text in prose for match in LEFTOVERS.finditer(text)]


def test_leftovers_would_be_found():
    for raw in (":::{note}", "```{math}", "see {eq}`x`", "(target)="):
        assert LEFTOVERS.search(raw)


def test_each_exercise_has_a_stub_and_a_locked_check_with_its_points(chapter, student):
    cells = {cell.id: cell for cell in student.cells}
    for one in of_chapter(chapter):
        stub, check = cells[one.id], cells[f"check-{one.id}"]
        assert stub.metadata.nbgrader.solution
        assert not stub.metadata.nbgrader.locked
        assert check.metadata.nbgrader.locked
        assert check.metadata.nbgrader.points == one.points
        assert check.source.endswith(f"check({one.id})")


def test_a_stub_is_the_signature_and_says_that_it_is_not_written(chapter, student):
    cells = {cell.id: cell.source for cell in student.cells}
    for one in of_chapter(chapter):
        lines = cells[one.id].splitlines()
        kept = [line for line in lines if line.strip() not in ("# YOUR CODE HERE", STUB)]
        assert "\n".join(kept).rstrip() == signature(one)
        assert cells[one.id].rstrip().endswith(STUB)
        assert cells[one.id].count(STUB) == answer(one).count(BEGIN)


def test_cell_ids_are_unique(student):
    ids = [cell.id for cell in student.cells]
    assert len(ids) == len(set(ids))


def test_generating_twice_gives_the_same_bytes(tmp_path):
    program = (
        "import sys; from pathlib import Path\n"
        "from autograder.editions.notebook import instructor_notebook, write\n"
        "from autograder.plugins.nbgrader import release\n"
        "for chapter in sys.argv[2:]:\n"
        f"    path = Path({str(BOOK)!r}, f'{{chapter}}.md')\n"
        f"    notebook = instructor_notebook(path, *{REPOSITORY!r})\n"
        "    write(release(notebook), Path(sys.argv[1], f'{chapter}.ipynb'))\n"
    )
    outputs = []
    for hash_seed in ("1", "2"):
        folder = tmp_path / hash_seed
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        command = [sys.executable, "-c", program, str(folder), *CHAPTERS]
        subprocess.run(command, check=True, env=environment, cwd=ROOT)
        outputs.append([(folder / f"{chapter}.ipynb").read_bytes() for chapter in CHAPTERS])
    assert outputs[0] == outputs[1]


def test_writing_the_same_notebook_again_changes_nothing(chapter, tmp_path):
    path = tmp_path / "a b" / "notebook.ipynb"
    assert write(instructor(chapter), path)
    assert not write(instructor(chapter), path)


def test_the_class_edition_holds_no_line_of_an_answer(chapter):
    page = expand(text_of(chapter), chapter, "class")
    for one in of_chapter(chapter):
        assert not [line for line in telling(answer_lines(one)) if line in page]


def test_the_self_study_edition_holds_every_answer_folded(chapter):
    page = expand(text_of(chapter), chapter, "self-study")
    for one in of_chapter(chapter):
        assert f"{{dropdown}} Solution\n```python\n{clean_answer(one)}" in page


def test_both_editions_run_the_same_code(chapter):
    """The execution cache is shared between them."""
    pages = [expand(text_of(chapter), chapter, edition) for edition in ("class", "self-study")]
    code = [[m["body"] for m in CODE_CELL.finditer(page)] for page in pages]
    assert code[0] == code[1]


def test_an_unknown_edition_is_refused():
    with pytest.raises(ValueError, match="edition 'golden' is none of class, self-study"):
        expand("", "02_x", "golden")


def test_every_exercise_has_a_box_with_its_words(chapter):
    page = expand(text_of(chapter), chapter, "class")
    for one in of_chapter(chapter):
        assert one.statement in page
        assert one.example in page
        assert all(case.behaviour in page for case in one.cases)


def test_code_lines_fit_the_page(chapter):
    """A longer line would be cut off at the edge of its box."""
    cells = [cell for cell in read_cells(text_of(chapter)) if cell.kind == "code"]
    assert not [line for c in cells for line in c.source.split("\n") if len(line) > LONGEST_LINE]


@pytest.mark.parametrize("one", exercises().values(), ids=lambda one: one.id)
def test_a_signature_is_the_definition_without_its_body(one):
    kept, whole = definitions(signature(one)), definitions(clean_answer(one))
    assert [ast.unparse(d.args) for d in kept] == [ast.unparse(d.args) for d in whole]
    assert [ast.get_docstring(d) for d in kept] == [ast.get_docstring(d) for d in whole]
    for definition in kept:
        assert len(definition.body) == 1  # the docstring, or `super().__init__()`


def definitions(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("one", exercises().values(), ids=lambda one: one.id)
def test_a_signature_fits_its_box(one):
    assert not [line for line in signature(one).split("\n") if len(line) > LONGEST_BOX_LINE]


def test_only_exercise_cells_are_replaced():
    text = "```{code-cell}\nx = 1\n```\n```{code-cell}\n:exercise: f\nfrom s import f\n```\n"
    replaced = replace_exercises(text, lambda name, _cell: f"<{name}>")
    assert replaced == "```{code-cell}\nx = 1\n```\n<f>\n"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_cells_above_an_exercise_give_every_name_that_it_reads(chapter):
    """A signature runs when its cell does: `Sequence[int]` needs `Sequence`."""
    given: set[str] = set()
    for cell in instructor(chapter).cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            assert used_names(cell.source) <= given | RAISED | {cell.id}
        if cell.cell_type == "code":
            given |= bound_names(cell.source)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_other_cell_gives_the_name_of_an_exercise_a_value(chapter):
    """It would be taken for the answer where the student has written none."""
    names = {one.id for one in of_chapter(chapter)}
    for cell in instructor(chapter).cells:
        if cell.cell_type == "code" and cell.id not in names:
            assert not bound_names(cell.source) & names
