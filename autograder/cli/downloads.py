"""`course downloads`."""

from __future__ import annotations

import sys
from argparse import Namespace

from autograder.cli import OK
from autograder.course import find_course
from autograder.downloads.make import make_downloads


def run(arguments: Namespace) -> int:
    """Make one PDF and one EPUB of the built class edition, and say where they are."""
    del arguments
    made = make_downloads(find_course(), lambda line: print(line, file=sys.stderr, flush=True))
    for file in made:
        print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return OK
