"""The tables of the records, and the triggers that refuse to change or delete a row."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlalchemy as sa

from autograder.records.keys import Key

UNSTORABLE = re.compile(r"[\\\x00\ud800-\udfff]")
ESCAPED = re.compile(r"\\([0-9a-f]{4})")
LOCK = 0x636F75727365  # any number, the same for all: "course" in ASCII


class _Name(sa.TypeDecorator[str]):
    """Text from outside: no database takes half a surrogate pair, PostgreSQL takes no NUL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        return value and UNSTORABLE.sub(lambda found: f"\\{ord(found[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002
        return value and ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)


def _names() -> list[sa.Column[str]]:
    return [sa.Column(name, _Name, nullable=False) for name in Key._fields]


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


SCHEMA = sa.MetaData()
RUN = sa.Table(
    "course_run",
    SCHEMA,
    sa.Column("id", sa.Text, primary_key=True),
    _text("started"),
    _text("options"),
    _text("environment"),
)
RUN_END = sa.Table(
    "course_run_end",
    SCHEMA,
    sa.Column("run", sa.ForeignKey(RUN.c.id), primary_key=True),
    _text("ended"),
    _text("counts"),
)
RESULT = sa.Table(
    "course_result",
    SCHEMA,
    sa.Column("id", sa.Integer, primary_key=True),
    *_names(),
    _text("verdict"),
    sa.Column("score", sa.Float, nullable=False),
    sa.Column("max_score", sa.Float, nullable=False),
    sa.Column("final", sa.Boolean, nullable=False),
    _text("record"),
    sa.Column("notebook", sa.LargeBinary, nullable=False),
    _text("created"),
    sa.Column("run", sa.ForeignKey(RUN.c.id), nullable=False),
    _text("environment"),
)
STANDING = sa.Table(
    "course_standing",
    SCHEMA,
    sa.Column("id", sa.Integer, primary_key=True),
    *_names(),
    sa.Column("run", sa.ForeignKey(RUN.c.id), nullable=False),
)
TABLES = (RUN, RUN_END, RESULT, STANDING)
FINAL = RESULT.c.final.is_(True)  # written alike wherever the partial index is to be used

sa.Index(
    "course_result_once",
    *(RESULT.c[name] for name in Key._fields),
    unique=True,
    sqlite_where=FINAL,
    postgresql_where=FINAL,
)
sa.Index("course_result_whose", RESULT.c.student, RESULT.c.chapter)
sa.Index("course_standing_whose", STANDING.c.student, STANDING.c.chapter)

REFUSAL = "'course records are only ever added to'"
POSTGRES_REFUSAL = f"""
    CREATE FUNCTION course_refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION {REFUSAL}; END $$"""


def refusals(dialect: str) -> Iterator[str]:
    """Write the statements that make the triggers of "sqlite" or "postgresql"."""
    if dialect == "postgresql":
        yield POSTGRES_REFUSAL
        for table in TABLES:
            yield (
                f"CREATE TRIGGER {table.name}_stays BEFORE UPDATE OR DELETE OR TRUNCATE "
                f"ON {table.name} FOR EACH STATEMENT EXECUTE FUNCTION course_refuse()"
            )
        return
    for table in TABLES:
        for change in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table.name}_no_{change.lower()} BEFORE {change} "
                f"ON {table.name} BEGIN SELECT RAISE(ABORT, {REFUSAL}); END"
            )
