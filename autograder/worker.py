"""What a worker runs: the sandbox warms up while the judge is being loaded."""

from __future__ import annotations

from importlib import import_module

from autograder.jobs import Done, Job, Settings
from autograder.kept import zygote_of


def work(settings: Settings, job: Job) -> Done:
    """Grade one loaded job."""
    zygote_of(settings.tier)
    done: Done = import_module("autograder.unit").work(settings, job)
    return done


def warm(tier: str) -> None:
    """Load everything before the first job comes."""
    zygote_of(tier)
    import_module("autograder.unit")
