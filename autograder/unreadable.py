"""A file that cannot be graded, and what its owner can do about it."""

from __future__ import annotations


class Unreadable(ValueError):  # noqa: N818 - what happened, not that it is an error
    """The file is no notebook; the message says why, where in it if known, and what to do."""
