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


@pytest.fixture(scope="module", params=Course(ROOT).chapters())
def bundle(request: pytest.FixtureRequest) -> tuple[str, dict[str, bytes]]:
    """A chapter, and its files by their path in the zip."""
    return request.param, bundle_files(Course(ROOT), request.param)


def test_no_file_holds_a_line_of_an_answer(bundle):
    chapter, files = bundle
    earlier = f"{chapter}/solutions/"  # given code; that it is of earlier chapters is tested apart
    files = {path: data for path, data in files.items() if not path.startswith(earlier)}
    lines = {line for one in of_chapter(chapter) for line in answer_lines(one)}
    assert held(files, lines) == []


def test_the_zip_is_small(bundle):
    assert len(zipped(bundle[1])) < LARGEST
