"""A small book as PDF and EPUB, made by a real browser."""

import io
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from pypdf import PdfReader
from takeaway import bookmarks, broken_links, raw_formulas, read_epub, read_xhtml

from autograder.cli import BAD_USAGE, OK, main
from autograder.course import Course
from autograder.downloads import chromium, make
from autograder.downloads.make import downloads, linked, make_downloads
from autograder.downloads.pages import contents, read_pages
from autograder.downloads.xhtml import _for_reader
from autograder.usage import UsageError

DOCUMENTS = ["book/index", "book/first"]


def quiet(line: str) -> None:
    pass


@dataclass(frozen=True)
class Made:
    pdf: bytes
    epub: bytes


@pytest.fixture(scope="module")
def made(course: Course) -> Made:
    if not any(map(shutil.which, chromium.NAMES)):
        pytest.skip("no Chromium on PATH: no PDF and no EPUB was made")
    return Made(*downloads(course.built / "html", DOCUMENTS, course, quiet).values())


# Without a browser


def test_the_pages_are_those_of_the_contents(course):
    assert contents(course.root / "_toc.yml") == DOCUMENTS


def test_a_page_leaves_out_what_acts_and_leads_elsewhere(course):
    front, first = read_pages(course.built / "html", DOCUMENTS)
    text = front.body + first.body
    for word in ("<script", "<button", "headerlink", "launch", "downloads", "canvas", "marker"):
        assert word not in text
    for word in ("Site navigation", "genindex", "noscript", 'href=""'):
        assert word not in text
    assert 'href="https://example.org/a#b"' in text
    assert front.title == "A small book"


def test_ids_and_links_carry_the_page(course):
    front, first = read_pages(course.built / "html", DOCUMENTS)
    assert 'href="#first--part"' in front.body
    assert 'href="#first"' in front.body
    assert 'id="first--part"' in first.body
    assert 'href="#first--equation-one"' in first.body
    assert 'clip-path="url(#first--cut)"' in first.body
    assert 'id="first--cut"' in first.body


def test_a_figure_that_moves_stands_still(course):
    first = read_pages(course.built / "html", DOCUMENTS)[1]
    figure = re.search(r"<figure.*?</figure>", first.body, re.DOTALL)
    assert figure
    assert '<img alt="A red box" src="../_images/still.svg"/>' in figure[0]
    assert "<figcaption>It moves.</figcaption>" in figure[0]
    assert "script" not in figure[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<mi mathvariant="double-struck">E</mi>', "<mi>𝔼</mi>"),
        ('<mi mathvariant="double-struck">R</mi>', "<mi>ℝ</mi>"),
        ('<mi mathvariant="script">L</mi>', "<mi>ℒ</mi>"),
        ('<mi mathvariant="bold">x</mi>', "<mi>𝐱</mi>"),
        ('<mi mathvariant="bold">Π</mi>', '<mi mathvariant="bold">Π</mi>'),
        ('<mi mathvariant="normal">d</mi>', '<mi mathvariant="normal">d</mi>'),
        ('<mi data-mjx-variant="-tex-c">L</mi>', "<mi>L</mi>"),
        ('<details class="a" open="">', '<details class="a">'),
        ('<a href="#02_x--y">', '<a href="02_x.xhtml#02_x--y">'),
        ('<a href="#02_x">', '<a href="02_x.xhtml">'),
        ('<a href="https://example.org/#x">', '<a href="https://example.org/#x">'),
    ],
)
def test_what_an_e_reader_gets(before, after):
    assert _for_reader(before) == after


def test_the_front_page_links_to_what_there_is(course):
    front = (course.built / "html" / "book" / "index.html").read_text()
    once = linked(front, {"a.pdf": b"1" * 2_500_000, "a.epub": b""})
    assert "Run make downloads" not in once
    assert 'href="../downloads/a.pdf" download="">PDF, 2.5 MB</a>' in once
    assert linked(once, {"a.pdf": b"1" * 2_500_000, "a.epub": b""}) == once
    assert linked("no place for it", {}) == "no place for it"


def test_without_a_book_it_says_how_to_build_one(course, tmp_path):
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(course.root / name, tmp_path)
    with pytest.raises(UsageError, match=r"no page book/index: build the book first"):
        make_downloads(Course(tmp_path), quiet)


def test_without_chromium_it_says_what_to_install(course, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(chromium, "program", lambda: str(tmp_path / "no chromium"))
    monkeypatch.setattr("autograder.cli.downloads.find_course", lambda: course)
    assert main(["downloads"]) == BAD_USAGE
    assert "playwright install chromium" in capsys.readouterr().err
    assert [*(course.built / "html" / "downloads").iterdir()] == []


# With one


@pytest.mark.slow
def test_the_command_writes_both_and_links_to_them(course, made, monkeypatch, capsys, tmp_path):
    shutil.copytree(course.root, tmp_path / "copy")
    copy = Course(tmp_path / "copy")
    monkeypatch.setattr("autograder.cli.downloads.find_course", lambda: copy)
    assert main(["downloads"]) == OK
    said = capsys.readouterr()
    html = copy.built / "html"
    files = sorted(path.name for path in (html / make.FOLDER).iterdir())
    assert files == [f"{make.NAME}.epub", f"{make.NAME}.pdf"]
    assert all(name in said.out for name in files)
    assert "printing the PDF" in said.err
    front = (html / "book" / "index.html").read_text()
    assert all(f'href="../{make.FOLDER}/{name}"' in front for name in files)
    bytes_of = {name: Path(html, make.FOLDER, name).read_bytes() for name in files}
    assert [*bytes_of.values()] == [made.epub, made.pdf], "the same bytes, wherever it was built"


@pytest.mark.slow
def test_the_epub_is_whole(made):
    files = read_epub(made.epub)
    pages = read_xhtml(files)
    assert [*pages] == ["book/first.xhtml", "book/index.xhtml", "book/nav.xhtml"]
    assert broken_links(files) == []
    assert "_images/still.svg" in files
    assert [raw_formulas(page) for page in pages.values()] == [[], [], []]
    first = files["book/first.xhtml"].decode()
    assert first.count("<math") == 2
    assert "𝔼" in first
    assert 'viewBox="0 0 9 9"' in first
    assert "<script" not in first


@pytest.mark.slow
def test_the_pdf_has_text_bookmarks_and_numbers(made):
    reader = PdfReader(io.BytesIO(made.pdf))
    titles = bookmarks(reader)
    assert titles[:2] == ["A small book", "A small book"]  # the title page, the front page
    assert titles[2].startswith("1 A first chapter that has rather a long title, longer than")
    texts = [page.extract_text() for page in reader.pages]
    assert [text.rstrip().endswith(str(n)) for n, text in enumerate(texts, 1)] == [True] * 4
    assert "Folded words." in texts[-1]
    assert "It moves." in texts[-1]
    assert not any("\\" in text or "Site navigation" in text for text in texts)


@pytest.mark.slow
def test_links_of_the_pdf_name_no_place_of_this_machine(made, course):
    assert b"file:" not in made.pdf
    reader = PdfReader(io.BytesIO(made.pdf))
    text = str([page.get("/Annots") for page in reader.pages]) + str(reader.metadata)
    assert str(course.root) not in text
    assert "CreationDate': \"D:19800101" in text
