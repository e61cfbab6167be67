"""What the rest of the course takes from nbgrader."""

from autograder.plugins.gradebook import ClassGradebook
from autograder.plugins.names import safe_name
from autograder.plugins.release import release

__all__ = ["ClassGradebook", "release", "safe_name"]
