"""Each chapter's own answers through intake, sandbox and judge, as they stand in its notebook."""

import nbformat
import pytest
from commands import ROOT
from handed_in import settings

from autograder.catalogue import exercises, of_chapter
from autograder.course import Course
from autograder.notebooks import instructor
from autograder.unit import grade_bytes

pytestmark = pytest.mark.slow

CHAPTERS = sorted({one.chapter for one in exercises().values()})


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_answers_of_a_chapter_get_full_marks_in_its_notebook(chapter: str) -> None:
    data = nbformat.writes(instructor(Course(ROOT), chapter)).encode()
    given = {"student": "ann", "name": "hw.ipynb", "chapter": chapter}
    record = grade_bytes(data, settings=settings(), **given).record
    assert "error" not in record
    lost = {one["id"]: one["diagnosis"] for one in record["exercises"] if one["verdict"] != "pass"}
    assert lost == {}
    assert record["score"] == sum(one.points for one in of_chapter(chapter))
