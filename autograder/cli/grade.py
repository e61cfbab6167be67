"""`course grade`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator

from autograder.classwork import finish, plan
from autograder.cli import OK
from autograder.course import find_course
from autograder.notebooks import instructors
from autograder.plugins.nbgrader import ClassGradebook
from autograder.report.grades import progress_line
from autograder.result import Result
from autograder.usage import UsageError

UNTRUSTED = (
    "The judge that runs student code in a sandbox does not exist yet, so each submission would "
    "run as you, with your files and your network. If you trust these students, say so with "
    "--trust-students."
)


def run(arguments: Namespace) -> int:
    """Grade a class, tell how it goes on stderr, and print the table."""
    if not arguments.trust_students:
        raise UsageError(UNTRUSTED)
    course = find_course()
    work = plan(course, arguments.submitted, arguments.out, arguments.chapter, arguments.seed_file)
    ours = instructors(course)
    gradebook = ClassGradebook(work.out, ours, work.seed)
    graded = work.grade(ours, gradebook)
    results = list(_told(graded, len(work.entries)))
    print(finish(work.out, results, gradebook))
    return OK


def _told(results: Iterable[Result], total: int) -> Iterator[Result]:
    for number, result in enumerate(results, start=1):
        print(progress_line(number, total, result), file=sys.stderr, flush=True)
        yield result
