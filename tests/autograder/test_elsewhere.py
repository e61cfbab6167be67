"""A device without numbers, as strict as a GPU and as generous."""

import math

import pytest
import torch

from autograder.elsewhere import Elsewhere, WrongDeviceError


def moved(function):
    """Call a function on a (2, 3, 5) tensor that lives elsewhere."""
    x = torch.ones(2, 3, 5, device="meta")
    with Elsewhere():
        return function(x)


def filled(x):
    out = torch.zeros(x.shape)
    for i in range(2):
        out[i] = x[i]
    return out


STAYS = {
    "an expression": lambda x: (x - x.amax(-1, keepdim=True)).exp(),
    "a scalar from the CPU": lambda x: x / torch.tensor(3.0).sqrt(),
    "indices from the CPU": lambda x: x[torch.arange(2), 0],
    "a tensor made on the same device": lambda x: torch.eye(5, device=x.device) - x[..., None, :],
    "a tensor like it": lambda x: torch.where(x == -math.inf, torch.zeros_like(x), x),
    "to the CPU and back": lambda x: x.cpu().exp().to(x.device),
    "an einsum": lambda x: torch.einsum("blk,bmk->blm", x, x),
}
MIXES = {
    "a sum": lambda x: x + torch.zeros(x.shape),
    "an identity matrix": lambda x: torch.eye(5) - x[..., None, :],
    "one number in a vector": lambda x: x / torch.tensor([3.0]),
    "a product": lambda x: x @ torch.zeros(5, 3),
    "a concatenation": lambda x: torch.cat([x, torch.zeros(1, 3, 5)]),
}
LEAVES = {
    "a move": lambda x: x.cpu().exp(),
    "a buffer": filled,
    "a new tensor": lambda x: torch.tensor(x.tolist()),
}


@pytest.mark.parametrize("function", STAYS.values(), ids=STAYS)
def test_what_a_gpu_allows_stays_elsewhere(function):
    assert moved(function).is_meta


@pytest.mark.parametrize("function", MIXES.values(), ids=MIXES)
def test_two_devices_do_not_mix(function):
    with pytest.raises(WrongDeviceError, match=r"on the device of the inputs and one on the CPU"):
        moved(function)


def test_a_generator_of_the_cpu_does_not_draw_elsewhere():
    g = torch.Generator()
    with pytest.raises(WrongDeviceError, match=r"`randint` draws on the device of the inputs"):
        moved(lambda x: torch.randint(9, (2,), generator=g, device=x.device))
    with pytest.raises(WrongDeviceError, match=r"`multinomial` draws"):
        moved(lambda x: x[0].multinomial(2, generator=g))
    assert moved(lambda x: torch.rand(2, generator=g).to(x.device)).is_meta


@pytest.mark.parametrize("function", LEAVES.values(), ids=LEAVES)
def test_what_lands_on_the_cpu_is_seen_there(function):
    assert moved(function).device.type == "cpu"
