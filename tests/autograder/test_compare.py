"""Comparison, in properties first; then what a message says."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.compare import (
    NUMBER_TOLERANCE,
    TOLERANCE,
    alike,
    difference,
    inputs_kept,
    last_of_several_calls,
    one_by_one,
    values,
    zeros_kept,
)
from autograder.faults import Fault, FaultKind
from autograder.inputs import LARGEST, SMALLEST, described, generator, integer, sizes, uniform
from autograder.perform import perform, plain
from autograder.spec import Trial
from autograder.wire import Foreign, Reply, call

SIZES = {"B": 2, "L": 3, "M": 5}
seeds = st.integers(0, 2**32)
dtypes = st.sampled_from([*TOLERANCE])
shapes = st.lists(st.integers(1, 6), min_size=0, max_size=4)


def numbers(seed: int, shape: list[int], dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype) + 0.5


# Tensors


@given(seeds, shapes, dtypes)
def test_a_tensor_is_itself(seed, shape, dtype):
    x = numbers(seed, shape, dtype)
    assert difference(x, x.clone()) is None


@given(seeds, st.lists(st.integers(2, 6), min_size=2, max_size=4), dtypes)
def test_the_order_of_the_axes_in_memory_does_not_matter_and_their_names_do(seed, shape, dtype):
    x = numbers(seed, shape, dtype)
    swapped = x.transpose(0, -1)
    assert difference(swapped.contiguous().transpose(0, -1), x) is None
    assert difference(swapped, x) is not None or shape[0] == shape[-1]


@given(seeds, shapes, st.floats(1.5, 1e6), st.booleans())
def test_one_entry_off_by_more_than_the_tolerance_is_found(seed, shape, factor, below):
    x = numbers(seed, shape, torch.float64)
    largest = float(x.abs().max())
    gap = factor * TOLERANCE[torch.float64] * largest * (-1 if below else 1)
    other = x.clone()
    other.view(-1)[seed % x.numel()] += gap
    assert f"1 of {x.numel()} values differ" in str(difference(other, x))
    assert difference(x + gap / factor / 2, x) is None


@given(seeds, shapes, st.sampled_from([math.nan, math.inf, -math.inf]))
def test_a_number_that_is_not_finite_is_found_and_counted(seed, shape, strange):
    x = numbers(seed, shape)
    other = x.clone()
    other.view(-1)[seed % x.numel()] = strange
    kind = "NaN" if math.isnan(strange) else "infinite"
    assert difference(other, x) == f"1 of {x.numel()} values are {kind}"
    assert difference(other, other.clone()) is None
    assert difference(x, other) is not None


def test_an_infinity_too_many_is_told_from_those_that_are_asked():
    want = torch.tensor([0.0, 1.0, -math.inf])
    message = difference(torch.tensor([0.0, -math.inf, -math.inf]), want)
    assert message == "1 of 3 values are infinite where a number was expected"


def test_an_infinity_of_the_other_sign_is_found():
    assert difference(torch.tensor([torch.inf]), torch.tensor([-torch.inf])) is not None


@given(seeds, shapes)
def test_expected_zeros_admit_nothing_else(seed, shape):
    zeros = torch.zeros(shape)
    assert difference(zeros.clone(), zeros) is None
    assert difference(zeros + 1e-30, zeros) is None, "another order of operations leaves as much"
    assert difference(zeros + 1e-9, zeros) is not None


@pytest.mark.parametrize("tolerance", TOLERANCE.values())
def test_no_tolerance_is_tighter_than_rounding(tolerance):
    assert tolerance >= 1e-6


def test_the_default_tolerance_of_float32_takes_answers_in_another_order():
    x = numbers(3, [1000])
    assert difference((x.flip(0).sum() / 7).reshape(1), (x / 7).sum().reshape(1)) is None
    assert TOLERANCE[torch.float32] >= 1e-5


@pytest.mark.parametrize(
    ("got", "message"),
    [
        (torch.ones(3, 2, 5), "shape (L, B, M) = (3, 2, 5) where (B, L, M) = (2, 3, 5)"),
        (torch.ones(2, 3), "shape (B, L) = (2, 3) where (B, L, M) = (2, 3, 5)"),
        (torch.ones(2, 3, 7), "shape (2, 3, 7) where (B, L, M) = (2, 3, 5)"),
        (torch.ones(9), "shape (9,) where (B, L, M) = (2, 3, 5)"),
        (torch.ones(()), "shape () where (B, L, M) = (2, 3, 5)"),
        (torch.ones(2, 3, 5).half(), "dtype float16 where float32 was expected"),
        (torch.ones(2, 3, 5, device="meta"), "the result is on meta, but the inputs"),
        (None, "nothing (None) came back: is a `return` missing?"),
        (Foreign("ndarray"), "a ndarray came back where one tensor was asked"),
        ((1, 2), "a tuple of 2 came back where one tensor was asked"),
        (1.0, "a float came back where one tensor was asked"),
    ],
)
def test_a_message_speaks_in_axis_letters_and_kinds(got, message):
    assert message in str(difference(got, torch.ones(2, 3, 5), None, SIZES, "B L M"))


def test_without_letters_the_sizes_alone_are_shown():
    assert "shape (3,) where (2,) was" in str(difference(torch.ones(3), torch.ones(2)))


def test_on_the_meta_device_shape_dtype_and_device_count():
    want = torch.ones(2, 3, device="meta")
    assert difference(torch.zeros(2, 3, device="meta"), want) is None
    told = "the result is on cpu, but the inputs are on another device"
    assert difference(torch.ones(2, 3), want) == told
    assert "dtype" in str(difference(want.half(), want))


def test_the_place_of_the_largest_gap_is_told():
    got = torch.zeros(2, 3)
    got[0, 1], got[1, 2] = 1, 5
    assert difference(got, torch.zeros(2, 3)) == "2 of 6 values differ, most at [1, 2], by 5"
    assert difference(torch.tensor(5.0), torch.tensor(1.0)) == "1 of 1 values differ, by 4"


# Numbers


@given(st.floats(-1e6, 1e6))
def test_a_number_is_itself_in_every_kind_of_number(want):
    for got in (want, np.float64(want), torch.tensor(want, dtype=torch.float64)):
        assert difference(plain(got), want) is None
    assert difference(plain(np.array(want)), want) is None


@given(st.floats(0.01, 1e6), st.floats(1.1, 1e6), st.sampled_from([-1, 1]))
def test_a_number_off_by_more_than_the_tolerance_is_found(want, factor, sign):
    gap = factor * (NUMBER_TOLERANCE * want + 1e-9)
    assert "yours is" in str(difference(want + sign * gap, want))
    assert difference(want + sign * gap / factor / 2, want) is None


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("want", [3, 3.0, 0.0])
def test_a_number_that_is_not_finite_never_passes(strange, want):
    assert difference(strange, want) is not None
    assert difference(torch.tensor(strange), want) is not None


@pytest.mark.parametrize("got", [True, False, 1j, 1 + 0j, "1", torch.ones(2), Foreign("Q")])
@pytest.mark.parametrize("want", [1, 1.0, 0.0])
def test_what_is_no_number_never_passes_for_one(got, want):
    assert "came back where a number was asked" in str(difference(got, want))


@pytest.mark.parametrize("want", [1, 1.0, (1, 2), torch.ones(2)])
def test_nothing_is_asked_for_its_return(want):
    assert difference(None, want) == "nothing (None) came back: is a `return` missing?"


@pytest.mark.parametrize("got", [[1, 2], (1, 2), torch.tensor([1.0, 2.0]), [1.0, 2.0]])
def test_any_row_of_numbers_will_do(got):
    assert difference(got, (1, 2)) is None


def test_a_list_is_called_a_list():
    assert difference([1, 2, 3], (1, 2), None, None, "a, b").startswith("a list of 3 came back")


@pytest.mark.parametrize("got", [torch.ones(1, device="meta"), torch.ones((), device="meta")])
def test_a_tensor_without_data_is_no_number(got):
    assert "a number was asked" in str(difference(got, 1.0))
    pair = torch.ones(2, device="meta")
    assert "2 numbers (a, b) were asked" in str(difference(pair, (1.0, 1.0), None, None, "a, b"))


def test_a_complex_zero_dimensional_tensor_is_no_number():
    assert difference(torch.tensor(1 + 0j), 1.0) is not None
    assert difference(torch.tensor(True), 1) is not None


@pytest.mark.parametrize("want", [7, 7.0])
def test_a_giant_integer_is_wrong_and_no_crash(want):
    for sign in (-1, 1):
        assert difference(sign * 10**5000, want) == "yours has 16610 binary digits"


def test_integers_are_exact():
    assert difference(10**9 + 1, 10**9) is not None
    assert difference(float(10**9), 10**9) is None


@pytest.mark.parametrize(
    "got",
    [(6.0, 24.0), [6, 24], torch.tensor([6.0, 24.0]), np.array([6, 24]), np.array([6.0, 24.0])],
)
def test_any_pair_of_numbers_will_do_for_a_tuple(got):
    assert difference(plain(got), (6.0, 24.0)) is None


@pytest.mark.parametrize(
    "got",
    [6.0, (6.0,), (6.0, 24.0, 1.0), torch.ones(2, 1), np.ones((2, 1)), {"a": 6.0, "b": 24.0}],
)
def test_more_or_less_than_asked_is_told_by_name(got):
    message = difference(plain(got), (6.0, 24.0), None, None, "flops, bytes")
    assert "came back where 2 numbers (flops, bytes) were asked" in str(message)


def test_each_wrong_part_of_a_tuple_is_named():
    message = difference((1, True), (6, 24), None, None, "flops, bytes")
    assert message == "flops: yours is 1; bytes: a bool came back where a number was asked"


@given(st.lists(st.floats(1, 9), min_size=1, max_size=5), st.data())
def test_of_a_row_of_numbers_the_first_wrong_one_is_told_and_the_others_are_counted(want, data):
    wrong = data.draw(st.sets(st.integers(0, len(want) - 1)))
    got = [-value if i in wrong else value for i, value in enumerate(want)]
    message = difference(got, tuple(want))
    if not wrong:
        assert message is None
        return
    first = f"number {min(wrong) + 1}: yours is {-want[min(wrong)]:.6g}"
    more = f"; {len(wrong) - 1} more of {len(want)} are wrong" if len(wrong) > 1 else ""
    assert message == first + more


# Replies


TRIAL = Trial(call(), "")


def test_fewer_results_than_calls_are_told():
    want = Reply((torch.ones(2), torch.ones(2)))
    assert values(TRIAL, Reply((torch.ones(2),)), want, None) == "1 results where 2 were expected"


def test_a_second_call_is_told_apart_from_the_first():
    want = Reply((torch.ones(2), torch.ones(2)))
    got = Reply((torch.ones(2), torch.zeros(2)))
    assert str(values(TRIAL, got, want, None)).startswith("call 2: ")


def test_of_several_calls_the_last_one_alone_can_count():
    want = Reply((torch.ones(2), ([], []), torch.ones(2)))
    other = Reply((torch.zeros(2), (["positions"], []), torch.ones(2)))
    assert last_of_several_calls(TRIAL, other, want, None) is None
    last = Reply((torch.ones(2), ([], []), torch.zeros(2)))
    assert "2 of 2 values differ" in str(last_of_several_calls(TRIAL, last, want, None))
    fault = Reply(want.values[:1], Fault(FaultKind.EXCEPTION, "it broke"))
    assert last_of_several_calls(TRIAL, fault, want, None) == "it broke"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_small_value_beside_large_ones_can_be_held_to_its_own_size(dtype):
    want = torch.tensor([0.0, 0.5, 300.0, -math.inf], dtype=dtype)
    other = want.clone()
    other[1] = 0.502
    near = values(TRIAL, Reply((other,)), Reply((want,)), None) is None
    assert near  # beside 300 it is nothing
    off = dtype == torch.float32
    for got, wrong in ((want, False), (other, off), (want * torch.tensor([1, 2, 1, 1]), True)):
        message = one_by_one(TRIAL, Reply((got,)), Reply((want,)), None)
        assert (message is not None) == wrong


def test_an_answer_that_reads_numbers_is_let_off_on_the_meta_device_alone():
    reads = Reply(fault=Fault(FaultKind.NEEDS_DATA, "reads"))
    assert values(TRIAL, reads, Reply((torch.ones(2, device="meta"),)), None) is None
    assert values(TRIAL, reads, Reply((torch.ones(2),)), None) == "reads"


@given(seeds, shapes)
def test_replies_are_alike_as_far_as_they_can_be_seen(seed, shape):
    x = numbers(seed, shape)
    one = Reply((x,))
    assert alike(one, Reply((x * (1 + 1e-7),)), None)
    assert not alike(one, Reply((x + 1,)), None)
    assert not alike(one, Reply((x, x)), None)
    assert not alike(one, replace(one, changed=("argument 1",)), None)
    assert not alike(one, Reply(fault=Fault(FaultKind.EXCEPTION, "E")), None)


def test_faults_are_alike_by_kind_and_message_wherever_they_happen():
    def fault(kind, message, place=""):
        return Reply(fault=Fault(kind, message, place))

    one = fault(FaultKind.EXCEPTION, "ValueError: a")
    assert alike(one, fault(FaultKind.EXCEPTION, "ValueError: a", ", in the line `x`"), None)
    assert not alike(one, fault(FaultKind.EXCEPTION, "ValueError: b"), None)
    assert not alike(one, fault(FaultKind.EXCEPTION, "TypeError: a"), None)
    assert not alike(one, fault(FaultKind.DEVICE, "ValueError: a"), None)


def test_values_that_are_no_data_come_back_as_their_names():
    made = [object(), {1: np.float32(0.5)}, np.array(["x"]), (np.bool_(1),)]
    expected = [Foreign("object"), {"1": 0.5}, Foreign("ndarray", (1,)), (True,)]
    assert perform(lambda: made, call()).values == (expected,)


ODD = [
    torch.ones(2, 3),
    torch.full((2, 3), torch.nan),
    torch.tensor([[torch.inf, -torch.inf, 0.0], [1.0, -1.0, 1e38]]),
    *(torch.ones(2, 3).to(kind) for kind in (torch.float16, torch.float64, torch.complex64)),
    *(torch.ones(2, 3).to(kind) for kind in (torch.int64, torch.uint8, torch.bool)),
    *(torch.ones(shape) for shape in ((), (1,), (2,), (0,), (2, 0, 3), (1,) * 12)),
    torch.ones(2, 3, device="meta"),
    torch.ones(1, device="meta"),
    torch.tensor([complex(0, 1)]),
    Foreign("Thing", (2, 3)),
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=5)
    | st.sampled_from(ODD)
)
PLAIN = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)
FAULTS = st.builds(Fault, st.sampled_from(FaultKind), st.text(max_size=9), st.text(max_size=9))
REPLIES = st.builds(
    Reply,
    st.lists(PLAIN, max_size=3).map(tuple),
    st.none() | FAULTS,
    st.lists(st.text(max_size=5), max_size=2).map(tuple),
)
EXPECTED = [(value,) for value in ODD if isinstance(value, Tensor)]
EXPECTED += [((6, 24),), ((0.5, 1e300),), (1,), (0.5,), ("text",), (None,), (True,), (ODD[0], 3)]


@given(REPLIES, st.sampled_from(EXPECTED))
@settings(max_examples=500, deadline=None)
def test_any_reply_can_be_examined(reply, expected):
    want = Reply(expected)
    of_tensors = (zeros_kept, one_by_one) if isinstance(expected[0], Tensor) else ()
    for examine in (values, inputs_kept, last_of_several_calls, *of_tensors):
        found = examine(TRIAL, reply, want, None)
        assert found is None or isinstance(found, str)
        assert reply.values or found is not None or reply.fault
    assert alike(reply, want, None) in (True, False)
    assert examine_itself(want) is None


def examine_itself(want):
    return values(TRIAL, want, want, None)


@given(seeds, shapes, dtypes, st.integers(0, 3))
def test_alike_and_no_difference_are_the_same_thing(seed, shape, dtype, change):
    want = numbers(seed, shape, dtype)
    got = [want, want * (1 + 3e-6), want + 1, want * torch.nan][change].to(dtype)
    assert alike(Reply((got,)), Reply((want,)), None) == (difference(got, want) is None)


@given(seeds, st.sampled_from([torch.inf, -torch.inf, torch.nan]))
def test_where_an_infinity_is_expected_no_number_will_do(seed, special):
    want = numbers(seed, [3, 4])
    want[1, 2] = special
    got = want.clone()
    assert difference(got, want) is None
    got[1, 2] = 1e30
    assert difference(got, want) is not None
    got = want.clone()
    got[0, 0] += 1
    assert difference(got, want) is not None


# Inputs


@given(seeds, st.integers(1, LARGEST - SMALLEST + 1))
def test_sizes_are_distinct_and_none_is_1(seed, count):
    drawn = sizes(torch.Generator().manual_seed(seed), " ".join("ABCDEFGH"[:count]))
    assert [*drawn] == [*"ABCDEFGH"[:count]]
    assert len(set(drawn.values())) == count
    assert all(SMALLEST <= n <= LARGEST for n in drawn.values())
    assert SMALLEST > 1


@given(seeds)
def test_numbers_are_drawn_within_their_bounds_and_can_be_retyped(seed):
    rng = torch.Generator().manual_seed(seed)
    value = uniform(rng, 0.4, 1.4)
    assert 0.4 <= value <= 1.4
    assert value == float(f"{value:.2f}")
    assert 5 <= integer(rng, 5, 6) <= 6


def test_a_generator_depends_on_its_parts_alone():
    def draw(*parts):
        return float(torch.rand((), generator=generator(*parts)))

    assert draw("a", 1) == draw("a", 1)
    assert len({draw("a", 1), draw("a", 2), draw("a1"), draw("a", "1")}) == 4


def test_a_description_is_python():
    assert described("x", "B L", {"B": 2, "L": 3}) == "x (B, L) = (2, 3)"
    assert described("p", "M", {"M": 4}) == "p (M,) = (4,)"
