"""Grade a single notebook, as a class is graded."""

from __future__ import annotations

from autograder.course import find_course
from autograder.jobs import Job
from autograder.judge import PUBLIC_SEED
from autograder.result import Result, result_of
from autograder.settings import settings_for_one
from autograder.unit import work


def graded(job: Job, seed: str, tier: str) -> Result:
    """Grade one file; without a seed, with the inputs that students see."""
    settings = settings_for_one(find_course(), seed or PUBLIC_SEED, tier)
    return result_of(work(settings, job.loaded()).record)
