"""A PostgreSQL database for one test, where .ci/run or a developer named a server."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

SERVER = "COURSE_TEST_DB"


@contextmanager
def fresh_postgres() -> Iterator[str]:
    """Give the address of an empty database, dropped afterwards; without a server, skip."""
    if SERVER not in os.environ:
        pytest.skip(f"{SERVER} names no PostgreSQL server: .ci/run starts one when it is root")
    pytest.importorskip("psycopg", reason="the driver of the extra 'postgres' is missing")
    server = sa.make_url(os.environ[SERVER]).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT")
    name = f"course_{uuid.uuid4().hex}"
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        yield server.set(database=name).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()
