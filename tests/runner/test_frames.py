"""Data survive the way across the wall; bytes from a stranger raise FrameError and no more."""

import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.faults import Fault, FaultKind
from autograder.frames import (
    DTYPES,
    LARGEST,
    FrameError,
    as_reply,
    as_request,
    decode,
    encode,
    reply_data,
    request_data,
)
from autograder.wire import Call, Foreign, Reply, Request

numbers = st.floats() | st.integers(-(10**30), 10**30) | st.booleans() | st.none()
plain = numbers | st.text(max_size=20).filter(lambda t: t.isprintable()) | st.complex_numbers()


@st.composite
def tensors(draw):
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    dtype = draw(st.sampled_from(sorted(DTYPES)))
    values = torch.randint(0, 2, shape, generator=torch.Generator().manual_seed(0))
    tensor = values.to(DTYPES[dtype])
    return tensor.transpose(0, -1) if tensor.ndim > 1 and draw(st.booleans()) else tensor


data = st.recursive(
    plain | tensors() | st.builds(Foreign, st.just("Thing"), st.none() | st.just((2, 3))),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5).filter(str.isprintable), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(a, b):
    if isinstance(a, torch.Tensor):
        alike = a.dtype == b.dtype and a.shape == b.shape
        if min(a.shape, default=0) > 1:  # other axes may have any stride
            alike = alike and a.stride() == b.stride()
        return alike and (a.is_meta or torch.equal(a, b))
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return type(a) is type(b) and repr(a) == repr(b)


@settings(deadline=None, max_examples=300)
@given(data)
def test_what_is_written_is_read(value):
    assert same(decode(encode(value)), value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.bool])
def test_special_values_keep_their_bits(dtype):
    values = torch.tensor([0.0, -0.0, float("inf"), float("nan")]).to(dtype)
    back = decode(encode(values))
    assert torch.equal(back.view(torch.uint8), values.view(torch.uint8))


def test_meta_tensors_have_no_numbers():
    back = decode(encode(torch.empty(10**6, 3, device="meta", dtype=torch.float16)))
    assert (back.is_meta, back.shape, back.dtype) == (True, (10**6, 3), torch.float16)


def test_an_expanded_tensor_arrives_in_full():
    x = torch.ones(2, 1).expand(2, 3)
    assert torch.equal(decode(encode(x)), x)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 3), (3, 1)])
@pytest.mark.parametrize("step", [0, 1, 7])
def test_an_axis_of_one_place_may_have_any_stride(shape, step):
    x = torch.arange(9.0)[2:].as_strided(shape, [1 if n > 1 else step for n in shape])
    assert x.is_contiguous()
    assert torch.equal(decode(encode(x)), x)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn])
def test_other_dtypes_are_named(dtype):
    back = decode(encode(torch.zeros(2, 3).to(dtype)))
    assert back == Foreign("float8_e4m3fn tensor", (2, 3))


def test_too_much_is_refused_by_the_writer():
    with pytest.raises(FrameError, match="at most"):
        encode(torch.zeros(LARGEST // 4 + 1))


def framed(tree, rest=b""):
    text = json.dumps(tree).encode()
    return len(text).to_bytes(4, "big") + text + rest


def tensor(shape, dtype="float32", stride=None, *, meta=False):
    return {"tensor": dtype, "shape": shape, "stride": stride, "meta": meta}


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x00",
        b"\xff\xff\xff\xff{}",
        (3).to_bytes(4, "big") + b"{}",
        framed([1])[:-1] + b"!",
        framed(1, b"left over"),
        framed(tensor([2]), b"1234"),
        framed(tensor([2]), b"1" * 12),
        framed(tensor([10**9, 10**9])),
        framed(tensor([10**9, 10**9], meta=True)),
        framed(tensor([2**40], meta=True)),
        framed(tensor([-1])),
        framed(tensor([True])),
        framed(tensor([1.0])),
        framed(tensor(["2"])),
        framed(tensor("22")),
        framed(tensor([1] * 17), b"1234"),
        framed(tensor([0, 2**40])),
        framed(tensor([2], "object"), b"1" * 16),
        framed(tensor([2], ["float32"]), b"1" * 8),
        framed(tensor([2], stride=[10**9]), b"1" * 8),
        framed(tensor([2], stride=[0]), b"1" * 8),
        framed(tensor([2, 2], stride=[1, 1]), b"1" * 16),
        framed(tensor([2], stride=[1, 1]), b"1" * 8),
        framed({"tensor": "float32"}),
        framed({"tuple": 3}),
        framed({"dict": [1]}),
        framed({"complex": [1]}),
        framed({"complex": [[], {}]}),
        framed({"what": 1}),
        framed({"foreign": "x", "shape": [-1]}),
        (200_002).to_bytes(4, "big") + b"[" * 100_001 + b"]" * 100_001,
        (10_000).to_bytes(4, "big") + b"9" * 10_000,
    ],
    ids=lambda frame: repr(frame[4:44]),
)
def test_a_forged_frame_is_refused(frame):
    with pytest.raises(FrameError, match=r"\w{3}"):
        decode(frame)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200) | data.map(encode).flatmap(
    lambda f: st.tuples(st.just(f), st.integers(0, max(0, len(f) - 1)), st.binary(max_size=3)).map(
        lambda t: t[0][: t[1]] + t[2] + t[0][t[1] + len(t[2]) :]
    )
))  # fmt: skip
def test_arbitrary_bytes_do_nothing_worse(frame):
    try:
        read = decode(frame)
    except FrameError:
        return
    assert same(decode(encode(read)), read)


@settings(deadline=None, max_examples=200)
@given(data)
def test_arbitrary_data_are_a_reply_or_refused(value):
    try:
        reply = as_reply(value)
    except FrameError:
        return
    assert isinstance(reply, Reply)


def test_bytes_that_are_neither_0_nor_1_become_true():
    assert decode(framed(tensor([2], "bool"), b"\x02\x00")).tolist() == [True, False]


def test_a_request_survives():
    request = Request(
        calls=(Call((torch.ones(2), 3), {"dim": -1}), Call((), {}, "step")),
        build=Call((4,), {"bias": False}),
        state={"w": torch.zeros(2, 2)},
        train=True,
        cotangent=torch.ones(2),
        watch=("torch.softmax",),
        elsewhere=True,
        room=1000,
    )
    assert same(
        request_data(as_request(decode(encode(request_data(request))))), request_data(request)
    )


def test_a_reply_survives():
    reply = Reply(
        (torch.ones(2), Foreign("Thing")),
        Fault(FaultKind.DEVICE, "what", ", in the line `x`"),
        ("argument 1",),
        "printed",
        ("torch.softmax",),
    )
    back = as_reply(decode(encode(reply_data(reply))))
    assert same(reply_data(back), reply_data(reply))


def test_half_a_surrogate_pair_is_no_crash():
    reply = Reply((), Fault(FaultKind.EXCEPTION, "\ud800"), (), "\udfff")
    back = as_reply(decode(encode(reply_data(reply))))
    assert back.fault is not None
    back.printed.encode()
