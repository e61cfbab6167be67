"""Build the web book, in one edition."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from autograder.course import Course

STRICT = ("-n", "-W", "--keep-going")
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
REDIRECT = '<meta http-equiv="Refresh" content="0; url=book/index.html" />\n'


def build(course: Course, edition: str) -> Path | None:
    """Build an edition, warnings as errors, and return its first page; None if it failed.

    edition  "class" or "self-study"
    """
    if edition == "class":
        return _class(course)
    return _self_study(course)


def _class(course: Course) -> Path | None:
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(course.root), *STRICT]
    environment = {**os.environ, "COURSE_EDITION": "class"}
    done = subprocess.run(command, env=environment, check=False)
    index = course.built / "html" / "index.html"
    return index if done.returncode == 0 and index.is_file() else None


def _self_study(course: Course) -> Path | None:
    out = course.built / "html-self-study"
    status = import_module("jupyter_book.sphinx").build_sphinx(
        course.root,
        out,
        noconfig=True,
        path_config=course.root / "_config.yml",
        doctreedir=course.built / ".doctrees-self-study",
        confoverrides={
            "external_toc_path": str(course.root / "_toc.yml"),
            "latex_individualpages": False,
            "nitpicky": True,
            "course_edition": "self-study",
        },
        warningiserror=True,
        keep_going=True,
    )
    if status != 0:  # a number, or the exception that ended the build
        return None
    index = out / "index.html"
    index.write_text(REDIRECT, encoding="utf-8")
    return index
