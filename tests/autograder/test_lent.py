"""What is lent to an answer passes the wall, and modules that it works on tell what they became."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from autograder.frames import as_request, decode, encode, request_data
from autograder.inputs import generator
from autograder.lent import BlackBox, Chance, LearnedTable, NextToken, TorchFunction
from autograder.perform import perform
from autograder.spec import Trial
from autograder.variations import elsewhere, in_dtypes
from autograder.wire import LENT, call, map_tensors, parts_of
from autograder.workpiece import Workpiece

TOLD = (
    "changed", "layers", "same", "distinct", "learning", "weights", "vectors", "scores", "dtypes",
    "stds", "centred", "tails"
)  # fmt: skip


def drawn(*shape):
    return torch.randn(shape, generator=generator("lent", *shape))


STATE = {
    "embed.weight": drawn(7, 4),
    "blocks.0.attend.w_o.weight": drawn(4, 4),
    "blocks.1.attend.w_o.weight": drawn(4, 4),
    "norm.weight": drawn(4),
    "head.weight": drawn(7, 4),
}
TIED = {**STATE, "head.weight": STATE["embed.weight"]}
THINGS = {
    "a black box": BlackBox(drawn(2, 2), drawn(3, 3)),
    "a function of torch": TorchFunction("relu"),
    "a generator": Chance(5),
    "a table of next tokens": LearnedTable(drawn(5, 5), drawn(5), 3),
    "a language model": NextToken(drawn(7, 4), drawn(4, 4), drawn(4, 7), 9),
    "a module to work on": Workpiece(TIED, TOLD, ("embed.weight", "head.weight"), 3),
}
every_thing = pytest.mark.parametrize("thing", THINGS.values(), ids=THINGS)


def same(got, want):
    """Whether two parts of something lent are equal, to the last bit."""
    if isinstance(want, torch.Tensor):
        return got.dtype == want.dtype and torch.equal(got, want)
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(same(got[name], want[name]) for name in want)
    return type(got) is type(want) and got == want


def test_there_is_one_of_each_kind():
    assert {name: type(thing) for name, thing in THINGS.items()} == LENT


@every_thing
def test_it_passes_the_wall_bit_for_bit(thing):
    request = call(thing, 2)
    again = as_request(decode(encode(request_data(request))))
    sent, number = again.calls[0].args
    assert (type(sent), number) == (type(thing), 2)
    for got, want in zip(parts_of(sent), parts_of(thing), strict=True):
        assert same(got, want)
    assert encode(request_data(again)) == encode(request_data(request))


@every_thing
def test_all_of_its_tensors_are_mapped_and_nothing_else(thing):
    seen = []
    again = map_tensors(lambda one: seen.append(one) or 2 * one, (thing, {"x": 3}))[0]
    assert type(again) is type(thing)
    changed = 0
    for got, want in zip(parts_of(again), parts_of(thing), strict=True):
        assert same(got, map_tensors(lambda one: 2 * one, want))
        changed += len(want) if isinstance(want, dict) else isinstance(want, torch.Tensor)
    assert len(seen) == changed


@every_thing
def test_its_name_in_a_reply_stays_plain_data(thing):
    (name,) = (name for name, kind in LENT.items() if isinstance(thing, kind))
    assert decode(encode({name: (1, 2)})) == {name: (1, 2)}


# Modules to work on


def worked(change, *told, state=STATE, tied=(), seed=0, **how):
    request = call(Workpiece(state, told, tied, seed), **how)
    (got,) = perform(change, request).values
    return got


def test_it_is_made_of_torchs_layers_under_the_documented_names():
    model = Workpiece(STATE, ()).function()
    assert isinstance(model.embed, nn.Embedding)
    assert isinstance(model.head, nn.Linear)
    assert model.head.bias is None
    assert isinstance(model.blocks, nn.ModuleList)
    assert len(model.blocks) == 2
    assert (model.head.in_features, model.head.out_features) == (4, 7)
    assert model.state_dict().keys() == STATE.keys()
    for name, value in model.state_dict().items():
        assert_close(value, STATE[name])
    assert_close(model.embed(torch.tensor([3])), STATE["embed.weight"][3:4])
    assert_close(model.head(drawn(2, 4)), drawn(2, 4) @ STATE["head.weight"].T)


def test_every_call_gets_a_module_of_its_own_and_the_numbers_stay():
    def spoil(model):
        with torch.no_grad():
            for weight in model.parameters():
                weight.zero_()

    before = {name: value.clone() for name, value in STATE.items()}
    assert worked(spoil, "changed") == (True,)
    assert worked(lambda model: None, "changed") == (False,)
    assert_close(STATE, before)


def test_two_names_of_one_parameter():
    names = ("embed.weight", "head.weight")
    model = Workpiece(TIED, (), names).function()
    assert model.head.weight is model.embed.weight
    nothing = worked(lambda model: None, "changed", "distinct", "stds", state=TIED, tied=names)
    assert nothing[:2] == (False, 4)
    assert len(nothing[2]) == 3

    def tie(model):
        model.head.weight = model.embed.weight

    def part(model):
        model.head.weight = nn.Parameter(model.head.weight.detach().clone())

    assert worked(tie, "changed", "distinct", "learning") == (True, 4, 4)
    assert worked(part, "changed", "distinct", state=TIED, tied=names) == (True, 5)


def test_whose_parameter_it_is_and_in_which_layer():
    def third(model):
        model.head.weight = model.embed.weight = nn.Parameter(model.embed.weight.detach().clone())

    def bare(model):
        weight, model.head = model.head.weight, nn.Module()
        model.head.weight = weight

    everything = tuple(STATE)
    assert worked(lambda model: None, "same", "layers") == (everything, True)
    assert worked(third, "same", "layers") == (everything[1:-1], True)
    assert worked(bare, "same", "layers") == (everything, False)


def test_the_dtypes_of_the_matrices():
    def narrowed(model):
        model.head.weight.data = model.head.weight.data.half()

    assert worked(lambda model: None, "dtypes") == (("torch.float32",),)
    assert worked(narrowed, "dtypes") == (("torch.float16", "torch.float32"),)


@pytest.mark.parametrize("change", [
    lambda model: model.norm.weight.data.mul_(2),
    lambda model: model.register_parameter("more", nn.Parameter(torch.ones(2))),
    lambda model: setattr(model.head, "weight", nn.Parameter(torch.ones(3, 4))),
    lambda model: delattr(model, "norm"),
    lambda model: model.blocks[1].attend.w_o.weight.data.fill_(float("nan")),
])  # fmt: skip
def test_any_change_is_told(change):
    assert worked(change, "changed") == (True,)


def test_what_is_told():
    def freeze(model):
        model.norm.weight.requires_grad_(False)

    told = dict(zip(TOLD, worked(freeze, *TOLD), strict=True))
    assert (told["distinct"], told["learning"]) == (5, 4)
    assert_close(told["weights"], tuple(STATE.values()))
    assert_close(told["vectors"], (STATE["norm.weight"],))
    assert_close(told["scores"], STATE["embed.weight"] @ STATE["head.weight"].T)
    matrices = [value for value in STATE.values() if value.ndim == 2]
    assert told["stds"] == pytest.approx([float(one.std()) for one in matrices])


def test_means_and_tails_of_what_is_drawn():
    state = {"head.weight": torch.zeros(90, 80)}

    def of(draw):
        return worked(lambda model: draw(model.head.weight), "centred", "tails", state=state)

    centred, tails = of(nn.init.normal_)
    assert centred
    assert tails == pytest.approx(0.0455, rel=0.2)
    assert of(lambda w: nn.init.uniform_(w, -1, 1)) == (True, 0.0)
    assert not of(lambda w: nn.init.normal_(w, mean=0.5))[0]


def test_a_generator_may_have_been_used():
    fresh, used = Chance(3).function(), Chance(3, 5).function()
    assert used.initial_seed() == fresh.initial_seed() == 3
    torch.rand(5, generator=fresh)
    assert torch.equal(torch.rand(4, generator=used), torch.rand(4, generator=fresh))


def test_a_table_may_be_in_evaluation_mode_and_watched():
    tokens = torch.tensor([[1, 2]])
    model = LearnedTable(drawn(5, 5), drawn(5), 3, training=False, watched=True).function()
    assert not model.training
    with pytest.raises(ValueError, match="keeps all that a gradient would need"):
        model(tokens)
    with torch.no_grad():
        assert model(tokens)[0].shape == (1, 2, 5)


def test_the_seed_is_that_of_torchs_generator():
    def draw(model):
        return nn.init.normal_(model.head.weight)

    first, again, other = (worked(draw, "weights", seed=seed) for seed in (1, 1, 2))
    assert_close(first, again, rtol=0, atol=0)
    assert not torch.equal(first[0][-1], other[0][-1])


@pytest.mark.parametrize("vary", [elsewhere, lambda trial: next(in_dtypes(trial))])
def test_the_module_is_where_its_numbers_are(vary):
    given = []

    def look(model):
        given.append(model.head.weight)
        model.head.weight.data.mul_(2)

    request = vary(Trial(call(Workpiece(STATE, ("changed", "weights"))), "a module")).request
    changed, weights = perform(look, request).values[0]
    (seen,) = given
    assert changed
    assert seen.is_meta == weights[-1].is_meta == request.elsewhere
    assert seen.dtype == weights[-1].dtype
    assert seen.dtype == (torch.float32 if request.elsewhere else torch.float16)
