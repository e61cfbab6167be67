"""Any bytes become cells, or a reason with a place; nothing else."""

import contextlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import outline, untrusted
from autograder.outline import outlined
from autograder.untrusted import RawCell, Unreadable, read_bytes, read_file

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
    "number": (b"7", "the JSON is a single value"),
    "no cells": (b'{"nbformat": 4}', "no list of cells"),
    "cells of text": (b'{"cells": "none"}', "no list of cells"),
    "cut in a string": (b'{"cells": [\n{"source": "x =', "line 2 column 12; the file was cut off"),
    "latin": ('{"cells": [\n"é'.encode("latin-1"), "byte 0xe9 in line 2 column 2"),
    "deep": (b'{"cells":' + b"[" * 100_000, "nested too deeply"),
    "digits": (b'{"cells": ' + b"9" * 10_000 + b"}", "no list of cells"),
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


@pytest.mark.parametrize(("data", "reason"), REASONS.values(), ids=REASONS.keys())
def test_a_broken_file_is_told_what_to_do(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=r"hand in|save|settle|clear"):
        read_bytes(data)


def test_a_huge_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "LARGEST_BYTES", 1_000_000)
    with pytest.raises(Unreadable, match="larger than 1 MB: clear its outputs"):
        read_bytes(b" " * 1_000_001)


def test_outputs_of_any_size_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "LARGEST_USED", 1_000)
    flood = {
        **CELL,
        "outputs": [{"text": ['"outputs": [' * 1_000, "\\"]}],
        "attachments": {"a": "b"},
    }
    for indent in (None, 1):
        data = json.dumps({**NOTEBOOK, "cells": [flood]}, indent=indent).encode()
        assert read_bytes(data) == [RawCell("code", "x = 1\ny = 2", ("softmax",))]


def test_code_of_any_size_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "LARGEST_USED", 1_000)
    large = json.dumps({**NOTEBOOK, "cells": [{**CELL, "source": "x" * 2_000}]}).encode()
    with pytest.raises(Unreadable, match="even without its outputs: hand in less"):
        read_bytes(large)
    monkeypatch.setattr(untrusted, "LARGEST_USED", 10_000)
    monkeypatch.setattr(untrusted, "LARGEST_CODE", 1_000)
    with pytest.raises(Unreadable, match="its code is 0 MB long, more than"):
        read_bytes(large)


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "MOST_CELLS", 3)
    with pytest.raises(Unreadable, match="it has 4 cells: hand in at most 3"):
        read_bytes(json.dumps({**NOTEBOOK, "cells": [CELL] * 4}).encode())


@given(
    st.recursive(
        st.none() | st.text(max_size=9),
        lambda v: (
            st.lists(v)
            | st.dictionaries(
                st.sampled_from(
                    ["outputs", "a", "widgets", '"outputs": ['],
                ),
                v,
            )
        ),
        max_leaves=20,
    )
)
def test_an_outline_keeps_places_and_what_is_used(value: object) -> None:
    for indent in (None, 2):
        data = json.dumps({"outputs": [value], "source": "outputs", "cells": value}, indent=indent)
        short = outlined(data.encode()).decode()
        assert json.loads(short) == {
            "outputs": [],
            "source": "outputs",
            "cells": without_unused(value),
        }
        assert short.count("\n") == data.count("\n")


def test_outputs_that_take_long_to_skip_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST_BRACKETS", 100)
    assert outlined(b'{"outputs": [' + b"[]," * 49 + b"]}").count(b"[") == 1
    for data in (b'{"outputs": [' + b"[]," * 51 + b"]}", b'"outputs":[],' * 101):
        with pytest.raises(Unreadable, match="more than 100 lists: clear its outputs"):
            outlined(data)


def without_unused(value: object) -> object:
    """Empty what an outline leaves out."""
    if isinstance(value, list):
        return [without_unused(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: type(one)()
        if key in ("outputs", "widgets") and isinstance(one, list | dict)
        else without_unused(one)
        for key, one in value.items()
    }


def test_a_file_cut_off_in_large_outputs_is_told_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "LARGEST_USED", 100)
    data = json.dumps({"cells": [{**CELL, "outputs": ["a"] * 1_000}]}, indent=1)
    with pytest.raises(Unreadable, match=r"in line 51\d column .*cut off"):
        read_bytes("\n".join(data.split("\n")[:510]).encode())


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "real.ipynb"
    target.write_text(json.dumps(NOTEBOOK))
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    with pytest.raises(Unreadable, match="a link to another file"):
        read_file(link)
    assert read_file(target)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="not a file but a folder"):
        read_file(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ipynb")
    with pytest.raises(Unreadable, match="not a file but a folder, pipe or device"):
        read_file(tmp_path / "pipe.ipynb")


def test_a_missing_file_is_told() -> None:
    with pytest.raises(Unreadable, match=r"does not let us read it \(No such file"):
        read_file(Path("nowhere.ipynb"))


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
