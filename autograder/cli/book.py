"""`course book`."""

from __future__ import annotations

from argparse import Namespace

from autograder.cli import FAILED, OK, stop
from autograder.course import find_course
from autograder.webbook import build


def run(arguments: Namespace) -> int:
    """Build an edition and say where it lies and how to open it."""
    index = build(find_course(), arguments.edition)
    if index is None:
        return stop(FAILED, f"the {arguments.edition} edition was not built: see the lines above")
    print(f"The {arguments.edition} edition lies at {index}")
    print(f"Open {index.as_uri()} in a browser,")
    print(f'or serve it: python -m http.server --directory "{index.parent}" 8000')
    return OK
