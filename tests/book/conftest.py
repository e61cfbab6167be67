"""One build of the book for all tests of a run, outside the tree, and a browser to see it."""

import os
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from booksite import ROOT, Build, build_once, read
from browsing import Quiet
from bs4 import BeautifulSoup
from filelock import FileLock

from autograder.downloads.chromium import OPTIONS, program

sys.path.insert(0, str(ROOT / "book" / "_ext"))


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The book named by COURSE_BOOK_HTML, or a fresh build; one build for all xdist workers."""
    if ready := os.environ.get("COURSE_BOOK_HTML"):
        return Build(Path(ready).resolve(), 0, "")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    out = shared / "the book"  # with a space, as folders have on many machines
    out.mkdir(exist_ok=True)
    with FileLock(str(shared / "book.lock")):
        build_once(out)
    return Build(out / "_build" / "html", int((out / "status").read_text()), read(out / "log"))


@pytest.fixture(scope="session")
def html(build: Build) -> Path:
    """Folder of the built pages."""
    if not (build.html / "index.html").is_file():
        pytest.fail(f"the book was not built:\n{build.log[-3000:]}")
    return build.html


@pytest.fixture(scope="session")
def pages(html: Path) -> dict[str, BeautifulSoup]:
    """Every page of the site, parsed, by its path."""
    files = [file for file in html.rglob("*.html") if "_static" not in file.parts]
    return {
        file.relative_to(html).as_posix(): BeautifulSoup(read(file), "html.parser")
        for file in sorted(files)
    }


@pytest.fixture(scope="module")
def site(html: Path) -> Iterator[str]:
    """Address of the book on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium of this machine; closed after each file, as it keeps an event loop running."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium_here = program()
    if chromium_here is None:
        pytest.skip("no Chromium on PATH: pages were not looked at in a browser")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=chromium_here, args=[*OPTIONS])
        yield chromium
        chromium.close()
