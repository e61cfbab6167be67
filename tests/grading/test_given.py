"""What a notebook may import while it is graded: earlier chapters' answers, never its own."""

import ast

import pytest
from commands import CHAPTER

from autograder.catalogue import exercises, of_chapter
from autograder.given import given_modules, reference_files

CHAPTERS = sorted({one.chapter for one in exercises().values()})
LATER = "99_after_all"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_answer_of_this_chapter_or_a_later_one_is_given(chapter: str) -> None:
    given = given_modules(chapter)
    for one in exercises().values():
        if one.chapter >= chapter:
            assert one.solution.__module__ not in given
            assert one.id not in {name for text in given.values() for name in defined(text)}


def defined(text: str) -> set[str]:
    """Name the functions and classes of a source, inner ones too, and what it assigns."""
    nodes = list(ast.walk(ast.parse(text)))
    found = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found | stored


def test_answers_of_earlier_chapters_are_given() -> None:
    given = given_modules(LATER)
    for one in of_chapter(CHAPTER):
        assert one.id in defined(given[one.solution.__module__])


@pytest.mark.parametrize("chapter", [*CHAPTERS, LATER])
def test_what_is_given_imports_nothing_of_ours_that_is_not(chapter: str) -> None:
    given = given_modules(chapter)
    assert "solutions" in given
    imported = set()
    for text in given.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                imported.add(str(node.module))
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    ours = {name for name in imported if name.split(".")[0] in ("solutions", "autograder")}
    assert ours <= set(given)


def test_the_reference_library_is_found() -> None:
    names = {path.stem for path in reference_files()}
    assert {one.solution.__module__.split(".")[-1] for one in exercises().values()} <= names
