"""What every page carries in its head: no foreign script or style, and a description."""

import textwrap
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LONGEST = 160  # characters of a description that search engines show


def is_wanted(asset: Any) -> bool:
    """Whether a script or style belongs on a page.

    sphinx-thebe puts its script on each page twice, which raises an exception in the browser,
    and we have no use for it. Nothing may come from another host.
    """
    name = str(asset.filename or "")
    text = f"{name} {asset.attributes.get('body', '')}"
    return "thebe" not in text and not name.startswith(("http:", "https:", "//"))


def description(doctree: nodes.document | None) -> str:
    """First paragraph of a page's running text that holds no formula; maybe empty."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else []:
        plain = not any(paragraph.findall(nodes.math))
        if plain and isinstance(paragraph.parent, nodes.section):
            return textwrap.shorten(paragraph.astext(), LONGEST, placeholder=" …")
    return ""


def drop_thebe(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Take out the settings that sphinx-thebe writes at the end of each page."""
    for node in list(doctree.findall(nodes.raw)):
        if "thebe" in node.astext() or node.astext().startswith("<script>kernelName"):
            node.parent.remove(node)


def finish_page(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Clean the assets of a page and describe it, unless its front matter did."""
    for kind in ("script_files", "css_files"):
        context[kind] = [asset for asset in context[kind] if is_wanted(asset)]
    tags = context.get("metatags") or ""
    if 'name="description"' not in tags:
        text = description(doctree) or f"{context.get('title', '')}: {app.config.html_title}"
        context["metatags"] = f'{tags}\n<meta name="description" content="{escape(text)}" />'


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once; 999 puts us behind every other extension."""
    app.connect("doctree-resolved", drop_thebe, priority=999)
    app.connect("html-page-context", finish_page, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
