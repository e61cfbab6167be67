"""What an answer calls is noted, however it gets hold of it, and nothing else changes."""

import gc
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name
from torch.overrides import BaseTorchFunctionMode, _get_current_function_mode_stack
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from autograder import watched
from autograder.catalogue import exercise as find
from autograder.catalogue import exercises
from autograder.compare import alike
from autograder.judge import trials
from autograder.perform import perform
from autograder.watched import Watching

SOFTMAX = find("softmax").forbidden
ATTENTION = find("scaled_dot_product_attention").forbidden
SOFT = "soft" + "max"


@pytest.fixture(autouse=True)
def inside_too(monkeypatch):
    """Watch inside operations each time, not once in a while."""
    monkeypatch.setattr(watched, "EVERY", 1)


@pytest.fixture
def calls_only(monkeypatch):
    """Watch calls alone, as most of the time."""
    monkeypatch.setattr(watched, "EVERY", 2)
    monkeypatch.setattr(watched, "_entered", count(1, 2))


def used(forbidden, function, *args):
    with Watching(forbidden) as watch:
        function(*args)
    return watch.used


CALLS = {
    "getattr": (lambda x: getattr(torch, SOFT)(x, -1), "torch.softmax"),
    "of the tensor": (lambda x: getattr(x, SOFT)(-1), "Tensor.softmax"),
    "of its class": (lambda x: getattr(torch._C.TensorBase, SOFT)(x, -1), "Tensor.softmax"),
    "functional": (lambda x: getattr(F, SOFT)(x, -1), "torch.nn.functional.softmax"),
    "special": (lambda x: getattr(torch.special, SOFT)(x, -1), "torch.special.softmax"),
    "a layer": (nn.Softmax(-1), "torch.nn.functional.softmax"),
    "an operator": (lambda x: getattr(torch.ops.aten, SOFT)(x, -1), "torch.softmax"),
    "an overload": (lambda x: torch.ops.aten.softmax.int(x, -1), "torch.softmax"),
    "in torch's own drawer": (
        lambda x: torch._C._VariableFunctions.softmax(x, -1),
        "torch.softmax",
    ),
    "the operation below": (lambda x: torch._softmax(x, -1, False), "torch._softmax"),
    "into a tensor": (
        lambda x: torch.softmax(x.detach(), -1, out=torch.empty(3, 4)),
        "torch.softmax",
    ),
    "logarithm": (lambda x: x.log_softmax(-1).exp(), "Tensor.log_softmax"),
    "sum of exponentials": (lambda x: (x - x.logsumexp(-1, True)).exp(), "Tensor.logsumexp"),
    "masked": (lambda x: torch.masked.softmax(x, -1), "torch.nn.functional.softmax"),
    "of categories": (
        lambda x: torch.distributions.Categorical(logits=x).probs,
        "Tensor.logsumexp",
    ),
    "mapped": (torch.vmap(partial(torch.softmax, dim=-1)), "torch.softmax"),
    "differentiated": (torch.func.grad(lambda x: x.softmax(-1).max()), "Tensor.softmax"),
}


@pytest.mark.parametrize(("function", "name"), CALLS.values(), ids=CALLS)
def test_a_call_is_noted_by_its_public_name(function, name, calls_only):
    x = torch.randn(3, 4, requires_grad=True)
    assert used(SOFTMAX, function, x)[:1] == (name,)
    assert used(ATTENTION, function, x) == ()


def compiled(function, example):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated, and still there
        return torch.jit.trace(function, example)


def without_functions(x):
    with torch._C.DisableTorchFunction():
        return x.softmax(-1)


WITHIN = {
    "compiled": compiled(lambda x: torch.softmax(x, -1), torch.ones(2, 2)),
    "an entropy": lambda x: F.cross_entropy(x, torch.arange(len(x)), reduction="none"),
    "a sparse tensor": lambda x: torch.sparse.softmax(x.detach().to_sparse(), -1),
    "functions switched off": without_functions,
}


@pytest.mark.parametrize("function", WITHIN.values(), ids=WITHIN)
def test_what_other_functions_do_inside_is_noted(function):
    name = used(SOFTMAX, function, torch.randn(3, 4))
    assert len(name) == 1
    assert name[0] in ("torch.softmax", "torch.log_softmax")


def test_one_use_of_several_is_watched_inside(monkeypatch):
    monkeypatch.setattr(watched, "EVERY", 3)
    seen = [used(SOFTMAX, WITHIN["compiled"], torch.ones(2, 2)) for _ in range(9)]
    assert seen.count(("torch.softmax",)) == 3


Q = torch.randn(2, 3, 4)
LAYER = nn.MultiheadAttention(4, 1, bias=False, batch_first=True)
READY = {
    "functional": lambda q: F.scaled_dot_product_attention(q, q, q),
    "torch's own drawer": lambda q: torch._C._nn.scaled_dot_product_attention(q, q, q),
    "an operator": lambda q: torch.ops.aten.scaled_dot_product_attention(q, q, q),
    "its mathematics": lambda q: torch._scaled_dot_product_attention_math(q, q, q),
    "compiled": compiled(lambda q: F.scaled_dot_product_attention(q, q, q), Q),
}
LAYERS = {
    "a layer": lambda q: LAYER(q, q, q),
    "a layer in use": lambda q: torch.no_grad()(LAYER.eval())(q, q, q),
    "an encoder": nn.TransformerEncoderLayer(4, 1, 8, batch_first=True),
}
NAMES = {
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch._scaled_dot_product_attention_math",
}


@pytest.mark.parametrize("function", READY.values(), ids=READY)
def test_ready_made_attention_is_noted(function):
    assert set(used(ATTENTION, function, Q)) & NAMES
    assert set(used(ATTENTION, function, Q[:, None])) & NAMES


@pytest.mark.parametrize("function", LAYERS.values(), ids=LAYERS)
def test_a_layer_with_attention_is_noted(function):
    assert set(used(ATTENTION, function, Q)) & NAMES


def test_a_thread_is_watched_too():
    def elsewhere(x):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(torch.softmax, x, -1).result()

    assert used(SOFTMAX, elsewhere, torch.ones(3)) == ("torch.softmax",)
    assert threading.getprofile() is None


def own_softmax(x):
    e = (x - x.amax(-1, True)).exp()
    return e / e.sum(-1, True)


HARMLESS = {
    "the operations of a softmax": lambda x: x.sub(x.amax(-1, True)).exp().sum(-1).log(),
    "logaddexp": lambda x: torch.logaddexp(x, x),
    "cov, std, var": lambda x: (torch.cov(x), x.std(), x.var(0), torch.var_mean(x)),
    "sigmoid and others": lambda x: (x.sigmoid(), F.gelu(x), F.layer_norm(x, (4,)), F.silu(x)),
    "a print": str,
    "own function": own_softmax,
    "mentioned": lambda x: (torch.softmax, F.softmax, nn.Softmax(-1), x),
    "its derivative": lambda x: torch.autograd.grad(own_softmax(x).max(), x),
}


@pytest.mark.parametrize("function", HARMLESS.values(), ids=HARMLESS)
def test_nothing_else_is_noted(function):
    x = torch.randn(3, 4, requires_grad=True)
    assert used((*SOFTMAX, *ATTENTION), function, x) == ()


right = [(e, a) for e in exercises().values() for a in (e.solution, *e.alternatives)]


def watching(answer, names):
    """Make an answer that watches itself; the names it used are in the list."""
    seen = []

    def watched_answer(*args, **kwargs):
        with Watching(names) as watch:
            value = answer(*args, **kwargs)
        seen.extend(watch.used)
        return value

    return watched_answer, seen


@pytest.mark.parametrize(
    ("exercise", "answer"), right, ids=[f"{e.id}-{a.__name__}" for e, a in right]
)
def test_right_answers_use_nothing_and_give_the_same_numbers(exercise, answer):
    watched_answer, seen = watching(answer, exercise.forbidden or SOFTMAX)
    for case in exercise.cases:
        for trial in trials(exercise, case, "public"):
            plain = perform(answer, trial.request)
            assert same(plain, perform(watched_answer, trial.request))
    assert not set(seen) & set(exercise.forbidden)


def same(one, other):
    """Whether two replies are equal bit for bit, NaN included, or, without numbers, in shape."""
    pairs = [*zip(one.values, other.values, strict=True)]
    numbers = [(a, b) for a, b in pairs if isinstance(a, torch.Tensor) and not a.is_meta]
    return alike(one, other, None) and all(a.allclose(b, 0, 0, True) for a, b in numbers)


class _Calls(BaseTorchFunctionMode):
    """A mode of the student's own."""


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_the_modes_are_as_before_whatever_the_code_leaves_behind():
    before = modes()
    with Watching(SOFTMAX) as watch:
        _Calls().__enter__()
        _Operations().__enter__()
        torch.softmax(torch.ones(2), 0)
    assert watch.used[:1] == ("torch.softmax",)
    assert modes() == before


def modes():
    return _get_current_function_mode_stack(), _get_current_dispatch_mode_stack()


def test_a_mode_that_the_code_takes_away_does_no_harm():
    with _Calls():
        before = modes()
        with Watching(SOFTMAX):
            torch.overrides._pop_mode()
        assert modes() == before


def test_a_default_device_that_the_code_sets_stays():
    with Watching(SOFTMAX) as watch:
        torch.set_default_device("meta")
    try:
        assert torch.ones(1).is_meta
        assert watch._calls not in modes()[0]
    finally:
        torch.set_default_device(None)


def test_an_error_passes_through():
    before = modes()
    with pytest.raises(ZeroDivisionError, match="by zero"), Watching(SOFTMAX):
        1 / 0  # noqa: B018 - the error is meant
    assert modes() == before


def test_without_names_nothing_is_watched():
    before = modes()
    with Watching(()) as watch:
        assert modes() == before
        torch.softmax(torch.ones(2), 0)
    assert watch.used == ()


def test_names_of_no_function_of_torch_do_no_harm():
    names = ("scipy.special.softmax", "solutions.softmax.softmax", "torch.nothing", "Tensor.none")
    assert used(names, torch.softmax, torch.ones(2), 0) == ()


def test_watching_takes_a_fraction_of_the_time(monkeypatch):
    monkeypatch.undo()
    exercise = find("scaled_dot_product_attention")
    requests = [t.request for case in exercise.cases for t in trials(exercise, case, "public")]
    answer, _ = watching(exercise.solution, exercise.forbidden)

    def seconds(target):
        start = time.process_time()
        for request in requests:
            perform(target, replace(request, watch=()))
        return time.process_time() - start

    gc.collect()
    both = [(seconds(exercise.solution), seconds(answer)) for _ in range(15)]
    assert min(b for _, b in both) < 4 * min(a for a, _ in both)  # about 1.3 is measured
