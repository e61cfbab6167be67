"""The pages on paper: no navigation, nothing folded, nothing cut off, dark on white."""

import io

import pytest
from booksite import chapters, toc
from browsing import FAINT, opened

pytestmark = pytest.mark.slow

PAPER = {"width": 718, "height": 1000}  # A4 within margins of 1 cm, in the browser's pixels
AWAY = """#pst-primary-sidebar, #pst-secondary-sidebar, #pst-back-to-top, .bd-header-article,
  .prev-next-footer, .launch, button.copybtn, #jb-print-docs-body"""
PRINTED = """away => {
  // The MathML that nobody sees stands out of the box of its formula.
  document.querySelectorAll('mjx-assistive-mml').forEach(e => e.remove());
  const name = e => `${e.tagName} ${e.className} ${e.textContent.trim().slice(0, 40)}`;
  const inside = [...document.querySelectorAll('article *:not(mjx-container *, svg *)')]
    .filter(e => e.checkVisibility());
  const scrolls = e => e.scrollWidth > e.clientWidth + 1 &&
    getComputedStyle(e).overflowX !== 'visible';
  return {
    shown: [...document.querySelectorAll(away)].filter(e => e.checkVisibility()).map(name),
    titles: inside.filter(e => e.tagName === 'H1').length,
    folded: [...document.querySelectorAll('article details > :not(summary)')]
      .filter(e => !e.checkVisibility()).map(name),
    scrolling: inside.filter(e => e.clientWidth && scrolls(e)).map(name),
    beyond: inside.filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(name),
    theme: document.documentElement.dataset.theme,
    paper: getComputedStyle(document.body).backgroundColor,
  };
}"""


@pytest.fixture
def dark(browser):
    """A window of somebody who reads in the dark."""
    context = browser.new_context(viewport=PAPER, color_scheme="dark", reduced_motion="reduce")
    yield context
    context.close()


@pytest.mark.parametrize("name", toc())
def test_a_page_is_fit_for_paper(name, site, dark):
    page = opened(dark, f"{site}/{name}.html")
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    printed = page.evaluate(PRINTED, AWAY)
    assert printed["shown"] == [], "navigation"
    assert printed["titles"] == 1
    assert printed["folded"] == [], "parts that stay folded"
    assert printed["scrolling"] == [], "boxes that would have to be scrolled"
    assert printed["beyond"] == [], "parts beyond the edge of the paper"
    assert printed["paper"] == "rgb(255, 255, 255)"
    assert page.evaluate(FAINT) == []


def test_the_screen_is_dark_again_after_printing(site, dark):
    page = opened(dark, f"{site}/book/{chapters()[1]}.html")
    page.pdf(format="A4")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert page.evaluate("matchMedia('print').matches") is False


def test_a_printed_chapter_has_its_title_and_its_answers(site, dark):
    pypdf = pytest.importorskip("pypdf", reason="pypdf is not installed")
    page = opened(dark, f"{site}/book/{chapters()[1]}.html")
    answer = page.locator("article details.sd-dropdown").last.evaluate(
        "e => e.lastElementChild.textContent"
    )
    title = page.locator("article h1").evaluate("e => e.firstChild.textContent")
    reader = pypdf.PdfReader(io.BytesIO(page.pdf(format="A4")))
    words = " ".join(" ".join(sheet.extract_text() for sheet in reader.pages).split())
    assert title in words
    assert " ".join(answer.split())[:30] in words
