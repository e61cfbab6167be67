"""nbgrader's database: in the class folder, or on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.script import ScriptDirectory
from nbgrader.api import Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, inspect, make_url, text
from sqlalchemy.exc import DBAPIError

from autograder.plugins.assignment import quiet
from autograder.records.address import read_address, reason, shown
from autograder.usage import UsageError


def gradebook_url(folder: Path, db_url: str | None) -> str:
    """Give the address of a class's gradebook: gradebook.db in its folder, if none is given.

    Raises UsageError for an address that is none, or of a kind of database that we do not take.
    """
    if db_url is None:
        return f"sqlite:///{folder.resolve() / 'gradebook.db'}"
    return read_address(db_url).render_as_string(hide_password=False)


def open_gradebook(db_url: str) -> Any:
    """Open nbgrader's gradebook, and make its tables where there are none.

    Raises UsageError for a database that cannot be reached or used.
    """
    try:
        _note_version(db_url)
        with quiet():
            return Gradebook(db_url)
    except DBAPIError as problem:
        url = make_url(db_url)
        raise UsageError(f"{shown(url)} cannot be used: {reason(problem, url)}") from None


def _note_version(db_url: str) -> None:
    """Note the version of nbgrader's tables where they are about to be made.

    nbgrader does so itself, by a program that takes seconds, but only in an empty database; it may
    hold our records.
    """
    engine = create_engine(db_url)
    there = inspect(engine)
    if not (there.has_table("alembic_version") or there.has_table("submitted_notebook")):
        version = ScriptDirectory(ALEMBIC_DIR).get_current_head()
        with engine.begin() as connection:
            make = "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"
            connection.execute(text(make))
            statement = text("INSERT INTO alembic_version (version_num) VALUES (:version)")
            connection.execute(statement, {"version": version})
    engine.dispose()
