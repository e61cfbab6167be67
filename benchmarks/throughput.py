"""How many submissions an hour, against plain nbgrader on the same files in the same run.

    python benchmarks/throughput.py [--students 100] [--jobs 2] [--without-nbgrader]

Both get the same class: the readable submissions of the sample class, over and over. Plain nbgrader
runs `autograde` and `generate_feedback`; `course grade` writes gradebook, notebooks and feedback
too. Times are wall clock, start of Python included.
"""

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import sample_class  # noqa: E402 - it lies with the tests

from autograder.course import find_course  # noqa: E402
from autograder.notebooks import instructor  # noqa: E402

CHAPTER = "02_scaled_dot_product"
LEFT_OUT = ("time", "exited", "unreadable")  # nbgrader waits for them, stops, or cannot begin
BIN = Path(sys.executable).parent


def hand_in(students: int, folder: Path) -> None:
    """Write a class of so many students."""
    kept = [path for path in sample_class.samples() if path.stem.split("__")[1] not in LEFT_OUT]
    for number, path in zip(range(students), itertools.cycle(kept), strict=False):
        made = sample_class.hand_in(path, folder / "one")
        target = folder / "submitted" / f"s{number:04}" / CHAPTER / f"{CHAPTER}.ipynb"
        target.parent.mkdir(parents=True)
        shutil.move(made, target)


def seconds_of(*command: str | Path, cwd: Path, seed: str = "") -> float:
    """Run a command to its end and return the wall clock time."""
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path} | ({"COURSE_SEED": seed} if seed else {})
    started = time.perf_counter()
    with (cwd / "log.txt").open("ab") as log:
        done = subprocess.run(
            [*map(str, command)], cwd=cwd, env=environment, stdout=log, stderr=log, check=False
        )
    print(f"  {' '.join(map(str, command))[:90]}: exit {done.returncode}", flush=True)
    return time.perf_counter() - started


def with_nbgrader(folder: Path) -> float:
    """Grade the class with plain nbgrader; return its seconds."""
    course = folder / "plain"
    source = course / "source" / CHAPTER
    source.mkdir(parents=True)
    notebook = instructor(find_course(ROOT), CHAPTER)
    (source / f"{CHAPTER}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    shutil.copytree(folder / "submitted", course / "submitted")
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    seconds_of("nbgrader", "generate_assignment", CHAPTER, cwd=course)
    total = seconds_of("nbgrader", "autograde", CHAPTER, "--create", cwd=course, seed="benchmark")
    return total + seconds_of("nbgrader", "generate_feedback", CHAPTER, cwd=course)


def with_course(folder: Path, jobs: int) -> float:
    """Grade the class with `course grade`; return its seconds."""
    options = ("--out", folder / "out", "--jobs", str(jobs))
    return seconds_of("course", "grade", folder / "submitted", *options, cwd=folder)


def main() -> None:
    """Print one line for each of the two, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--without-nbgrader", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hand_in(given.students, folder)
        ours = with_course(folder, given.jobs)
        per_hour = 3600 * given.students / ours
        print(f"course grade   {ours:8.1f} s   {per_hour:9.0f} submissions an hour")
        if not given.without_nbgrader:
            plain = with_nbgrader(folder)
            per_hour = 3600 * given.students / plain
            print(f"plain nbgrader {plain:8.1f} s   {per_hour:9.0f} submissions an hour")
            print(f"ratio          {plain / ours:8.1f}")


if __name__ == "__main__":
    main()
