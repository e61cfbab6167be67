"""What an exercise forbids is found however it is written, and nothing else is."""

import functools
import importlib
import itertools
import sys
import textwrap

import pytest
import torch

import autograder
from autograder.catalogue import exercise as find
from autograder.catalogue import exercises
from autograder.forbidden import forbidden_use, use_in

check = autograder.check
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
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


USES = {
    "torch.softmax": "return torch.softmax(x, dim)",
    "alias of the module": "return F.softmax(x, dim)",
    "dotted": "return torch.nn.functional.softmax(x, dim)",
    "through nn": "return nn.functional.softmax(x, dim)",
    "method": "return x.softmax(dim)",
    "method of an expression": "return (x - x.max()).softmax(dim)",
    "method of the class": "return torch.Tensor.softmax(x, dim)",
    "module": "return nn.Softmax(dim)(x)",
    "dotted module": "return torch.nn.Softmax(dim=dim)(x)",
    "logarithm first": "return torch.log_softmax(x, dim).exp()",
    "special": "return torch.special.softmax(x, dim)",
    "aten": "return torch.ops.aten.softmax(x, dim)",
    "import inside": "from torch.nn.functional import softmax as sm; return sm(x, dim)",
    "import of the module inside": "import torch.nn.functional as G; return G.softmax(x, dim)",
    "import of torch inside": "import torch as t; return t.softmax(x, dim)",
    "local alias": "f = torch.nn.functional; return f.softmax(x, dim)",
    "local alias of the function": "f = F.softmax; return f(x, dim)",
    "getattr": "return getattr(F, 'softmax')(x, dim)",
    "getattr of the tensor": "return getattr(x, 'softmax')(dim)",
    "lambda": "return (lambda y: y.softmax(dim))(x)",
    "partial": "import functools; return functools.partial(F.softmax, dim=dim)(x)",
    "map": "return torch.stack([*map(lambda r: torch.softmax(r, -1), x)])",
    "function inside": "def f(y):\n        return F.softmax(y, dim)\n    return f(x)",
    "the course's answer": "from solutions.softmax import softmax as s; return s(x, dim)",
    "the course's module": "import solutions.softmax as s; return s.softmax(x, dim)",
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_forbidden_use_in_the_body_is_found(answer_of, use):
    score = check(answer_of(f"def softmax(x, dim=-1):\n    {use}\n"))
    assert (score.report.verdict, score) == ("forbidden", 0)
    assert "softmax, which already does what you are" in score.report.diagnosis.lower()
    assert score.report.diagnosis.startswith("Line 2 of") or "def f" in use


ELSEWHERE = {
    "name imported at the top": """
        from torch.nn.functional import softmax as sm
        def softmax(x, dim=-1):
            return sm(x, dim)""",
    "builtin imported at the top": """
        from torch import softmax as sm
        def softmax(x, dim=-1):
            return sm(x, dim)""",
    "special imported at the top": """
        from torch.special import softmax as sm
        def softmax(x, dim=-1):
            return sm(x, dim)""",
    "module made at the top": """
        layer = nn.Softmax(-1)
        def softmax(x, dim=-1):
            return layer(x)""",
    "helper function": """
        def helper(x, dim):
            return F.softmax(x, dim)
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "helper of a helper": """
        def inner(x, dim):
            return x.softmax(dim)
        def helper(x, dim):
            return inner(x, dim)
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "helper named in a lambda": """
        def helper(x, dim):
            return F.softmax(x, dim)
        def softmax(x, dim=-1):
            return (lambda y: helper(y, dim))(x)""",
    "lambda at the top": """
        helper = lambda x, dim: F.softmax(x, dim)
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "partial at the top": """
        import functools
        helper = functools.partial(F.softmax, dim=-1)
        def softmax(x, dim=-1):
            return helper(x)""",
    "default argument": """
        def softmax(x, dim=-1, f=F.softmax):
            return f(x, dim)""",
    "method of a class": """
        class Helper:
            @staticmethod
            def use(x, dim):
                return F.softmax(x, dim)
        def softmax(x, dim=-1):
            return Helper.use(x, dim)""",
    "helper of a class": """
        def helper(x, dim):
            return F.softmax(x, dim)
        class Helper:
            @staticmethod
            def use(x, dim):
                return helper(x, dim)
        def softmax(x, dim=-1):
            return Helper.use(x, dim)""",
    "closure": """
        def make():
            f = F.softmax
            def softmax(x, dim=-1):
                return f(x, dim)
            return softmax
        softmax = make()""",
    "decorator": """
        import functools
        def same(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        @same
        def softmax(x, dim=-1):
            return F.softmax(x, dim)""",
    "helper behind a decorator": """
        import functools
        def same(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        def helper(x, dim):
            return F.softmax(x, dim)
        @same
        def softmax(x, dim=-1):
            return helper(x, dim)""",
    "the course's answer at the top": """
        from solutions.softmax import softmax as reference
        def softmax(x, dim=-1):
            return reference(x, dim)""",
}


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_forbidden_use_elsewhere_in_the_notebook_is_found(answer_of, source):
    score = check(answer_of(source))
    assert (score.report.verdict, score) == ("forbidden", 0)


ALLOWED = {
    "comment": "# F.softmax(x, dim) would do\n    e = (x - x.amax(dim, True)).exp()",
    "string": "'F.softmax(x, dim)'\n    e = (x - x.amax(dim, True)).exp()",
    "local name": "softmax = x.amax(dim, True)\n    e = (x - softmax).exp()",
    "inner function": "def softmax(y):\n        return y.exp()\n    e = softmax(x - x.max())",
    "own attribute": "e = (x - x.amax(dim, True)).exp()\n    e.log_softmaxed = 1",
}


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


def test_the_line_is_that_of_the_use():
    source = "def f(x):\n    y = x + 1\n    return F.softmax(y)\n"
    names = {"F": "torch.nn.functional"}
    found = forbidden_use(source, names, ["torch.nn.functional.softmax"])
    assert found == ("torch.nn.functional.softmax", 3)


def test_a_source_that_does_not_parse_is_left_to_its_error():
    assert forbidden_use("def f(:", {}, ["torch.softmax"]) is None


@pytest.mark.parametrize("exercise", exercises().values(), ids=exercises())
def test_no_alternative_of_an_exercise_uses_what_it_forbids(exercise):
    for answer in exercise.alternatives:
        assert use_in(answer, exercise.forbidden) is None
