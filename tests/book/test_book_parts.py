"""Parts of the book's platform that can be tried without building it."""

import re
from importlib.metadata import version
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import editions
import freshness
import mathjax
import pages
import pytest
import yaml
from booksite import ROOT, chapters, in_repository, toc
from docutils import nodes

REPOSITORY = "https://github.com/someone/a-course"
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
CSS = (ROOT / "book" / "_static" / "course.css").read_text(encoding="utf-8")


def test_jupyter_book_is_version_1():
    assert version("jupyter-book").split(".")[0] == "1"  # 2 builds nothing, and reports success


@pytest.mark.parametrize("page", toc())
def test_each_page_of_the_contents_has_a_source(page):
    assert in_repository(f"{page}.md")


@pytest.mark.parametrize("chapter", chapters())
def test_launch_links_name_a_file_of_the_repository(chapter):
    path = editions.notebook(chapter)
    assert in_repository(path)

    colab = urlsplit(editions.colab_url(REPOSITORY, "main", path))
    assert colab.path == f"/github/someone/a-course/blob/main/{path}"

    hub = urlsplit(editions.hub_url("https://hub.example.org/", REPOSITORY, "main", path))
    query = parse_qs(hub.query)
    assert query["repo"] == [REPOSITORY]
    assert query["urlpath"] == [f"lab/tree/a-course/{path}"]


def test_repository_address_may_end_like_a_clone():
    assert editions.colab_url(f"{REPOSITORY}.git", "v1", "a.ipynb") == (
        "https://colab.research.google.com/github/someone/a-course/blob/v1/a.ipynb"
    )


def test_no_link_to_a_hub_without_a_hub():
    assert len(editions.launch_links("02_x", REPOSITORY, "main", "")) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# T\ntext", "# T\n\nX\ntext"),
        ("---\n# a comment\n---\n# T\ntext", "---\n# a comment\n---\n# T\n\nX\ntext"),
        ("```\n# code\n```\n# T\n## U", "```\n# code\n```\n# T\n\nX\n## U"),
        ("(label)=\n# T", "(label)=\n# T\n\nX"),
    ],
)
def test_links_stand_below_the_title(before, after):
    assert editions.below_title(before, "X") == after


def test_a_chapter_without_title_is_refused():
    with pytest.raises(ValueError, match="a chapter needs a title"):
        editions.below_title("## too small", "X")


def test_a_chapter_is_expanded_to_its_edition(monkeypatch):
    book = SimpleNamespace(expand=lambda text, *names: "\n".join([text, *names]))
    monkeypatch.setattr(editions, "import_module", lambda name: book)
    options = {"repository_url": REPOSITORY, "repository_branch": "main"}
    config = SimpleNamespace(
        html_theme_options=options, course_jupyterhub="", course_edition="self-study"
    )
    source = ["# T"]
    editions.read_chapter(SimpleNamespace(config=config), "book/02_x", source)
    lines = source[0].split("\n")
    assert lines[2] == ":::{div} launch"
    assert lines[-2:] == ["02_x", "self-study"]


def test_other_pages_are_left_alone():
    source = ["# T"]
    editions.read_chapter(SimpleNamespace(), "book/notation", source)
    assert source == ["# T"]


def test_changed_code_gets_another_cache(tmp_path):
    for part in freshness.CODE:
        (tmp_path / part).mkdir(parents=True)
    module = tmp_path / "solutions" / "softmax.py"
    module.write_text("a = 1")
    before = freshness.code_state(tmp_path)
    assert freshness.code_state(tmp_path) == before
    module.write_text("a = 2")
    changed = freshness.code_state(tmp_path)
    module.rename(module.with_name("other.py"))
    assert len({before, changed, freshness.code_state(tmp_path)}) == 3


def test_mathjax_is_on_this_machine():
    script = mathjax.parts()[0]
    assert script.name == "tex-svg.js"
    assert script.stat().st_size > 1_000_000


@pytest.mark.parametrize(
    ("name", "body", "wanted"),
    [
        ("_static/course.css", "", True),
        (None, "window.MathJax = {}", True),
        ("_static/sphinx-thebe.js", "", False),
        (None, 'const thebe_selector = ".thebe"', False),
        ("https://cdn.example.org/x.js", "", False),
        ("//cdn.example.org/x.js", "", False),
    ],
)
def test_a_page_keeps_only_its_own_assets(name, body, wanted):
    assert pages.is_wanted(SimpleNamespace(filename=name, attributes={"body": body})) is wanted


def test_a_page_is_described_by_its_first_plain_paragraph():
    formula = nodes.paragraph("", "", nodes.math("", "x^2"))
    section = nodes.section("", formula, nodes.paragraph("", "Words. " * 50))
    doctree = nodes.section("", nodes.container("", nodes.paragraph("", "links")), section)
    text = pages.description(doctree)
    assert text.startswith("Words. Words.")
    assert len(text) <= pages.LONGEST


def test_warnings_are_not_suppressed():
    assert CONFIG["sphinx"]["config"]["suppress_warnings"] == []
    assert CONFIG["execute"]["raise_on_error"]
    assert not CONFIG["execute"]["allow_errors"]


def test_sources_stay_out_of_the_site():
    config = CONFIG["sphinx"]["config"]
    assert not config["html_copy_source"]
    assert not config["html_show_sourcelink"]
    assert not config["html_theme_options"]["use_download_button"]


@pytest.mark.parametrize("chapter", chapters())
def test_no_cell_separator_hides_in_a_chapter(chapter):
    text = (ROOT / "book" / f"{chapter}.md").read_text(encoding="utf-8")
    assert not re.search(r"^# %%", text, re.MULTILINE)  # jupytext would split the cell there


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_exercise_titles_have_enough_contrast(theme):
    block = re.search(rf'html\[data-theme="{theme}"\] {{(.*?)}}', CSS, re.DOTALL)[1]
    title, tint = (re.search(rf"--course-{name}: (#\w+)", block)[1] for name in ("title", "tint"))
    bright, dark = sorted((luminance(title), luminance(tint)), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour):
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_changed_style_sheet_is_a_new_look(tmp_path):
    for part in freshness.LOOK:
        (tmp_path / part).mkdir(parents=True)
    sheet = tmp_path / "book" / "_static" / "course.css"
    sheet.write_text("a {}")
    before = freshness.look_state(tmp_path)
    assert freshness.look_state(tmp_path) == before
    sheet.write_text("b {}")
    assert freshness.look_state(tmp_path) != before
