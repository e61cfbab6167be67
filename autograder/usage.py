"""A command that cannot do what it was asked, and what to do instead."""

from __future__ import annotations


class UsageError(ValueError):
    """Bad arguments: one line that says what is wrong and what to do next."""
