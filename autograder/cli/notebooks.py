"""`course notebooks`."""

from __future__ import annotations

from argparse import Namespace

from autograder.course import find_course
from autograder.notebooks import write_notebooks
from autograder.plugins.nbgrader import release


def run(arguments: Namespace) -> int:
    """Write the notebooks, or with --check name the stale ones and return 1 if there are any."""
    course = find_course()
    written = write_notebooks(course, release, only_check=arguments.check)
    word = "stale" if arguments.check else "written"
    for one in written:
        path = one.path.relative_to(course.root).as_posix()
        print(f"{word if one.changed else 'unchanged':<10}{path}")
    return int(arguments.check and any(one.changed for one in written))
