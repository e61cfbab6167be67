"""`course grade`."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from autograder.cli import OK
from autograder.dispatch.cluster import dask_executor
from autograder.dispatch.local import local_executor
from autograder.folders import look_at_folders
from autograder.tiers import tier_for_class
from autograder.worker import warm

AHEAD = 3  # jobs handed out for each worker, so that none waits for the next
CLUSTER = 512  # jobs handed out to a cluster, whose size may change


def run(arguments: Namespace) -> int:
    """Grade a class, tell how it goes on stderr, and print the table."""
    look_at_folders(arguments.submitted, arguments.out)
    tier = tier_for_class(arguments.sandbox, trusted=arguments.trust_students)
    with _workers(arguments, tier) as (make_executor, window):
        grade_class = import_module("autograder.whole_class").grade_class
        with _gradebook(arguments) as gradebook:
            print(grade_class(arguments, tier, gradebook, make_executor, window))
    return OK


@contextmanager
def _workers(arguments: Namespace, tier: str) -> Iterator[tuple[Callable[[], Executor], int]]:
    """Say how to make the workers, and how many jobs to hand out ahead.

    The first ones on this machine load what they need while we do.
    """
    if arguments.scheduler:
        yield partial(dask_executor, arguments.scheduler), CLUSTER
        return
    jobs = arguments.jobs or os.cpu_count() or 1
    first = local_executor(jobs)
    for _ in range(jobs):
        first.submit(warm, tier)
    waiting = [first]
    try:
        yield lambda: waiting.pop() if waiting else local_executor(jobs), AHEAD * jobs
    finally:
        first.shutdown(cancel_futures=True)


def _gradebook(arguments: Namespace) -> Any:
    course = import_module("autograder.course").find_course()
    instructors = import_module("autograder.notebooks").instructors(course)
    gradebook = import_module("autograder.plugins.gradebook").ClassGradebook
    return gradebook(arguments.out, instructors, arguments.db)
