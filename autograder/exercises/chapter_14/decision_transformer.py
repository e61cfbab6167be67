"""Exercise: a transformer that predicts actions from returns and states, as a module.

Out of scope: padding, actions that are vectors, and how an episode is played.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, last_of_several_calls, values
from autograder.exercises.chapter_14 import CHAPTER
from autograder.exercises.chapter_14._draws import (
    State,
    in_turn,
    linear,
    stack,
    with_new_weights,
)
from autograder.exercises.chapter_14._draws import in_training as trained
from autograder.exercises.chapter_14._draws import not_contiguous as turned
from autograder.inputs import described, integer, normal
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.blocks import DecoderBlock, EncoderBlock
from solutions.decisions import DecisionTransformer, interleave_tokens
from solutions.norms import RMSNorm

Sizes = dict[str, int]
STEPS = 20


def _drawn(rng: Generator) -> Sizes:
    """Draw small sizes, no two equal."""
    order = (torch.randperm(5, generator=rng) + 2).tolist()
    return dict(zip("BLSA", order[:4], strict=True))


def _sizes(rng: Generator, **fixed: int) -> Sizes:
    of = {**_drawn(rng), "T": 2, "H": integer(rng, 2, 3), **fixed}
    return {**of, "D": of["H"] * 4}


def _state(rng: Generator, of: Sizes) -> State:
    return {
        **linear(rng, "embed_return", of["D"], 1),
        **linear(rng, "embed_state", of["D"], of["S"]),
        "embed_action.weight": normal(rng, "A D", of),
        "embed_step.weight": 0.7 * normal(rng, "N D", {**of, "N": STEPS}),
        **stack(rng, of["D"], of["T"]),
        **linear(rng, "head", of["A"], of["D"]),
    }


def _inputs(rng: Generator, of: Sizes, size: float = 1.0) -> tuple[Tensor, ...]:
    """Draw returns, states, actions, and steps that begin somewhere within an episode."""
    shape = (of["B"], of["L"])
    start = torch.randint(STEPS - of["L"], (of["B"], 1), generator=rng)
    return (
        size * normal(rng, "B L", of, mean=1.0),
        normal(rng, "B L S", of),
        torch.randint(of["A"], shape, generator=rng),
        start + torch.arange(of["L"]),
    )


def _asked(of: Sizes, state: State, *inputs: tuple[Tensor, ...]) -> Trial:
    words = f"{described('returns', 'B L', of)}, {described('states', 'B L S', of)}, "
    words += f"{of['A']} actions, d_model = {of['D']}, {of['T']} layers, {of['H']} heads"
    build = Call(
        (of["S"], of["A"], of["D"]),
        {"layers": of["T"], "heads": of["H"], "steps": STEPS},
    )
    calls = tuple(Call(one) for one in inputs)
    return Trial(Request(calls, build, state), words, of, "B L A")


def _trial(rng: Generator, size: float = 1.0, **fixed: int) -> Trial:
    of = _sizes(rng, **fixed)
    return _asked(of, _state(rng, of), _inputs(rng, of, size))


def usual(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng)
    yield _trial(rng, B=2, T=3, L=4)


def own_action(rng: Generator) -> Iterator[Trial]:
    """The same with another last action: no score may move."""
    of = _sizes(rng, A=5, L=4)
    returns, states, chosen, steps = _inputs(rng, of)
    other = chosen.clone()
    other[:, -1] = (other[:, -1] + 2) % of["A"]
    calls = [(returns, states, actions, steps) for actions in (chosen, other)]
    trial = _asked(of, _state(rng, of), *calls)
    yield Trial(trial.request, f"{trial.inputs}, then another last action", of, "B L A")


def later_steps(rng: Generator) -> Iterator[Trial]:
    """The same with another last step: only its own scores move."""
    of = _sizes(rng, L=4)
    first = _inputs(rng, of)
    second = tuple(torch.cat([a[:, :-1], b[:, :1]], 1) for a, b in zip(first, _inputs(rng, of)))  # noqa: B905
    trial = _asked(of, _state(rng, of), first, (*second[:3], first[3]))
    yield Trial(trial.request, f"{trial.inputs}, then another last step", of, "B L A")


def one_step(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, L=1, T=1)


def other_steps(rng: Generator) -> Iterator[Trial]:
    """The same at other times of an episode, in which a step may also be left out."""
    of = _sizes(rng, L=4, T=1)
    returns, states, chosen, _ = _inputs(rng, of)
    steps = torch.rand(of["B"], STEPS, generator=rng).argsort(1)[:, : of["L"]].sort(1).values
    yield _asked(of, _state(rng, of), (returns, states, chosen, steps))
    yield _asked(of, _state(rng, of), (returns, states, chosen, 0 * steps + torch.arange(4)))


def one_layer(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, T=1)


def no_layer(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, T=0)


def small(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=1, S=1, T=1)
    yield _trial(rng, A=1, H=1, T=1)


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, B=3, L=3, S=3, A=3, T=1)
    yield _trial(rng, B=4, L=4, S=8, A=8, H=2, T=1)


def large_returns(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, size=100.0, T=1)
    yield _trial(rng, size=-30.0, T=1)


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, B=2, T=1)
    state = _state(rng, of)
    shapes = (of, of | {"B": 3, "L": of["L"] + 1})
    yield in_turn(_asked(one, state, _inputs(rng, one)) for one in shapes)


def new_weights(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, T=1)
    yield with_new_weights(_asked(of, _state(rng, of), _inputs(rng, of)), _state(rng, of))


def in_training(rng: Generator) -> Iterator[Trial]:
    yield trained(_trial(rng))


def contiguous_or_not(rng: Generator) -> Iterator[Trial]:
    yield turned(_trial(rng, T=1))


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, B=2, L=3, H=2), rng)
    yield backward(trained(_trial(rng, B=2, L=2, T=1)), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, B=3, L=4, T=1))


def kept(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, T=1)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, B=2, L=3, T=1))


NEAR = 1e-4  # of the largest: sums in another order go through several layers

CASES = (
    Case("scores of the actions at each step", usual, values, tolerance=NEAR, weight=3),
    Case("the action of a step is not seen by its own scores", own_action, values, tolerance=NEAR),
    Case("what comes later is not seen", later_steps, values, tolerance=NEAR),
    Case("a single step", one_step, values, tolerance=NEAR),
    Case("at any time of an episode", other_steps, values, tolerance=NEAR),
    Case("a single layer", one_layer, values, tolerance=NEAR),
    Case("without a layer the state alone is seen", no_layer, values, tolerance=NEAR),
    Case("one example, one number, one action, one head", small, values, tolerance=NEAR),
    Case("works where sizes happen to be equal", equal_sizes, values, tolerance=NEAR),
    Case("large and negative returns", large_returns, values, tolerance=NEAR),
    Case("the second call does not depend on the first", several_calls, values, tolerance=NEAR),
    Case(
        "weights that have changed are read anew",
        new_weights,
        last_of_several_calls,
        tolerance=NEAR,
    ),
    Case("training or not, the numbers are the same", in_training, values, tolerance=NEAR),
    Case("works for inputs that are not contiguous", contiguous_or_not, values, tolerance=NEAR),
    Case("the gradient reaches the inputs and all weights", gradients, values, tolerance=NEAR),
    Case("the dtype of the weights is kept", dtypes, values, tolerance=1e-1),
    Case("the inputs themselves are not changed", kept, inputs_kept, tolerance=NEAR),
    Case("works on whatever device everything is on", devices, values, tolerance=NEAR),
)


class _Parts(DecisionTransformer):
    """The right module in steps, of which a mistake changes one."""

    def forward(self, returns: Tensor, states: Tensor, chosen: Tensor, steps: Tensor) -> Tensor:
        tokens = self.tokens(returns, states, chosen)
        x = self.one_sequence(*self.timed(tokens, self.when(steps)))
        return self.read(self.through(x))

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        wanted = self.embed_return(returns[..., None])
        return wanted, self.embed_state(states), self.embed_action(chosen)

    def when(self, steps: Tensor) -> Tensor:
        return self.embed_step(steps)  # type: ignore[no-any-return]

    def timed(self, tokens: tuple[Tensor, ...], when: Tensor) -> tuple[Tensor, ...]:
        return tuple(token + when for token in tokens)

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        return interleave_tokens(*kinds)

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x, _ = block(x)
        return x

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 1::3]))

    def scored(self, answers: Tensor) -> Tensor:
        return self.head(answers)  # type: ignore[no-any-return]


class ReadAtReturn(_Parts):
    """The scores are read off the return's token, which has not seen the state of its step. The
    state's token has.
    """

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 0::3]))


class ReadAtAction(_Parts):
    """The scores are read off the action's token: it has seen the very action that it should
    predict. In training the loss falls to nothing, and nothing is learned.
    """

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 2::3]))


class ReadEverywhere(_Parts):
    """Every token gets scores, (B, 3 L, A). Only the state of each step is asked."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x))


class LastStepAlone(_Parts):
    """Only the last step gets scores. In training each step is an example."""

    def read(self, x: Tensor) -> Tensor:
        return super().read(x)[:, -1]


class StateFirst(_Parts):
    """The order within a step is state, return, action. Here the return comes first."""

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        wanted, seen, done = kinds
        return interleave_tokens(seen, wanted, done)

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 0::3]))


class StateFirstReturnRead(_Parts):
    """The order within a step is state, return, action, and the middle token is read. Here the
    return comes first and the state second.
    """

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        wanted, seen, done = kinds
        return interleave_tokens(seen, wanted, done)


class ActionFirst(_Parts):
    """The action of a step stands before its state, which therefore sees it. It comes last."""

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        wanted, seen, done = kinds
        return interleave_tokens(done, wanted, seen)

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 2::3]))


class ActionAfterReturnRead(_Parts):
    """The order within a step is return, action, state, and the middle token is read: the action
    that should be predicted. Here the state is in the middle and the action last.
    """

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        wanted, seen, done = kinds
        return interleave_tokens(wanted, done, seen)


class ActionAfterReturn(_Parts):
    """The order within a step is return, action, state: the state sees the action that it should
    predict. The action comes last.
    """

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        wanted, seen, done = kinds
        return interleave_tokens(wanted, done, seen)

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x[:, 2::3]))


class KindByKind(_Parts):
    """The sequence has all returns first, then all states, then all actions. The kinds take turns,
    step by step.
    """

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        return torch.cat(kinds, 1)

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x.chunk(3, 1)[1]))


class MixedUp(_Parts):
    """The sequence has the right shape, but the numbers of a token come from different kinds: they
    were stacked behind the features.
    """

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        return torch.stack(kinds, -1).reshape(len(kinds[0]), -1, kinds[0].shape[-1])


class OneTokenForAStep(_Parts):
    """The three tokens of a step are added up to one: it holds the action that it should predict.
    Keep them apart.
    """

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        return sum(kinds, torch.zeros_like(kinds[0]))

    def read(self, x: Tensor) -> Tensor:
        return self.scored(self.norm(x))


class NoMask(_Parts):
    """A state sees its own action and all that comes later: there is no causal mask."""

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            forth, _ = block(x)
            back, _ = block(x.flip(1))
            x = (forth + back.flip(1)) / 2
        return x


class NoReturns(_Parts):
    """The returns make no difference: this is plain imitation. What is wanted must be said."""

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return super().tokens(0 * returns, states, chosen)


class FirstReturnForAll(_Parts):
    """The first return is used at all steps. Each step has its own."""

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return super().tokens(returns[:, :1].expand_as(returns), states, chosen)


class NoActions(_Parts):
    """The actions make no difference. Those of earlier steps are seen."""

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return super().tokens(returns, states, 0 * chosen)


class ActionsLate(_Parts):
    """Each step is given the action of the step before. The mask hides what is not yet known: give
    each step its own action.
    """

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return super().tokens(returns, states, chosen.roll(1, 1))


class ReturnsLate(_Parts):
    """Each step is given the return of the next one, as if its reward were known."""

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return super().tokens(returns.roll(-1, 1), states, chosen)


class ReturnsScaled(_Parts):
    """The returns are scaled or squashed. They come in as they are to be used."""

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return super().tokens(returns.tanh(), states, chosen)


class TokensSquashed(_Parts):
    """A function (tanh, a norm) follows the embeddings. Here they enter the stream as they are."""

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        return tuple(token.tanh() for token in super().tokens(returns, states, chosen))


class NoSteps(_Parts):
    """The numbers of the steps are not used. Rotary positions tell how far tokens lie apart, not
    how much time is left.
    """

    def timed(self, tokens: tuple[Tensor, ...], when: Tensor) -> tuple[Tensor, ...]:
        return tokens


class StepsOnStates(_Parts):
    """Only the state is told the number of its step. All three tokens are."""

    def timed(self, tokens: tuple[Tensor, ...], when: Tensor) -> tuple[Tensor, ...]:
        return tokens[0], tokens[1] + when, tokens[2]


class StepsNotOnReturns(_Parts):
    """The return is not told the number of its step. All three tokens are."""

    def timed(self, tokens: tuple[Tensor, ...], when: Tensor) -> tuple[Tensor, ...]:
        return tokens[0], tokens[1] + when, tokens[2] + when


class StepsNotOnActions(_Parts):
    """The action is not told the number of its step. All three tokens are."""

    def timed(self, tokens: tuple[Tensor, ...], when: Tensor) -> tuple[Tensor, ...]:
        return tokens[0] + when, tokens[1] + when, tokens[2]


class CountedFromZero(_Parts):
    """The steps are counted from 0 in every row. A row may begin in the middle of an episode: use
    the numbers that are given.
    """

    def when(self, steps: Tensor) -> Tensor:
        place = torch.arange(steps.shape[1], device=steps.device)
        return super().when(place.expand_as(steps))


class StepsOfTheFirstRow(_Parts):
    """The numbers of the first row's steps are used for all rows. Each row has its own."""

    def when(self, steps: Tensor) -> Tensor:
        return super().when(steps[:1].expand_as(steps))


class FirstStepForAll(_Parts):
    """All steps of a row get the number of its first one."""

    def when(self, steps: Tensor) -> Tensor:
        return super().when(steps[:, :1].expand_as(steps))


class FirstRowForAll(_Parts):
    """All rows get the scores of the first one."""

    def through(self, x: Tensor) -> Tensor:
        return super().through(x[:1]).expand_as(x)


class NormForgotten(_Parts):
    """The scores are read without the norm before the head."""

    def read(self, x: Tensor) -> Tensor:
        return self.scored(x[:, 1::3])


class NormTooEarly(_Parts):
    """The norm stands before the blocks. It stands behind them, before the head."""

    def through(self, x: Tensor) -> Tensor:
        return super().through(self.norm(x))

    def read(self, x: Tensor) -> Tensor:
        return self.scored(x[:, 1::3])


class FirstBlockAlone(_Parts):
    """Only the first block is used."""

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks[:1]:
            x, _ = block(x)
        return x


class BlocksUnused(_Parts):
    """What the blocks return is thrown away, or they are never called: go on with what they give
    back.
    """

    def through(self, x: Tensor) -> Tensor:
        return x


class HeadForgotten(_Parts):
    """The stream itself comes back, (B, L, D). The head turns it into a score for each action."""

    def scored(self, answers: Tensor) -> Tensor:
        return answers


class FirstBlockRepeated(_Parts):
    """The first block is used again and again. Each layer has a block of its own."""

    def through(self, x: Tensor) -> Tensor:
        for _ in self.blocks:
            x, _ = self.blocks[0](x)
        return x


class BlocksBackwards(_Parts):
    """The blocks are used in reversed order."""

    def through(self, x: Tensor) -> Tensor:
        for block in reversed(self.blocks):
            x, _ = block(x)
        return x


class AroundTheBlocks(_Parts):
    """A block's answer is added to what went in. The block has its residual connections inside."""

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = x + block(x)[0]
        return x


class CacheHandedOn(_Parts):
    """The cache that one block returns is given to the next. Keys of one layer mean nothing to
    another, and here no cache is needed.
    """

    def through(self, x: Tensor) -> Tensor:
        cache = None
        for block in self.blocks:
            x, cache = block(x, cache)
        return x


class Probabilities(_Parts):
    """These are probabilities. Scores are asked, before any softmax: the loss applies its own."""

    def scored(self, answers: Tensor) -> Tensor:
        return super().scored(answers).softmax(-1)


class ReturnsCut(_Parts):
    """The numbers are right, but what embeds the returns gets no gradient (`.data`, `detach`,
    `torch.tensor`): what is asked for will never matter.
    """

    def tokens(self, returns: Tensor, states: Tensor, chosen: Tensor) -> tuple[Tensor, ...]:
        wanted, seen, done = super().tokens(returns, states, chosen)
        return wanted.detach(), seen, done


class DropoutInTraining(_Parts):
    """In training some entries are dropped at random. This model has no dropout."""

    def one_sequence(self, *kinds: Tensor) -> Tensor:
        return F.dropout(super().one_sequence(*kinds), 0.1, self.training)


class OneHead(_Parts):
    """The attention has a single head, whatever `heads` says. The weights have the same shapes, so
    nothing else tells.
    """

    def through(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            attend: Any = block.attend
            attend.heads, attend.kv_heads, attend.width = 1, 1, x.shape[-1]
            x, _ = block(x)
        return x


class EncoderBlocks(DecisionTransformer):
    """The blocks are those of an encoder: everything sees everything, also the action that is to be
    predicted. Use DecoderBlock.
    """

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__(state_width, actions, d_model, layers=layers, heads=heads, steps=steps)
        self.blocks = nn.ModuleList(
            EncoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)
        )

    def forward(self, returns: Tensor, states: Tensor, chosen: Tensor, steps: Tensor) -> Tensor:
        when = self.embed_step(steps)
        wanted, seen = self.embed_return(returns[..., None]), self.embed_state(states)
        kinds = wanted, seen, self.embed_action(chosen)
        x = interleave_tokens(*(kind + when for kind in kinds))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 1::3]))  # type: ignore[no-any-return]


class FourTimesAsWide(DecisionTransformer):
    """The feed-forward layers are four times as wide as the stream. Here they are twice as wide."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__(state_width, actions, d_model, layers=layers, heads=heads, steps=steps)
        self.blocks = nn.ModuleList(
            DecoderBlock(d_model, heads, 4 * d_model) for _ in range(layers)
        )


class WithoutBias(DecisionTransformer):
    """Returns, states or scores have no bias. Here the three linear layers have one."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__(state_width, actions, d_model, layers=layers, heads=heads, steps=steps)
        self.embed_return = nn.Linear(1, d_model, bias=False)
        self.embed_state = nn.Linear(state_width, d_model, bias=False)
        self.head = nn.Linear(d_model, actions, bias=False)


class AStepForEachToken(DecisionTransformer):
    """The table of steps has three rows for each step. The three tokens of a step share one."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__(state_width, actions, d_model, layers=layers, heads=heads, steps=steps)
        self.embed_step = nn.Embedding(3 * steps, d_model)


class IntoZeros(nn.Module):
    """Tokens are written into their places of an empty sequence."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__()
        self.head, self.norm = nn.Linear(d_model, actions), RMSNorm(d_model)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            self.blocks.append(DecoderBlock(d_model, heads, d_model + d_model))
        self.embed_step = nn.Embedding(steps, d_model)
        self.embed_action = nn.Embedding(actions, d_model)
        self.embed_return = nn.Linear(1, d_model)
        self.embed_state = nn.Linear(state_width, d_model)

    def forward(self, returns: Tensor, states: Tensor, chosen: Tensor, steps: Tensor) -> Tensor:
        batch, length = returns.shape
        x = self.embed_step(steps).repeat_interleave(3, dim=1)
        x = x.view(batch, length, 3, -1)
        kinds = [
            self.embed_return(returns.unsqueeze(2)),
            self.embed_state(states),
            self.embed_action(chosen),
        ]
        x = (x + torch.stack(kinds, 2)).reshape(batch, 3 * length, -1)
        for block in self.blocks:
            x = block(x)[0]
        return self.head(self.norm(x)).view(batch, length, 3, -1)[:, :, 1]  # type: ignore[no-any-return]


class StepAfterStep(nn.Module):
    """Step after step, with the caches that the blocks return."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__()
        self.embed_return = nn.Linear(in_features=1, out_features=d_model)
        self.embed_state = nn.Linear(state_width, d_model)
        self.embed_action = nn.Embedding(actions, d_model)
        self.embed_step = nn.Embedding(steps, d_model)
        self.blocks = nn.ModuleList([DecoderBlock(d_model, heads, 2 * d_model)] * 0)
        self.blocks.extend(DecoderBlock(d_model, heads, 2 * d_model) for _ in range(layers))
        self.norm = RMSNorm(d_model)
        self.head = nn.Linear(d_model, actions)

    def forward(self, returns: Tensor, states: Tensor, chosen: Tensor, steps: Tensor) -> Tensor:
        caches: list[tuple[Tensor, Tensor] | None] = [None] * len(self.blocks)
        scores = []
        for t in range(returns.shape[1]):
            when = self.embed_step(steps[:, t])
            wanted = self.embed_return(returns[:, t, None]) + when
            seen = self.embed_state(states[:, t]) + when
            done = self.embed_action(chosen[:, t]) + when
            x = torch.stack([wanted, seen, done], dim=1)
            for i, block in enumerate(self.blocks):
                x, caches[i] = block(x, caches[i])
            scores.append(self.head(self.norm(x[:, 1])))
        return torch.stack(scores, 1)


class OwnActionLeftOut(nn.Module):
    """Lookups and products by hand; the last action never enters the sequence."""

    def __init__(
        self,
        state_width: int,
        actions: int,
        d_model: int,
        *,
        layers: int,
        heads: int,
        steps: int,
    ) -> None:
        super().__init__()
        self.embed_return, self.embed_state, self.head = (
            nn.Linear(a, b) for a, b in ((1, d_model), (state_width, d_model), (d_model, actions))
        )
        self.embed_action, self.embed_step = (nn.Embedding(n, d_model) for n in (actions, steps))
        self.blocks = nn.ModuleList(
            [DecoderBlock(d_model, heads, 2 * d_model) for _ in range(layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, returns: Tensor, states: Tensor, chosen: Tensor, steps: Tensor) -> Tensor:
        when = self.embed_step.weight[steps]
        done = self.embed_action.weight[chosen] + when
        wanted = returns[:, :, None] * self.embed_return.weight[:, 0] + self.embed_return.bias
        seen = states @ self.embed_state.weight.T + self.embed_state.bias
        x = torch.stack([wanted + when, seen + when, done], 2).flatten(1, 2)[:, :-1]
        for block in self.blocks:
            x, _ = block(x)
        places = torch.arange(1, x.shape[1], 3, device=x.device)
        return self.head(self.norm(x.index_select(1, places)))  # type: ignore[no-any-return]


WRONG: tuple[Implementation, ...] = (
    ReadAtReturn,
    ReadAtAction,
    ReadEverywhere,
    LastStepAlone,
    StateFirst,
    StateFirstReturnRead,
    ActionFirst,
    ActionAfterReturn,
    ActionAfterReturnRead,
    KindByKind,
    MixedUp,
    OneTokenForAStep,
    NoMask,
    NoReturns,
    FirstReturnForAll,
    NoActions,
    ActionsLate,
    ReturnsLate,
    ReturnsScaled,
    TokensSquashed,
    NoSteps,
    StepsOnStates,
    StepsNotOnReturns,
    StepsNotOnActions,
    CountedFromZero,
    StepsOfTheFirstRow,
    FirstStepForAll,
    FirstRowForAll,
    NormForgotten,
    NormTooEarly,
    FirstBlockAlone,
    BlocksUnused,
    HeadForgotten,
    FirstBlockRepeated,
    BlocksBackwards,
    AroundTheBlocks,
    CacheHandedOn,
    Probabilities,
    ReturnsCut,
    DropoutInTraining,
    OneHead,
    EncoderBlocks,
    FourTimesAsWide,
    WithoutBias,
    AStepForEachToken,
)

EXERCISE = Exercise(
    solution=DecisionTransformer,
    chapter=CHAPTER,
    title="Decisions as a sequence",
    points=5,
    minutes=22,
    difficulty=5,
    statement=(
        "Write the module: three tokens for each step, with the step's number added; one sequence; "
        "blocks that look back only; and scores of the actions, read off the states. "
        "`DecoderBlock(d_model, heads, d_ff)`, which returns the stream and a cache, and "
        "`RMSNorm(width)` are imported at the top; your `interleave_tokens` is there."
    ),
    example=(
        "Two steps make six tokens: return 0, state 0, action 0, return 1, state 1, action 1. The "
        "scores for step 1 are read off token 4. It has seen tokens 0 to 4, so action 0, and not "
        "action 1."
    ),
    conventions=(
        "The weights are called embed_return, embed_state, embed_action, embed_step, blocks, norm "
        "and head, and have the shapes that the docstring says. The checks copy weights into them.",
        "How the weights begin is up to you and not checked.",
        "The vector of a step's number is added to its three tokens, as in the paper. Rotary "
        "positions inside of the blocks count tokens, and need nothing from you.",
        "The feed-forward layers are twice as wide as the stream.",
        "Scores come from the state's token, after the norm. No softmax, no dropout, no cache.",
    ),
    hints=(
        "A return is one number: give it an axis of its own before the linear layer.",
        "Add the step's vector to each of the three kinds, then let them take turns.",
        "At which places of the long sequence are the states? A slice with a step finds them.",
    ),
    cases=CASES,
    mistakes=(
        *WRONG,
        on_the_cpu(DecisionTransformer),
        always_float32(DecisionTransformer),
        cut_from_autograd(DecisionTransformer),
    ),
    alternatives=(IntoZeros, StepAfterStep, OwnActionLeftOut),
)
