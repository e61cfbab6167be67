"""What a cell's text defines and needs."""

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
    found = celltext.definition(source, "f")
    assert found is not None
    assert celltext.is_stub(found) is stub


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
    assert celltext.definition(source, "f")
    assert celltext.syntax_error(source) is None


def test_a_cell_in_another_language_defines_nothing() -> None:
    assert celltext.definition("%%bash\ndef f():\n    return 1", "f") is None


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
    assert celltext.parse(r"x = '\d'") is not None


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    names = {*celltext.bound_names(text), *celltext.used_names(text)}
    assert all(isinstance(name, str) for name in names)
    celltext.syntax_error(text)
    assert celltext.definition(text, "f") is None or "def" in text or "class" in text
