"""Run in a process of its own: `python checks.py JOBS.json FOLDER...` judges answers.

Each job says where an answer is: a known one by the list of its exercise and its number there, or
the cells of a notebook. The folders are those to import from. Prints a JSON list with what `check`
shows for each job.
"""

import importlib
import json
import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

jobs, *folders = sys.argv[1:]
sys.path[:0] = folders

from autograder import check  # noqa: E402 - it is found in one of the folders
from autograder.score import MIME  # noqa: E402

SETUP = "import math\nimport torch\nfrom torch import Tensor\n"


def known(exercise: str, group: str, number: int) -> Callable[..., Any]:
    """Take a mistake or alternative of an exercise."""
    spec = importlib.import_module(f"known.{exercise}").EXERCISE
    answer: Callable[..., Any] = getattr(spec, group)[number]
    return answer


def defined(exercise: str, cells: list[str]) -> Any:
    """Run cells as a notebook does, whatever becomes of each, and give what they define."""
    at_hand: dict[str, Any] = {"__name__": "__main__"}
    for source in (SETUP, *cells):
        name = f"<cell {len(linecache.cache)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        try:
            exec(compile(source, name, "exec"), at_hand)
        except Exception as error:
            print(f"{name}: {type(error).__name__}", file=sys.stderr)
    return at_hand.get(exercise)


def shown(job: dict[str, Any]) -> dict[str, Any]:
    """Check one answer and give all that a notebook gets to see."""
    options = job.pop("options", {})
    answer = defined(**job) if "cells" in job else known(**job)
    score = check(answer, job["exercise"], **options)
    mimes = score._repr_mimebundle_()
    return {"text": str(score), "html": mimes["text/html"], **mimes[MIME]}


print(json.dumps([shown(job) for job in json.loads(Path(jobs).read_text(encoding="utf-8"))]))
