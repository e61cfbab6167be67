"""Two pages of the built book as PDF and EPUB: whole, typeset, and without answers."""

import io
import re
import shutil
import sys
from pathlib import Path

import pytest
from booksite import ROOT
from pypdf import PdfReader
from test_book_site import answer_lines, squeeze

from autograder.course import Course
from autograder.downloads.chromium import NAMES
from autograder.downloads.make import downloads, linked

sys.path.insert(0, str(ROOT / "tests" / "downloads"))
from takeaway import bookmarks, broken_links, raw_formulas, read_epub, read_xhtml

pytestmark = pytest.mark.slow

DOCUMENTS = ["book/index", "book/02_scaled_dot_product"]


@pytest.fixture(scope="module")
def made(html: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """PDF and EPUB, made beside a copy of the site, which other tests are reading."""
    if not any(map(shutil.which, NAMES)):
        pytest.skip("no Chromium on PATH: no PDF and no EPUB was made")
    copy = tmp_path_factory.mktemp("downloads") / "html"
    shutil.copytree(html, copy)
    pdf, epub = downloads(copy, DOCUMENTS, Course(ROOT), lambda line: None).values()
    return pdf, epub


def test_the_epub_is_a_book(made):
    files = read_epub(made[1])
    assert broken_links(files) == []
    pages = read_xhtml(files)
    assert {name: raw_formulas(page) for name, page in pages.items() if raw_formulas(page)} == {}
    chapter = pages["book/02_scaled_dot_product.xhtml"]
    assert len([*chapter.iterfind(".//{*}math")]) > 100
    assert len([*chapter.iterfind(".//{*}img")]) >= 5


def test_the_pdf_is_a_book(made):
    reader = PdfReader(io.BytesIO(made[0]))
    titles = bookmarks(reader)
    assert titles[-1] == "2 Scaled dot-product attention"
    text = "\n".join(page.extract_text() for page in reader.pages)
    for words in ("How grading works", "Hint 1", "Check yourself", "Further reading"):
        assert words in text
    for words in ("Open in Colab", "Skip to main content", "On this page"):
        assert words not in text
    assert not re.search(r"\\[(\[]|\\(frac|sqrt|mathbb)\b(?!.*\")", text)
    assert b"file:" not in made[0]


def test_neither_holds_a_line_of_an_answer(made):
    pdf, epub = made
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]
    xhtml = ["".join(page.itertext()) for page in read_xhtml(read_epub(epub)).values()]
    text = squeeze(" ".join(pages)) + squeeze(" ".join(xhtml))
    assert [line for line in answer_lines() if line in text] == []


def test_the_front_page_has_a_place_for_links(html):
    front = (html / "book" / "index.html").read_text(encoding="utf-8")
    assert '<a class="reference external" href="../downloads/a.pdf"' in linked(
        front, {"a.pdf": b""}
    )
