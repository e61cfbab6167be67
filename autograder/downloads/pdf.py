"""An open book -> a PDF with bookmarks and page numbers, the same bytes each time."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pypdf import PdfWriter
from pypdf.generic import NameObject, TextStringObject

if TYPE_CHECKING:
    from playwright.sync_api import Page

NUMBER = '<p style="font-size: 8px; width: 100%; text-align: center" class="pageNumber"></p>'
TIME = re.compile(rb"(?<=\(D:)\d{14}(?=[+Z])")
FIRST_DAY = b"19800101000000"  # as in our zips
HEADINGS = """() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  .map(heading => heading.textContent.trim())"""


def printed(page: Page) -> bytes:
    """Print a page that is open in Chromium; its headings become the bookmarks."""
    headings = page.evaluate(HEADINGS)
    page.emulate_media(media="print", color_scheme="light")
    data = page.pdf(
        prefer_css_page_size=True,
        print_background=True,
        display_header_footer=True,
        header_template="<p></p>",
        footer_template=NUMBER,
        outline=True,
        tagged=True,
    )
    return titled(timeless(data), headings)


def timeless(data: bytes) -> bytes:
    """Take the time out of a PDF; no byte moves, so its table of objects stays right."""
    return TIME.sub(FIRST_DAY, data)


def titled(data: bytes, headings: Sequence[str]) -> bytes:
    """Write the headings into the bookmarks: Chromium loses spaces in them, and says some twice.

    Raises ValueError if there are not as many bookmarks as headings.
    """
    writer = PdfWriter(io.BytesIO(data), incremental=True)
    bookmarks = [*_below(writer.root_object["/Outlines"].get_object())]
    for bookmark, heading in zip(bookmarks, headings, strict=True):
        bookmark[NameObject("/Title")] = TextStringObject(heading)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _below(bookmark: Any) -> Iterator[Any]:
    """Yield what is below a bookmark, in the order of the book."""
    child = bookmark.get("/First")
    while child is not None:
        found = child.get_object()
        yield found
        yield from _below(found)
        child = found.get("/Next")
