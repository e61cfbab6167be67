"""A page loads what it uses, and the site holds what a page can reach.

The theme and its extensions put their scripts on every page, and bring source maps, translations
and formats of fonts that nothing asks for. Here both are taken out of the finished site.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

# A script or a style sheet -> the classes of which a page must show one to need it.
NEEDED_BY = {
    "fontawesome.js": set(),  # the style sheet draws the icons: see icons.py
    "searchtools.js": {"search"},  # the search page alone, as we do not search while one types
    "language_data.js": {"search"},
    "searchindex.js": {"search"},
    "clipboard.min.js": {"highlight"},
    "copybutton.js": {"highlight"},
    "copybutton.css": {"highlight"},
    "design-tabs.js": {"sd-tab-set"},
    "togglebutton.js": {"toggle", "dropdown"},
    "togglebutton.css": {"toggle", "dropdown"},
    "tex-svg.js": {"math"},
    "wide.js": {"math"},
}
TAG = re.compile(
    r'[ \t]*<(?:script|link)\b[^>]*\b(?:src|href)="(?:[^"?]*/)?([^"/?]+)[^"]*"[^>]*>'
    r"(?:</script>)?\n?"
)
CLASS = re.compile(r'\bclass="([^"]*)"')
SOURCE_MAP = re.compile(r"\n?/[/*]# sourceMappingURL=\S+?(?:\*/|$)", re.MULTILINE)
READ = {".css", ".html", ".js"}
LAW = ("LICENSE", "LICENCE", "NOTICE")


def drop_unused(page: str) -> str:
    """A page's HTML without scripts and style sheets for things that it does not show."""
    shown = {name for names in CLASS.findall(page) for name in names.split()}
    if 'id="search-results"' in page:
        shown.add("search")

    def keep(tag: re.Match[str]) -> str:
        needed = NEEDED_BY.get(tag[1])
        return tag[0] if needed is None or needed & shown else ""

    return TAG.sub(keep, page)


def drop_source_map(text: str) -> str:
    """A script or a style sheet that names no source map: the browser's tools would ask for it."""
    return SOURCE_MAP.sub("", text)


def reachable(site: Path) -> set[Path]:
    """Static files that a page, or a file that is reachable itself, names."""
    static = {file for file in (site / "_static").rglob("*") if file.is_file()}
    found = {file for file in static if file.name.upper().startswith(LAW)}
    new = {file for file in site.rglob("*.html") if file not in static}
    while new:
        text = "\n".join(f.read_text(encoding="utf-8") for f in new if f.suffix in READ)
        new = {file for file in static - found if file.name in text}
        found |= new
    return found


def lighten(site: Path) -> None:
    """Take out of a finished site what nothing uses."""
    static = site / "_static"
    for file in [file for file in site.rglob("*") if file.suffix in READ]:
        text = file.read_text(encoding="utf-8")
        light = drop_unused(text) if file.suffix == ".html" else drop_source_map(text)
        if light != text:
            file.write_text(light, encoding="utf-8")
    kept = reachable(site)
    for path in sorted(static.rglob("*"), reverse=True):  # what is in a folder before the folder
        if path.is_file() and path not in kept:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def finish(app: Sphinx, error: Exception | None) -> None:
    """Sphinx calls this when the site is written."""
    if error is None and app.builder.format == "html":
        lighten(Path(app.outdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once; 900 puts us behind those who still write into the site."""
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
