"""Chromium, which typesets and prints."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.usage import UsageError

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
HOW = (
    "Chromium is missing, which typesets and prints the book. Get it with "
    '`pip install "transformer-course[book]"` and `playwright install chromium`, '
    "or from your system: apt-get install chromium."
)
MILLISECONDS = 20 * 60 * 1000  # a whole book on a busy machine

SETTLED = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await document.fonts.ready;
  await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
}"""


@contextmanager
def opened(file: Path) -> Iterator[Page]:
    """Open a file in a browser without a window, with its formulas typeset; close it after.

    Raises UsageError if there is no browser.
    """
    try:
        from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415
    except ImportError as missing:
        raise UsageError(HOW) from missing
    with sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=program(), args=[*OPTIONS])
        except Error as error:
            raise UsageError(HOW) from error
        try:
            page = browser.new_page(color_scheme="light")
            page.set_default_timeout(MILLISECONDS)
            page.goto(file.absolute().as_uri(), wait_until="load")
            page.evaluate(SETTLED)
            yield page
        finally:
            browser.close()


def program() -> str | None:
    """Find a browser of the system; None is the one that playwright has installed, if any."""
    return next(filter(None, map(shutil.which, NAMES)), None)
