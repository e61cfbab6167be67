"""Every launch link of a chapter leads to a notebook that the repository publishes."""

import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import editions
import pytest
import yaml
from booksite import ROOT, chapters
from bs4 import BeautifulSoup

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
URL, BRANCH = CONFIG["repository"]["url"], CONFIG["repository"]["branch"]
HUB = CONFIG["sphinx"]["config"]["course_jupyterhub"]
DOWNLOAD = re.compile(r"\{download\}`[^<]+<(?P<path>[^>]+)>`")


def tracked() -> set[str]:
    listing = ["git", "ls-files", "notebooks"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git repository: what is published is not known")
    return set(done.stdout.splitlines())


def colab(url: str) -> tuple[str, str, str]:
    """Read (repository, branch, file) from a link to Colab."""
    where, path = urlsplit(url).path.removeprefix("/github/").split("/blob/")
    branch, _, file = path.partition("/")
    return f"https://github.com/{where}", branch, file


def hub(url: str) -> tuple[str, str, str]:
    """Read (repository, branch, file) from a link to nbgitpuller, which clones into a folder."""
    (repository,), (branch,), (opened,) = parse_qs(urlsplit(url).query).values()
    application, folder, file = re.fullmatch(r"(lab/tree)/([^/]+)/(.+)", opened).groups()
    assert (application, folder) == ("lab/tree", repository.rsplit("/", 1)[-1])
    return repository, branch, file


def hrefs(html: str) -> list[str]:
    return [link["href"] for link in BeautifulSoup(html, "html.parser").find_all("a")]


@pytest.mark.parametrize("chapter", chapters())
def test_all_links_of_a_chapter_lead_to_its_notebook(chapter):
    download, *others = editions.launch_links(chapter, URL, BRANCH, HUB or "https://hub.test")
    in_colab, in_hub = (hrefs(link)[0] for link in others)
    file = DOWNLOAD.fullmatch(download)["path"].removeprefix("/")
    assert file in tracked()
    assert colab(in_colab) == hub(in_hub) == (URL.removesuffix(".git"), BRANCH, file)


@pytest.mark.slow
def test_the_pages_with_launch_links_are_the_chapters(pages):
    found = {name for name, soup in pages.items() if soup.select(".launch a")}
    assert found == {f"book/{chapter}.html" for chapter in chapters()}


@pytest.mark.slow
@pytest.mark.parametrize("chapter", chapters())
def test_a_page_offers_its_notebook_for_download(chapter, html, pages):
    page = f"book/{chapter}.html"
    (link,) = pages[page].select(".launch a.download")
    file = (html / page).parent / unquote(link["href"])
    committed = Path(ROOT, editions.notebook(chapter))
    assert file.name == committed.name
    assert file.read_bytes() == committed.read_bytes()


@pytest.mark.slow
def test_every_page_names_the_licences(pages):
    words = {name: " ".join(soup.select_one("footer.bd-footer-content").text.split())
             for name, soup in pages.items() if name.startswith("book/")}  # fmt: skip
    assert words
    assert not [name for name, text in words.items() if "CC BY 4.0. Code: MIT" not in text]


@pytest.mark.slow
def test_errors_are_reported_in_the_repository(pages):
    assert f"{URL}/issues/new" in [a["href"] for a in pages["book/errata.html"].select("article a")]
