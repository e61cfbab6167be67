"""Grade the toys: `python toy_batch.py --db URL [--count 300] [--scheduler ADDRESS]`."""

import argparse
import sys
from functools import partial

import toy_class

from autograder.dispatch.cluster import dask_executor
from autograder.dispatch.local import local_executor
from autograder.dispatch.progress import Progress
from autograder.dispatch.run import run
from autograder.records import Records


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--scheduler")
    arguments = parser.parse_args()
    executor = partial(local_executor, 2)
    if arguments.scheduler:
        executor = partial(dask_executor, arguments.scheduler)
    with Records.open(arguments.db) as records:
        records.start_run(vars(arguments))
        missing = sorted(records.missing(toy_class.keys(arguments.count)))
        progress = Progress(len(missing), sys.stderr)
        with records.batch(rows=10, seconds=0.1) as batch:
            for key, done in run(missing, toy_class.grade, executor, window=6):
                batch.add(key, *toy_class.graded(key, done))
                progress.tell(key.student)
        records.end_run({"graded": len(missing)})


if __name__ == "__main__":
    main()
