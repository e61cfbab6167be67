"""Figures that move: one script, on the pages that have such figures and on no others."""

import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

MARK = '<figure class="moving">'
SCRIPT = "moving/moving.js"
LICENSE = Path(__file__).with_name("vega-license.txt")  # what carries Vega must carry it
# Vega is wrapped in a function: its short names would meet those of other scripts.
WRAPPED = """\
/* Vega, Vega-Lite, Vega-Embed: see LICENSE.txt beside this file. */
(function () {{
{vega}
{glue}
}})();
"""
GLUE = """\
for (const figure of document.querySelectorAll("figure.moving")) {
  const spec = JSON.parse(figure.querySelector("script").textContent);
  const options = { renderer: "svg", actions: false };
  window.vegaEmbed(figure.querySelector(".moving-chart"), spec, options).then(({ view }) => {
    figure.view = view;
    figure.classList.add("alive");
  });
}"""


def has_moving(doctree: nodes.document | None) -> bool:
    """Whether a page has a figure that moves."""
    return any(MARK in raw.astext() for raw in doctree.findall(nodes.raw)) if doctree else False


def add_script(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Let a page load the script if it needs it."""
    if has_moving(doctree):
        app.add_js_file(SCRIPT, loading_method="defer")


def write_script(app: Sphinx, error: Exception | None) -> None:
    """Write the script beside the other static files of a finished site."""
    if error is not None or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", SCRIPT)
    target.parent.mkdir(parents=True, exist_ok=True)
    vega = import_module("vl_convert").javascript_bundle()
    target.write_text(WRAPPED.format(vega=vega, glue=GLUE), encoding="utf-8")
    shutil.copyfile(LICENSE, target.with_name("LICENSE.txt"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once; kernels that run the chapters inherit the variable."""
    os.environ["COURSE_BOOK"] = "1"
    app.connect("html-page-context", add_script)
    app.connect("build-finished", write_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
