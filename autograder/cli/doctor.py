"""`course doctor`."""

from __future__ import annotations

from argparse import Namespace

from autograder.cli import OK
from autograder.doctor import doctor_text, examine


def run(arguments: Namespace) -> int:
    """Print what is there, and the command that brings what is missing."""
    del arguments
    print(doctor_text(examine()))
    return OK
