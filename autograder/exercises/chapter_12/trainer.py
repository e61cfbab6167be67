"""Exercise: everything that trains a model, as a class.

The model is a table with a gain, which in training gives half of its scores: mode, decay and every
weight show in what it says. Out of scope: mixed precision, checkpoints, padding.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Generator, Tensor, nn

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_12 import CHAPTER
from autograder.inputs import described, normal, sizes, uniform
from autograder.lent import LearnedTable
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import elsewhere
from autograder.wire import Call, Request, map_tensors
from solutions.losses import lm_loss
from solutions.optimiser import adamw_step, clip_gradients, lr_schedule, parameter_groups
from solutions.trainer import Trainer

Sizes = dict[str, int]
MANY = 1000  # rows: as many as come


def _batch(rng: Generator, of: Sizes) -> tuple[Tensor, Tensor]:
    tokens = torch.randint(of["V"], (of["B"], of["L"] + 1), generator=rng)
    return tokens[:, :-1], tokens[:, 1:]


def _trial(  # noqa: PLR0917
    rng: Generator,
    does: str,
    rows: int = MANY,
    of: Sizes | None = None,
    loud: float = 1.0,
    parts: int = 1,
    training: bool = True,
    watched: bool = False,
    **settings: float,
) -> Trial:
    """Build a trainer and let it do, letter by letter: s a step, r a step with the batch of the
    step before, e an evaluation, m nothing but what the model says.
    """
    of = of or {**sizes(rng, "B L"), "V": 5}
    table, gain = loud * normal(rng, "V V", of), 1 + 0.3 * normal(rng, "V", of)
    model = LearnedTable(table, gain, rows, training, watched)
    settings = {"peak": uniform(rng, 0.1, 0.3), "warmup": 2, "total": 9, **settings}
    more = {"parts": parts} if parts > 1 else {}
    batch, calls = _batch(rng, of), []
    for letter in does:
        batch = _batch(rng, of) if letter in "se" else batch
        if letter == "m":
            calls.append(Call((torch.arange(of["V"])[None],), method="model"))
        else:
            calls.append(Call(batch, more, "evaluate" if letter == "e" else "step"))
    words = f"{described('inputs', 'B L', of)}, V = {of['V']}"
    words += "".join(f", {name} = {one}" for name, one in {**settings, **more}.items())
    steps = sum(letter in "sr" for letter in does)
    words += f"; {steps} steps" if steps > 1 else "; a step" if steps else "; no step"
    words += "" if training else "; a model in evaluation mode"
    return Trial(Request(tuple(calls), Call((model,), settings)), words, of)


def evaluation(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "ee")
    yield _trial(rng, "eeme")


def one_step(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "sme", warmup=1)
    yield _trial(rng, "sme", warmup=4)


def several_steps(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "ssssme", warmup=1, total=30)


def one_batch(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "srrrrme", warmup=1, total=60)


def schedule(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "sssme", warmup=3, total=40)
    yield _trial(rng, "srsrsrsme", warmup=0, total=5, floor=uniform(rng, 0.02, 0.05))


def without_floor(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "srsrsme", warmup=1, total=3)


def decay(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "ssme", warmup=1, total=30, decay=uniform(rng, 1.0, 2.0))
    yield _trial(rng, "ssme", warmup=1, total=30, decay=0.0)


def usual_decay(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "ssme", warmup=1, total=30, loud=20.0)


def clipping(rng: Generator) -> Iterator[Trial]:
    for limit in (0.05, 0.2):
        yield _trial(rng, "srsrme", warmup=1, total=30, limit=limit, of={"B": 3, "L": 4, "V": 5})


def usual_limit(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "ssrsme", warmup=1, total=30, loud=15.0, of={"B": 2, "L": 3, "V": 4})


def accumulation(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "sssme", rows=2, of={"B": 6, "L": 4, "V": 5}, parts=3, warmup=1)


def evaluated_in_parts(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "eme", rows=3, of={"B": 7, "L": 4, "V": 5}, parts=3)


def uneven_parts(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "sssme", rows=3, of={"B": 7, "L": 4, "V": 5}, parts=3, warmup=1)
    yield _trial(rng, "sssme", rows=4, of={"B": 5, "L": 3, "V": 6}, parts=2, warmup=1, limit=0.1)


def modes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "emesmesme", warmup=1, total=30)


def begun_in_evaluation_mode(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "eme", training=False)
    yield _trial(rng, "srsre", training=False, warmup=1, total=30)


def without_gradients(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, "ee", watched=True)


def small(rng: Generator) -> Iterator[Trial]:
    for letter in "BL":
        yield _trial(rng, "ssme", of={**sizes(rng, "B L"), "V": 4, letter: 1})
    yield _trial(rng, "ssme", of={"B": 4, "L": 4, "V": 4})


def changing_sizes(rng: Generator) -> Iterator[Trial]:
    trial, other = (_trial(rng, "sse", of={"B": n, "L": n + 2, "V": 5}) for n in (2, 5))
    calls = (*trial.request.calls, *other.request.calls)
    request = replace(trial.request, calls=calls)
    yield replace(trial, request=request, inputs=f"{trial.inputs}; then {other.inputs}")


def precision(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, "sssme", warmup=1)
    request = replace(trial.request, build=_in_double(trial.request.build))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, float64")


def _in_double(build: Call | None) -> Call:
    assert build is not None
    return Call(map_tensors(Tensor.double, build.args), build.kwargs)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, "ssme", warmup=1))


CASES = (
    Case("evaluation is in evaluation mode and learns nothing", evaluation, values, weight=2),
    Case("a step gives the loss before it, and changes the model", one_step, values, weight=2),
    Case("several steps, each with a gradient of its own", several_steps, values, weight=2),
    Case("one batch over and over", one_batch, values),
    Case("the rate follows the schedule, from step 1", schedule, values, weight=2),
    Case("without a floor the rate ends at 0", without_floor, values),
    Case("matrices decay, vectors do not", decay, values),
    Case("the decay is 0.1 where none is given", usual_decay, values),
    Case("the gradient is clipped before the step", clipping, values, weight=2),
    Case("the limit is 1 where none is given", usual_limit, values),
    Case("parts together are the whole batch", accumulation, values, weight=2),
    Case("so are parts of different size", uneven_parts, values),
    Case("an evaluation may be in parts, too", evaluated_in_parts, values),
    Case("after an evaluation the model is in its mode again", modes, values),
    Case("so it is where it was given in evaluation mode", begun_in_evaluation_mode, values),
    Case("an evaluation keeps nothing for gradients", without_gradients, values),
    Case("works where sizes are 1 or equal", small, values),
    Case("the next batch may have other sizes", changing_sizes, values),
    Case("works for a model in float64", precision, values),
    Case("the tokens are not changed", several_steps, inputs_kept),
    Case("works on whatever device model and tokens are on", devices, values),
)


class _InSteps(Trainer):
    """The trainer in steps, of which a mistake changes one."""

    betas = (0.9, 0.95)

    def __init__(
        self,
        model: nn.Module,
        *,
        peak: float,
        warmup: int,
        total: int,
        floor: float = 0.0,
        decay: float = 0.1,
        limit: float = 1.0,
    ) -> None:
        self.model, self.limit, self.done, self.peak = model, limit, 0, peak
        self.rates = (warmup, total, peak, floor)
        self.optimiser = self.made(dict(model.named_parameters()), decay, peak)

    def made(self, named: dict[str, nn.Parameter], decay: float, peak: float) -> Any:
        decayed, others = self.groups(named)
        groups = [
            {"params": [named[n] for n in decayed], "weight_decay": decay},
            {"params": [named[n] for n in others], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=peak, betas=self.betas)

    def groups(self, named: dict[str, nn.Parameter]) -> tuple[list[str], list[str]]:
        return parameter_groups(named)

    def step(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        self.prepare()
        loss = self.backward(inputs, targets, parts)
        self.clip()
        self.renew_rate()
        self.move()
        return self.told(loss, inputs, targets)

    def prepare(self) -> None:
        self.model.train()
        self.optimiser.zero_grad()

    def backward(self, inputs: Tensor, targets: Tensor, parts: int) -> float:
        total = 0.0
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            share = self.loss(x, y) * self.weight(x, inputs, parts)
            torch.autograd.backward(share)
            total += share.item()
        return total

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        return lm_loss(self.model(x)[0], y)

    def weight(self, x: Tensor, inputs: Tensor, parts: int) -> float:
        return len(x) / len(inputs)

    def gradients(self) -> list[Tensor]:
        found = [one.grad for one in self.model.parameters()]
        return [g for g in found if g is not None]

    def clip(self) -> None:
        gradients = self.gradients()
        shorter = clip_gradients(gradients, self.limit)[0] if gradients else []
        for gradient, one in zip(gradients, shorter, strict=True):
            gradient.copy_(one)

    def renew_rate(self) -> None:
        self.done += 1
        self.set_rate(lr_schedule(self.done, *self.rates))

    def set_rate(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def move(self) -> None:
        self.optimiser.step()

    def told(self, loss: float, inputs: Tensor, targets: Tensor) -> float:
        return loss


class NeverZeroed(_InSteps):
    """Gradients of earlier steps are still there, and new ones are added to them: torch never
    clears them by itself.
    """

    def prepare(self) -> None:
        self.model.train()


class ZeroedBeforeTheStep(_InSteps):
    """The gradients are cleared between `backward` and the optimiser's step: nothing is learned."""

    def move(self) -> None:
        self.optimiser.zero_grad(set_to_none=False)
        self.optimiser.step()


class NothingLearned(_InSteps):
    """The optimiser takes no step."""

    def move(self) -> None:
        pass


class ClippedAfterwards(_InSteps):
    """Gradients are not clipped, or after the optimiser has used them, or before there are any."""

    def clip(self) -> None:
        pass

    def move(self) -> None:
        self.optimiser.step()
        super().clip()


class ClippedOneByOne(_InSteps):
    """Each weight's gradient is clipped by itself. All of them are one long vector."""

    def clip(self) -> None:
        for gradient in self.gradients():
            gradient.copy_(clip_gradients([gradient], self.limit)[0][0])


class LimitOfEntries(_InSteps):
    """Each number of the gradients is clipped by itself. The limit is for the length of all."""

    def clip(self) -> None:
        for gradient in self.gradients():
            gradient.clamp_(-self.limit, self.limit)


class LimitOfOne(_InSteps):
    """The limit of the constructor is not used: it is always 1."""

    def clip(self) -> None:
        self.limit = 1.0
        super().clip()


class EachPartClipped(_InSteps):
    """The gradient is clipped after each part. Clip the sum, once."""

    def backward(self, inputs: Tensor, targets: Tensor, parts: int) -> float:
        total = 0.0
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            share = self.loss(x, y) * self.weight(x, inputs, parts)
            torch.autograd.backward(share)
            self.clip()
            total += share.item()
        return total


class PartsAddedUp(_InSteps):
    """The losses of the parts are added up without a weight: with n parts loss and gradient are n
    times as large. The whole batch has a mean.
    """

    def weight(self, x: Tensor, inputs: Tensor, parts: int) -> float:
        return 1.0


class PartsCountEqually(_InSteps):
    """Each part counts as much as any other, though the last may be smaller. Every row counts
    equally.
    """

    def weight(self, x: Tensor, inputs: Tensor, parts: int) -> float:
        return 1 / len(inputs.chunk(parts))


class LastPartAlone(_InSteps):
    """Gradients are cleared before each part, and only those of the last one are used. Clear them
    once in a step.
    """

    def backward(self, inputs: Tensor, targets: Tensor, parts: int) -> float:
        total = 0.0
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            self.optimiser.zero_grad()
            share = self.loss(x, y) * self.weight(x, inputs, parts)
            torch.autograd.backward(share)
            total += share.item()
        return total


class StepForEachPart(_InSteps):
    """The optimiser takes a step after each part. The parts are one batch: take one step."""

    def backward(self, inputs: Tensor, targets: Tensor, parts: int) -> float:
        total, rate = 0.0, lr_schedule(self.done + 1, *self.rates)
        pieces = [*zip(inputs.chunk(parts), targets.chunk(parts), strict=True)]
        for number, (x, y) in enumerate(pieces):
            loss = self.loss(x, y)
            torch.autograd.backward(loss)
            total += loss.item() * self.weight(x, inputs, parts)
            if number < len(pieces) - 1:
                self.clip()
                self.set_rate(rate)
                self.optimiser.step()
                self.optimiser.zero_grad()
        return total


class PartsIgnored(_InSteps):
    """The whole batch goes through the model at once, whatever `parts` is."""

    def backward(self, inputs: Tensor, targets: Tensor, parts: int) -> float:
        return super().backward(inputs, targets, 1)


class WholeBatchEvaluated(_InSteps):
    """An evaluation does not use `parts`: the whole batch goes through the model at once."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        return super().evaluate(inputs, targets)


class EvaluatedPartsCountEqually(_InSteps):
    """In an evaluation each part counts as much as any other, though the last may be smaller."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        pieces = [*zip(inputs.chunk(parts), targets.chunk(parts), strict=True)]
        return sum(Trainer.evaluate(self, x, y) for x, y in pieces) / len(pieces)


class LastPartEvaluated(_InSteps):
    """An evaluation gives the loss of its last part alone."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        return super().evaluate(inputs.chunk(parts)[-1], targets.chunk(parts)[-1])


class ConstantRate(_InSteps):
    """The rate is always the peak: the schedule is not used, or its result never reaches the
    optimiser.
    """

    def renew_rate(self) -> None:
        self.set_rate(self.peak)


class FromStepZero(_InSteps):
    """The first step has the rate of step 0, which is 0 with a warm-up: a batch for nothing. It has
    that of step 1.
    """

    def renew_rate(self) -> None:
        super().renew_rate()
        self.set_rate(lr_schedule(self.done - 1, *self.rates))


class OneStepAhead(_InSteps):
    """The first step has the rate of step 2."""

    def renew_rate(self) -> None:
        super().renew_rate()
        self.set_rate(lr_schedule(self.done + 1, *self.rates))


class FirstGroupAlone(_InSteps):
    """The schedule reaches the first group of the optimiser alone. Each group has its own rate."""

    def set_rate(self, rate: float) -> None:
        self.optimiser.param_groups[0]["lr"] = rate


class NeverCounted(_InSteps):
    """Steps are not counted, and each has the rate of the first."""

    def renew_rate(self) -> None:
        super().renew_rate()
        self.done = 0


class FloorForgotten(_InSteps):
    """The floor is not given to the schedule."""

    def renew_rate(self) -> None:
        self.done += 1
        self.set_rate(lr_schedule(self.done, *self.rates[:3]))


class WarmupForgotten(_InSteps):
    """The schedule begins at the peak: it is not told of the warm-up."""

    def renew_rate(self) -> None:
        self.done += 1
        self.set_rate(lr_schedule(self.done, 0, *self.rates[1:]))


class EverythingDecays(_InSteps):
    """Every parameter decays. Vectors should not: `parameter_groups` tells which."""

    def groups(self, named: dict[str, nn.Parameter]) -> tuple[list[str], list[str]]:
        return [*named], []


class NothingDecays(_InSteps):
    """No parameter decays. Matrices should."""

    def groups(self, named: dict[str, nn.Parameter]) -> tuple[list[str], list[str]]:
        return [], [*named]


class VectorsDecay(_InSteps):
    """Vectors decay and matrices do not: the groups have changed places."""

    def groups(self, named: dict[str, nn.Parameter]) -> tuple[list[str], list[str]]:
        decayed, others = parameter_groups(named)
        return others, decayed


class MatricesAlone(_InSteps):
    """The optimiser knows only the parameters that decay, and the others are never learned."""

    def groups(self, named: dict[str, nn.Parameter]) -> tuple[list[str], list[str]]:
        return parameter_groups(named)[0], []


class DecayOfTorch(_InSteps):
    """The decay of the constructor is not used: torch's own is 0.01."""

    def made(self, named: dict[str, nn.Parameter], decay: float, peak: float) -> Any:
        return super().made(named, 0.01, peak)


class BetasOfTorch(_InSteps):
    """The second beta is torch's 0.999. Here it is 0.95."""

    betas = (0.9, 0.999)


class L2InTheGradient(_InSteps):
    """`torch.optim.Adam` adds the decay to the gradient, and divides it with it. `AdamW` keeps them
    apart.
    """

    def made(self, named: dict[str, nn.Parameter], decay: float, peak: float) -> Any:
        groups = super().made(named, decay, peak).param_groups
        kept = [{"params": g["params"], "weight_decay": g["weight_decay"]} for g in groups]
        return torch.optim.Adam(kept, lr=peak, betas=self.betas)


class PlainDescent(_InSteps):
    """The weights follow the gradient as it is. AdamW divides each step by a running size."""

    def made(self, named: dict[str, nn.Parameter], decay: float, peak: float) -> Any:
        return torch.optim.SGD(super().made(named, decay, peak).param_groups, lr=peak)


class MadeAnew(_InSteps):
    """The optimiser is made anew in each step, and forgets its running means. Make it once."""

    def prepare(self) -> None:
        super().prepare()
        self.optimiser.state.clear()


class LossAfterwards(_InSteps):
    """The loss is measured after the step. Asked is the one before: it comes for nothing."""

    def told(self, loss: float, inputs: Tensor, targets: Tensor) -> float:
        with torch.no_grad():
            rows = zip(inputs.chunk(len(inputs)), targets.chunk(len(inputs)), strict=True)
            return sum(self.loss(x, y).item() for x, y in rows) / len(inputs)


class LearnsInEvaluationMode(_InSteps):
    """Your steps are taken in evaluation mode. What a model leaves out in training, to learn
    better, it should leave out in a step.
    """

    def prepare(self) -> None:
        super().prepare()
        self.model.eval()


class ModeNotSet(_InSteps):
    """A step works in whatever mode the model is. Set it: the caller may have evaluated before."""

    def prepare(self) -> None:
        self.optimiser.zero_grad()

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        loss = super().evaluate(inputs, targets, parts)
        self.model.eval()
        return loss


class EvaluatesInTrainingMode(_InSteps):
    """An evaluation is in training mode: what is left out then makes the loss worse than it is."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        mode, total = self.model.training, 0.0
        self.model.train()
        with torch.no_grad():
            for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
                total += self.loss(x, y).item() * len(x) / len(inputs)
        self.model.train(mode)
        return total


class LeftInEvaluationMode(_InSteps):
    """After an evaluation the model is still in evaluation mode. Put it back to where it was."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        loss = super().evaluate(inputs, targets, parts)
        self.model.eval()
        return loss


class AlwaysBackToTraining(_InSteps):
    """After an evaluation the model is in training mode, whatever it was before."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        loss = super().evaluate(inputs, targets, parts)
        self.model.train()
        return loss


class NeverPutInTrainingMode(_InSteps):
    """A step works in the mode in which the model was given. Set it: `train`."""

    def prepare(self) -> None:
        self.optimiser.zero_grad()


class EvaluatesWithGradients(_InSteps):
    """An evaluation keeps all that gradients would need, and wants as much memory as a step: look
    at `no_grad`.
    """

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        mode, total = self.model.training, 0.0
        self.model.eval()
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            total += self.loss(x, y).item() * len(x) / len(inputs)
        self.model.train(mode)
        return total


class LearnsFromTheTest(_InSteps):
    """An evaluation changes the model: it learns from the data on which it is tested."""

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        loss, before = super().evaluate(inputs, targets, parts), self.done
        self.step(inputs, targets, parts)
        self.done = before
        return loss


class ShiftedAgain(_InSteps):
    """Targets are shifted once more. They are the tokens that follow already."""

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        return lm_loss(self.model(x)[0], y.roll(-1, 1))


class LossInBits(_InSteps):
    """The losses that come back are in bits. Here they are in nats."""

    def told(self, loss: float, inputs: Tensor, targets: Tensor) -> float:
        return loss / 0.6931471805599453


class OfTorch:
    """Torch's own clipping and a scheduler of torch's."""

    def __init__(
        self,
        model: nn.Module,
        *,
        peak: float,
        warmup: int,
        total: int,
        floor: float = 0.0,
        decay: float = 0.1,
        limit: float = 1.0,
    ) -> None:
        self.model, self.limit = model, limit
        two = [p for p in model.parameters() if p.ndim > 1]
        one = [p for p in model.parameters() if p.ndim < 2]
        groups: list[dict[str, Any]] = [{"params": one, "weight_decay": 0.0}, {"params": two}]
        self.adam = torch.optim.AdamW(
            groups,
            lr=1.0,
            betas=(0.9, 0.95),
            weight_decay=decay,
        )
        self.plan = torch.optim.lr_scheduler.LambdaLR(
            self.adam, lambda n: lr_schedule(n + 1, warmup, total, peak, floor)
        )

    def step(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        self.model.train()
        whole = 0.0
        for rows in torch.arange(len(inputs)).chunk(parts):
            here = slice(int(rows[0]), int(rows[-1]) + 1)
            logits, *_ = self.model(inputs[here])
            loss = nn.functional.cross_entropy(
                logits.flatten(0, 1), targets[here].flatten(), reduction="sum"
            )
            (loss / targets.numel()).backward()  # type: ignore[no-untyped-call]
            whole += float(loss.detach())
        nn.utils.clip_grad_norm_(self.model.parameters(), self.limit)
        self.adam.step()
        self.adam.zero_grad()
        self.plan.step()
        return whole / targets.numel()

    @torch.no_grad()
    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        was_training = self.model.training
        self.model.eval()
        costs = [
            lm_loss(self.model(x)[0], y) * y.numel()
            for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True)
        ]
        if was_training:
            self.model.train()
        return float(torch.stack(costs).sum() / targets.numel())


class ByHand:
    """The optimiser's states in a dictionary, and `adamw_step`."""

    def __init__(self, model: nn.Module, **settings: float) -> None:
        self.model = model
        given = {"floor": 0.0, "decay": 0.1, "limit": 1.0, **settings}
        self.decay, self.limit = given.pop("decay"), given.pop("limit")
        self.rate = given
        self.count = 0
        self.named = dict(model.named_parameters())
        self.kept = {n: (torch.zeros_like(p), torch.zeros_like(p)) for n, p in self.named.items()}

    def pieces(self, inputs: Tensor, targets: Tensor, parts: int) -> Iterator[tuple[Tensor, float]]:
        for x, y in zip(inputs.chunk(parts), targets.chunk(parts), strict=True):
            yield lm_loss(self.model(x)[0], y), x.shape[0] / inputs.shape[0]

    def step(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        self.model.train()
        self.count += 1
        loss, total = 0.0, [torch.zeros_like(p) for p in self.named.values()]
        for one, share in self.pieces(inputs, targets, parts):
            found = torch.autograd.grad(one, [*self.named.values()])
            total = [t + share * g for t, g in zip(total, found, strict=True)]
            loss += share * one.item()
        clipped, _ = clip_gradients(total, self.limit)
        lr = lr_schedule(self.count, **self.rate)  # type: ignore[arg-type]
        with torch.no_grad():
            for (name, p), g in zip(self.named.items(), clipped, strict=True):
                decay = self.decay if p.ndim >= 2 else 0.0
                new, *kept = adamw_step(p, g, *self.kept[name], self.count, lr, decay=decay)
                p.copy_(new)
                self.kept[name] = (kept[0], kept[1])
        return loss

    def evaluate(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        mode = self.model.training
        self.model.train(False)
        with torch.inference_mode():
            loss = sum(one.item() * share for one, share in self.pieces(inputs, targets, parts))
        self.model.train(mode)
        return loss


class RowAfterRow(Trainer):
    """Every row by itself, however many parts are asked for; clears gradients at the end."""

    def step(self, inputs: Tensor, targets: Tensor, parts: int = 1) -> float:
        self.model.train()
        costs = []
        for x, y in zip(inputs.chunk(len(inputs)), targets.chunk(len(inputs)), strict=True):
            cost = lm_loss(self.model(x)[0], y) / len(inputs)
            torch.autograd.backward(cost)
            costs.append(cost.detach())
        torch.nn.utils.clip_grad_norm_([*self.model.parameters()], self.limit)
        self.done = self.done + 1
        for group in self.optimiser.param_groups:
            group.update(lr=lr_schedule(self.done, *self.rates))
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return float(torch.stack(costs).sum())


WRONG: tuple[Implementation, ...] = (
    NeverZeroed,
    ZeroedBeforeTheStep,
    NothingLearned,
    ClippedAfterwards,
    ClippedOneByOne,
    LimitOfEntries,
    LimitOfOne,
    EachPartClipped,
    PartsAddedUp,
    PartsCountEqually,
    LastPartAlone,
    StepForEachPart,
    PartsIgnored,
    WholeBatchEvaluated,
    EvaluatedPartsCountEqually,
    LastPartEvaluated,
    ConstantRate,
    FromStepZero,
    OneStepAhead,
    FirstGroupAlone,
    NeverCounted,
    FloorForgotten,
    WarmupForgotten,
    EverythingDecays,
    NothingDecays,
    VectorsDecay,
    MatricesAlone,
    DecayOfTorch,
    BetasOfTorch,
    L2InTheGradient,
    PlainDescent,
    MadeAnew,
    LossAfterwards,
    LearnsInEvaluationMode,
    ModeNotSet,
    EvaluatesInTrainingMode,
    LeftInEvaluationMode,
    AlwaysBackToTraining,
    NeverPutInTrainingMode,
    EvaluatesWithGradients,
    LearnsFromTheTest,
    ShiftedAgain,
    LossInBits,
)

EXERCISE = Exercise(
    solution=Trainer,
    chapter=CHAPTER,
    title="The trainer",
    points=5,
    minutes=25,
    difficulty=4,
    statement=(
        "Put the pieces together: a class that owns the optimiser and counts steps. `step` learns "
        "from a batch, `evaluate` only looks. The checks give it a small model, let it take some "
        "steps and compare losses and what the model then says. Use torch.optim.AdamW; the checks "
        "would take your own `adamw_step`, too, but the notebook saves torch's."
    ),
    example=(
        "With warmup = 2, total = 10 and peak = 8 the first step has the rate 4, the second 8. A "
        "batch of 7 rows in 3 parts goes through the model as 3, 3 and 1 rows; their mean losses "
        "count 3/7, 3/7 and 1/7."
    ),
    conventions=(
        "In a step: the gradients of all parts together, clipped, then AdamW at the rate of this "
        "step, counted from 1. Gradients of one step have no part in the next.",
        "Parameters are told apart by `parameter_groups`. betas are (0.9, 0.95).",
        "`parts` changes the memory that is needed, and no number, as long as a model draws "
        "nothing at random and its rows do not see each other: every row counts equally.",
        "A batch is cut as `chunk` does it: 16 rows in 5 parts are 4 pieces of 4 rows.",
        "In the checks every parameter gets a gradient.",
        "The checks look at losses and at `model`. The notebook also uses `optimiser` and `done`, "
        "to save a run and go on with it.",
        "Losses come back as numbers, in nats.",
        "A step is in training mode, and leaves the model there. An evaluation is in evaluation "
        "mode, without gradients, and leaves the model in the mode that it found.",
    ),
    hints=(
        "In the constructor: two groups for the optimiser. torch takes a list of dictionaries.",
        "`backward` adds to gradients that are there. Where is that wanted, and where not?",
        "A mean over parts of different size needs weights. What share of the rows is in a part?",
        "Every group of the optimiser has an entry `lr`.",
    ),
    cases=CASES,
    mistakes=WRONG,
    alternatives=(OfTorch, ByHand, RowAfterRow),
)
