"""A chapter is executed again when the code that it imports has changed.

The cache of executed notebooks knows a notebook by its cells alone. A cell such as
`from solutions.softmax import softmax` stays the same when `softmax` changes, and the old
outputs would stay on the page. So each state of the code gets a cache of its own.

And a page is written again when a style sheet or an extension of ours has changed: Sphinx copies
no style sheet when it finds no page to write.
"""

import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

CODE = ("solutions", "autograder", "book/figures")
LOOK = ("book/_static", "book/_ext")
LIBRARIES = ("torch", "numpy", "matplotlib", "altair", "vl-convert-python")


def digest(files: Iterable[Path], root: Path) -> str:
    """Short name for the state of some files: their places and bytes."""
    state = hashlib.sha256()
    for file in sorted(files):
        state.update(file.relative_to(root).as_posix().encode())
        state.update(hashlib.sha256(file.read_bytes()).digest())
    return state.hexdigest()[:16]


def code_state(root: Path) -> str:
    """Name for the state of all code that a chapter can import."""
    files = digest((file for part in CODE for file in (root / part).rglob("*.py")), root)
    libraries = "-".join(version(name) for name in LIBRARIES)
    return hashlib.sha256(f"{files} {libraries}".encode()).hexdigest()[:16]


def choose_cache(app: Sphinx, config: Config) -> None:
    """Give the present state of the code its own folder of executed notebooks."""
    cache = Path(app.outdir).parent / ".jupyter_cache" / code_state(Path(app.srcdir))
    config.nb_execution_cache_path = str(cache)  # a new value makes Sphinx read all pages again


def look_state(root: Path) -> str:
    """Name for the state of what pages are dressed with."""
    parts = [(root / part).rglob("*") for part in LOOK]
    return digest(
        (f for part in parts for f in part if f.suffix in (".css", ".js", ".py", ".svg")), root
    )


def note_look(app: Sphinx, config: Config) -> None:
    """Let Sphinx compare the present look with that of the last build."""
    config.course_look = look_state(Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    app.add_config_value("course_look", "", "html")  # a new value: all pages are written again
    app.connect("config-inited", choose_cache)
    app.connect("config-inited", note_look)
    return {"parallel_read_safe": True}
