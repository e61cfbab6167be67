"""Any bytes, any JSON and any cells end in a notebook that can be graded, or in words."""

import json
import time
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.intake import normalise
from autograder.needed import needed_cells
from autograder.untrusted import RawCell, Unreadable, read_bytes, read_notebook

LONGEST = 5.0  # seconds for one small file, on a busy machine

SCALARS = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
KEYS = st.sampled_from(
    [
        "cells", "worksheets", "source", "input", "cell_type", "id", "metadata", "nbgrader",
        "grade_id", "outputs", "attachments", "kernelspec", "language", "language_info", "name",
    ]
)  # fmt: skip
WORDS = st.sampled_from(["code", "markdown", "python", "R", "softmax", "check-softmax", "ir"])
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)
LINES = st.sampled_from(
    [
        "def softmax(x, dim=-1):", "    return x.exp()", "def attention_weights(q, k):",
        "    return softmax(q @ k.mT)", "softmax = lambda x: x", "class softmax: pass",
        "import torch", "from math import *", "%time", "%%bash", "!ls", "x = !ls", "softmax?",
        "check(softmax)", "from autograder import check", "<<<<<<< HEAD", "    raise",
        "    raise NotImplementedError()", "global x", "x += 1", "x.y = 1", "\x00", "\ud800",
        "while True: pass", '"""', "(", "del softmax", "return", "await x", "nonlocal x",
    ]
)  # fmt: skip
SOURCES = st.lists(LINES | st.text(max_size=20), max_size=6).map("\n".join)
NAMES = st.sampled_from(["softmax", "check-softmax", "attention_weights", "cell-1", ""])
CELLS = st.builds(
    RawCell, st.sampled_from(["code", "markdown"]), SOURCES, st.lists(NAMES, max_size=2).map(tuple)
)


@pytest.fixture(scope="module")
def real(student: Any) -> bytes:
    """The start of the notebook that students get, as bytes."""
    short = {**student, "cells": student.cells[28:40]}
    return json.dumps(short, indent=1).encode()


def assert_ends_well(data: bytes, ours: Any) -> None:
    started = time.perf_counter()
    try:
        raw = read_notebook(data)
    except Unreadable as reason:
        assert_told(str(reason))
    else:
        assert_normal(list(raw.cells), ours)
        assert all(note.isprintable() for note in raw.notes)
    assert time.perf_counter() - started < LONGEST


def assert_told(reason: str) -> None:
    assert reason.isprintable()
    assert reason


def assert_normal(cells: list[RawCell], ours: Any) -> None:
    intake = normalise(cells, ours)
    nbformat.validate(intake.notebook)
    assert len(intake.checks) == 6
    for exercise, check in intake.checks.items():
        needed = needed_cells(intake.notebook.cells, exercise)
        assert needed == sorted(set(needed))
        assert all(place < check for place in needed)
        if exercise in intake.answers:
            at = [intake.notebook.cells[place].source for place in range(check)]
            assert intake.answers[exercise] in at


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_bytes_of_a_real_notebook(real: bytes, ours: Any, data: st.DataObject) -> None:
    damaged = bytearray(real)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        end = at + data.draw(st.integers(0, 40))
        damaged[at:end] = data.draw(st.binary(max_size=12))
    encoding = data.draw(st.sampled_from(["", "utf-16", "utf-32-be"]))
    whole = bytes(damaged)
    if encoding:
        whole = whole.decode("latin-1").encode(encoding)
    assert_ends_well(whole[: data.draw(st.none() | st.integers(0, len(whole)))], ours)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(value=JSON)
def test_any_json(ours: Any, value: object) -> None:
    assert_ends_well(json.dumps(value).encode(), ours)
    assert_ends_well(json.dumps({"cells": [value, value]}).encode(), ours)
    assert_ends_well(
        json.dumps({"worksheets": [{"cells": [value]}], "metadata": value}).encode(), ours
    )


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    try:
        assert all(isinstance(cell, RawCell) for cell in read_bytes(data, "hw.ipynb"))
    except Unreadable as reason:
        assert_told(str(reason))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(cells=st.lists(CELLS, max_size=8))
def test_any_cells(ours: Any, cells: list[RawCell]) -> None:
    assert_normal(cells, ours)


@given(st.text(max_size=200), st.sampled_from(["# %%", "# In[1]:", "# %% [markdown]", "#%%"]))
def test_any_script(text: str, mark: str) -> None:
    cells = read_bytes(f"x = 1\n{mark}\n{text}\n{mark}\ny = 2".encode("utf-8", "replace"))
    assert cells[0].source == "x = 1"
    assert cells[-1].source.endswith("y = 2")
