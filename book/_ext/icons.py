"""Icons come from a font of those that the pages show, and need no script.

The theme brings all 2,000 icons of Font Awesome twice: as fonts with a style sheet, and as a
script of 1.5 MB that draws each icon again as soon as the page has loaded. The first is enough.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset
from sphinx.application import Sphinx

SHEET = "_static/styles/pydata-sphinx-theme.css"
FONTS = "_static/vendor/fontawesome/webfonts"
NAME = re.compile(r"fa-[\w-]+")
RULE = re.compile(r'((?:\.fa-[\w-]+::?before,?)+)\{content:"[^"]*"\}')
SIGN = re.compile(r'"(?:\\([0-9a-fA-F]{2,6})|([\ue000-\uf8ff]))"')  # escaped, or the sign itself
WOFF2 = re.compile(r'url\([^)]*\.woff2\) format\("woff2"\),')


def names(texts: Iterable[str]) -> set[str]:
    """Icons that pages and scripts name."""
    return {name for text in texts for name in NAME.findall(text)}


def keep_rules(sheet: str, wanted: set[str]) -> str:
    """A style sheet with the rules of these icons only, which asks for one format of font."""

    def keep(rule: re.Match[str]) -> str:
        return rule[0] if wanted.intersection(NAME.findall(rule[1])) else ""

    return WOFF2.sub("", RULE.sub(keep, sheet))


def signs(sheet: str) -> set[int]:
    """Code points that a style sheet writes before or after something."""
    return {int(escaped, 16) if escaped else ord(sign) for escaped, sign in SIGN.findall(sheet)}


def keep_glyphs(font: Path, points: set[int]) -> None:
    """Cut a font down to these code points; the same font gives the same bytes."""
    options = subset.Options(
        ignore_missing_unicodes=True, recalc_timestamp=False, notdef_glyph=True
    )
    loaded = subset.load_font(str(font), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=points)
    cutter.subset(loaded)
    subset.save_font(loaded, str(font), options)


def trim(site: Path) -> None:
    """Leave the icons of a finished site that something shows."""
    pages = [file for file in site.rglob("*.html") if "_static" not in file.parts]
    scripts = [f for f in (site / "_static").rglob("*.js") if f.name != "fontawesome.js"]
    wanted = names(file.read_text(encoding="utf-8") for file in [*pages, *scripts])
    sheet = site / SHEET
    sheet.write_text(keep_rules(sheet.read_text(encoding="utf-8"), wanted), encoding="utf-8")
    points = set().union(*(signs(f.read_text(encoding="utf-8")) for f in site.rglob("*.css")))
    for font in (site / FONTS).glob("*.ttf"):
        keep_glyphs(font, points)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Sphinx calls this when the site is written."""
    if error is None and app.builder.format == "html":
        trim(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
