"""The course's version of an exercise, computed for somebody who is not trusted."""

import math
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.catalogue import exercises
from autograder.faults import FaultKind
from autograder.frames import encode, reply_data
from autograder.standins import (
    MOST_CALLS,
    MOST_MADE,
    MOST_NUMBERS,
    Helping,
    answer_for,
    earlier,
    pullback_for,
    used_exercises,
)
from autograder.wire import Foreign, Reply
from solutions.attention import attention_weights
from solutions.softmax import softmax

NAMES = ("softmax", "attention_weights", "softmax_jacobian", "attention_cost")


def called(name, *args, cotangent=None, **kwargs):
    call = {"call": name, "args": args, "kwargs": kwargs}
    return answer_for(NAMES, call if cotangent is None else {**call, "cotangent": cotangent})


# Which exercises does an answer lean on?

ANSWER = "def scaled_dot_product_attention({}):\n    return {}\n"
ATTENTION = ANSWER.format("q, k, v", "attention_weights(q, k) @ v")
WEIGHTS = "def attention_weights(q, k):\n    return {}\n"
LEANS = {
    "left out": ([ATTENTION], ["attention_weights"]),
    "defined": ([WEIGHTS.format("q @ k.mT"), ATTENTION], ["attention_weights"]),
    "through another": (
        [WEIGHTS.format("softmax(q @ k.mT)"), ATTENTION],
        ["softmax", "attention_weights"],
    ),
    "through a helper": (
        ["def h(x):\n    return softmax(x, -1)", ANSWER.format("q, k, v", "h(q @ k.mT) @ v")],
        ["softmax"],
    ),
    "under another name": (
        ["w = attention_weights", ATTENTION.replace("attention_weights", "w")],
        ["attention_weights"],
    ),
    "imported": (
        ["from torch import softmax", ATTENTION.replace("attention_weights", "softmax")],
        [],
    ),
    "a local name": (
        ["def scaled_dot_product_attention(q, k, softmax):\n    return softmax(q)"],
        [],
    ),
    "a method": (["def scaled_dot_product_attention(q, k, v):\n    return q.softmax(-1)"], []),
    "itself": (
        ["def scaled_dot_product_attention(q):\n    return scaled_dot_product_attention(q)"],
        [],
    ),
    "not there": ([], []),
}


@pytest.mark.parametrize(("cells", "names"), LEANS.values(), ids=LEANS)
def test_the_exercises_that_an_answer_leans_on_are_named(cells, names):
    assert used_exercises(cells, "scaled_dot_product_attention") == names


def test_a_later_exercise_never_stands_in():
    cells = ["def softmax(x, dim=-1):\n    return attention_weights(x, x)"]
    assert used_exercises(cells, "softmax") == []
    assert [one.id for one in earlier("softmax")] == [*exercises()][
        : [*exercises()].index("softmax")
    ]


# What it computes


def test_a_value_is_the_courses():
    x, q, k = torch.randn(3, 4), torch.randn(2, 3, 4), torch.randn(2, 5, 4)
    assert torch.equal(called("softmax", x, dim=0).values[0], softmax(x, 0))
    assert torch.equal(called("attention_weights", q, k=k).values[0], attention_weights(q, k))
    assert called("attention_cost", 2, 3, 5, 7).values == ((144, 24),)


def test_gradients_come_for_each_tensor_in_order():
    q, k = torch.randn(3, 4), torch.randn(5, 4)
    cotangent = torch.randn(3, 5)
    leaves = [q.clone().requires_grad_(), k.clone().requires_grad_()]
    expected = torch.autograd.grad((attention_weights(*leaves) * cotangent).sum(), leaves)
    for reply in (
        called("attention_weights", q, k, cotangent=(cotangent,)),
        called("attention_weights", q, k=k, cotangent=(cotangent,)),
        called("attention_weights", q=q, k=k, cotangent=(cotangent,)),
    ):
        assert all(map(torch.equal, reply.values, expected))


def test_gradients_come_for_tensors_inside_tuples_and_beside_masks():
    x = torch.randn(1, 3, 4)
    weights = tuple(torch.randn(4, 4) for _ in range(4))
    mask = torch.ones(3, 3).tril().bool()
    reply = pullback_for("multi_head_attention", (x, x, weights, 2, mask), {}, torch.ones(1, 3, 4))
    assert reply.fault is None
    shapes = [None if one is None else tuple(one.shape) for one in reply.values]
    assert shapes == [(1, 3, 4), (1, 3, 4), *[(4, 4)] * 4, None]


def test_nothing_that_is_given_is_changed():
    x, cotangent = torch.randn(3, 4), torch.ones(3, 4)
    before = x.clone()
    called("softmax", x)
    called("softmax", x, cotangent=(cotangent,))
    assert torch.equal(x, before)
    assert not x.requires_grad


def test_meta_tensors_keep_their_device():
    reply = called("softmax", torch.ones(3, 4, device="meta"))
    assert reply.values[0].is_meta


# What it does not compute

BIG = torch.ones(MOST_NUMBERS, 1, 1)
REFUSED = {
    "another name": ("product_moments", (1.0,), None),
    "no exercise": ("nothing", (), None),
    "a large argument": ("softmax", (torch.ones(MOST_NUMBERS + 1),), None),
    "many arguments": ("softmax", (1,) * 9, None),
    "a large integer": ("attention_cost", (2**64, 1, 1, 1), None),
    "a long text": ("softmax", ("x" * 101,), None),
    "an object": ("softmax", (Foreign("Thing"),), None),
    "a nest": ("softmax", (((1, 2), 3),), None),
    "a large value": ("softmax_jacobian", (torch.ones(1001),), None),
    "a large value by broadcasting": ("attention_weights", (BIG, BIG[:, None]), None),
    "shapes that do not fit": ("attention_weights", (torch.ones(2, 3), torch.ones(2, 4)), None),
    "arguments that are missing": ("softmax", (), None),
    "another type": ("softmax", ("x",), None),
    "a gradient of another shape": ("softmax", (torch.ones(3),), (torch.ones(4),)),
    "a gradient of numbers": ("attention_cost", (1, 2, 3, 4), (torch.ones(2),)),
    "a gradient of integers": ("softmax", (torch.ones(3, dtype=torch.int64),), (torch.ones(3),)),
    "a gradient that is none": ("softmax", (torch.ones(3),), "x"),
    "two gradients": ("softmax", (torch.ones(3),), (torch.ones(3), torch.ones(3))),
    "a large gradient": ("softmax", (torch.ones(3),), (torch.ones(MOST_MADE + 1),)),
}


@pytest.mark.parametrize(("name", "args", "cotangent"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_work_is_a_fault_and_takes_no_memory(name, args, cotangent):
    start = time.process_time()
    reply = called(name, *args, cotangent=cotangent)
    assert time.process_time() - start < 1
    assert reply.fault
    assert reply.fault.kind == FaultKind.EXCEPTION
    assert reply.values == ()


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
    | st.sampled_from([torch.ones(2, 3), torch.ones(0), torch.tensor(1), torch.ones(2, 2).bool()]),
    lambda inner: st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.sampled_from(["call", "args", "kwargs", "dim", "x"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(PLAIN | st.fixed_dictionaries({
    "call": st.sampled_from(NAMES) | PLAIN,
    "args": st.lists(PLAIN, max_size=3).map(tuple) | PLAIN,
    "kwargs": st.dictionaries(st.sampled_from(["dim", "k", "v"]), PLAIN, max_size=2) | PLAIN,
    "cotangent": st.none() | PLAIN | PLAIN.map(lambda one: (one,)),
}))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_call_gets_a_reply(call):
    reply = answer_for(NAMES, call)
    assert isinstance(reply, Reply)
    assert (reply.fault is None) == (reply.values != ())


def test_calls_are_counted(monkeypatch):
    monkeypatch.setattr("autograder.standins.MOST_CALLS", 2)
    assert MOST_CALLS > 2
    helping = Helping(("softmax",))
    call = {"call": "softmax", "args": (torch.ones(3),), "kwargs": {}}
    assert [bool(helping(call).fault) for _ in range(4)] == [False, False, True, True]
    assert "more than 2 calls" in helping(call).fault.message
    assert helping.calls == 5


def test_the_largest_value_fits_into_one_frame():
    weights = torch.ones(math.isqrt(MOST_MADE), dtype=torch.complex128)
    reply = called("softmax_jacobian", weights)
    assert reply.fault is None
    assert len(encode(reply_data(reply))) > 15 * len(weights) ** 2
