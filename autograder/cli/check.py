"""`course check`."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from autograder.classwork import settings_for_one
from autograder.cli import FAILED, OK
from autograder.course import find_course
from autograder.judge import PUBLIC_SEED
from autograder.report.result import result_text
from autograder.result import result_of
from autograder.seeds import read_seed
from autograder.tiers import tier_for_own
from autograder.unit import Job, close_zygotes, work
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Grade one notebook as a class is graded, and print what was found."""
    path = _existing(arguments.file)
    seed = read_seed(arguments.seed_file) if arguments.seed_file else PUBLIC_SEED
    tier = tier_for_own(arguments.sandbox)
    settings = settings_for_one(find_course(), seed, tier)
    try:
        record = work(settings, Job("", "", str(path)).loaded()).record
    finally:
        close_zygotes()
    if arguments.json:
        print(json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(result_text(result_of(record)))
    return FAILED if "error" in record else OK


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name one notebook, or `course grade` for a class")
    if not path.exists() and not path.is_symlink():
        raise UsageError(f"there is no file {path}")
    return path
