"""The built book, page by page, without a browser."""

import re
from copy import copy
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from anywhere import ANYWHERE
from booksite import ROOT, chapters, in_repository, toc

from autograder.editions.plain import equation_numbers

pytestmark = pytest.mark.slow

EXTERNAL = re.compile(r"(?:https?:)?//")
ADDRESSES = [("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")]
LABELS = [r"^\(([\w-]+)\)=$", r"^\s*:name:\s+(\S+)$", r"^\s+name:\s+(fig-\S+)$"]
LEFTOVERS = re.compile(r"\$|\\[(\[]|\\[a-zA-Z]{2,}|:::|```|\{[a-z][\w:-]*\}`|\)=\s*$")
PAGE_BYTES = 3_000_000  # a page with its pictures
MARKS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN TESTS")
SHORTEST = 20  # an answer's line with fewer characters may stand in any program


def answer_lines():
    """Each line long enough to be recognised that stands between solution markers."""
    block = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
    texts = [file.read_text(encoding="utf-8") for file in sorted(ROOT.glob("solutions/*.py"))]
    answers = "\n".join(answer for text in texts for answer in block.findall(text))
    lines = {line for line in map(squeeze, answers.split("\n")) if len(line) > SHORTEST}
    return lines - ANYWHERE


def squeeze(text):
    return " ".join(text.split())


def texts(html):
    """Every text file of a site, as written and, for pages, also as read."""
    for file in sorted(html.rglob("*")):
        if file.suffix in {".html", ".js", ".json", ".ipynb", ".md", ".txt", ".py", ".inv"}:
            yield file.relative_to(html), file.read_text(encoding="utf-8", errors="replace")


def prose(soup):
    """What a reader sees as running text: no code, no formula, no script."""
    soup = copy(soup)
    for part in soup.select("script, style, code, pre, .math, .cell_output, head"):
        part.decompose()
    return soup.get_text("\n")


def test_the_book_builds_without_a_warning(build):
    assert build.status == 0, build.log[-5000:]


@pytest.mark.parametrize("page", toc())
def test_every_page_is_there_with_its_labels(page, pages):
    soup = pages[f"{page}.html"]
    assert len(soup.select("article h1")) == 1
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert not wanted_ids(page) - set(ids)


def wanted_ids(page):
    text = (ROOT / f"{page}.md").read_text(encoding="utf-8")
    names = {name for label in LABELS for name in re.findall(label, text, re.MULTILINE)}
    equations = re.findall(r"^\s*:label:\s+(\S+)$", text, re.MULTILINE)
    return {name.lower().replace("_", "-") for name in names} | {
        f"equation-{name.lower().replace('_', '-')}" for name in equations
    }


def test_no_answer_is_anywhere_in_the_site(html, pages):
    lines, found = answer_lines(), []
    assert lines
    for name, text in texts(html):
        read = pages[name.as_posix()].get_text() if name.as_posix() in pages else ""
        flat = squeeze(text.replace('\\"', '"')) + squeeze(read)
        found += [f"{name}: {line}" for line in lines if line in flat]
        found += [f"{name}: {mark}" for mark in MARKS if mark in flat]
    assert not found


def test_sources_are_not_published(html):
    assert not (html / "_sources").exists()
    assert not [file for file in html.rglob("*.md") if "_static" not in file.parts]


def test_every_picture_says_what_it_shows(pages):
    silent = [
        f"{name}: {image.get('src')}: {image.get('alt')}"
        for name, soup in pages.items()
        for image in soup.find_all("img")
        if not says_something(image.get("alt", ""))
    ]
    assert not silent


def says_something(alt):
    """Whether it is a sentence, and not the name of a file."""
    return len(alt.split()) >= 3 and not re.search(r"\.(png|svg|jpe?g)\b|[0-9a-f]{16}|\$", alt)


def test_nothing_comes_from_another_host(html, pages):
    asked = [
        f"{name}: {part[attribute]}"
        for name, soup in pages.items()
        for tag, attribute in ADDRESSES
        for part in soup.find_all(tag, {attribute: EXTERNAL})
    ]
    for file in html.rglob("*.css"):
        text = file.read_text(encoding="utf-8")
        asked += re.findall(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]+)""", text)
    assert not asked


@pytest.mark.parametrize("chapter", chapters())
def test_launch_links_lead_to_a_file_of_the_repository(chapter, pages):
    links = pages[f"book/{chapter}.html"].select("h1 ~ .launch a")
    colab, hub = (urlsplit(link["href"]) for link in links if "download" not in link["class"])
    assert in_repository(colab.path.split("/blob/main/")[1])
    assert in_repository(parse_qs(hub.query)["urlpath"][0].split("/", 3)[3])


@pytest.mark.parametrize("page", toc())
def test_no_markup_is_left_in_the_text(page, pages):
    lines = prose(pages[f"{page}.html"]).split("\n")
    assert not [line for line in lines if LEFTOVERS.search(line)]


def test_every_internal_link_leads_somewhere(html, pages):
    ids = {name: {tag["id"] for tag in soup.find_all(id=True)} for name, soup in pages.items()}
    broken = [
        f"{name}: {address}"
        for name, soup in pages.items()
        for address in addresses(soup)
        if not leads_somewhere(html, name, address, ids)
    ]
    assert not broken


def addresses(soup):
    """Everything that a page refers to within the site."""
    found = [part[key] for key in ("href", "src") for part in soup.find_all(**{key: True})]
    moved = soup.find_all(content=re.compile("url="))
    found += [part["content"].split("url=")[1] for part in moved]
    return {address for address in found if not re.match(r"[a-z]+:|//|#?$", address)}


def leads_somewhere(html, page, address, ids):
    parts = urlsplit(address)
    target = (html / page).parent / unquote(parts.path) if parts.path else html / page
    if not target.is_file():
        return False
    name = Path(target).resolve().relative_to(html.resolve()).as_posix()
    return not parts.fragment or unquote(parts.fragment) in ids.get(name, ())


@pytest.mark.parametrize("page", toc())
def test_a_page_is_not_heavy(page, html, pages):
    pictures = {image["src"] for image in pages[f"{page}.html"].find_all("img")}
    file = html / f"{page}.html"
    local = [file.parent / unquote(src) for src in pictures if not src.startswith("data:")]
    assert sum(part.stat().st_size for part in [file, *local]) <= PAGE_BYTES


def test_pages_describe_themselves(pages):
    bare = [
        name
        for name, soup in pages.items()
        if name != "index.html" and not soup.find("meta", {"name": "description", "content": True})
    ]
    assert not bare


def test_no_path_of_this_machine_is_in_the_site(html):
    places = {f"{place}/" for place in (ROOT, Path.home(), html.parent) if place != Path("/")}
    found = [f"{name}: {place}" for name, text in texts(html) for place in places if place in text]
    assert not found


@pytest.mark.parametrize("chapter", chapters())
def test_equations_have_the_numbers_of_the_notebook(chapter, pages):
    text = (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")
    shown = {
        box["id"].removeprefix("equation-"): int(box.select_one(".eqno").text.strip("()¶# "))
        for box in pages[f"book/{chapter}.html"].select("div.math[id^=equation-]")
    }
    assert shown
    assert shown == equation_numbers(text)
