"""Make the files to take away from the built class edition, and let its front page link to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.course import Course
from autograder.downloads.chromium import opened
from autograder.downloads.epub import About, epub
from autograder.downloads.pages import contents, read_pages
from autograder.downloads.pdf import printed
from autograder.downloads.whole import whole_book
from autograder.downloads.xhtml import taken
from autograder.usage import UsageError

FOLDER = "downloads"
NAME = "transformer-course"
WORDS = "The class edition of the web book, without answers."
PLACE = re.compile(r'(<div class="downloads[^>]*>).*?(</div>)', re.DOTALL)


def make_downloads(course: Course, tell: Callable[[str], None]) -> list[Path]:
    """Write the PDF and the EPUB into the built site, link to them, and give their paths.

    tell  takes a line about what is being done
    Raises UsageError if the book is not built, or without Chromium.
    """
    html, documents = course.built / "html", contents(course.root / "_toc.yml")
    _look_for(html, documents)
    made = downloads(html, documents, course, tell)
    files = [html / FOLDER / name for name in made]
    for file in files:
        file.write_bytes(made[file.name])
    front = html / f"{documents[0]}.html"
    front.write_text(linked(front.read_text(encoding="utf-8"), made), encoding="utf-8")
    return files


def downloads(
    html: Path, documents: Sequence[str], course: Course, tell: Callable[[str], None]
) -> dict[str, bytes]:
    """Make both files from some pages of a built site: name -> bytes."""
    about = About(course.setting("title"), course.setting("author"), course.repository()[0])
    tell(f"reading {len(documents)} pages")
    pages = read_pages(html, documents)
    whole = html / FOLDER / "whole.html"
    whole.parent.mkdir(exist_ok=True)
    whole.write_text(whole_book(about.title, WORDS, pages), encoding="utf-8")
    try:
        tell("typesetting, which can take minutes")
        with opened(whole) as page:
            tell("printing the PDF")
            pdf = printed(page)
            tell("packing the EPUB")
            xhtml = taken(page)
    finally:
        whole.unlink()
    return {
        f"{NAME}.pdf": pdf,
        f"{NAME}.epub": epub(about, html, pages, xhtml),
    }


def linked(front: str, made: dict[str, bytes]) -> str:
    """Put links to the files into the front page, in the place that it has for them."""
    links = " · ".join(
        f'<a class="reference external" href="../{FOLDER}/{name}" download="">'
        f"{name.rpartition('.')[2].upper()}, {len(data) / 1e6:.1f} MB</a>"
        for name, data in made.items()
    )
    text = f"\n<p>The whole book in one file: {links}</p>\n"
    return PLACE.sub(lambda found: f"{found[1]}{text}{found[2]}", front)


def _look_for(html: Path, documents: Sequence[str]) -> None:
    missing = [one for one in documents if not (html / f"{one}.html").is_file()]
    if missing:
        raise UsageError(f"{html} has no page {missing[0]}: build the book first, `course book`")
