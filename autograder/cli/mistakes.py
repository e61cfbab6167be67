"""`course mistakes`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from autograder.catalogue import UnknownExercise, exercise, exercises
from autograder.cli import OK
from autograder.listing import Fared, fare
from autograder.report.lists import fared_line
from autograder.spec import Exercise
from autograder.usage import UsageError


def run(arguments: Namespace) -> int:
    """Judge the known mistakes and alternatives of one exercise, or of all."""
    tried: list[Fared] = []
    for spec in _chosen(arguments.id):
        print(f"trying what is known of {spec.id} ...", file=sys.stderr, flush=True)
        tried += fare(spec)
    if arguments.json:
        print(json.dumps([one.as_json() for one in tried], indent=2, ensure_ascii=False))
    else:
        print("\n".join(f"{one.exercise:<30}{fared_line(one)}" for one in tried))
    return OK


def _chosen(name: str | None) -> list[Exercise]:
    try:
        return [exercise(name)] if name else list(exercises().values())
    except UnknownExercise as unknown:
        raise UsageError(str(unknown)) from unknown
