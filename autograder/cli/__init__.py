"""The command line: reads arguments, runs one command, and says what went wrong in one line.

Each command is a module of this package, loaded when it is asked for: `course exercises` works
with torch alone, `course doctor` with nothing at all.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from autograder.usage import UsageError

OK, FAILED, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130

EXTRA_OF = {
    "nbgrader": "grade",
    "nbclient": "grade",
    "nbformat": "grade",
    "jupytext": "grade",
    "traitlets": "grade",
    "sqlalchemy": "grade",
    "alembic": "grade",
    "IPython": "grade",
    "distributed": "cluster",
    "psycopg": "postgres",
    "pybtex": "book",
    "jupyter_book": "book",
    "sphinx": "book",
    "sphinx_external_toc": "book",
    "bs4": "book",
    "pypdf": "book",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0: done, whatever the marks; 1: something failed, and was named; 2: bad usage.
    """
    arguments = _parser().parse_args(argv)
    try:
        module = arguments.command.replace("-", "_")
        return int(import_module(f"autograder.cli.{module}").run(arguments))
    except UsageError as problem:
        return stop(BAD_USAGE, str(problem))
    except ModuleNotFoundError as missing:
        return stop(FAILED, _how_to_get(missing))
    except KeyboardInterrupt:
        return stop(INTERRUPTED, "stopped.")
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:  # no traceback of ours reaches a user who did not ask for it
        if os.environ.get("COURSE_DEBUG"):
            raise
        return stop(FAILED, f"{type(error).__name__}: {error} (COURSE_DEBUG=1 shows where)")


def stop(status: int, message: str) -> int:
    """Print one line on stderr and return the status."""
    print(f"course: {message}", file=sys.stderr)
    return status


def _how_to_get(missing: ModuleNotFoundError) -> str:
    top = (missing.name or "").split(".")[0]
    if top not in EXTRA_OF:
        return f"the module {missing.name} is missing; `course doctor` says what else is."
    return f'{top} is missing. Get it with: pip install "transformer-course[{EXTRA_OF[top]}]"'


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        sys.exit(stop(BAD_USAGE, f"{message}. Try `{self.prog} --help`."))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="course", description="Build the course, check and grade notebooks.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _notebooks(commands)
    _book(commands)
    _add(commands, "downloads", "Make one PDF and one EPUB of the book that `course book` built.")
    _check(commands)
    _grade(commands)
    _export(commands)
    _class_bundle(commands)
    _lists(commands)
    return parser


def _add(commands: Any, name: str, words: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=words, description=words)
    return parser


def _notebooks(commands: Any) -> None:
    one = _add(commands, "notebooks", "Make student and instructor notebooks from the chapters.")
    one.add_argument("--check", action="store_true", help="write nothing; exit 1 if any is stale")


def _book(commands: Any) -> None:
    one = _add(commands, "book", "Build the web book; any warning is an error.")
    one.add_argument("--edition", choices=("class", "self-study"), default="class")


def _check(commands: Any) -> None:
    one = _add(commands, "check", "Grade one notebook. Exit status 1 if it cannot be read.")
    one.add_argument("file", type=Path, metavar="FILE.ipynb")
    one.add_argument("--json", action="store_true", help="print one JSON record")
    one.add_argument("--seed-file", type=Path, metavar="F", help="text that inputs are drawn from")
    _sandbox(one)


def _grade(commands: Any) -> None:
    one = _add(commands, "grade", "Grade a class: SUBMITTED/<student>/<chapter>/<chapter>.ipynb.")
    one.add_argument("submitted", type=Path, metavar="SUBMITTED", help="a folder or a zip")
    one.add_argument("--out", type=Path, metavar="DIR", required=True, help="results and gradebook")
    one.add_argument("--chapter", metavar="C", help="the chapter to grade, if there are several")
    one.add_argument("--seed-file", type=Path, metavar="F", help="text that inputs are drawn from")
    one.add_argument("--jobs", type=_count, metavar="N", help="workers, as many as cores else")
    one.add_argument("--scheduler", metavar="ADDR", help="of a Dask cluster, instead of --jobs")
    one.add_argument("--db", metavar="URL", help="PostgreSQL for records and gradebook")
    one.add_argument("--trust-students", action="store_true", help="grade without a sandbox")
    _sandbox(one)


def _export(commands: Any) -> None:
    one = _add(commands, "export", "Write marks as files that a learning platform takes.")
    one.add_argument("folder", type=Path, metavar="DIR", help="the folder of `course grade --out`")
    one.add_argument("--to", required=True, choices=("canvas", "moodle", "csv", "gradescope"))
    one.add_argument("--roster", type=Path, metavar="FILE", help="the platform's list of students")
    one.add_argument("--chapter", metavar="C", help="of which chapter; all if left out")
    one.add_argument("--db", metavar="URL", help="of the gradebook, if it is not in DIR")


def _class_bundle(commands: Any) -> None:
    words = "Make the zip for a chapter's students: the notebook, and a check without answers."
    one = _add(commands, "class-bundle", words)
    one.add_argument("chapter", metavar="CHAPTER", help="its name or number: 02")
    one.add_argument("--out", type=Path, metavar="FILE.zip", help="instead of _build/bundles/")


def _sandbox(one: argparse.ArgumentParser) -> None:
    tiers = ("namespaces", "landlock", "none")
    one.add_argument("--sandbox", choices=tiers, help="instead of the best there is")


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is no number of workers")
    return int(text)


def _lists(commands: Any) -> None:
    one = _add(commands, "exercises", "List every exercise.")
    one.add_argument("--json", action="store_true", help="print a JSON list")
    one = _add(commands, "mistakes", "Try every known mistake and alternative on every case.")
    one.add_argument("id", nargs="?", metavar="ID", help="of one exercise; all if left out")
    one.add_argument("--json", action="store_true", help="print a JSON list")
    one = _add(commands, "mine", "Gather your own answers that pass their checks into one module.")
    words = "that holds your notebooks; else the course's notebooks/, or this folder"
    one.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help=words)
    one.add_argument("--out", type=Path, metavar="FILE.py", help="instead of FOLDER/mine.py")
    one = _add(commands, "progress", "Say how far you are: points, minutes left, what is next.")
    one.add_argument("--json", action="store_true", help="print one JSON record")
    _add(commands, "doctor", "Say what this machine has, and how to get what is missing.")
