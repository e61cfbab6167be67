"""The figures that move, on the built pages: they come to life, and each control moves them."""

import re
from pathlib import Path

import pytest
from booksite import ROOT, chapters, read
from browsing import opened

pytestmark = pytest.mark.slow

USED = re.compile(r"^from book\.figures\.(?!style\b)(\w+) import", re.MULTILINE)
WITH_FIGURES = [c for c in chapters() if USED.search(read(ROOT / "book" / f"{c}.md"))]
DRAWN = "figure => figure.querySelector('.moving-chart svg').innerHTML"
BARE = """figure => [...figure.querySelectorAll('input, select')]
  .filter(control => !control.labels.length).map(control => control.outerHTML)"""


@pytest.fixture(params=WITH_FIGURES)
def figures(request, html, browser):
    """The figures of a chapter, opened from a folder, with their scripts run."""
    with browser.new_context(viewport={"width": 320, "height": 900}) as context:
        page = opened(context, Path(html, "book", f"{request.param}.html").as_uri())
        page.wait_for_selector("figure.moving.alive", timeout=30_000)
        yield page.locator("figure.moving").all()


def test_every_control_moves_its_figure_by_keyboard(figures):
    for figure in figures:
        figure.locator(".moving-chart svg").wait_for()
        assert figure.locator("> img").is_hidden()
        assert figure.evaluate(BARE) == []
        still = [name for name, moved in tried(figure) if not moved]
        assert still == []


def tried(figure):
    """Move each control alone; yield its name, and whether the drawing changed."""
    figure.evaluate("figure => { figure.start = figure.view.getState() }")
    for control in figure.locator("input, select").all():
        name = control.evaluate("e => e.name + ' ' + e.labels[0].textContent")
        if name.split(" ", 1)[1].startswith("my own"):  # counts for a model of one's own alone
            continue
        yield name, any(changed(figure, control, key) for key in keys(control))
        figure.evaluate("figure => void figure.view.setState(figure.start)")


def keys(control):
    """What to press so that a control changes wherever it stands."""
    box = control.evaluate("e => e.type === 'checkbox'")
    return ["Space"] if box else ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]


def changed(figure, control, key):
    before = figure.evaluate(DRAWN)
    control.press(key)
    figure.evaluate("async figure => void (await figure.view.runAsync())")
    return figure.evaluate(DRAWN) != before


def test_every_figure_of_the_folder_is_in_a_chapter():
    made = {
        path.stem
        for path in (ROOT / "book" / "figures").glob("*.py")
        if "Moving(" in read(path) and path.stem != "moving"
    }
    used = {name for c in WITH_FIGURES for name in USED.findall(read(ROOT / "book" / f"{c}.md"))}
    assert made == used - {"moving"}
    assert len(made) >= 8


def test_the_script_has_the_licence_of_vega_beside_it(html):
    licence = read(html / "_static" / "moving" / "LICENSE.txt")
    assert "University of Washington" in licence
    assert "THIS SOFTWARE IS PROVIDED" in licence
    assert (html / "_static" / "moving" / "moving.js").is_file()
