"""`course grade`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from autograder.archives import opened
from autograder.batch import Class
from autograder.classwork import look_at_folders, plan, seed_of, settings_for_class
from autograder.cli import OK
from autograder.course import find_course
from autograder.dispatch.cluster import dask_executor
from autograder.dispatch.local import local_executor
from autograder.dispatch.progress import Progress
from autograder.notebooks import instructors
from autograder.plugins.gradebook import ClassGradebook
from autograder.records import Records
from autograder.report.grades import done_line, write_class
from autograder.tiers import tier_for_class

RECORDS = "records.db"
AHEAD = 3  # jobs handed out for each worker, so that none waits for the next
CLUSTER = 512  # jobs handed out to a cluster, whose size may change


def run(arguments: Namespace) -> int:
    """Grade a class, tell how it goes on stderr, and print the table."""
    out: Path = arguments.out
    look_at_folders(arguments.submitted, out)
    tier = tier_for_class(arguments.sandbox, trusted=arguments.trust_students)
    course = find_course()
    make = instructors(course)
    with (
        opened(arguments.submitted) as folder,
        ClassGradebook(out, make, arguments.db) as gradebook,
        _records(arguments.db, out) as records,
    ):
        settings = partial(settings_for_class, course, out, seed_of(arguments.seed_file, out), tier)
        work = plan(course, folder, arguments.chapter, settings)
        _graded(Class(work, records, gradebook), arguments)
        print(write_class(out, partial(Class(work, records, gradebook).results), gradebook))
    return OK


def _graded(group: Class, arguments: Namespace) -> None:
    """Grade what is not on record; the run itself is on record, too."""
    group.records.start_run(vars(arguments))
    there = group.take_up()
    if there:
        print(f"graded already: {there} of {len(group.keys)}", file=sys.stderr)
    progress = Progress(len(group.missing), sys.stderr)
    make, ahead = _executor(arguments)
    for result in group.grade(make, ahead):
        progress.tell(done_line(result))
    group.records.end_run({"graded": len(group.missing), "there": there})


def _records(url: str | None, out: Path) -> Records:
    return Records.open(url) if url else Records.in_file(out / RECORDS)


def _executor(arguments: Namespace) -> tuple[Callable[[], Executor], int]:
    """Say how to make the workers, and how many jobs to hand out ahead."""
    if arguments.scheduler:
        return partial(dask_executor, arguments.scheduler), CLUSTER
    jobs = arguments.jobs or os.cpu_count() or 1
    return partial(local_executor, jobs), AHEAD * jobs
