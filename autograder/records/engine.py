"""Connections to SQLite or PostgreSQL that keep what they were told to keep."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection

from autograder.records.schema import LOCK, SCHEMA, STANDING, refusals

BUSY_SECONDS = 30
CONNECT_SECONDS = "10"


def connect(url: sa.URL) -> sa.Engine:
    """Prepare connections to a database; nothing is opened yet."""
    if url.get_backend_name() == "sqlite":
        engine = sa.create_engine(url, hide_parameters=True)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    url = url.update_query_dict({"connect_timeout": CONNECT_SECONDS} | dict(url.query))
    engine = sa.create_engine(url, hide_parameters=True, pool_pre_ping=True)
    sa.event.listen(engine, "connect", _prepare_postgres)
    return engine


def writer(engine: sa.Engine) -> sa.Engine:
    """Give the same connections for transactions that write.

    SQLite may refuse to let a transaction write that began as a reader: another one wrote since.
    """
    return engine.execution_options(begin="BEGIN IMMEDIATE")


def create(engine: sa.Engine) -> None:
    """Make tables and triggers, all or none; processes that come together wait in line."""
    with engine.connect() as connection:
        if sa.inspect(connection).has_table(STANDING.name):
            return
    with writer(engine).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
        if not sa.inspect(connection).has_table(STANDING.name):
            SCHEMA.create_all(connection, checkfirst=False)
            for refusal in refusals(engine.dialect.name):
                connection.exec_driver_sql(refusal)


def _prepare_sqlite(connection: DBAPIConnection, _: object) -> None:
    """Wait for other writers, let readers read meanwhile, and reach the disk at each commit."""
    connection.isolation_level = None  # the driver's own BEGIN comes too late to guard the schema
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA fullfsync = ON")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))


def _prepare_postgres(connection: DBAPIConnection, _: object) -> None:
    """Have a commit mean that it is on disk, whatever the server's default is."""
    cursor = connection.cursor()
    cursor.execute("SET synchronous_commit = on")
    cursor.close()
    connection.commit()
