"""Every chapter's bundle can be made, holds none of its answers, and is small enough to send."""

import pytest
from processes import ROOT
from test_bundle_contents import held

from autograder.bundle.archive import zipped
from autograder.bundle.contents import bundle_files
from autograder.catalogue import of_chapter
from autograder.course import Course
from autograder.editions.source import answer_lines

LARGEST = 8_000_000  # bytes: what a mail or a learning platform takes without a word


@pytest.mark.parametrize("chapter", Course(ROOT).chapters())
def test_a_bundle_holds_no_line_of_an_answer_and_is_small(chapter):
    files = bundle_files(Course(ROOT), chapter)
    assert len(zipped(files)) < LARGEST
    earlier = f"{chapter}/solutions/"  # given code; that it is of earlier chapters is tested apart
    files = {path: data for path, data in files.items() if not path.startswith(earlier)}
    lines = {line for one in of_chapter(chapter) for line in answer_lines(one)}
    assert held(files, lines) == []
