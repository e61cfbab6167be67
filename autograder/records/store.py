"""The records: add, ask what is missing, read what counts."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from autograder.records import queries
from autograder.records.address import read_address, reason, shown
from autograder.records.batch import Batch, Result
from autograder.records.engine import connect, create, writer
from autograder.records.keys import Key, Stored
from autograder.records.rows import digest, notebook_of, row_of, stored_of
from autograder.records.schema import RESULT, RUN, RUN_END, STANDING
from autograder.usage import UsageError

BATCH_ROWS = 50
BATCH_SECONDS = 1.0
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # a server that restarts is back within them
SECRET = re.compile(r"db|seed|passw|secret|token|key", re.IGNORECASE)

R = TypeVar("R")


class Records:
    """The results of one or many classes. One thread at a time; any number of processes."""

    def __init__(self, engine: sa.Engine) -> None:
        """Take a database that has the tables; `open` and `in_file` see to it."""
        self._engine = engine
        self._run = ""

    @classmethod
    def open(cls, url: str) -> Records:
        """Open `sqlite:///FILE` or `postgresql://USER@HOST/NAME`; an empty one gets its tables.

        Raises UsageError, in one line and without the password, for any other address and for a
        database that cannot be reached or is none.
        """
        return cls._opened(read_address(url))

    @classmethod
    def in_file(cls, path: Path) -> Records:
        """Open the SQLite database in a file, made where there is none. Raises UsageError."""
        return cls._opened(sa.URL.create("sqlite", database=str(path)))

    @classmethod
    def _opened(cls, url: sa.URL) -> Records:
        engine = connect(url)
        try:
            create(engine)
        except DBAPIError as error:
            engine.dispose()
            raise UsageError(f"cannot open {shown(url)}: {reason(error, url)}") from None
        return cls(engine)

    def __enter__(self) -> Records:
        """Give itself; leaving closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    # Runs

    def start_run(self, options: Mapping[str, Any]) -> str:
        """Begin a batch and give its id; what is added from here on is marked with it.

        Options that may be secret (a seed, the address of a database) are left out by their name.
        """
        told = {name: str(value) for name, value in options.items() if not SECRET.search(name)}
        run = uuid.uuid4().hex[:12]
        row = {"id": run, "started": _now(), "options": json.dumps(told), "environment": _here()}
        self._write(lambda connection: connection.execute(RUN.insert(), row))
        self._run = run
        return run

    def end_run(self, counts: Mapping[str, int]) -> None:
        """Note how the batch ended, for example {"graded": 300, "grader errors": 0}."""
        row = {"run": self._current_run(), "ended": _now(), "counts": json.dumps(dict(counts))}
        self._write(lambda connection: connection.execute(RUN_END.insert(), row))

    def runs(self) -> list[dict[str, str | None]]:
        """List the batches, oldest first; "ended" and "counts" are None for one that was killed."""
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(queries.runs()).mappings()]

    def _current_run(self) -> str:
        return self._run or self.start_run({})

    # Adding

    def add(self, key: Key, record: dict[str, Any], notebook: str) -> bool:
        """Keep a result, durably. False, and nothing is added, if the key has a final one.

        (Also if it was committed just as the server went away: the second try finds it there.)
        """
        return self.add_many([(key, record, notebook)]) == 1

    def add_many(self, results: Iterable[Result]) -> int:
        """Keep results in one transaction, let their keys count, and tell how many were new.

        Raises UsageError if the database stays away, or refuses, for about 15 seconds.
        """
        results = list(results)
        if not results:
            return 0
        run = self._current_run()
        common = {"created": _now(), "run": run, "environment": _here()}
        rows = [row_of(*result) | common for result in results]
        standing = [key._asdict() | {"run": run} for key, _, _ in results]
        insert = queries.insert_once(self._engine.dialect.name)

        def both(connection: sa.Connection) -> int:
            new = [row for row in rows if row["final"] or not _is_graded(connection, row)]
            added = sum(connection.execute(insert, row).rowcount for row in new)
            connection.execute(STANDING.insert(), standing)
            return added

        return self._write(both)

    def stand(self, keys: Iterable[Key]) -> int:
        """Let these keys count for their students, and tell how many did not before.

        For a student who hands in an earlier file again: its result is there, so nothing is graded
        and nothing added, and it is the current one from here on.
        """
        wanted = dict.fromkeys(keys)
        run = self._current_run()

        def stand(connection: sa.Connection) -> int:
            now = {Key(*row) for row in connection.execute(queries.standing())}
            rows = [key._asdict() | {"run": run} for key in wanted if key not in now]
            if rows:
                connection.execute(STANDING.insert(), rows)
            return len(rows)

        return self._write(stand)

    def batch(self, rows: int = BATCH_ROWS, seconds: float = BATCH_SECONDS) -> Batch:
        """Collect results and commit so many, or what comes in so many seconds, at once."""
        return Batch(self.add_many, rows, seconds)

    def _write(self, act: Callable[[sa.Connection], R]) -> R:
        """Act in one transaction; again after a pause while the database cannot be had."""
        for pause in PAUSES:
            try:
                return self._transaction(act)
            except OperationalError:
                time.sleep(pause)
        try:
            return self._transaction(act)
        except OperationalError as error:
            url = self._engine.url
            raise UsageError(f"cannot write to {shown(url)}: {reason(error, url)}") from None

    def _transaction(self, act: Callable[[sa.Connection], R]) -> R:
        with writer(self._engine).begin() as connection:
            return act(connection)

    # Reading

    def missing(self, keys: Iterable[Key]) -> set[Key]:
        """Tell which keys have no final result: they are still to be graded."""
        wanted = set(keys)
        query = queries.graded({key.chapter for key in wanted})
        with self._engine.connect() as connection:
            return wanted - {Key(*row) for row in connection.execute(query)}

    def current(self) -> Iterator[Stored]:
        """Give for each student and chapter the result of the key that counts.

        Of several results of one key it is the final one, or the newest while none is final.
        """
        return self._read(queries.current())

    def history(self, student: str, chapter: str) -> list[Stored]:
        """List all results of a student's chapter, oldest first."""
        whose = (RESULT.c.student == student, RESULT.c.chapter == chapter)
        return list(self._read(queries.results().where(*whose)))

    def notebook(self, result: int) -> str:
        """Give the executed notebook of a result, by its id; empty if it has none."""
        query = sa.select(RESULT.c.notebook).where(RESULT.c.id == result)
        with self._engine.connect() as connection:
            return notebook_of(connection.execute(query).scalar_one())

    def digest(self) -> str:
        """Sum up the current results without their times: equal for equal grading."""
        parts = sorted(digest(stored) for stored in self.current())
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def _read(self, query: sa.Select[Any]) -> Iterator[Stored]:
        with self._engine.connect() as connection:
            streamed = connection.execution_options(yield_per=500)
            for row in streamed.execute(query).mappings():
                yield stored_of(dict(row))


def _is_graded(connection: sa.Connection, row: Mapping[str, Any]) -> bool:
    return connection.execute(queries.final_of(row)).first() is not None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _here() -> str:
    """Name the versions that a result depends on."""
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch = "missing"
    return f"python {platform.python_version()}, torch {torch}"
