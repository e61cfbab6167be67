"""Checks that tell a student which behaviours of an answer hold, and what is likely wrong."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checking import check as check
    from autograder.mine.switch import use_mine as use_mine
    from autograder.score import Score as Score

__all__ = ["Score", "check", "use_mine"]


def __getattr__(name: str) -> Any:
    """Load on first use: importing one small module must not load every exercise."""
    if name == "check":
        from autograder.checking import check  # noqa: PLC0415

        return check
    if name == "use_mine":
        from autograder.mine.switch import use_mine  # noqa: PLC0415

        return use_mine
    if name == "Score":
        from autograder.score import Score  # noqa: PLC0415

        return Score
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")
