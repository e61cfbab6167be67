"""`course check`."""

from __future__ import annotations

import json
from argparse import Namespace
from importlib import import_module
from pathlib import Path

from autograder.cli import FAILED, OK
from autograder.jobs import Job
from autograder.kept import close_zygotes, zygote_of
from autograder.seeds import read_seed
from autograder.tiers import tier_for_own
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Grade one notebook as a class is graded, and print what was found."""
    path = _existing(arguments.file)
    seed = read_seed(arguments.seed_file) if arguments.seed_file else ""
    tier = tier_for_own(arguments.sandbox)
    try:
        zygote_of(tier)  # it warms up while the judge is being loaded
        result = import_module("autograder.one").graded(Job("", "", str(path)), seed, tier)
    finally:
        close_zygotes()
    if arguments.json:
        print(json.dumps(result.as_json(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        print(import_module("autograder.report.result").result_text(result))
    return FAILED if result.error else OK


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name one notebook, or `course grade` for a class")
    if not path.exists() and not path.is_symlink():
        raise UsageError(f"there is no file {path}")
    return path
