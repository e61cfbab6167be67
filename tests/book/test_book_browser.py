"""The built book in a browser: both themes, a phone and a desk, offline, and no barriers."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from booksite import chapters
from browsing import FAINT, PAGES, SETTLED, opened

pytestmark = pytest.mark.slow

SCHEMES = ("light", "dark")
STATE = """() => ({
  page: document.documentElement.scrollWidth, window: window.innerWidth,
  theme: document.documentElement.dataset.theme,
  raw: [...document.querySelectorAll('.math')].filter(m => !m.querySelector('mjx-container'))
    .map(m => m.textContent),
  wrong: [...document.querySelectorAll('[data-mml-node="merror"]')].map(m => m.textContent),
  unseen: [...document.images].filter(i => !i.naturalWidth).map(i => i.src),
})"""

# Rules of axe-core that are not asked of every page, with the reason.
NOT_ASKED = {
    "color-contrast": "takes four fifths of the time of all rules; FAINT measures every word in "
    "both themes, and one chapter is put to the rule as well",
    "empty-table-header": "takes a head that is a formula for nothing; those that are empty are "
    "mended, and test_book_barriers.py looks for them",
}


@pytest.fixture
def visit(browser):
    """Opens a page and returns it with all that went wrong on it."""
    contexts = []

    def open_page(address, scheme="light", width=1280):
        window = {"width": width, "height": 900}
        contexts.append(
            browser.new_context(viewport=window, color_scheme=scheme, reduced_motion="reduce")
        )
        page, trouble = contexts[-1].new_page(), []
        watch(page, trouble, "{0.scheme}://{0.netloc}".format(urlsplit(address)))
        page.goto(address, wait_until="load")
        page.evaluate(SETTLED)
        return page, trouble

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


def barriers(page, rules):
    """What axe-core finds on an open page: each rule with the places that break it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    options = {
        "resultTypes": ["violations"],
        "preload": False,
    }  # it looks for sheets in wrong places
    found = axe.run(page, options={**options, **rules}).response
    return {rule["id"]: [node["target"] for node in rule["nodes"]] for rule in found["violations"]}


def expect_no_fault(page):
    """Check all that can be seen on an open page, in the theme that it has now."""
    state = page.evaluate(STATE)
    assert state["page"] <= state["window"], "the page scrolls sideways"
    assert state["raw"] == [], "formulas that were not typeset"
    assert state["wrong"] == [], "formulas with an error in them"
    assert state["unseen"] == [], "pictures that did not load"
    assert page.evaluate(FAINT) == [], "words with too little contrast"
    assert barriers(page, {"rules": {rule: {"enabled": False} for rule in NOT_ASKED}}) == {}


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_works(name, width, site, visit):
    page, trouble = visit(f"{site}/{name}", "light", width)
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
        expect_no_fault(page)
    assert trouble == []


@pytest.mark.parametrize("chapter", chapters())
def test_a_chapter_works_from_a_folder(chapter, html, visit):
    page, trouble = visit(Path(html, "book", f"{chapter}.html").as_uri(), "dark")
    state = page.evaluate(STATE)
    assert trouble == []
    assert state["theme"] == "dark"
    assert state["raw"] == []
    assert state["unseen"] == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_no_word_too_faint_in_a_chapter(scheme, site, visit):
    page, _ = visit(f"{site}/book/{chapters()[1]}.html", scheme)
    assert barriers(page, {"runOnly": ["color-contrast"]}) == {}


def test_a_barrier_is_found(browser):
    with browser.new_context() as context:
        page = opened(context, "data:text/html,<title>t</title><img src='data:,'>")
        assert "image-alt" in barriers(page, {})
