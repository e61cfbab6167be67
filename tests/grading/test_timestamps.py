"""When a notebook was handed in: what nbgrader's exchange writes is read, anything else is not."""

import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.timestamps import handed_in

NOON = datetime(2026, 11, 29, 12, 30)
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1))
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("handed in") / "hw.ipynb"


def read(notebook: Path, text: str | bytes) -> datetime | None:
    data = text if isinstance(text, bytes) else text.encode()
    (notebook.parent / "timestamp.txt").write_bytes(data)
    return handed_in(notebook)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-29 12:30:00.000000 UTC",
        "2026-11-29 12:30:00 UTC\n",
        "2026-11-29 12:30:00",
        "2026-11-29T12:30:00Z",
        "2026-11-29 12:30:00 GMT",
        "2026-11-29 13:30:00 +01:00",
        "2026-11-29 04:30:00 -0800",
    ],
)
def test_what_nbgrader_writes_is_read(notebook: Path, text: str) -> None:
    assert read(notebook, text) == NOON


@given(TIMES, OFFSETS)
def test_any_offset_becomes_utc(notebook: Path, time: datetime, zone: timezone) -> None:
    there = time.replace(tzinfo=zone)
    assert read(notebook, there.isoformat(" ", "microseconds")) == (
        there.astimezone(UTC).replace(tzinfo=None)
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-13-29 12:30:00 UTC",
        "2026-11-29 25:30:00 UTC",
        "2026-11-29 12:30:00 Mars/Base",
        "2026-11-29 12:30:00 +99:99",
        "0001-01-01 00:00:00 +14:00",
        "9999-12-31 23:59:59 -14:00",
        "2026-11-29 12:30:00 UTC" + " and more" * 100,
        "２０２６-11-29 12:30:00",
        b"\xff\xfe2\x000\x00",
        b"\0" * 1000,
    ],
)
def test_anything_else_is_no_time(notebook: Path, text: str | bytes) -> None:
    assert read(notebook, text) is None


@given(st.binary(max_size=120) | st.text(max_size=60).map(lambda t: t.encode("utf-8", "replace")))
def test_no_bytes_do_more_than_give_no_time(notebook: Path, data: bytes) -> None:
    assert isinstance(read(notebook, data), datetime | None)


def test_without_a_file_there_is_no_time(tmp_path: Path) -> None:
    assert handed_in(tmp_path / "hw.ipynb") is None
    (tmp_path / "timestamp.txt").mkdir()
    assert handed_in(tmp_path / "hw.ipynb") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "timestamp.txt")
    assert handed_in(tmp_path / "hw.ipynb") is None
