"""Pages in XHTML -> an EPUB 3, the same bytes each time."""

from __future__ import annotations

import io
import posixpath
import re
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from autograder.bundle.archive import FIRST_DAY, READABLE, UNIX
from autograder.downloads.pages import Page

MEDIA = {
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
PICTURE = re.compile(r' src="\.\./([^"]+)"')
COLOURS = "_static/pygments.css"
NAMESPACES = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'

STYLE = """\
body { line-height: 1.45; }
pre, code { font-family: monospace; font-size: 0.85em; }
pre { background: #f5f6f8; color: #1d2129; padding: 0.5em; white-space: pre-wrap; }
img, svg { max-width: 100%; height: auto; background: #fff; }
table { border-collapse: collapse; }
td, th { border-bottom: 1px solid #999; padding: 0.2em 0.5em; text-align: left; }
.admonition { border-left: 0.3em solid #9a6700; padding: 0.1em 0 0.1em 0.8em; margin: 1em 0; }
.admonition-title, summary { font-weight: bold; }
.eqno { float: right; }
div.math { font-size: 0.9em; overflow-x: auto; }
"""
CONTAINER = """\
<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
PAGE = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html {namespaces} lang="en" xml:lang="en" data-theme="light">
<head><meta charset="utf-8"/><title>{title}</title>
<link rel="stylesheet" href="../_static/pygments.css"/>
<link rel="stylesheet" href="../_static/epub.css"/></head>
<body id="{name}">
{body}
</body></html>
"""
PACKAGE = """\
<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="book">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title><dc:creator>{author}</dc:creator><dc:language>en</dc:language>
<meta property="dcterms:modified">1980-01-01T00:00:00Z</meta>
</metadata>
<manifest>
{manifest}
</manifest>
<spine>
{spine}
</spine></package>
"""


@dataclass(frozen=True)
class About:
    """What a reader's shelf shows of a book.

    address  of the course: the same for each version of the book
    """

    title: str
    author: str
    address: str


def epub(about: About, html: Path, pages: Sequence[Page], xhtml: Mapping[str, str]) -> bytes:
    """Pack a book.

    html   the built site, which has the pictures
    xhtml  the body of each page by its name
    """
    files = {"_static/epub.css": STYLE.encode(), COLOURS: (html / COLOURS).read_bytes()}
    for picture in sorted({one for body in xhtml.values() for one in PICTURE.findall(body)}):
        files[picture] = (html / picture).read_bytes()
    for page in pages:
        files[_path(page)] = _page(page.name, page.title, xhtml[page.name])
    files["book/nav.xhtml"] = _page("nav", about.title, _navigation(about.title, pages))
    package = PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, about.address),
        title=escape(about.title),
        author=escape(about.author),
        manifest="\n".join(_item(path, xhtml) for path in files),
        spine="\n".join(f'<itemref idref="{_id(_path(page))}"/>' for page in pages),
    )
    return _packed(
        {"META-INF/container.xml": CONTAINER.encode(), "book.opf": package.encode()} | files
    )


def _path(page: Page) -> str:
    return f"book/{page.name}.xhtml"


def _id(path: str) -> str:
    return "f-" + re.sub(r"[^\w.-]", "-", path)


def _page(name: str, title: str, body: str) -> bytes:
    filled = PAGE.format(namespaces=NAMESPACES, title=escape(title), name=name, body=body)
    return filled.encode()


def _navigation(title: str, pages: Iterable[Page]) -> str:
    items = "\n".join(
        f'<li><a href="{page.name}.xhtml">{escape(page.title)}</a></li>' for page in pages
    )
    return f'<nav epub:type="toc"><h1>{escape(title)}</h1>\n<ol>\n{items}\n</ol></nav>'


def _item(path: str, xhtml: Mapping[str, str]) -> str:
    """Write a file's line of the manifest, with what a reader has to be able to show."""
    name, suffix = posixpath.splitext(posixpath.basename(path))
    body = xhtml.get(name, "")
    has = [what for what, tag in (("mathml", "<math"), ("svg", "<svg")) if tag in body]
    properties = " ".join(["nav"] if path.endswith("/nav.xhtml") else has)
    told = f' properties="{properties}"' if properties else ""
    return f'<item id="{_id(path)}" href="{path}" media-type="{MEDIA[suffix]}"{told}/>'


def _packed(files: Mapping[str, bytes]) -> bytes:
    """Zip the files; the format wants its name first, and not compressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(_entry("mimetype"), b"application/epub+zip", zipfile.ZIP_STORED)
        for path in sorted(files):
            archive.writestr(_entry(path), files[path], zipfile.ZIP_DEFLATED, compresslevel=9)
    return out.getvalue()


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, FIRST_DAY)
    entry.create_system, entry.external_attr = UNIX, READABLE
    return entry
