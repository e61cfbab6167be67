"""The settings of a grading: seed, sandbox, and the course's own notebooks with their versions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.course import Course
from autograder.jobs import Settings
from autograder.version import assignment_version


def settings_for_one(course: Course, seed: str, tier: str) -> Settings:
    """Make the settings for single notebooks: the committed notebooks are the frames."""
    frames = {name: course.student_notebook(name) for name in course.chapters()}
    return settings_of(frames, seed, tier)


def settings_of(frames: Mapping[str, Path], seed: str, tier: str) -> Settings:
    """Make the settings for chapters whose own notebooks lie in these files."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in frames.items()}
    versions = {name: assignment_version(name, text) for name, text in texts.items()}
    return Settings(seed, tier, texts, versions)
