"""`course exercises`."""

from __future__ import annotations

import json
from argparse import Namespace

from autograder.catalogue import exercises
from autograder.cli import OK
from autograder.listing import summary
from autograder.report.lists import exercises_text


def run(arguments: Namespace) -> int:
    """List every exercise."""
    known = list(exercises().values())
    if arguments.json:
        print(json.dumps([summary(one) for one in known], indent=2, ensure_ascii=False))
    else:
        print(exercises_text(known))
    return OK
