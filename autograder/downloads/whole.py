"""All pages as one HTML file, dressed as the web book is when it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from autograder.downloads.pages import Page

STYLE = """
@page { size: A4; margin: 18mm 18mm 20mm; }
html { font-size: 10.5pt; }
section.page, section.title { break-before: page; }
section.title { padding-top: 35vh; }
/* Chromium prints each of these as a picture as large as a page; :not beats the theme. */
*:not(#none) { box-shadow: none !important; text-shadow: none !important; filter: none !important;
  border-radius: 0 !important; opacity: 1 !important; mask: none !important; }
summary { list-style: none; font-weight: 600; }
h1, h2, h3, h4, summary, .admonition-title { break-after: avoid; }
figure, .cell_output img, .math, tr { break-inside: avoid; }
img, svg { max-width: 100%; }
img { max-height: 220mm; object-fit: contain; }
pre { white-space: pre-wrap !important; overflow-wrap: anywhere; }
.bd-article div.math, .bd-article div.output, .pst-scrollable-table-container {
  overflow: visible !important; }
"""


def whole_book(title: str, words: str, pages: Sequence[Page]) -> str:
    """Write one HTML file, to lie in a folder of the site.

    words  what stands below the title
    """
    head = dict.fromkeys(tag for page in pages for tag in page.head)
    sections = "\n".join(
        f'<section class="page" id="{page.name}">\n{page.body}\n</section>' for page in pages
    )
    listed = "\n".join(f'<p><a href="#{one.name}">{escape(one.title)}</a></p>' for one in pages)
    front = f'<section class="title"><h1>{escape(title)}</h1><p>{escape(words)}</p></section>'
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="light" data-mode="light"><head><meta charset="utf-8">
<title>{escape(title)}</title>
{chr(10).join(head)}
<style>{STYLE}</style></head>
<body><main class="bd-content"><article class="bd-article">
{front}
<section class="title-contents page">{listed}</section>
{sections}
</article></main></body></html>
"""
