"""The pages of the built web book, without what only a browser can do."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag
from sphinx_external_toc.parsing import parse_toc_yaml

# What has no place on paper: what acts, what leads elsewhere in the site, what repeats a title.
LEFT_OUT = "script, button, .headerlink, .launch, .downloads, .toctree-wrapper, [class*=marker]"
NAMING = ("id", "for", "aria-labelledby", "aria-describedby")
OTHER_PLACE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


@dataclass(frozen=True)
class Page:
    """One page of the book.

    name   of its file, without the suffix; all its ids begin with it
    title  as plain text
    body   HTML, in which a link within the book is #name or #name--id
    head   the style sheets and MathJax, with its settings
    """

    name: str
    title: str
    body: str
    head: tuple[str, ...]


def contents(toc: Path) -> list[str]:
    """List the pages of the table of contents in order, by their path without suffix."""
    site = parse_toc_yaml(toc)

    def below(document: str) -> Iterator[str]:
        yield document
        for child in site[document].child_files():
            yield from below(child)

    return [*below(site.root.docname)]


def read_pages(html: Path, documents: Collection[str]) -> list[Page]:
    """Read the article of each page of a built site. Raises FileNotFoundError."""
    return [_page(html, document, documents) for document in documents]


def _page(html: Path, document: str, documents: Collection[str]) -> Page:
    text = (html / f"{document}.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(text, "html.parser")
    article, head = soup.select_one("article"), soup.select("link[rel=stylesheet], script")
    if article is None:
        raise ValueError(f"{document}.html has no article: was it built by `course book`?")
    dress = tuple(str(tag) for tag in head if tag.name == "link" or "mathjax" in str(tag).lower())
    for part in article.select(LEFT_OUT):
        part.decompose()
    _stand_still(article)
    _unfold(article)
    for tag in article.find_all(True):
        _lead(tag, document, documents)
        _name(tag, posixpath.basename(document))
    title = article.find("h1")
    name = posixpath.basename(document)
    return Page(name, title.get_text().strip() if title else name, article.decode_contents(), dress)


def _stand_still(article: Tag) -> None:
    """Leave of a figure that moves its picture and its words."""
    for part in article.select("figure.moving > .moving-chart, figure.moving > script"):
        part.decompose()


def _unfold(article: Tag) -> None:
    for box in article.find_all("details"):
        box["open"] = ""
    for told in article.select("summary:has(p.collapsed)"):  # "Show code cell source"
        told.string = "Code"


def _lead(tag: Tag, document: str, documents: Collection[str]) -> None:
    """Make addresses relative to a folder beside that of the page, and links lead into one file."""
    if "src" in tag.attrs and not OTHER_PLACE.match(str(tag["src"])):
        tag["src"] = "../" + _target(document, str(tag["src"]))
    address = str(tag.get("href", ""))
    if not address or OTHER_PLACE.match(address):
        return
    goal = _target(document, address).removesuffix(".html")
    fragment = unquote(urlsplit(address).fragment)
    if goal in documents:
        tag["href"] = f"#{posixpath.basename(goal)}" + (f"--{fragment}" if fragment else "")
    else:
        del tag["href"]


def _target(document: str, address: str) -> str:
    """Give the path of an address within the site; that of the page itself for a fragment."""
    path = unquote(urlsplit(address).path)
    if not path:
        return document
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), path))


def _name(tag: Tag, page: str) -> None:
    """Begin each id with the page's name, so that pages can stand in one file."""
    for key in NAMING:
        if key in tag.attrs:
            tag[key] = " ".join(f"{page}--{name}" for name in str(tag[key]).split())
    for key, value in tag.attrs.items():
        if isinstance(value, str) and "url(#" in value:  # within a drawing
            tag[key] = value.replace("url(#", f"url(#{page}--")
