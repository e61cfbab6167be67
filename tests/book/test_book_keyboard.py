"""Whoever has no mouse reaches and opens everything in a chapter, and sees where they are."""

import pytest
from booksite import chapters
from browsing import opened

pytestmark = pytest.mark.slow

LONGEST = 1000  # steps from the first to the last thing that can be reached
RING = "s => [s.outlineStyle, s.outlineWidth, s.outlineColor, s.boxShadow].join(' ')"
CONTROLS = f"""() => {{
  document.activeElement.blur();
  const ring = {RING};
  const all = document.querySelectorAll('article :is(summary, button, input, select, textarea), ' +
    '.theme-switch-button, .search-button__button, .sidebar-toggle');
  return [...all].filter(e => e.checkVisibility()).map((e, number) => {{
    e.dataset.control = number;
    e.dataset.ring = ring(getComputedStyle(e));
    return number;
  }});
}}"""
FOCUS = f"""() => {{
  const ring = {RING};
  const e = document.activeElement, style = getComputedStyle(e);
  const [lined, shadowed] = [style.outlineStyle !== 'none', style.boxShadow !== 'none'];
  return {{
    control: e.dataset.control === undefined ? null : Number(e.dataset.control),
    seen: style.opacity > 0.9 && (lined || shadowed) && ring(style) !== e.dataset.ring,
    name: e.outerHTML.slice(0, 80),
    out: e === document.body || e.closest('#pst-skip-link') !== null,
  }};
}}"""


@pytest.fixture
def context(browser):
    """A window without animations: a ring that fades in is there at once."""
    window = {"width": 1280, "height": 900}
    opened_context = browser.new_context(viewport=window, reduced_motion="reduce")
    opened_context.add_init_script(
        """addEventListener("DOMContentLoaded", () => document.head.insertAdjacentHTML(
             "beforeend", "<style>* {transition: none !important}</style>"))"""
    )
    yield opened_context
    opened_context.close()


def stops(page):
    """Everything at which the Tab key stops, from the first link once around the page."""
    page.locator("#pst-skip-link a").focus()
    for _ in range(LONGEST):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop["out"]:
            return
        yield stop
    pytest.fail(f"the Tab key did not get around the page in {LONGEST} steps")


def open_all(page):
    """Open each folded part by keyboard, in the order of the page; count those that stay shut."""
    for summary in page.locator("article summary").all():
        if not summary.evaluate("e => e.parentElement.open"):
            summary.press("Enter")
    return page.locator("article details:not([open])").count()


@pytest.mark.parametrize("chapter", chapters())
def test_the_tab_key_reaches_every_control_and_shows_where_it_is(chapter, site, context):
    page = opened(context, f"{site}/book/{chapter}.html")
    assert open_all(page) == 0
    controls = page.evaluate(CONTROLS)
    found = list(stops(page))
    assert controls
    assert set(controls) <= {stop["control"] for stop in found}
    assert [s["name"] for s in found if s["control"] is not None and not s["seen"]] == []


@pytest.fixture
def chapter(site, context):
    """A chapter's page."""
    return opened(context, f"{site}/book/{chapters()[1]}.html")


def test_a_copy_button_works_by_keyboard(chapter):
    chapter.locator("article button.copybtn >> visible=true").first.press("Enter")
    chapter.wait_for_selector("button.copybtn.success", timeout=5000)
    assert chapter.locator("button.copybtn.success").count() == 1


def test_the_theme_is_switched_by_keyboard(chapter):
    before = chapter.evaluate("document.documentElement.dataset.theme")
    chapter.locator(".theme-switch-button").press("Enter")
    assert chapter.evaluate("document.documentElement.dataset.theme") != before


def test_the_search_works_by_keyboard(chapter):
    chapter.locator(".search-button-field").press("Enter")
    chapter.keyboard.type("softmax")
    chapter.keyboard.press("Enter")
    chapter.wait_for_selector("ul.search li a", timeout=20_000)
    assert "q=softmax" in chapter.url


def test_the_contents_open_and_close_by_keyboard_on_a_phone(chapter):
    chapter.set_viewport_size({"width": 320, "height": 640})
    window = chapter.locator("#pst-primary-sidebar-modal")
    chapter.locator(".primary-toggle").press("Enter")
    assert window.evaluate("e => e.open && e.contains(document.activeElement)")
    chapter.keyboard.press("Escape")
    assert not window.evaluate("e => e.open")
