"""Where things lie: the book, the notebooks, what is built from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.catalogue import exercises
from autograder.usage import UsageError


class NotACourse(UsageError):  # noqa: N818 - what happened, not that it is an error
    """No course folder was found; the message says where we looked and what to do."""


@dataclass(frozen=True)
class Course:
    """A copy of the course: the folder that holds `_config.yml` and `book/`."""

    root: Path

    @property
    def book(self) -> Path:
        """The chapters, as MyST notebooks."""
        return self.root / "book"

    @property
    def built(self) -> Path:
        """Everything that is made and can be deleted."""
        return self.root / "_build"

    def chapters(self) -> list[str]:
        """List the chapters that have exercises and a text."""
        known = {exercise.chapter for exercise in exercises().values()}
        return sorted(name for name in known if self.text(name).is_file())

    def text(self, chapter: str) -> Path:
        """Where the text of a chapter lies."""
        return self.book / f"{chapter}.md"

    def student_notebook(self, chapter: str) -> Path:
        """Where the notebook that students get lies; it is committed."""
        return self.root / "notebooks" / chapter / f"{chapter}.ipynb"

    def instructor_notebook(self, chapter: str) -> Path:
        """Where the notebook with answers lies; it is built, never committed."""
        return self.built / "source" / chapter / f"{chapter}.ipynb"

    def repository(self) -> tuple[str, str]:
        """Read the address and the branch that notebooks install the course from."""
        text = (self.root / "_config.yml").read_text(encoding="utf-8")
        return _setting(text, "url"), _setting(text, "branch")

    def setting(self, key: str) -> str:
        """Read a line of `_config.yml` that stands outside of any block."""
        text = (self.root / "_config.yml").read_text(encoding="utf-8")
        found = re.search(rf"^{key}:[ \t]*[\"']?([^\"'#\n]*[^\s\"'#])", text, re.MULTILINE)
        if not found:
            raise NotACourse(f"_config.yml has no `{key}`; add the line.")
        return found[1]


def find_course(*starts: Path) -> Course:
    """Find the course folder at or above one of the starts, or beside this package.

    Raises NotACourse.
    """
    package = Path(__file__).resolve().parent
    for start in (*starts, Path.cwd(), package):
        for folder in (start.resolve(), *start.resolve().parents):
            if (folder / "_config.yml").is_file() and (folder / "book").is_dir():
                return Course(folder)
    raise NotACourse(
        f"No course folder at or above {Path.cwd()}: it holds _config.yml and book/. "
        "Clone the course's repository and run this command inside it."
    )


def _setting(text: str, key: str) -> str:
    """Read one line of the `repository` block, without a YAML parser."""
    block = re.search(r"^repository:[^\n]*\n(?P<body>(?:[ \t]+[^\n]*\n?|\n)*)", text, re.MULTILINE)
    line = rf"^[ \t]+{key}:[ \t]*[\"']?([^\s\"'#]+)"
    found = block and re.search(line, block["body"], re.MULTILINE)
    if not found:
        raise NotACourse(f"_config.yml has no `{key}` under `repository`; add the line.")
    return found[1]
