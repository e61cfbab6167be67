"""What is asked of the tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from autograder.records.keys import Key
from autograder.records.schema import FINAL, RESULT, RUN, RUN_END, STANDING

KEY = [RESULT.c[name] for name in Key._fields]


def insert_once(dialect: str) -> sa.Insert:
    """Insert a result unless its key has a final one, which another process may add meanwhile."""
    insert: sqlite.Insert | postgresql.Insert = sqlite.insert(RESULT)
    if dialect == "postgresql":
        insert = postgresql.insert(RESULT)
    return insert.on_conflict_do_nothing().inline().execution_options(preserve_rowcount=True)


def final_of(key: Mapping[str, Any]) -> sa.Select[Any]:
    """Select the final result of a key, given as a row that has its columns."""
    return sa.select(RESULT.c.id).where(FINAL, *(column == key[column.name] for column in KEY))


def results() -> sa.Select[Any]:
    """Select results without their notebooks, oldest first."""
    return sa.select(*(c for c in RESULT.c if c.name != "notebook")).order_by(RESULT.c.id)


def current() -> sa.Select[Any]:
    """Select the result that counts of each key that stands: the final one, else the newest.

    In the order of students and chapters, whoever was graded first.
    """
    stands = standing().subquery()
    same = sa.and_(*(column == stands.c[column.name] for column in KEY))
    final = sa.func.max(sa.case((FINAL, RESULT.c.id)))
    chosen = sa.func.coalesce(final, sa.func.max(RESULT.c.id))
    ids = sa.select(chosen).select_from(RESULT.join(stands, same)).group_by(*KEY)
    in_order = (RESULT.c.student, RESULT.c.chapter)
    return results().where(RESULT.c.id.in_(ids)).order_by(None).order_by(*in_order)


def standing() -> sa.Select[Any]:
    """Select the key that stands for each student and chapter."""
    last = sa.select(sa.func.max(STANDING.c.id)).group_by(STANDING.c.student, STANDING.c.chapter)
    return sa.select(*(STANDING.c[name] for name in Key._fields)).where(STANDING.c.id.in_(last))


def graded(chapters: Collection[str]) -> sa.Select[Any]:
    """Select the keys that have a final result."""
    return sa.select(*KEY).where(FINAL, RESULT.c.chapter.in_(chapters))


def runs() -> sa.Select[Any]:
    """Select batches with how they ended, oldest first."""
    ends = (RUN_END.c.ended, RUN_END.c.counts)
    return sa.select(RUN, *ends).outerjoin(RUN_END).order_by(RUN.c.started, RUN.c.id)
