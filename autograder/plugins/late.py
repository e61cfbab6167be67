"""nbgrader's policy for late submissions, as `nbgrader_config.py` sets it."""

from __future__ import annotations

from pathlib import Path

from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.usage import UsageError

SETTINGS = "nbgrader_config.py"


class LatePolicy:
    """The plugin that nbgrader would ask, without a database of its own."""

    def __init__(self, folder: Path) -> None:
        """Read the settings of a course folder; without any, nobody loses points.

        Raises UsageError if the settings cannot be read or name no plugin.
        """
        try:
            self.step = AssignLatePenalties(config=_settings(folder))
            self.step.init_plugin()
        except Exception as problem:  # the file is a program of the instructor
            raise UsageError(
                f"{folder / SETTINGS} cannot be used: {type(problem).__name__}: {problem}"
            ) from problem

    def penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """Say how many points a submission loses; None if it is in time or nothing is set."""
        if seconds_late <= 0:
            return None
        points = self.step.plugin_inst.late_submission_penalty(student, score, seconds_late)
        if points is None:
            return None
        return float(min(max(points, 0.0), score))


def _settings(folder: Path) -> Config:
    if not (folder / SETTINGS).is_file():
        return Config()
    return PyFileConfigLoader(SETTINGS, path=str(folder)).load_config()
