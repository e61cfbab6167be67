"""Grade cells that somebody else has read: nbgrader, in its own `autograde`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from autograder.checking import SEED_VARIABLE
from autograder.course import find_course
from autograder.jobs import Settings
from autograder.judge import PUBLIC_SEED
from autograder.result import Result
from autograder.settings import settings_for_one
from autograder.tiers import tier_for_class
from autograder.unit import graded_cells
from autograder.untrusted import RawCell
from autograder.usage import UsageError

TRUST_VARIABLE = "COURSE_TRUST_STUDENTS"


def grade_cells(cells: Sequence[RawCell], chapter: str) -> tuple[Result, dict[str, Any]]:
    """Grade the cells of a notebook; give the result and the executed notebook.

    The seed is taken from COURSE_SEED. Raises UsageError where there is no sandbox, unless
    COURSE_TRUST_STUDENTS is set.
    """
    settings = _settings(os.environ.get(SEED_VARIABLE, PUBLIC_SEED))
    if chapter not in settings.frames:
        known = ", ".join(settings.frames)
        raise UsageError(f"{chapter} is no chapter of the course; there are: {known}")
    result, notebook = graded_cells(settings, chapter, cells)
    version = settings.versions[chapter]
    named = replace(result, sandbox=settings.tier, version=version, seed_id=settings.seed_id)
    return named, notebook


@cache
def _settings(seed: str) -> Settings:
    tier = tier_for_class(None, trusted=bool(os.environ.get(TRUST_VARIABLE)))
    return settings_for_one(find_course(), seed, tier)
