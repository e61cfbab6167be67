"""Reading the text of a notebook finds a forbidden use however it is written, and nothing else."""

import inspect
import textwrap
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spellings import ALLOWED, ELSEWHERE, HEAD, USES

from autograder.catalogue import exercise as find
from autograder.catalogue import exercises
from autograder.cellcode import LONGEST_CELL, forbidden_in

FORBIDDEN = (*find("softmax").forbidden, "solutions.softmax.softmax")
ANSWER = "def softmax(x, dim=-1):\n    return {}\n"
RIGHT = ANSWER.format("x.exp() / x.exp().sum(dim, keepdim=True)")


def found(*cells, exercise="softmax", **more):
    return forbidden_in([HEAD, *map(textwrap.dedent, cells)], exercise, FORBIDDEN, **more)


LOOKUPS = {
    "import_module": "im('torch').softmax(x, dim)",
    "__import__": "__import__('torch').softmax(x, dim)",
    "__import__ of the module": "__import__('torch.nn', fromlist=['x']).functional.softmax(x)",
    "sys.modules": "sys.modules['torch'].softmax(x, dim)",
    "__dict__": "torch.__dict__['softmax'](x, dim)",
    "get of __dict__": "F.__dict__.get('softmax')(x, dim)",
    "vars": "vars(torch)['softmax'](x, dim)",
    "get of vars": "vars(F).get('softmax')(x, dim)",
    "__getattribute__": "F.__getattribute__('softmax')(x, dim)",
    "builtins.getattr": "builtins.getattr(torch, 'softmax')(x, dim)",
    "an overload": "torch.ops.aten.softmax.int(x, dim)",
    "attrgetter": "operator.attrgetter('softmax')(torch)(x, dim)",
    "attrgetter, dotted": "operator.attrgetter('nn.functional.softmax')(torch)(x, dim)",
    "methodcaller": "operator.methodcaller('softmax', dim)(x)",
    "eval": "eval('torch.softmax')(x, dim)",
    "eval of the call": "eval('F.softmax(x, dim)')",
    "exec": "exec('from torch import softmax as s') or locals()['s'](x, dim)",
    "walrus": "(f := torch.softmax)(x, dim)",
    "unpacked": "[f(x) for f, n in [(torch.softmax, 1)]][0]",
    "a layer": "torch.nn.Softmax()(x)",
    "reference implementations": "torch._refs.softmax(x, dim)",
    "masked": "torch.masked.softmax(x, dim)",
    "sparse": "torch.sparse.softmax(x.to_sparse(), dim).to_dense()",
    "a module's own import": "torch.functional.torch.softmax(x, dim)",
    "default of a lambda": "(lambda y, f=torch.softmax: f(y, dim))(x)",
}
IMPORTS = "import builtins, operator, sys\nfrom importlib import import_module as im\n"


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_use_in_the_body_is_found(use):
    name, line = found(f"def softmax(x, dim=-1):\n    {use}\n")
    assert "softmax" in name.lower()
    assert line == 2 or "def f" in use


@pytest.mark.parametrize("use", LOOKUPS.values(), ids=LOOKUPS)
def test_a_lookup_by_its_name_is_found(use):
    assert found(IMPORTS, ANSWER.format(use)) is not None


@pytest.mark.parametrize("source", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_use_elsewhere_in_the_cell_is_found(source):
    assert found(source) is not None


NOTEBOOKS = {
    "star": ["from torch.nn.functional import *", ANSWER.format("log_softmax(x, dim).exp()")],
    "star, renamed": ["from torch import *\nours = softmax", ANSWER.format("ours(x, dim)")],
    "alias by getattr": ["f = getattr(F, 'softmax')", ANSWER.format("f(x, dim)")],
    "helper below": [ANSWER.format("h(x)"), "h = torch.softmax"],
    "lambda": ["softmax = lambda x, dim=-1: torch.softmax(x, dim)"],
    "partial": ["import functools", "softmax = functools.partial(torch.softmax)"],
    "imported": ["from torch import softmax"],
    "assigned": ["softmax = torch.softmax"],
    "wrapped": [
        "from torch import softmax",
        "def same(f):\n    return lambda x, dim=-1: f(x, dim)",
        "softmax = same(softmax)",
    ],
    "kept under another name": [
        "from torch import softmax\ntheirs = softmax",
        ANSWER.format("theirs(x, dim)"),
    ],
    "default argument": [
        "from torch import softmax",
        "def softmax(x, dim=-1, f=softmax):\n    return f(x, dim)",
    ],
    "one of two branches": [
        "if True:\n    h = torch.softmax\nelse:\n    h = None",
        ANSWER.format("h(x, dim)"),
    ],
    "import that is tried": [
        "try:\n    from torch import softmax as h\nexcept ImportError:\n    h = None",
        ANSWER.format("h(x, dim)"),
    ],
    "loop": ["for h in [torch.softmax]:\n    pass", ANSWER.format("h(x, dim)")],
    "table": ["T = {'s': torch.softmax}", ANSWER.format("T['s'](x, dim)")],
    "pair": ["n, h = 1, torch.softmax", ANSWER.format("h(x, dim)")],
    "object": [
        "class C:\n    def __call__(self, x):\n        return x.softmax(-1)\nc = C()",
        ANSWER.format("c(x)"),
    ],
    "decorator": [
        "def deco(f):\n    return torch.softmax",
        "@deco\ndef softmax(x, dim=-1):\n    return x",
    ],
    "made": ["def make():\n    f = torch.softmax\n    return f", "softmax = make()"],
    "after a cell that is no Python": ["def (", ANSWER.format("torch.softmax(x, dim)")],
    "among magics": ["%matplotlib inline", f"%%time\n{ANSWER.format('torch.softmax(x, dim)')}"],
}


@pytest.mark.parametrize("cells", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_a_use_is_followed_through_the_cells(cells):
    assert found(*cells) is not None


HARMLESS = {
    "unused helper": ["def other(x):\n    return torch.softmax(x, -1)", RIGHT],
    "docstring": ['def softmax(x):\n    """>>> torch.softmax(x, -1)"""\n    return x.exp()'],
    "comment": ["def softmax(x):\n    # torch.softmax(x, -1)\n    return x.exp()"],
    "first try": [ANSWER.format("torch.softmax(x, dim)"), RIGHT],
    "first try of a helper": [
        "h = torch.softmax",
        "def h(x):\n    return x",
        ANSWER.format("h(x)"),
    ],
    "recursion, and an import before": [
        "from torch import softmax",
        "def softmax(x):\n    return softmax(x[None])[0] if x.ndim == 0 else x.exp()",
    ],
    "another exercise": ["def attention_weights(q, k):\n    return torch.softmax(q @ k.mT)", RIGHT],
    "a comparison": [RIGHT, "assert torch.equal(softmax(x), torch.softmax(x, -1))"],
    "a local name that is also global": [
        "y = f = torch.softmax(torch.ones(2), 0)",
        "def softmax(x, dim=-1):\n    y = x.exp()\n    f = y.sum()\n    return y / f",
    ],
    "a parameter that is also global": ["x = torch.softmax(torch.ones(2), 0)", RIGHT],
    "the other half of a pair": ["p, n = torch.softmax(x, 0), -1", ANSWER.format("x.sum(n)")],
    "own method": [
        "class A:\n    def softmax(self, x):\n        return x.exp()\n"
        "    def __call__(self, x):\n        return self.softmax(x)",
        ANSWER.format("A()(x)"),
    ],
    "own attribute": [
        "class A:\n    def __init__(self):\n        self.softmax = torch.exp",
        ANSWER.format("A().softmax(x)"),
    ],
    "text that is run": [ANSWER.format("eval('x.exp()')")],
    "a name that only running tells": [ANSWER.format("getattr(torch, 'soft' + 'max')(x)")],
    "nothing": [],
    "no Python": ["%%bash\nls", "?torch.softmax", "!ls"],
}


@pytest.mark.parametrize("cells", HARMLESS.values(), ids=HARMLESS)
def test_no_other_mention_counts(cells):
    assert found(*cells) is None


@pytest.mark.parametrize("body", ALLOWED.values(), ids=ALLOWED)
def test_a_mention_in_the_body_is_no_use(body):
    assert found(f"def softmax(x, dim=-1):\n    {body}\n    return e / e.sum(dim, True)") is None


def test_the_cells_after_the_check_are_the_callers_to_leave_out():
    cells = ["def h(x):\n    return x.exp()", ANSWER.format("h(x)")]
    assert found(*cells) is None
    assert found(*cells, "h = torch.softmax") is not None


def test_names_apart_are_not_followed():
    cells = [ANSWER.format("x.softmax(dim)"), "def attention_weights(q, k):\n    return softmax(q)"]
    assert found(*cells, exercise="attention_weights") == ("Tensor.softmax", 2)
    assert found(*cells, exercise="attention_weights", apart={"softmax"}) is None


@pytest.mark.parametrize("exercise", exercises().values(), ids=exercises())
def test_no_right_answer_of_the_course_uses_what_is_forbidden(exercise):
    for answer in (exercise.solution, *exercise.alternatives):
        text = inspect.getsource(inspect.getmodule(answer))
        assert forbidden_in([text], answer.__name__, exercise.forbidden) is None


# Texts of people who mean harm

N = LONGEST_CELL - 100
HEAVY = {
    "calls": ["def softmax(x):\n" + "    f(x)\n" * (N // 9)] * 10,
    "operators": ["softmax = " + "+".join("a" * (N // 2 - 20))],
    "parentheses": ["softmax = " + "(" * 5000 + "1" + ")" * 5000],
    "signs": ["softmax = " + "-" * (N - 20) + "1"],
    "attributes": ["import torch as a\nsoftmax = a" + ".a" * 900],
    "more attributes": ["softmax = a" + ".a" * (N // 2 - 20)],
    "entries": ["softmax = a" + "['a']" * 3000],
    "lambdas": ["softmax = " + "lambda: " * 900 + "1"],
    "a chain of helpers": ["\n".join(f"def a{i}(): a{i - 1}()" for i in range(700))] * 10
    + ["def softmax(): a699()"],
    "one name again and again": ["\n".join(["a = b(a)"] * 2000)] * 10 + ["def softmax(): a()"],
    "texts": ["def softmax():\n" + "    eval('a.b.c.d')\n" * 900],
    "targets": ["a=" * (N // 2 - 20) + "b\nsoftmax=a"],
    "a nest in a format": ["def softmax():\n    f'" + "{a:{b}}" * 2000 + "'"],
    "characters that are none": ["def softmax(): '\0'", "def softmax(): eval('\ud800')"],
    "no function": ["return 1\nnonlocal y\nsoftmax = 1", "def softmax():\n    nonlocal y"],
    "spaces": [" " * N, " ," * (N // 2)],
    "very long": ["x" * 10**7] * 5,
}


@pytest.mark.parametrize("cells", HEAVY.values(), ids=HEAVY)
def test_no_text_takes_long_or_raises(cells):
    start = time.process_time()
    assert forbidden_in(cells, "softmax", FORBIDDEN) is None
    assert time.process_time() - start < 3


TOKENS = """
def class softmax torch F import from as getattr lambda x return eval vars for in if else global
exec __dict__ __import__ 'softmax' . , ( ) [ ] : = * @ % ! := # " f' { } 0
"""
WORDS = st.sampled_from([*TOKENS.split(), "\\", "\n", "\n\n    ", "\n  "])


@given(st.lists(st.lists(WORDS, max_size=30).map(" ".join), max_size=5))
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_text_is_read_without_a_crash(cells):
    use = forbidden_in(cells, "softmax", FORBIDDEN)
    assert use is None or use[0] in FORBIDDEN
