"""Any bytes become cells, or a reason with a place; nothing else."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.untrusted import LARGEST_BYTES, RawCell, Unreadable, read_bytes, read_file

CELL = {"cell_type": "code", "id": "softmax", "source": ["x = 1\n", "y = 2"], "metadata": {}}
NOTEBOOK = {"cells": [CELL], "nbformat": 4, "nbformat_minor": 5}

REASONS = {
    "empty": (b"", "empty"),
    "blank": (b" \n \x00", "empty"),
    "cut off": (b'{"cells": [\n  {"source":', "not JSON: Expecting value in line 2 column 13"),
    "comma": (b'{"cells": [],\n}', "in line [12] column"),
    "merge": (b'{\n<<<<<<< HEAD\n "a": 1\n', "merge conflict, `<<<<<<< HEAD` in line 2 column 1"),
    "page": (b"<!DOCTYPE html><html></html>", "web page"),
    "zip": (b"PK\x03\x04rest", "zip archive"),
    "pdf": (b"%PDF-1.7", "PDF"),
    "list": (b"[1, 2]", "the JSON is a list"),
    "number": (b"7", "the JSON is a int"),
    "no cells": (b'{"nbformat": 4}', "no list of cells"),
    "cells of text": (b'{"cells": "none"}', "no list of cells"),
    "latin": ('{"cells": [\n"é'.encode("latin-1"), "byte 0xe9 in line 2 column 2"),
    "deep": (b'{"cells":' + b"[" * 100_000, "nested too deeply"),
    "digits": (b'{"cells": ' + b"9" * 10_000 + b"}", "not JSON: Exceeds the limit"),
}


@pytest.mark.parametrize(("data", "reason"), REASONS.values(), ids=REASONS.keys())
def test_a_broken_file_is_told_why_and_where(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_bytes(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_every_unicode_encoding_is_read(encoding: str) -> None:
    cells = read_bytes(json.dumps(NOTEBOOK).encode(encoding))
    assert cells == [RawCell("code", "x = 1\ny = 2", ("softmax",))]


def test_format_3_is_read() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}], "nbformat": 3}
    assert read_bytes(json.dumps(old).encode()) == [RawCell("code", "x = 1")]


def test_odd_fields_are_left_out() -> None:
    odd = [7, {}, {"cell_type": "code", "source": [1, "a\r\n", None], "id": 3, "metadata": []}]
    cells = read_bytes(json.dumps({"cells": odd}).encode())
    assert cells == [RawCell("markdown", ""), RawCell("code", "a\n")]


def test_half_a_surrogate_pair_can_be_written_again() -> None:
    source = read_bytes(b'{"cells": [{"cell_type": "code", "source": "\\ud800x"}]}')[0].source
    assert source.encode("utf-8").endswith(b"x")


def test_a_huge_file_is_refused() -> None:
    with pytest.raises(Unreadable, match="larger than 50 MB"):
        read_bytes(b" " * (LARGEST_BYTES + 1))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "real.ipynb"
    target.write_text(json.dumps(NOTEBOOK))
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    with pytest.raises(Unreadable, match="a link to another file"):
        read_file(link)
    assert read_file(target)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="not a file"):
        read_file(tmp_path)


@given(st.binary(max_size=200))
def test_any_bytes_end_in_cells_or_a_reason(data: bytes) -> None:
    with contextlib.suppress(Unreadable):
        assert isinstance(read_bytes(data), list)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cells", "source", "cell_type", "id", "metadata", "nbgrader", "grade_id"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_ends_in_cells_or_a_reason(value: object) -> None:
    try:
        cells = read_bytes(json.dumps(value).encode())
    except Unreadable:
        return
    assert all(isinstance(cell.source, str) for cell in cells)
