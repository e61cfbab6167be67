"""What the theme leaves in the way of a reader who does not see the page, or does not point.

Each mend is a pattern in a finished page and what is written in its place. A mend that finds
nothing does no harm; the tests ask the built site for what each one leaves.
"""

import re
from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx


class Mend(NamedTuple):
    """A pattern in a page's HTML and its replacement, which the pattern no longer matches."""

    pattern: re.Pattern[str]
    replacement: str


MENDS = (
    # Who says what is written on the button ("Search Ctrl+K") must be understood.
    Mend(
        re.compile(
            r'(<button class="[^"]*search-button-field[^"]*") title="[^"]*" aria-label="[^"]*"'
        ),
        r"\1",
    ),
    # The title and the search button stand beside the navigation: the whole bar is one landmark.
    Mend(
        re.compile(r'(<div id="pst-primary-sidebar")(?! role)'),
        r'\1 role="complementary" aria-label="Book"',
    ),
    # Windows over the page: the search, and both bars on a narrow screen.
    Mend(re.compile(r'(<dialog id="pst-search-dialog")>'), r'\1 aria-label="Search">'),
    Mend(re.compile(r'(<dialog id="pst-primary-sidebar-modal")>'), r'\1 aria-label="Book">'),
    Mend(re.compile(r'(<dialog id="pst-secondary-sidebar-modal")>'), r'\1 aria-label="Page">'),
    # A list needs items; docutils gives them a role of books that has been given up.
    Mend(re.compile(r'role="doc-biblioentry"'), 'role="listitem"'),
    # A corner of a table that heads nothing is no heading.
    Mend(re.compile(r"<th\b[^>]*>\s*(?:<p>\s*</p>)?\s*</th>"), "<td></td>"),
    # Icons are ornament: a screen reader would spell out the code points of their font.
    Mend(
        re.compile(r'<(i|span) (class="[^"]*\bfa[srb]?[ -][^"]*")(?! aria-hidden)'),
        r'<\1 \2 aria-hidden="true"',
    ),
)


def mend(page: str) -> str:
    """A page's HTML with every mend made; a mended page stays as it is."""
    for pattern, replacement in MENDS:
        page = pattern.sub(replacement, page)
    return page


def mend_pages(app: Sphinx, error: Exception | None) -> None:
    """Sphinx calls this when the site is written."""
    if error is not None or app.builder.format != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        file.write_text(mend(file.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    app.connect("build-finished", mend_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
