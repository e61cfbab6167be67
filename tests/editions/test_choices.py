"""Questions with options: how they are written, what each chapter has, and how a notebook folds."""

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from autograder.editions.choices import LETTERS, read_choices
from autograder.editions.plain import Plain

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
CHAPTERS = sorted(path.stem for path in BOOK.glob("[0-9][0-9]_*.md"))
QUESTION = re.compile(r"^:::\{selfcheck\} (.+)\n((?:.*\n)*?):::$", re.MULTILINE)
ENOUGH = 5
RIGHT = ["- [x] a", "  Because."]
WRONG = ["- [ ] b", "  A slip."]

LINES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=20)
OPTIONS = st.lists(
    st.tuples(LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=2, max_size=5
)


def questions(chapter: str) -> list[tuple[str, list[str]]]:
    """The questions of a chapter: title and lines."""
    text = (BOOK / f"{chapter}.md").read_text(encoding="utf-8")
    section = text.split("\n## Check yourself\n")[1].split("\n## ")[0]
    return [(title, body.splitlines()) for title, body in QUESTION.findall(section)]


@given(OPTIONS, st.integers(0, 4))
def test_options_are_read_as_they_are_written(options, right):
    right %= len(options)
    lines = []
    for i, (text, why) in enumerate(options):
        lines += [f"- [{'x' if i == right else ' '}] {text}", *(f"  {line}" for line in why)]
    read = read_choices(lines)
    assert [(one.text, list(one.why)) for one in read] == options
    assert [one.letter for one in read if one.right] == [LETTERS[right]]
    assert Counter(one.verdict for one in read) == {"Right.": 1, "No.": len(options) - 1}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "two to five options, not 0"),
        (RIGHT, "two to five options, not 1"),
        ([*RIGHT, *WRONG * 5], "two to five options, not 6"),
        ([*WRONG, *WRONG], "exactly one option is right"),
        ([*RIGHT, *RIGHT], "exactly one option is right"),
        ([*RIGHT, "- [ ] b"], "this option has no explanation: 'b'"),
        ([*RIGHT, "- [ ] b", "", ""], "this option has no explanation: 'b'"),
        (["Well?", *RIGHT, *WRONG], r"this line belongs to no option: 'Well\?'"),
        ([*RIGHT, *WRONG, "- [y] c"], r"not indented by two: '- \[y\] c'"),
    ],
)
def test_a_question_that_misses_something_is_refused(lines, said):
    with pytest.raises(ValueError, match=said):
        read_choices(lines)


def test_a_notebook_folds_each_option():
    lines = [":::{selfcheck} Why $x$?", "- [x] $a$", "  Since $b$.", "", "  More.", *WRONG, ":::"]
    group = rendered(Plain().markdown("\n".join(lines))).fieldset
    assert group.legend.get_text(strip=True) == "Why $x$?"
    first, second = group.find_all("details")
    assert first.summary.get_text(" ", strip=True) == "A $a$"
    assert [p.get_text() for p in first.find_all("p", recursive=False)] == [
        "Right. Since $b$.",
        "More.",
    ]
    assert second.get_text(" ", strip=True) == "B b No. A slip."


def rendered(markdown: str) -> BeautifulSoup:
    """What a notebook program makes of a cell."""
    return BeautifulSoup(MarkdownIt().render(markdown), "html.parser")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_enough_questions_with_different_right_letters(chapter):
    read = [read_choices(body) for _, body in questions(chapter)]
    assert len(read) >= ENOUGH
    letters = Counter(one.letter for choices in read for one in choices if one.right)
    assert len(letters) >= 3
    assert max(letters.values()) <= len(read) / 2


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_no_option_and_no_explanation_is_there_twice(chapter):
    for title, body in questions(chapter):
        choices = read_choices(body)
        assert len({one.text for one in choices}) == len(choices), title
        assert len({one.why for one in choices}) == len(choices), title


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_student_notebook_has_every_option_folded_in_a_labelled_group(chapter):
    notebook = nbformat.read(ROOT / "notebooks" / chapter / f"{chapter}.ipynb", as_version=4)
    prose = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    groups = rendered(prose).find_all("fieldset")
    assert len(groups) == len(questions(chapter))
    for group, (_, body) in zip(groups, questions(chapter), strict=True):
        assert group.legend.get_text(strip=True)
        folds = group.find_all("details", recursive=False)
        for fold, choice in zip(folds, read_choices(body), strict=True):
            assert fold.summary.contents[0].strip() == choice.letter
            assert fold.find("strong", string=choice.verdict)
