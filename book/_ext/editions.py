"""Each chapter is read as the edition being built, with links to its notebook under the title."""

import os
import re
from html import escape
from importlib import import_module
from urllib.parse import urlencode

from sphinx.application import Sphinx

CHAPTER = re.compile(r"book/(\d\d_\w+)")
FENCE = re.compile(r"(`{3,}|~{3,})")


def notebook(chapter: str) -> str:
    """Path of the student notebook of a chapter, from the root of the repository."""
    return f"notebooks/{chapter}/{chapter}.ipynb"


def colab_url(repository: str, branch: str, path: str) -> str:
    """Address at which Colab opens a notebook of a GitHub repository."""
    owner_and_name = repository.rstrip("/").removesuffix(".git").split("github.com/")[-1]
    return f"https://colab.research.google.com/github/{owner_and_name}/blob/{branch}/{path}"


def hub_url(hub: str, repository: str, branch: str, path: str) -> str:
    """Address at which a JupyterHub with nbgitpuller fetches the course and opens a notebook."""
    folder = repository.rstrip("/").removesuffix(".git").split("/")[-1]
    query = {"repo": repository, "branch": branch, "urlpath": f"lab/tree/{folder}/{path}"}
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{urlencode(query)}"


def launch_links(chapter: str, repository: str, branch: str, hub: str) -> list[str]:
    """Links to the student notebook of a chapter, in MyST."""
    path = notebook(chapter)
    links = [
        f"{{download}}`Student notebook </{path}>`",
        _link("Open in Colab", colab_url(repository, branch, path)),
    ]
    if hub:
        links.append(_link("Open in JupyterHub", hub_url(hub, repository, branch, path)))
    return links


def _link(text: str, url: str) -> str:
    """A link as HTML: from Markdown, MyST would escape each `&` of the address twice."""
    return f'<a class="reference external" href="{escape(url)}">{text}</a>'


def below_title(text: str, block: str) -> str:
    """Put a block under the first heading of a page; a comment in code is not a heading."""
    lines = text.split("\n")
    at = _title(lines)
    return "\n".join([*lines[: at + 1], "", block, *lines[at + 1 :]])


def _title(lines: list[str]) -> int:
    """Index of the line with the first heading, outside of front matter and code."""
    fence = "---" if lines[0] == "---" else ""
    for number, line in enumerate(lines[1:], start=1) if fence else enumerate(lines):
        if fence:
            fence = "" if line.strip() == fence else fence
        elif opened := FENCE.match(line):
            fence = opened[0]
        elif line.startswith("# "):
            return number
    raise ValueError("a chapter needs a title: a line that begins with '# '")


def read_chapter(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace a chapter's source by the text of the edition being built."""
    found = CHAPTER.fullmatch(docname)
    if found is None:
        return
    chapter, options = found[1], app.config.html_theme_options
    links = launch_links(
        chapter,
        options["repository_url"],
        options["repository_branch"],
        app.config.course_jupyterhub,
    )
    block = "\n".join([":::{div} launch", " · ".join(links), ":::"])
    expand = import_module("autograder.editions.book").expand
    source[0] = below_title(expand(source[0], chapter, app.config.course_edition), block)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once; the environment variable COURSE_EDITION names the edition."""
    edition = os.environ.get("COURSE_EDITION", "class")
    app.add_config_value("course_edition", edition, "env", [str])
    app.add_config_value("course_jupyterhub", "", "env", [str])
    app.connect("source-read", read_chapter)
    return {"parallel_read_safe": True}
