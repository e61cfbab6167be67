"""What has to be true of any EPUB and PDF of the course."""

import io
import posixpath
import re
import zipfile
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from pypdf import PdfReader

TEX = re.compile(r"\\[(\[]|\\[a-zA-Z]{3,}|\$")
PREFIX = "{http://www.w3.org/1999/xhtml}"


def read_epub(data: bytes) -> dict[str, bytes]:
    """Give the files of an EPUB, once its frame is what the format wants."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        first, *_ = archive.infolist()
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert archive.read(first) == b"application/epub+zip"
        files = {name: archive.read(name) for name in archive.namelist()}
    assert len(files) == len(archive.namelist())
    package = ElementTree.fromstring(files["book.opf"])
    items = {item.get("href"): item.get("id") for item in package.iterfind(".//{*}item")}
    assert items.keys() | {"mimetype", "META-INF/container.xml", "book.opf"} == files.keys()
    spine = {item.get("idref") for item in package.iterfind(".//{*}itemref")}
    assert spine <= {*items.values()}
    assert len({*items.values()}) == len(items)
    return files


def read_xhtml(files: dict[str, bytes]) -> dict[str, ElementTree.Element]:
    """Give the pages of an EPUB, which are well-formed."""
    return {
        name: ElementTree.fromstring(data)
        for name, data in files.items()
        if name.endswith(".xhtml")
    }


def broken_links(files: dict[str, bytes]) -> list[str]:
    """List what leads nowhere inside of the book."""
    pages = read_xhtml(files)
    ids = {name: {one.get("id") for one in page.iter()} for name, page in pages.items()}
    found = []
    for name, page in pages.items():
        for address in (one.get(key) for one in page.iter() for key in ("href", "src")):
            parts = urlsplit(address or "")
            if not address or parts.scheme:
                continue
            path = unquote(parts.path)
            goal = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            )
            if goal not in files or (parts.fragment and parts.fragment not in ids.get(goal, ())):
                found.append(f"{name}: {address}")
    return found


def raw_formulas(page: ElementTree.Element) -> list[str]:
    """List what looks like TeX in the running text of a page."""
    for parent in page.iter():
        for child in [*parent]:
            if child.tag in (f"{PREFIX}pre", f"{PREFIX}code"):
                parent.remove(child)
    return TEX.findall("".join(page.itertext()))


def bookmarks(reader: PdfReader) -> list[str]:
    """Give the titles of the bookmarks of the first level."""
    return [str(one.title) for one in reader.outline if not isinstance(one, list)]
