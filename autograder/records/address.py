"""Which database `--db` means; named, and refused, without its password."""

from __future__ import annotations

import importlib.util

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError

from autograder.usage import UsageError

WANTED = "--db takes sqlite:///FILE or postgresql://USER@HOST/NAME"
DRIVER = "psycopg"


def read_address(url: str) -> sa.URL:
    """Read an address. Raises UsageError, which never shows it: a password may be anywhere."""
    try:
        address = sa.make_url(url)
    except (ArgumentError, ValueError):
        raise UsageError(f"{WANTED}; what was given is no address of a database") from None
    if "@" in f"{address.host}{address.database}" and address.get_backend_name() != "sqlite":
        raise UsageError(f"{WANTED}; write an @ or / of a password as %40 or %2F")
    kind = address.get_backend_name()
    if kind == "sqlite":
        return _file(address)
    if kind == "postgresql":
        return _server(address)
    raise UsageError(f"{WANTED}, not {kind}://...")


def _file(address: sa.URL) -> sa.URL:
    if address.database in (None, "", ":memory:"):
        raise UsageError(f"{WANTED}; a database in memory is lost at the end: name a file")
    return address.set(drivername="sqlite")


def _server(address: sa.URL) -> sa.URL:
    if importlib.util.find_spec(DRIVER) is None:
        install = "pip install 'transformer-course[postgres]'"
        raise UsageError(f"the driver for PostgreSQL is not installed: {install}")
    return address.set(drivername=f"postgresql+{DRIVER}")


def shown(url: sa.URL) -> str:
    """Name a database by what holds no password."""
    if url.get_backend_name() == "sqlite":
        return f"the database {url.database}"
    host = url.host or url.query.get("host") or "localhost"
    return f"the PostgreSQL database {url.database or ''} on {host}, port {url.port or 5432}"


def reason(error: DBAPIError, url: sa.URL) -> str:
    """Say in one line what the driver said, with passwords blanked."""
    text = " ".join(str(error.orig).split())
    hidden = [value for name, value in url.query.items() if "pass" in name]
    for secret in (url.password, *hidden):
        text = text.replace(str(secret), "***") if secret else text
    return text
