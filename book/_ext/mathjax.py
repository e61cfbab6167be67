"""Mathematics is typeset by a copy of MathJax inside the book, so a page needs no network."""

import shutil
from importlib.metadata import files
from pathlib import Path

from sphinx.application import Sphinx

PACKAGE = "sphinx-mathjax-offline"
SCRIPT = "tex-svg.js"  # TeX in, SVG out: one file, which needs no fonts


def parts(package: str = PACKAGE) -> list[Path]:
    """The script, and the text of its licence where the package carries one."""
    found = [file for file in files(package) or [] if _wanted(file.name)]
    if not any(file.name == SCRIPT for file in found):
        raise FileNotFoundError(f"{package} holds no {SCRIPT}")
    return [Path(str(file.locate())) for file in found]


def _wanted(name: str) -> bool:
    return name == SCRIPT or name.upper().startswith(("LICENSE", "LICENCE", "NOTICE"))


def copy_script(app: Sphinx, error: Exception | None) -> None:
    """Copy MathJax beside the other static files of a finished site."""
    if error is not None or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "mathjax")
    target.mkdir(parents=True, exist_ok=True)
    for file in parts():
        shutil.copyfile(file, target / file.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
