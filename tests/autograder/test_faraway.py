"""A device with numbers: what is computed there is what is computed here, and nothing mixes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from autograder.elsewhere import WrongDeviceError
from autograder.faraway import FarAway
from autograder.perform import perform
from autograder.wire import Call, Request

X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


def reads_a_number(x):
    return x * 2 if x.max() > 3 else x


def fills_by_mask(x):
    y = x.clone()
    y[x > 0] = 0.0
    return y


def fills_one_by_one(x):
    out = torch.zeros(x.shape, device=x.device)
    for i in range(x.shape[0]):
        out[i] = float(x[i].sum())
    return out


def changes_a_view(x):
    y = x.clone()
    y.T[0].mul_(2)
    return y


def gradient(x):
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad((leaf.exp() * leaf).sum(), leaf)[0]


def by_a_sparse_table(x):
    at, kept = (x > 0).nonzero().T, x[x > 0]
    return torch.sparse_coo_tensor(at, kept, x.shape, check_invariants=True).to_dense()


FOLLOWED = {
    "reads a number": reads_a_number,
    "made of numbers": lambda x: torch.tensor([2.0, 3.0], device=x.device).repeat(2),
    "made of numbers like it": lambda x: x[0] + x.new_tensor((1, 2, 3)),
    "made of what was read": lambda x: torch.tensor([x[0, 1], x.max()], device=x.device) * 2,
    "made of numbers, and learns": lambda x: x.new_tensor(2.0, requires_grad=True).detach() * x,
    "a mask as an index": lambda x: x[x > 0],
    "fills by a mask": fills_by_mask,
    "fills one by one": fills_one_by_one,
    "changes a view": changes_a_view,
    "counts": lambda x: (x > 0).long().flatten().bincount(),
    "where": lambda x: (x > 0).nonzero(),
    "a sparse table": by_a_sparse_table,
    "distinct": lambda x: x.sign().unique(),
    "softmax": lambda x: x.softmax(-1),
    "sorts": lambda x: x.sort(-1)[1],
    "autograd": gradient,
    "vmap": torch.vmap(lambda row: (row - row.mean()) * (row.var() + 1).rsqrt()),
    "complex": lambda x: torch.view_as_real(torch.view_as_complex(x[:, :2].contiguous()) * 1j),
    "in place": lambda x: x.clone().mul_(3).add_(1),
    "out": lambda x: torch.add(x, x, out=torch.empty_like(x)),
    "to the CPU and back": lambda x: x.cpu().exp().to(x.device),
    "a range of its own": lambda x: x + torch.arange(3, device=x.device),
    "a list of rows": lambda x: torch.stack([row * i for i, row in enumerate(x)]),
    "split and joined": lambda x: torch.cat(x.split(1, -1)),
    "scatter": lambda x: torch.zeros_like(x).scatter_(1, x.argmax(-1, keepdim=True), 1.0),
}


@pytest.mark.parametrize("function", FOLLOWED.values(), ids=FOLLOWED)
def test_the_numbers_far_away_are_those_of_the_cpu(function):
    far = FarAway()
    x = far.carry(X)
    with far:
        made = function(x)
        assert made.is_meta
        torch.testing.assert_close(made.cpu(), function(X))


@pytest.mark.parametrize("read", [
    lambda x: x.sum().item(), lambda x: x.tolist(), lambda x: bool((x > 0).all()),
    lambda x: torch.equal(x, x), lambda x: int(x.argmax()), lambda x: [float(e) for e in x[0]],
])  # fmt: skip
def test_numbers_can_be_read(read):
    far = FarAway()
    x = far.carry(X)
    with far:
        assert read(x) == read(X)


@given(st.permutations(range(3)), st.integers(0, 1))
def test_a_carried_tensor_keeps_its_layout(order, start):
    near = torch.arange(48.0).reshape(2, 4, 6).permute(*order)[start:]
    far = FarAway()
    x = far.carry(near)
    assert (x.shape, x.stride(), x.dtype) == (near.shape, near.stride(), near.dtype)
    with far:
        torch.testing.assert_close(x.cpu(), near)


INITIALISERS = {
    "normal_": nn.init.normal_,
    "uniform_": nn.init.uniform_,
    "trunc_normal_": nn.init.trunc_normal_,
    "trunc_normal_, far from its mean": lambda w: nn.init.trunc_normal_(w, a=1.5, b=4.0),
    "xavier_normal_": nn.init.xavier_normal_,
    "kaiming_uniform_": nn.init.kaiming_uniform_,
    "orthogonal_": nn.init.orthogonal_,
    "sparse_": lambda w: nn.init.sparse_(w, 0.5),
    "a method": lambda w: w.data.normal_(0, 0.1),
    "a copy": lambda w: w.data.copy_(torch.randn_like(w)),
}


@pytest.mark.parametrize("draw", INITIALISERS.values(), ids=INITIALISERS)
def test_weights_are_drawn_there_as_on_the_cpu(draw):
    near, far = nn.Parameter(X.clone()), FarAway()
    torch.manual_seed(5)
    draw(near)
    with far:
        there = nn.Parameter(far.carry(X))
        torch.manual_seed(5)
        draw(there)
        assert there.is_meta
        torch.testing.assert_close(there.detach().cpu(), near.detach())
    assert not torch.equal(near, X)


def builds_on_the_cpu(x):
    return torch.tensor([bool(v > 0) for v in x.flatten()])


def starts_on_the_cpu(x):
    out = torch.zeros(x.shape[0])
    for i, row in enumerate(x):
        out[i] = row[int(row.argmax())]
    return out


def mixes_after_reading(x):
    return x + torch.zeros(x.shape) if bool((x > 0).any()) else x


def through_numpy(x):
    return torch.from_numpy(x.numpy() * 2)


def test_two_devices_do_not_mix_after_a_number_was_read():
    far = FarAway()
    x = far.carry(X)
    with far, pytest.raises(WrongDeviceError, match="one on the CPU"):
        mixes_after_reading(x)


@pytest.mark.parametrize("function", [builds_on_the_cpu, starts_on_the_cpu])
def test_what_is_built_on_the_cpu_is_seen_there(function):
    (value,) = perform(function, Request((Call((X,)),), elsewhere=True)).values
    assert value.device.type == "cpu"


def test_numpy_needs_the_cpu_as_with_a_gpu():
    reply = perform(through_numpy, Request((Call((X,)),), elsewhere=True))
    assert reply.fault.kind == "device"
    assert "`.cpu()`" in reply.fault.message


def test_an_error_of_the_numbers_is_the_answers_own():
    reply = perform(lambda x: x[:, torch.tensor([7]).to(x.device)], Request((Call((X,)),)))
    far = perform(
        lambda x: x[:, torch.tensor([7]).to(x.device)], Request((Call((X,)),), elsewhere=True)
    )
    assert reply.fault.kind == far.fault.kind
    assert "7" in far.fault.message


def test_a_tensor_from_outside_is_followed_by_its_shape():
    outside = torch.ones(2, 3, device="meta")
    far = FarAway()
    x = far.carry(X)
    with far:
        assert (x + outside).shape == (2, 3)
        with pytest.raises((NotImplementedError, RuntimeError), match="meta"):
            (x + outside).sum().item()


def test_there_may_be_no_room_for_a_large_tensor():
    table = Request((Call((X,)),), elsewhere=True, room=8)
    reply = perform(lambda x: x.mT @ x, table)
    assert "more than 8 numbers" in reply.fault.message
    assert reply.fault.kind == "exception"
    view = perform(lambda x: x.expand(4, 2, 3)[:, 0] * 0.5 if len(x) > 2 else x.mT, table)
    assert view.fault is None


def test_the_given_tensors_are_not_changed():
    near = X.clone()
    perform(lambda x: x.zero_(), Request((Call((near,)),), elsewhere=True))
    assert torch.equal(near, X)


def test_a_default_device_of_the_notebook_makes_no_difference():
    torch.set_default_device("meta")
    try:
        reply = perform(lambda x: x * x.max().item(), Request((Call((X,)),), elsewhere=True))
    finally:
        torch.set_default_device(None)
    assert reply.fault is None
    assert reply.values[0].is_meta
