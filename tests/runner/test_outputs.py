"""Outputs that a stranger's process tells of become valid notebook outputs, or nothing."""

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook

from autograder.outputs import LONGEST, MOST, clean

STREAM = {"output_type": "stream", "name": "stdout", "text": "a"}
KEYS = ("output_type", "name", "text", "data", "metadata", "ename", "evalue", "traceback")


def test_what_is_right_stays():
    error = {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["a", "b"]}
    shown = {"output_type": "display_data", "data": {"text/plain": "3"}, "metadata": {}}
    value = {**shown, "output_type": "execute_result", "execution_count": None}
    assert clean([STREAM, error, shown, value]) == [STREAM, error, shown, value]


@pytest.mark.parametrize(
    "odd",
    [
        {"output_type": "widget"},
        {"output_type": ["stream"]},
        {},
        3,
        None,
        [STREAM],
    ],
)
def test_what_is_no_output_goes(odd):
    assert clean([odd, STREAM]) == [STREAM]


def test_entries_that_are_no_mime_types_go():
    data = {"text/plain": "a", "onload=alert()": "b", "text/html><script>": "c", "text/html": 3}
    (shown,) = clean([{"output_type": "display_data", "data": data}])
    assert shown["data"] == {"text/plain": "a", "text/html": ""}


def test_there_is_an_end_to_everything():
    many = clean([{**STREAM, "text": "x" * (LONGEST + 5)}] * (MOST + 5))
    assert len(many) == MOST
    assert {len(one["text"]) for one in many} == {LONGEST}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.just("stream") | st.just("error"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["output_type", "name", "text", "data", "metadata", "ename", "evalue", "traceback"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
outputs = st.lists(
    st.fixed_dictionaries(
        {"output_type": st.sampled_from(["stream", "error", "display_data", "execute_result"])},
        optional=dict.fromkeys(("name", "text", "data", "traceback", "ename"), anything),
    ),
    max_size=3,
)


@settings(deadline=None)
@given(anything | outputs)
def test_whatever_comes_the_notebook_is_valid(value):
    cell = new_code_cell("x", outputs=clean(value))
    notebook = nbformat.from_dict(new_notebook(cells=[cell]))
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
