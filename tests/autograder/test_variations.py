"""Black boxes, nested arguments, other dtypes and devices, and slips made from right answers."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from autograder import slips
from autograder.compare import values
from autograder.faults import FaultKind
from autograder.frames import as_request, decode, encode, request_data
from autograder.inputs import generator, normal, sizes
from autograder.lent import BlackBox, NextToken, TorchFunction
from autograder.perform import perform
from autograder.spec import Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Reply, Request, call, gradient, inputs_of

BOX = BlackBox(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.eye(3))


def swap(pair, scale=1.0):
    first, second = pair
    return scale * second, first


def total(x, pair):
    return (x + pair[0]) * pair[1]


class Scaled(nn.Module):
    """Multiplies by a weight."""

    def __init__(self, width):
        super().__init__()
        self.gain = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return self.gain(x)


# Black boxes


def test_a_black_box_arrives_as_a_plain_function():
    def answer(model, x):
        assert type(model).__name__ == "function"
        return model(x)

    x = torch.ones(2, 3)
    (got,) = perform(answer, call(BOX, x)).values
    assert_close(got, BOX.mix @ (x + x.tanh()))
    assert perform(answer, call(BOX, x.double())).values[0].dtype == torch.float64


def test_a_black_box_passes_the_wall_and_is_never_made_of_a_reply():
    sent = decode(encode(request_data(call(BOX, torch.ones(2, 3)))))
    again = as_request(sent)
    assert_close(again.calls[0].args[0].mix, BOX.mix)
    assert_close(again.calls[0].args[0].features, BOX.features)
    assert isinstance(decode(encode({"a black box": (1, 2)})), dict)


def language_model(budget=None):
    g = generator(0)
    weights = (torch.randn(shape, generator=g) for shape in ((7, 4), (4, 4), (4, 7)))
    return NextToken(*weights, budget)


def test_a_language_model_passes_the_wall_and_says_the_same_there():
    sent = as_request(decode(encode(request_data(call(language_model(9), torch.ones(2, 3))))))
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    one, other = sent.calls[0].args[0], language_model(9)
    assert_close(one.function()(tokens)[0], other.function()(tokens)[0])
    assert one.budget == 9


def test_a_language_model_with_caches_is_one_without_and_does_not_read_padding():
    tokens = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 1]])
    model = language_model().function()
    whole, _ = model(tokens)
    first, caches = model(tokens[:, :2])
    assert_close(torch.cat([first, model(tokens[:, 2:], caches)[0]], 1), whole)
    keep = torch.tensor([[True] * 4, [False, False, True, True]])
    hidden, _ = model(tokens, None, keep)
    assert_close(hidden[0], whole[0])
    assert_close(hidden[1:, 2:], model(tokens[1:, 2:])[0])
    assert not torch.allclose(hidden[1, 2:], whole[1, 2:])
    _, caches = model(tokens[:, :3], None, keep[:, :3])
    assert_close(model(tokens[:, 3:], caches, keep)[0], hidden[:, 3:])
    forgotten, _ = model(tokens[:, 3:], caches, torch.ones_like(keep))
    assert_close(forgotten, whole[:, 3:])  # what was hidden before may be read later


def test_a_language_model_refuses_what_cannot_be():
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    model = language_model(budget=5).function()
    _, caches = model(tokens)
    with pytest.raises(ValueError, match="another batch"):
        model(tokens[:1, :1], caches)
    with pytest.raises(ValueError, match="for each token"):
        language_model().function()(tokens, None, tokens[:, :2] > 0)
    with pytest.raises(ValueError, match="more tokens"):
        model(tokens, caches)


def test_a_function_of_torch_arrives_as_itself_also_where_an_object_is_built():
    class Bent:
        def __init__(self, bend):
            self.bend = bend

        def __call__(self, x):
            return self.bend(x)

    request = Request((Call((-torch.ones(2),)),), Call((TorchFunction("relu"),)))
    again = as_request(decode(encode(request_data(request))))
    assert again.build == request.build
    assert_close(perform(Bent, again).values[0], torch.zeros(2))


# Nested arguments and results


def test_an_argument_inside_a_tuple_that_is_changed_is_seen():
    def careless(pair):
        pair[1].add_(1)
        return pair[0]

    request = call((torch.ones(2), torch.ones(3)))
    assert perform(careless, request).changed == ("argument 1",)
    assert perform(swap, request).changed == ()


def test_gradients_reach_tensors_in_tuples_and_come_from_the_first_result():
    x, a, b = torch.randn(3, 4, generator=generator(0))
    request = gradient(torch.ones(4), x, (a, b))
    assert [name for name, _ in inputs_of(request.calls[0])] == [
        "argument 1", "argument 2, item 1", "argument 2, item 2"
    ]  # fmt: skip
    for got, want in zip(perform(total, request).values, (b, b, x + a), strict=True):
        assert_close(got, want)
    reply = perform(swap, gradient(torch.ones(4), (a, b), 3.0))
    assert reply.values[0] is None
    assert_close(reply.values[1], torch.full((4,), 3.0))


def test_a_gradient_that_is_wrong_is_named_by_its_argument():
    request = gradient(torch.ones(2), torch.ones(2), (torch.ones(2), torch.ones(2)))
    right, trial = perform(total, request), Trial(request, "")
    message = values(trial, Reply((right.values[0], right.values[1], None)), right, None)
    assert message == "gradient for argument 2, item 2: no gradient arrives"


def test_a_gradient_of_zeros_is_as_good_as_none():
    request = gradient(torch.ones(2), torch.ones(2), (torch.ones(2), torch.ones(2)))
    trial, right = Trial(request, ""), perform(lambda x, _: 2 * x, request)
    assert right.values[1:] == (None, None)
    zeros = perform(lambda x, pair: 2 * x + 0 * pair[0], request)
    assert values(trial, zeros, right, None) is None
    assert values(trial, right, zeros, None) is None


def test_what_is_no_tensor_has_no_gradients():
    request = gradient(torch.ones(2), torch.ones(2), torch.ones(2))
    trial, right = Trial(request, ""), perform(lambda x, y: x * y, request)
    message = values(trial, perform(lambda x, y: None, request), right, None)
    assert message == "nothing (None) came back: is a `return` missing?"


def test_results_of_several_tensors_are_compared_one_by_one():
    trial = Trial(call((torch.ones(2), torch.zeros(2))), "", returns="second, first")
    right = perform(swap, trial.request)
    assert values(trial, Reply(([*right.values[0]],)), right, None) is None
    swapped = Reply((tuple(reversed(right.values[0])),))
    assert values(trial, swapped, right, None).startswith("second: 2 of 2 values differ")
    alone = Reply((right.values[0][0],))
    assert "2 things (second, first) were asked" in values(trial, alone, right, None)


# Variations


def a_trial():
    of = sizes(generator(1), "B L")
    x = normal(generator(2), "B L", of)
    return Trial(call(x, x > 0, 3), "x", of, "B L")


def test_floats_change_their_dtype_and_nothing_else_does():
    for trial, dtype in zip(in_dtypes(a_trial()), ("float16", "bfloat16", "float64"), strict=True):
        x, mask, number = trial.request.calls[0].args
        assert (x.dtype, mask.dtype, number) == (getattr(torch, dtype), torch.bool, 3)
        assert trial.inputs == f"x, {dtype}"


def test_elsewhere_is_another_device():
    request = elsewhere(a_trial()).request
    x, mask, number = perform(lambda *given: given, request).values[0]
    assert x.is_meta
    assert mask.is_meta
    assert number == 3


def test_an_answer_that_reads_numbers_is_followed_to_another_device():
    def reads(x, mask, number):
        return torch.bincount(mask.flatten().long()), x * x.max().item()

    request = elsewhere(a_trial()).request
    trial = Trial(request, "")
    right = perform(lambda x, mask, number: (mask.sum(-1), x), request)
    for answer, problem in ((reads, ""), (lambda *given: reads(*given)[0].cpu(), "came back")):
        reply = perform(answer, request)
        assert reply.fault is None
        assert problem in (values(trial, reply, right, None) or "")


def test_backward_asks_for_gradients_of_the_same_call():
    trial = backward(a_trial(), generator(3))
    (got,) = perform(lambda x, mask, number: number * x, trial.request).values
    assert_close(got, 3 * trial.request.cotangent)


@pytest.mark.parametrize("change", [elsewhere, lambda trial: next(in_dtypes(trial))])
def test_a_module_follows_its_weights(change):
    state = {"gain.weight": torch.eye(3)}
    request = Request((Call((torch.ones(2, 3),)),), Call((3,)), state)
    changed = change(Trial(request, "x")).request
    (got,) = perform(Scaled, changed).values
    (x,) = changed.calls[0].args
    assert got.dtype == x.dtype
    assert got.is_meta == changed.elsewhere


# Slips


def doubled(x):
    return 2 * x


X = torch.ones(2, 3)


def test_the_slips_of_a_function():
    assert perform(slips.on_the_cpu(doubled), call(X.to("meta"))).values[0].device.type == "cpu"
    assert perform(slips.always_float32(doubled), call(X.half())).values[0].dtype == torch.float32
    narrowed = perform(slips.float64_narrowed(doubled), call(1e50 * X.double())).values[0]
    assert narrowed.dtype == torch.float64
    assert narrowed.isinf().all()
    assert perform(slips.float64_narrowed(doubled), call(X)).values[0].equal(2 * X)
    cut = perform(slips.cut_from_autograd(doubled), gradient(X, X))
    assert cut.fault.kind == FaultKind.NO_GRADIENT
    assert perform(slips.changed_in_place(doubled), call(X)).changed == ("argument 1",)


def test_the_slips_of_a_module():
    cut = slips.cut_from_autograd(Scaled)
    state = {"gain.weight": torch.eye(3)}
    request = Request((Call((X,)),), Call((3,)), state, cotangent=X)
    assert cut.__doc__ == slips.cut_from_autograd.__doc__
    assert perform(Scaled, request).fault is None
    assert perform(Scaled, request).values[0] is not None
    assert perform(cut, request).values[0] is None


def test_a_weight_that_cannot_learn_gets_no_gradient_and_no_error_of_torch():
    class Fixed(Scaled):
        def __init__(self, width):
            super().__init__(width)
            self.requires_grad_(False)

    request = Request((Call((X,)),), Call((3,)), {"gain.weight": torch.eye(3)}, cotangent=X)
    reply = perform(Fixed, request)
    assert reply.fault is None
    assert reply.values[0].equal(X)
    assert reply.values[1] is None


def test_gradients_of_the_weights_that_were_given_come_after_those_of_the_inputs():
    class Frozen(Scaled):
        def forward(self, x):
            return x @ self.gain.weight.detach().T

    state = {"gain.weight": torch.eye(3)}
    request = Request((Call((X,)),), Call((3,)), state, cotangent=X)
    right, wrong = perform(Scaled, request), perform(Frozen, request)
    assert_close(right.values[1], 2 * torch.ones(3, 3))
    message = values(Trial(request, ""), wrong, right, None)
    assert message == "gradient for gain.weight: no gradient arrives"
