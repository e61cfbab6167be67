"""The built book in a browser: both themes, a phone and a desk, offline."""

import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from booksite import chapters, toc

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
PAGES = [f"{page}.html" for page in [*toc(), "genindex", "search"]]
SETTLED = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
}"""
STATE = """() => ({
  page: document.documentElement.scrollWidth, window: window.innerWidth,
  theme: document.documentElement.dataset.theme,
  raw: [...document.querySelectorAll('.math')].filter(m => !m.querySelector('mjx-container'))
    .map(m => m.textContent),
  wrong: [...document.querySelectorAll('[data-mml-node="merror"]')].map(m => m.textContent),
  unseen: [...document.images].filter(i => !i.naturalWidth).map(i => i.src),
})"""

FAINT = """() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = colour => colour.slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const colour = numbers(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const words = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  return [...document.querySelectorAll('article *')].filter(words)
    .filter(e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .filter(e => !e.closest('mjx-container, .headerlink')).map(e => {
      const style = getComputedStyle(e), size = parseFloat(style.fontSize);
      const [a, b] = [light(numbers(style.color)), light(behind(e))].sort((x, y) => y - x);
      const big = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
      return [(a + 0.05) / (b + 0.05) / (big ? 3 : 4.5), e.className, e.textContent.slice(0, 40)];
    }).filter(([ratio]) => ratio < 1);
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and writes no log."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site(html):
    """Address of the book on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    """A Chromium of this machine; closed after this file, as it keeps an event loop running."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium on PATH: pages were not looked at in a browser")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Opens a page and returns its state with all that went wrong on it."""
    contexts = []

    def open_page(address, scheme="light", width=1280):
        window = {"width": width, "height": 900}
        contexts.append(browser.new_context(viewport=window, color_scheme=scheme))
        page, trouble = contexts[-1].new_page(), []
        watch(page, trouble, "{0.scheme}://{0.netloc}".format(urlsplit(address)))
        page.goto(address, wait_until="load")
        page.evaluate(SETTLED)
        faint = page.evaluate(FAINT)
        return page.evaluate(STATE) | {"trouble": trouble, "faint": faint}

    yield open_page
    for context in contexts:
        context.close()


def watch(page, trouble, home):
    """Note console errors, exceptions, failed requests and requests to other hosts."""
    page.on("console", lambda m: trouble.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda request: trouble.append(f"failed: {request.url}"))
    page.on("request", lambda r: None if is_local(r.url, home) else trouble.append(r.url))


def is_local(url, home):
    return url.startswith((home, "data:", "blob:"))


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_works(name, scheme, width, site, visit):
    state = visit(f"{site}/{name}", scheme, width)
    assert state["trouble"] == []
    assert state["theme"] == scheme
    assert state["page"] <= state["window"], "the page scrolls sideways"
    assert state["raw"] == [], "formulas that were not typeset"
    assert state["wrong"] == [], "formulas with an error in them"
    assert state["unseen"] == [], "pictures that did not load"
    assert state["faint"] == [], "words with too little contrast"


@pytest.mark.parametrize("chapter", chapters())
def test_a_chapter_works_from_a_folder(chapter, html, visit):
    state = visit(Path(html, "book", f"{chapter}.html").as_uri())
    assert state["trouble"] == []
    assert state["raw"] == []
    assert state["unseen"] == []


def test_the_search_finds_a_term(site, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site}/search.html?q=softmax")
        page.wait_for_selector("ul.search li a", timeout=20_000)
