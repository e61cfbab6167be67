"""`course check`."""

from __future__ import annotations

import json
from argparse import Namespace
from functools import partial
from pathlib import Path

from autograder.checking import SEED_VARIABLE
from autograder.cli import FAILED, OK
from autograder.course import find_course
from autograder.grading import check_notebook
from autograder.kernel import execute
from autograder.notebooks import instructors
from autograder.report.result import result_text
from autograder.seeds import read_seed
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Grade one notebook in a fresh kernel and print what was found."""
    path = _existing(arguments.file)
    seed = {SEED_VARIABLE: read_seed(arguments.seed_file)} if arguments.seed_file else {}
    execution = partial(execute, environment=seed)
    result = check_notebook(path, instructors(find_course()), execution)
    if arguments.json:
        print(json.dumps(result.as_json(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(result_text(result))
    return FAILED if result.error else OK


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name one notebook, or `course grade` for a class")
    if not path.exists() and not path.is_symlink():
        raise UsageError(f"there is no file {path}")
    return path
