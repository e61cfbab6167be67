"""Checks that tell a student which behaviours of an answer hold, and what is likely wrong."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checking import check as check
    from autograder.score import Score as Score

__all__ = ["Score", "check"]


def __getattr__(name: str) -> Any:
    """Load on first use: importing one small module must not load every exercise."""
    if name == "check":
        from autograder.checking import check  # noqa: PLC0415

        return check
    if name == "Score":
        from autograder.score import Score  # noqa: PLC0415

        return Score
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")
