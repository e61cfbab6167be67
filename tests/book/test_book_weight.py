"""What a page costs: the site holds nothing that no page can reach, and pages keep to a budget."""

import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

import icons
import pytest
import weight
from booksite import chapters, toc
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st

KB = 1000
OWN = 400 * KB  # compressed bytes that a page adds to what every chapter loads
MOVING = 900 * KB  # the same for a page with figures that move
EVERY = 850 * KB  # what every chapter loads, most of it MathJax
PARTS = [("script", "src"), ("img", "src"), ("link[rel=stylesheet]", "href"), ("iframe", "src")]

slow = pytest.mark.slow


def loaded(html: Path, name: str, soup: BeautifulSoup) -> set[Path]:
    """Files that a page asks for when it is opened."""
    links = [tag[key] for part, key in PARTS for tag in soup.select(f"{part}[{key}]")]
    parts = [unquote(urlsplit(link).path) for link in links if not link.startswith("data:")]
    return {((html / name).parent / part).resolve() for part in parts}


def cost(files: set[Path]) -> int:
    """Bytes on the way to a reader, as a server compresses them."""
    return sum(len(gzip.compress(file.read_bytes(), 6)) for file in files)


def shared(html: Path, pages: dict[str, BeautifulSoup]) -> set[Path]:
    """Files that every chapter loads: a reader pays for them once."""
    names = [f"book/{chapter}.html" for chapter in chapters()]
    return set.intersection(*(loaded(html, name, pages[name]) for name in names))


@slow
@pytest.mark.parametrize("page", toc())
def test_a_page_keeps_to_its_budget(page, html, pages):
    name = f"{page}.html"
    files = loaded(html, name, pages[name]) - shared(html, pages)
    budget = MOVING if any(file.name == "moving.js" for file in files) else OWN
    assert cost({html / name, *files}) <= budget


@slow
def test_what_every_chapter_loads_keeps_to_its_budget(html, pages):
    assert cost(shared(html, pages)) <= EVERY


@slow
def test_every_file_that_a_page_loads_is_there(html, pages):
    wanted = {file for name, soup in pages.items() for file in loaded(html, name, soup)}
    assert wanted
    assert {file for file in wanted if not file.is_file()} == set()


@slow
def test_nothing_lies_in_the_site_that_no_page_reaches(html):
    static = {file for file in (html / "_static").rglob("*") if file.is_file()}
    assert static == weight.reachable(html)
    assert not list(html.rglob("*.map"))
    assert not list(html.rglob("fontawesome.js"))


@slow
def test_mathematics_and_the_search_index_come_where_they_are_used(html, pages):
    asked = {name: {f.name for f in loaded(html, name, soup)} for name, soup in pages.items()}
    assert "tex-svg.js" in asked["book/02_scaled_dot_product.html"]
    assert "searchindex.js" in asked["search.html"]
    assert not [name for name in asked if name != "search.html" and "searchindex.js" in asked[name]]
    assert not asked["search.html"] & {"tex-svg.js", "copybutton.js"}


@slow
def test_every_icon_of_a_page_is_in_the_font(html, pages):
    sheet = (html / icons.SHEET).read_text(encoding="utf-8")
    drawn = set(TTFont(html / icons.FONTS / "fa-solid-900.ttf").getBestCmap())
    shown = {name for soup in pages.values() for name in icons.names(map(str, soup.select("i")))}
    assert {"fa-sun", "fa-moon", "fa-magnifying-glass", "fa-angle-left"} <= shown
    for name in shown - {"fa-solid", "fa-lg"}:
        rules = [rule for rule in icons.RULE.finditer(sheet) if name in icons.NAME.findall(rule[1])]
        assert [rule for rule in rules if icons.signs(rule[0]) <= drawn], name
    assert 0xF0EB in drawn, "the lamp beside a tip"
    assert len(drawn) < 100


# Without the site


def rule(name: str, code: int) -> str:
    return f'.{name}:before{{content:"\\{code:x}"}}'


ICONS = st.dictionaries(
    st.from_regex(r"fa-[a-z]{1,8}", fullmatch=True), st.integers(0xE000, 0xF8FF), max_size=8
)


@given(ICONS, st.sets(st.from_regex(r"fa-[a-z]{1,8}", fullmatch=True)), st.data())
def test_icons_that_are_named_stay_and_no_others(known, more, data):
    wanted = set(data.draw(st.lists(st.sampled_from([*known, "fa-none"])))) | more
    sheet = "a{b:c}" + "".join(rule(name, code) for name, code in known.items()) + "d{e:f}"
    kept = icons.keep_rules(sheet, wanted)
    assert kept.startswith("a{b:c}")
    assert kept.endswith("d{e:f}")
    assert icons.signs(kept) == {code for name, code in known.items() if name in wanted}
    assert icons.keep_rules(kept, wanted) == kept


def test_an_icon_with_several_names_stays_for_each():
    sheet = '.fa-bars:before,.fa-navicon:before{content:"\\f0c9"}'
    assert icons.keep_rules(sheet, {"fa-navicon"}) == sheet
    assert icons.keep_rules(sheet, {"fa-bar"}) == ""


def test_a_sign_is_found_however_it_is_written():
    assert icons.signs('a{content:"\\f0c9"} b{--icon:"\uf0eb";content:"x"}') == {0xF0C9, 0xF0EB}


def test_a_script_stays_where_it_is_used():
    script = '<script src="../_static/copybutton.js?v=1"></script>\n'
    other = '<script src="../_static/paper.js"></script>\n'
    assert weight.drop_unused(f"{script}{other}<p class='x'>") == f"{other}<p class='x'>"
    used = f'{script}{other}<div class="output highlight">'
    assert weight.drop_unused(used) == used


def test_a_page_never_loads_the_script_of_the_icons():
    page = (
        '<script defer src="../_static/scripts/fontawesome.js?digest=5"></script>\n<i class="fa">'
    )
    assert weight.drop_unused(page) == '<i class="fa">'


def test_a_link_to_the_search_stays():
    page = '<link rel="search" title="Search" href="../search.html" />'
    assert weight.drop_unused(page) == page


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("f()\n//# sourceMappingURL=f.js.map", "f()"),
        ("a{}\n/*# sourceMappingURL=a.css.map*/", "a{}"),
        ("a{}\n\n/*# sourceMappingURL=a.css.map*/\nb{}", "a{}\n\nb{}"),
        ("f('sourceMappingURL')", "f('sourceMappingURL')"),
    ],
)
def test_a_source_map_is_not_named(text, without):
    assert weight.drop_source_map(text) == without


def test_what_nothing_names_is_taken_out(tmp_path):
    texts = {
        "index.html": '<link rel="stylesheet" href="_static/a.css"><p class="x">',
        "_static/a.css": "@import 'b.css'; /*# sourceMappingURL=a.css.map*/",
        "_static/b.css": "p {background: url(c.png)}",
        "_static/c.png": "",
        "_static/a.css.map": "a.css b.css",
        "_static/more/d.js": "e.js",
        "_static/e.js": "",
        "_static/more/LICENSE.txt": "",
        "_images/f.svg": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    weight.lighten(tmp_path)
    gone = {"_static/a.css.map", "_static/more/d.js", "_static/e.js"}
    left = {f.relative_to(tmp_path).as_posix() for f in tmp_path.rglob("*") if f.is_file()}
    assert left == set(texts) - gone
