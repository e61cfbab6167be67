"""What an exercise forbids is found however it is written, and nothing else is."""

import functools
import importlib
import itertools
import sys
import textwrap

import pytest
import torch
from spellings import ALLOWED, ELSEWHERE, HEAD, USES

import autograder
from autograder.catalogue import exercise as find
from autograder.catalogue import exercises
from autograder.forbidden import use_in

check = autograder.check
counter = itertools.count()


@pytest.fixture
def answer_of(tmp_path, monkeypatch):
    """Write an answer into a module of its own, and import it.

    Afterwards the module is unknown, so that Python finds the source of functions but not of
    classes: so it is in a notebook.
    """
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(source, name="softmax", head=HEAD):
        module = f"a_students_notebook_{next(counter)}"
        (tmp_path / f"{module}.py").write_text(head + textwrap.dedent(source))
        importlib.invalidate_caches()
        made = getattr(importlib.import_module(module), name)
        sys.modules.pop(module)
        return made

    return make


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_forbidden_use_in_the_body_is_found(answer_of, use):
    score = check(answer_of(f"def softmax(x, dim=-1):\n    {use}\n"))
    assert (score.report.verdict, score) == ("forbidden", 0)
    assert "softmax, which already does what you are" in score.report.diagnosis.lower()
    assert score.report.diagnosis.startswith("Line 2 of") or "def f" in use


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_forbidden_use_elsewhere_in_the_notebook_is_found(answer_of, source):
    score = check(answer_of(source))
    assert (score.report.verdict, score) == ("forbidden", 0)


@pytest.mark.parametrize("body", ALLOWED.values(), ids=ALLOWED)
def test_a_mention_is_no_use(answer_of, body):
    source = f"def softmax(x, dim=-1):\n    {body}\n    return e / e.sum(dim, keepdim=True)\n"
    assert use_in(answer_of(source), find("softmax").forbidden) is None
    assert check(answer_of(source)).report.verdict != "forbidden"


def test_a_students_own_function_of_the_same_name_is_no_use(answer_of):
    source = """
        def softmax(x, dim=-1):
            if x.ndim == 0:
                return softmax(x.reshape(1))
            e = (x - x.amax(dim, True)).exp()
            return e / e.sum(dim, True)
        class Own:
            @staticmethod
            def softmax(x):
                return softmax(x)
        def attention_weights(q, k):
            return Own.softmax(q @ k.mT / q.shape[-1] ** 0.5)
    """
    assert check(answer_of(source)) == 4
    assert check(answer_of(source, "attention_weights")) == 4


def test_torchs_softmax_is_allowed_where_the_exercise_allows_it(answer_of):
    source = """
        def attention_weights(q, k):
            return F.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)"""
    assert check(answer_of(source, "attention_weights")) == 4


@pytest.mark.parametrize(
    "use",
    [
        "return F.scaled_dot_product_attention(q, k, v)",
        "return torch.nn.functional.scaled_dot_product_attention(q, k, v)",
        "return torch._C._nn.scaled_dot_product_attention(q, k, v)",
        "f = F\n    return f.scaled_dot_product_attention(q, k, v)",
        "from torch.nn.functional import scaled_dot_product_attention as a\n    return a(q, k, v)",
    ],
)
def test_ready_made_attention_is_found(answer_of, use):
    name = "scaled_dot_product_attention"
    score = check(answer_of(f"def {name}(q, k, v):\n    {use}\n", name))
    assert score.report.verdict == "forbidden"


@pytest.mark.parametrize(
    "function",
    [
        torch.softmax,
        torch.nn.functional.softmax,
        torch.Tensor.softmax,
        torch.nn.Softmax(-1),
        functools.partial(torch.softmax, dim=-1),
    ],
)
def test_torchs_function_itself_is_no_answer(function):
    score = check(function, "softmax")
    assert (score.report.verdict, score) == ("forbidden", 0)


def test_the_line_is_that_of_the_use(answer_of):
    source = "def softmax(x, dim=-1):\n    y = x + 1\n    return F.softmax(y)\n"
    use = use_in(answer_of(source), find("softmax").forbidden)
    assert use == ("torch.nn.functional.softmax", 3)


@pytest.mark.parametrize("exercise", exercises().values(), ids=exercises())
def test_no_alternative_of_an_exercise_uses_what_it_forbids(exercise):
    for answer in exercise.alternatives:
        assert use_in(answer, exercise.forbidden) is None


def test_a_use_in_an_earlier_answer_costs_that_one_alone(answer_of):
    source = """
        def attention_weights(q, k):
            return F.scaled_dot_product_attention(q, k, torch.eye(k.shape[-2], dtype=k.dtype))
        def scaled_dot_product_attention(q, k, v):
            return attention_weights(q, k) @ v"""
    assert check(answer_of(source, "attention_weights")).report.verdict == "forbidden"
    report = check(answer_of(source, "scaled_dot_product_attention")).report
    assert report.verdict == "pass"
    assert report.diagnosis.startswith("Judged with the course's own `attention_weights`")


def test_a_use_smuggled_through_an_earlier_answer_is_no_way_round(answer_of):
    source = """
        def softmax(x, *more):
            return F.scaled_dot_product_attention(x, *more) if more else x
        def scaled_dot_product_attention(q, k, v):
            return softmax(q, k, v)"""
    assert check(answer_of(source, "scaled_dot_product_attention")) == 0


OWN = """
    class Weights:
        def __init__(self):
            self.log_softmax = torch.log
        def softmax(self, x, dim):
            e = (x - x.amax(dim, True)).exp()
            return e / e.sum(dim, True)
        def __call__(self, x, dim):
            self.log_softmax(torch.ones(1))
            return self.softmax(x, dim)
    def softmax(x, dim=-1):
        return Weights()(x, dim)"""


def test_a_method_of_ones_own_is_not_the_tensors(answer_of):
    assert check(answer_of(OWN)) == 4
