"""A machine on which nothing is being graded: nbgrader leaves its mark in the environment."""

import pytest


@pytest.fixture(autouse=True)
def _nobody_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NBGRADER_EXECUTION", "COURSE_SEED"):
        monkeypatch.delenv(name, raising=False)
