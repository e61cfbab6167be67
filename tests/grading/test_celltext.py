"""What a cell's text defines and needs."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import celltext

BODIES = {
    "def f(x):\n    return x": False,
    "def f(x):\n    pass": True,
    "def f(x):\n    ...": True,
    'def f(x):\n    """Words."""': True,
    'def f(x):\n    """Words."""\n    # YOUR CODE HERE\n    raise NotImplementedError()': True,
    "def f(x):\n    raise NotImplementedError": True,
    "def f(x):\n    raise ValueError": False,
    "class f:\n    pass": True,
    "async def f(x):\n    return 1": False,
}


@pytest.mark.parametrize(("source", "stub"), BODIES.items())
def test_a_stub_has_no_body_of_its_own(source: str, stub: bool) -> None:
    assert celltext.facts(source).defined == {"f": stub}
    assert celltext.defines(source, "f") is not stub


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\ndef f():\n    return 1",
        "!pip install x\ndef f():\n    return 1",
        "%%time\ndef f():\n    return 1",
        "files = !ls\ndef f():\n    return 1",
        "t = %timeit -o g()\ndef f():\n    return 1",
        "torch.softmax?\ndef f():\n    return 1",
        "if True:\n    %pip install x\ndef f():\n    return 1",
    ],
)
def test_lines_of_ipython_do_not_hide_a_definition(source: str) -> None:
    assert celltext.defines(source, "f")
    assert celltext.syntax_error(source) is None


def test_a_line_that_starts_with_a_percent_sign_may_be_a_remainder() -> None:
    source = "def f(a, b):\n    return (a\n        % b)"
    assert celltext.defines(source, "f")


@pytest.mark.parametrize(
    ("source", "for_all"),
    [
        ("from math import *", True),
        ("%autoreload 2", True),
        ("!pip install einops", True),
        ("%%writefile helper.py\nx = 1", True),
        ("get_ipython().run_line_magic('autoreload', '2')", True),
        ("%%time\nx = 1", False),
        ("torch.softmax?", False),
        ("from math import pi", False),
    ],
)
def test_what_sets_things_up_for_all_cells(source: str, for_all: bool) -> None:
    assert celltext.facts(source).sets_up is for_all


def test_what_a_cell_changes_without_naming_it_anew() -> None:
    source = "a.x = 1\nb[0].y += 1\nc.clear()\nd(1)\ne = c.copy()\nfor f.x in g: pass"
    assert celltext.facts(source).touched == {"a", "b", "c", "f"}


def test_adding_to_a_name_reads_it() -> None:
    assert "total" in celltext.used_names("total += 1")


@pytest.mark.parametrize(
    "source",
    [
        " " * 150_000,
        "\n" * 150_000,
        "a " * 75_000,
        "(" * 150_000,
        "-" * 150_000 + "1",
        "x" + ".a" * 70_000,
        "if x: pass\n" + "elif x: pass\n" * 2_000,
        "lambda: " * 5_000 + "0",
        "x = " + "[" * 90 + "]" * 90,
        "def f(x):\n    global x",
        "x" * 5_000_000,
        "%" * 150_000,
    ],
    ids=range(12),
)
def test_no_text_takes_long(source: str) -> None:
    started = time.perf_counter()
    celltext.facts(source)
    celltext.mentions_definition(source, "softmax")
    celltext.syntax_error(source)
    assert time.perf_counter() - started < 2


def test_a_cell_in_another_language_defines_nothing() -> None:
    assert celltext.facts("%%bash\ndef f():\n    return 1").defined == {}


def test_a_syntax_error_is_told_with_its_line() -> None:
    text = celltext.syntax_error("x = 1\n%time y\ndef f(:\n    pass")
    assert text is not None
    assert text.startswith("SyntaxError in line 3 of the cell, `def f(:`")


def test_names_bound_and_needed() -> None:
    source = "import math\na, (b, *c) = g(1)\ndef f(x, y=z):\n    local = x + w\n    return local"
    assert celltext.bound_names(source) == {"math", "a", "b", "c", "f"}
    assert {"g", "z", "w"} <= celltext.used_names(source)
    assert not {"x", "local", "print"} & celltext.used_names(source)


def test_an_odd_escape_gives_no_warning() -> None:
    assert celltext.bound_names(r"x = '\d'") == {"x"}


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    names = {*celltext.bound_names(text), *celltext.used_names(text)}
    assert all(isinstance(name, str) for name in names)
    celltext.syntax_error(text)
    assert not celltext.facts(text).defined or "def" in text or "class" in text
