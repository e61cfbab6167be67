"""The switch: whose functions a notebook runs with, and that checks do not care."""

import importlib

import pytest
import torch

from autograder import check, use_mine
from autograder.mine.gather import gather
from autograder.mine.switch import NAME

SOFTMAX = """\
def softmax(x, dim=-1):
    calls.append("softmax")
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
ATTENTION = """\
def masked_attention(q, k, v, mask=None):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ v
"""


@pytest.fixture
def mine(written, tmp_path, monkeypatch):
    """A softmax that notes its calls, and attention; the student works beside them."""
    written("02_scaled_dot_product", "calls = []", SOFTMAX)
    given = "from solutions.softmax import softmax"
    written("03_masking", given, ATTENTION)
    gather(tmp_path, tmp_path / NAME, lambda _: None)
    monkeypatch.chdir(tmp_path / "03_masking")
    return tmp_path / NAME


def module(name: str):
    return importlib.import_module(f"solutions.{name}")


def calls_of(softmax) -> list[str]:
    return softmax.__closure__[0].cell_contents


def test_off_the_course_s_functions_are_used(mine, capsys):
    use_mine(False, "masked_attention")
    assert capsys.readouterr().out == "The functions of earlier chapters are the course's.\n"
    assert module("softmax").softmax.__module__ == "solutions.softmax"


def test_on_each_function_is_named_with_whose_it_is(mine, capsys):
    use_mine(True, "MultiHeadAttention")
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith(f"functions are yours, from {mine}:")
    whose = {line.split()[1]: line.split(maxsplit=2)[2] for line in out[1:]}
    assert (whose["softmax"], whose["masked_attention"]) == ("yours", "yours")
    assert whose["split_heads"] == whose["MultiHeadAttention"] == "the course's"


def test_on_the_course_s_own_layers_call_the_student_s_functions(mine):
    use_mine(True, "MultiHeadAttention")
    softmax = module("softmax").softmax
    before = len(calls_of(softmax))
    module("heads").MultiHeadAttention(6, 2)(torch.ones(1, 3, 6))
    assert len(calls_of(softmax)) == before + 1


def test_a_student_s_function_calls_the_student_s_earlier_one(mine):
    use_mine(True)
    softmax = module("softmax").softmax
    before = len(calls_of(softmax))
    x = torch.ones(2, 3)
    module("masked").masked_attention(x, x, x)
    assert len(calls_of(softmax)) == before + 1


def test_checks_compare_with_the_course_s_functions_all_the_same(mine):
    use_mine(True)
    softmax = module("softmax").softmax

    def masked_softmax(scores, mask):
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).masked_fill(~mask, 0.0)

    before = len(calls_of(softmax))
    assert check(masked_softmax) == check(masked_softmax).report.max_score
    assert len(calls_of(softmax)) == before


def test_off_again_everything_is_as_it_was(mine):
    given = module("softmax").softmax
    use_mine(True)
    assert module("softmax").softmax is not given
    use_mine(True)
    use_mine(False)
    assert module("softmax").softmax is given
    assert module("masked").softmax is given


def test_without_a_module_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    use_mine(True, "softmax")
    assert "run `course mine` first" in capsys.readouterr().out
    assert module("softmax").softmax.__module__ == "solutions.softmax"


def test_an_answer_that_does_not_load_any_more_is_the_course_s_with_the_reason(mine, capsys):
    text = mine.read_text().replace("    calls = []\n", "    calls = [no_such_name]\n")
    mine.write_text(text)
    use_mine(True, "softmax")
    assert "the course's: softmax could not be loaded: NameError" in capsys.readouterr().out
    assert module("softmax").softmax(torch.zeros(2)).tolist() == [0.5, 0.5]


def test_while_grading_it_does_nothing(mine, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_SEED", "secret")
    use_mine(True, "softmax")
    assert capsys.readouterr().out.startswith("While a notebook is graded")
    assert module("softmax").softmax.__module__ == "solutions.softmax"
