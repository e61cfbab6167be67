"""What is cut out of a notebook for an answer."""

import pytest

from autograder.mine.slices import answers_in

NAMES = ("softmax", "masked_softmax")


def texts(*cells: str) -> dict[str, tuple[str, ...]]:
    return {one.name: one.lines for one in answers_in(cells, NAMES)}


SOFTMAX = "def softmax(x, dim=-1):\n    return torch.softmax(x, dim)"


def test_an_answer_comes_with_its_imports_alone():
    found = texts("import math\nimport torch\nimport numpy", SOFTMAX, "print(math.pi)")
    assert found == {"softmax": ("import torch", SOFTMAX)}


def test_helpers_come_along_above_and_below_and_their_helpers():
    helper = "def shifted(x):\n    return x - top(x)"
    top = "top = lambda x: x.amax()"
    answer = "def softmax(x):\n    return shifted(x)"
    assert texts(helper, answer, top)["softmax"] == (helper, answer, top)


def test_the_last_definition_counts():
    first, last = "def softmax(x):\n    return 1", "def softmax(x):\n    return 2"
    assert texts(first, last)["softmax"] == (last,)


def test_a_stub_is_no_answer():
    assert texts('def softmax(x):\n    """Say."""\n    raise NotImplementedError') == {}


def test_a_stub_below_does_not_hide_an_answer():
    assert texts(SOFTMAX, "def softmax(x):\n    ...") == {"softmax": (SOFTMAX,)}


def test_another_exercise_is_named_and_not_copied():
    other = "def masked_softmax(x):\n    return softmax(x)"
    assert texts(SOFTMAX, other)["masked_softmax"] == (other,)


def test_a_lambda_and_a_decorated_function():
    assert texts("softmax = lambda x: x")["softmax"] == ("softmax = lambda x: x",)
    decorated = "@once\ndef softmax(x):\n    return x"
    assert texts("from functools import cache as once", decorated)["softmax"][-1] == decorated


def test_what_changes_a_value_belongs_to_it():
    cells = (
        "table = {}\ntable['a'] = 1\nother = {}\nother['b'] = 2",
        "def softmax(x): return table",
    )
    assert texts(*cells)["softmax"][:-1] == ("table = {}", "table['a'] = 1")


def test_a_function_that_calls_itself_does_not_bring_its_older_version():
    old = "def softmax(x):\n    return 0"
    new = "def softmax(x):\n    return softmax(x - 1) if x else 1"
    assert texts(old, new)["softmax"] == (new,)


@pytest.mark.parametrize(
    "cell", ["%matplotlib inline\n" + SOFTMAX, "x = 1; y = 2\n" + SOFTMAX, "def broken(:", ""]
)
def test_magics_and_broken_cells_are_passed_over(cell):
    assert texts(cell, SOFTMAX)["softmax"] == (SOFTMAX,)


def test_two_statements_on_a_line_are_divided():
    assert texts("a = 1; b = 2", "def softmax(x): return b")["softmax"][0] == "b = 2"


def test_star_imports_and_future_imports_are_kept():
    cells = ("from __future__ import annotations\nfrom torch import *", SOFTMAX)
    assert texts(*cells)["softmax"] == (*cells[0].split("\n"), SOFTMAX)


def test_a_call_into_a_module_does_not_change_it():
    cells = ("from torch import nn", "model = big()\nnn.init.zeros_(model.w)")
    answer = "def softmax(x):\n    return nn.Softmax(-1)(x)"
    assert texts(*cells, answer)["softmax"] == (cells[0], answer)


def test_a_definition_counts_before_a_later_assignment():
    assert texts(SOFTMAX, "right = softmax\nsoftmax = right")["softmax"] == (SOFTMAX,)
