"""Where the time of a graded submission goes: one worker, in one process.

    python benchmarks/phases.py [--students 40] [--sandbox namespaces]

Wall clock, so a phase that waits for the session counts what the session computes.
"""

import argparse
import functools
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from throughput import ROOT, hand_in

from autograder import batch, conversation, kept, sitting, unit
from autograder.classwork import plan, settings_for_class
from autograder.course import find_course
from autograder.notebooks import instructors
from autograder.plugins.gradebook import ClassGradebook
from autograder.records import Records
from autograder.records.batch import Batch
from autograder.zygotes import Session, Zygote

spent: Counter[str] = Counter()
running: list[str] = []


def timed(owner: Any, name: str, phase: str) -> None:
    """Count the time of a function to a phase, without what inner phases take of it."""
    inner = getattr(owner, name)

    @functools.wraps(inner)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        running.append(phase)
        try:
            return inner(*args, **kwargs)
        finally:
            running.pop()
            seconds = time.perf_counter() - started
            spent[phase] += seconds
            if running:
                spent[running[-1]] -= seconds

    setattr(owner, name, wrapper)


PHASES = (
    (unit, "read_notebook", "intake"),
    (unit, "normalise", "intake"),
    (Zygote, "session", "session: start"),
    (Session, "end", "session: end"),
    (conversation.Conversation, "run", "session: cells"),
    (conversation.Conversation, "ask", "session: answers"),
    (sitting, "forbidden_in", "judge: text"),
    (sitting, "judge", "judge: numbers"),
    (Batch, "add", "records"),
    (Batch, "flush", "records"),
    (ClassGradebook, "keep", "gradebook and feedback"),
    (ClassGradebook, "commit", "gradebook and feedback"),
)


class Here(Executor):
    """Runs each job at once, in this process."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it."""
        future: Future[Any] = Future()
        future.set_result(work(*args, **kwargs))
        return future


def main() -> None:
    """Print milliseconds for each submission and phase, and its share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=40)
    parser.add_argument("--sandbox", default="namespaces")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, out, course = Path(name), Path(name) / "out", find_course(ROOT)
        hand_in(given.students, folder)
        settings = functools.partial(settings_for_class, course, out, "seed", given.sandbox)
        with (
            ClassGradebook(out, instructors(course)) as gradebook,
            Records.in_file(out / "records.db") as records,
        ):
            work = plan(course, folder / "submitted", None, settings)
            group = batch.Class(work, records, gradebook)
            graded = group.grade(Here, 1)
            next(graded)  # the first one warms everything up
            for phase in PHASES:
                timed(*phase)
            started = time.perf_counter()
            count = sum(1 for _ in graded)
            total = time.perf_counter() - started
    kept.close_zygotes()
    spent["rest"] = total - sum(spent.values())
    for phase, seconds in spent.most_common():
        print(f"{phase:<24}{1000 * seconds / count:8.1f} ms {100 * seconds / total:5.0f} %")
    print(f"{'all':<24}{1000 * total / count:8.1f} ms   of one core and its session")


if __name__ == "__main__":
    main()
