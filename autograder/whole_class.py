"""All of `course grade`, once workers are on their way."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Protocol

from autograder.archives import opened
from autograder.batch import Class, Gradebook
from autograder.classwork import plan, seed_of, settings_for_class
from autograder.course import find_course
from autograder.dispatch.progress import Progress
from autograder.records import Records
from autograder.report.grades import Marks, done_line, write_class

RECORDS = "records.db"


class Book(Gradebook, Marks, Protocol):
    """A gradebook that takes results and gives the table of marks."""


def grade_class(
    arguments: Namespace,
    tier: str,
    gradebook: Book,
    make_executor: Callable[[], Executor],
    window: int,
) -> str:
    """Grade what is not on record, tell how it goes on stderr, and return what to print.

    arguments  those of the command line
    window     how many jobs to hand out ahead
    """
    out: Path = arguments.out
    with opened(arguments.submitted) as folder, _records(arguments.db, out) as records:
        seed = seed_of(arguments.seed_file, out)
        settings = partial(settings_for_class, find_course(), out, seed, tier)
        work = plan(find_course(), folder, arguments.chapter, settings)
        group = Class(work, records, gradebook)
        records.start_run(vars(arguments))
        there = group.take_up()
        if there:
            print(f"graded already: {there} of {len(group.keys)}", file=sys.stderr)
        progress = Progress(len(group.missing), sys.stderr)
        for result in group.grade(make_executor, window):
            progress.tell(done_line(result))
        records.end_run({"graded": len(group.missing), "there": there})
        return write_class(out, group.results, gradebook)


def _records(url: str | None, out: Path) -> Records:
    return Records.open(url) if url else Records.in_file(out / RECORDS)
