"""Exercise: a feed-forward layer of experts, as a module.

Out of scope: noise and losses (their own exercises), shared experts, several devices.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from autograder.compare import inputs_kept, values, zeros_kept
from autograder.exercises.chapter_09 import CHAPTER
from autograder.inputs import described, integer, normal, sizes
from autograder.slips import always_float32, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Implementation, Trial
from autograder.variations import backward, elsewhere, in_dtypes
from autograder.wire import Call, Request
from solutions.experts import MixtureOfExperts
from solutions.routing import dispatch_slots, expert_capacity, top_k_route

Sizes = dict[str, int]
State = dict[str, Tensor]


def _sizes(rng: Generator, **fixed: int) -> Sizes:
    return {**sizes(rng, "B L D F"), "X": integer(rng, 4, 6), "k": 2, **fixed}


def _weights(rng: Generator, of: Sizes) -> State:
    return {
        "router.weight": normal(rng, "X D", of),
        "w_gate": normal(rng, "X F D", of),
        "w_up": normal(rng, "X F D", of),
        "w_down": normal(rng, "X D F", of),
    }


def _tokens(rng: Generator, of: Sizes, router: Tensor) -> Tensor:
    """Draw tokens whose scores are far apart, so that rounding changes no choice."""
    drawn = torch.randn(30 * of["B"] * of["L"], of["D"], generator=rng)
    if len(router) > 1:
        gaps = (drawn @ router.T).sort(-1).values.diff(dim=-1).amin(-1)
        drawn = drawn[gaps.argsort(descending=True)]
    chosen = drawn[: of["B"] * of["L"]]
    order = torch.randperm(len(chosen), generator=rng)
    return chosen[order].view(of["B"], of["L"], of["D"])


def _trial(rng: Generator, of: Sizes, factor: float | None = None) -> Trial:
    state = _weights(rng, of)
    tokens = _tokens(rng, of, state["router.weight"])
    words = f"{described('x', 'B L D', of)}, {of['X']} experts, k = {of['k']}, factor = {factor}"
    build = Call((of["D"], of["F"], of["X"], of["k"]), {"factor": factor} if factor else {})
    request = Request((Call((tokens,)),), build, state)
    return Trial(request, words, of, "B L D")


def with_room(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng))
    yield _trial(rng, _sizes(rng, k=3))


def one_choice(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng, k=1))


def all_experts(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng, X=4, k=4))


def some_dropped(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng, B=3, L=7, X=4), 0.75)
    yield _trial(rng, _sizes(rng, B=2, L=9, X=5), 1.0)


def one_dropped(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, _sizes(rng, B=3, L=8, X=4, k=1), 0.5)


def small(rng: Generator) -> Iterator[Trial]:
    for letter in "BLDF":
        yield _trial(rng, {**_sizes(rng), letter: 1})
    yield _trial(rng, _sizes(rng, X=1, k=1))


def equal_sizes(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, dict.fromkeys("BLDFX", 4) | {"k": 2}, 0.75)


def several_calls(rng: Generator) -> Iterator[Trial]:
    of = _sizes(rng, B=2, L=4)
    trial = _trial(rng, of, 1.0)
    router = (trial.request.state or {})["router.weight"]
    small, large = trial.request.calls[0], Call((_tokens(rng, {**of, "B": 3, "L": 9}, router),))
    request = replace(trial.request, calls=(small, large, small))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, then (3, 9, D), then the first")


def training(rng: Generator) -> Iterator[Trial]:
    for factor in (None, 0.75):
        trial = _trial(rng, _sizes(rng, B=3, L=7, X=4), factor)
        request = replace(trial.request, train=True)
        yield replace(trial, request=request, inputs=f"{trial.inputs}, in training")


def not_contiguous(rng: Generator) -> Iterator[Trial]:
    trial = _trial(rng, _sizes(rng))
    (x,) = trial.request.calls[0].args
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    request = replace(trial.request, calls=(Call((turned,)),))
    yield replace(trial, request=request, inputs=f"{trial.inputs}, not contiguous")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_trial(rng, _sizes(rng)), rng)
    yield backward(_trial(rng, _sizes(rng, B=3, L=5, X=4), 0.75), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_trial(rng, _sizes(rng, D=5, F=4, X=3)))


def kept(rng: Generator) -> Iterator[Trial]:
    yield from with_room(rng)
    yield from one_dropped(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(_trial(rng, _sizes(rng), 1.0))


CASES = (
    Case("each token gets the weighted sum of its experts", with_room, values, weight=2),
    Case("a single expert for each token", one_choice, values),
    Case("each token gets all experts", all_experts, values),
    Case("full experts drop those who come late", some_dropped, values, weight=2),
    Case("a dropped token gets zeros", one_dropped, zeros_kept),
    Case("works with one token, entry, example or expert", small, values),
    Case("works where sizes happen to be equal", equal_sizes, values),
    Case("the second call does not depend on the first", several_calls, values),
    Case("training or not, the numbers are the same", training, values),
    Case("works for a tensor that is not contiguous", not_contiguous, values),
    Case("the gradient reaches tokens, router and experts", gradients, values),
    Case("the dtype of the weights is kept", dtypes, values, tolerance=6e-2),
    Case("the tokens themselves are not changed", kept, inputs_kept),
    Case("works on whatever device module and x are on", devices, values),
)


class _InSteps(MixtureOfExperts):
    """The layer in steps, of which a mistake changes one: every expert, for every token."""

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        weights, experts = self.route(self.router(tokens))
        kept = self.kept(weights, experts, x)
        said = self.said(tokens)[torch.arange(len(tokens))[:, None], experts]
        return self.finished((kept[..., None] * said).sum(1), kept, tokens).view_as(x)

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        return top_k_route(logits, self.k)

    def kept(self, weights: Tensor, experts: Tensor, x: Tensor) -> Tensor:
        return weights * (self.slots(experts, x) >= 0)

    def slots(self, experts: Tensor, x: Tensor) -> Tensor:
        return dispatch_slots(experts, len(self.w_up), self.places(len(experts)))

    def places(self, tokens: int) -> int:
        if self.factor is None:
            return tokens
        return expert_capacity(tokens, len(self.w_up), self.k, self.factor)

    def said(self, tokens: Tensor) -> Tensor:
        gate = torch.einsum("ld,xfd->lxf", tokens, self.w_gate)
        up = torch.einsum("ld,xfd->lxf", tokens, self.w_up)
        return torch.einsum("lxf,xdf->lxd", self.gated(gate, up), self.w_down)

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.silu(gate) * up

    def finished(self, mixed: Tensor, kept: Tensor, tokens: Tensor) -> Tensor:
        return mixed


class NothingDone(MixtureOfExperts):
    """The tokens come back as they were: the experts are not used."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 0 * super().forward(x)


class WithResidual(_InSteps):
    """x is added to the result. That is the residual connection, and lies outside of the layer."""

    def finished(self, mixed: Tensor, kept: Tensor, tokens: Tensor) -> Tensor:
        return tokens + mixed


class DroppedPassOn(_InSteps):
    """A token that found no expert comes back as it was. It should get zeros: the residual
    connection outside of the layer carries it already, and it would count twice.
    """

    def finished(self, mixed: Tensor, kept: Tensor, tokens: Tensor) -> Tensor:
        return mixed.where((kept > 0).any(-1, keepdim=True), tokens)


class NotRenormalised(_InSteps):
    """The weights of a token's experts sum to less than 1. Some models leave it so; here they are
    renormalised, as in `top_k_route`.
    """

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        best = logits.softmax(-1).topk(self.k)
        return best.values, best.indices


class EqualWeights(_InSteps):
    """The experts of a token count equally. The router gives each a weight."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return torch.ones_like(weights) / self.k, experts


class PlainSum(_InSteps):
    """What the experts say is added up without their weights."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return torch.ones_like(weights), experts


class BestAlone(_InSteps):
    """Only the best expert is used, with its weight among the k."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return weights[:, :1], experts[:, :1]


class TheWorst(_InSteps):
    """The experts with the lowest scores are used."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        return top_k_route(-logits, self.k)


class AllExperts(_InSteps):
    """All experts are used, weighted by softmax. Each token gets k of them."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        return top_k_route(logits, logits.shape[-1])


class OverTokens(_InSteps):
    """The router's softmax runs over the tokens. It is the experts that compete."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        best = logits.softmax(0).topk(self.k)
        return best.values / best.values.sum(-1, keepdim=True), best.indices


class WeightsNotTheirOwn(_InSteps):
    """Weights and experts do not belong together: the experts are sorted, the weights are not."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return weights, experts.sort(-1).values


class FirstWeight(_InSteps):
    """All choices of a token get the weight of its first choice. Each has its own."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return weights[:, :1].expand_as(experts), experts


class WeightsReversed(_InSteps):
    """The weights belong to the experts in the other order: the best gets the smallest."""

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return weights.flip(-1), experts


class RouterCutOff(_InSteps):
    """The numbers are right, but the weights carry no gradient (`detach`, `.data`, `no_grad`). They
    are all that the router can learn from.
    """

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        return top_k_route(logits.detach(), self.k)


class Overwritten(_InSteps):
    """Of the experts of a token only the one with the highest number is heard: what it says is put
    in the place of what the others said. Add it to that.
    """

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        weights, experts = self.route(self.router(tokens))
        kept, said = self.kept(weights, experts, x), self.said(tokens)
        out = torch.zeros_like(tokens)
        for i in range(len(self.w_up)):
            row, nth = (experts == i).nonzero(as_tuple=True)
            out = out.index_copy(0, row, kept[row, nth, None] * said[row, i])
        return out.view_as(x)


class LastChoiceAlone(_InSteps):
    """Of the experts of a token only the last choice is heard: it is put in the place of the
    others. Add it to them.
    """

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        weights, experts = top_k_route(logits, self.k)
        return weights * (torch.arange(self.k, device=weights.device) == self.k - 1), experts


class WeightsOnTheInput(_InSteps):
    """The weight multiplies what goes into an expert. The experts are not linear: multiply what
    comes out.
    """

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        weights, experts = self.route(self.router(tokens))
        kept = self.kept(weights, experts, x)
        rows = torch.arange(len(tokens))
        said = [self.said(kept[:, [i]] * tokens)[rows, experts[:, i]] for i in range(self.k)]
        return sum(said, torch.zeros_like(tokens)).view_as(x)


class FirstExpertForAll(_InSteps):
    """Every expert computes with the weights of expert 0."""

    def said(self, tokens: Tensor) -> Tensor:
        return super().said(tokens)[:, :1].expand(-1, len(self.w_up), -1)


class NextExpert(_InSteps):
    """The experts are off by one: tokens of expert 0 go to expert 1, and so on."""

    def said(self, tokens: Tensor) -> Tensor:
        return super().said(tokens).roll(-1, 1)


class NoGate(_InSteps):
    """There is no gate: the activation acts on what w_up gives. Here it acts on what w_gate gives,
    and the two are multiplied.
    """

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.silu(up) + 0 * gate


class NoUp(_InSteps):
    """w_up is not used: what w_gate gives is activated, and then multiplied by what w_up gives."""

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.silu(gate) + 0 * up


class ActivatedProduct(_InSteps):
    """The activation is on the product. It belongs on what w_gate gives, before it is multiplied by
    what w_up gives.
    """

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.silu(gate * up)


class GateSwapped(_InSteps):
    """The activation is on w_up. It belongs on w_gate, and w_up multiplies the result."""

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.silu(up) * gate


class Rectified(_InSteps):
    """The gate has a ReLU. The experts use SiLU."""

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.relu(gate) * up


class WithGelu(_InSteps):
    """The gate has a GELU. The experts use SiLU."""

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return F.gelu(gate) * up


class WithSigmoid(_InSteps):
    """The gate has a sigmoid. SiLU is a number times its sigmoid."""

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return torch.sigmoid(gate) * up


class NoActivation(_InSteps):
    """The gate has no activation. The experts use SiLU."""

    def gated(self, gate: Tensor, up: Tensor) -> Tensor:
        return gate * up


class NobodyDropped(_InSteps):
    """The capacity factor is not used, and nobody is dropped."""

    def places(self, tokens: int) -> int:
        return tokens


class AlwaysLimited(_InSteps):
    """Experts have a limit although no factor is given. None means that all find a place."""

    def places(self, tokens: int) -> int:
        return expert_capacity(tokens, len(self.w_up), self.k, self.factor or 1.0)


class ChoicesForgotten(_InSteps):
    """The capacity leaves out k. Each token asks k experts for a place."""

    def places(self, tokens: int) -> int:
        return tokens if self.factor is None else super().places(tokens) // self.k


class OnePlaceLess(_InSteps):
    """Each expert takes one choice less than it has places. The last place has the number of the
    capacity, less 1.
    """

    def places(self, tokens: int) -> int:
        return tokens if self.factor is None else super().places(tokens) - 1


class FirstPlaceRefused(_InSteps):
    """Whoever has place 0 at an expert is treated as dropped. Places count from 0, and the mark is
    -1.
    """

    def kept(self, weights: Tensor, experts: Tensor, x: Tensor) -> Tensor:
        if self.factor is None:
            return weights
        return weights * (self.slots(experts, x) > 0)


class SecondsFromZero(_InSteps):
    """Second choices are counted from 0 again, as if nobody were there. An expert has one queue for
    all choices.
    """

    def slots(self, experts: Tensor, x: Tensor) -> Tensor:
        count, places = len(self.w_up), self.places(len(experts))
        columns = [
            dispatch_slots(column, count, places) for column in experts.tensor_split(self.k, -1)
        ]
        return torch.cat(columns, -1)


class PlacesOfTheFirstCall(_InSteps):
    """The places of the first call are kept for all later ones. They depend on how many tokens
    there are this time.
    """

    known: int | None = None

    def places(self, tokens: int) -> int:
        self.known = self.known or super().places(tokens)
        return tokens if self.factor is None else self.known


class NoLimitInTraining(_InSteps):
    """In training nobody is dropped. The limit holds there, too: it is the same layer."""

    def places(self, tokens: int) -> int:
        return tokens if self.training else super().places(tokens)


class NoiseInTraining(_InSteps):
    """In training there is noise on the scores. This layer has none: who wants some adds it before
    the router decides.
    """

    def route(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        return super().route(logits + torch.randn_like(logits) * self.training)


class DropoutInTraining(_InSteps):
    """In training some entries are dropped at random. This layer has no dropout."""

    def finished(self, mixed: Tensor, kept: Tensor, tokens: Tensor) -> Tensor:
        return F.dropout(mixed, 0.1, self.training)


class RoundedDown(_InSteps):
    """The capacity is rounded down. It is rounded up, as in `expert_capacity`."""

    def places(self, tokens: int) -> int:
        if self.factor is None:
            return tokens
        return int(tokens * self.k * self.factor / len(self.w_up))


class EachSequence(_InSteps):
    """Each sequence has places of its own. Here all tokens of the batch share them: the capacity is
    that of B times L tokens.
    """

    def slots(self, experts: Tensor, x: Tensor) -> Tensor:
        count, length = len(self.w_up), x.shape[1]
        places = self.places(length)
        parts = experts.view(-1, length, self.k)
        return torch.cat([dispatch_slots(part, count, places) for part in parts])


class PlacesOfOneSequence(_InSteps):
    """All tokens of the batch share the places, but their number is that for one sequence."""

    def slots(self, experts: Tensor, x: Tensor) -> Tensor:
        return dispatch_slots(experts, len(self.w_up), self.places(x.shape[1]))


class TokenByToken(_InSteps):
    """Places are given token by token. First come the first choices of all tokens, as in
    `dispatch_slots`.
    """

    def slots(self, experts: Tensor, x: Tensor) -> Tensor:
        count = len(self.w_up)
        queue = dispatch_slots(experts.flatten()[:, None], count, self.places(len(experts)))
        return queue.view_as(experts)


class RestShared(_InSteps):
    """If one expert of a token is full, the other gets its weight, too. A choice that is dropped
    adds nothing, and the weights of the others stay as they are.
    """

    def kept(self, weights: Tensor, experts: Tensor, x: Tensor) -> Tensor:
        kept = super().kept(weights, experts, x)
        return kept / kept.sum(-1, keepdim=True).clamp(min=1e-9)


class AllOrNothing(_InSteps):
    """A token that misses one of its experts gets zeros. Its other experts still work for it."""

    def kept(self, weights: Tensor, experts: Tensor, x: Tensor) -> Tensor:
        kept = super().kept(weights, experts, x)
        return kept * (kept > 0).all(-1, keepdim=True)


class RouterWithBias(MixtureOfExperts):
    """The router has a bias: `nn.Linear` makes one unless it is told not to."""

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, factor: float | None = None
    ) -> None:
        super().__init__(d_model, d_ff, experts, k, factor)
        self.router = nn.Linear(d_model, experts)


class ListOfLayers(nn.Module):
    """The experts are a list of modules. Here each matrix is one parameter for all experts, with
    the experts as its first axis: w_gate, w_up and w_down.
    """

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, factor: float | None = None
    ) -> None:
        super().__init__()
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(d_model, d_ff) for _ in range(experts))


class LoopOverExperts(nn.Module):
    """Collect the tokens of each expert, compute, add to their rows."""

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, factor: float | None = None
    ) -> None:
        super().__init__()
        self.n, self.top, self.capacity_factor = experts, k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate = nn.Parameter(torch.empty(experts, d_ff, d_model).normal_(std=0.02))
        self.w_up = nn.Parameter(torch.empty(experts, d_ff, d_model).normal_(std=0.02))
        self.w_down = nn.Parameter(torch.empty(experts, d_model, d_ff).normal_(std=0.02))

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.reshape(-1, x.shape[-1])
        best = torch.topk(self.router(tokens), self.top, dim=-1)
        weights = F.softmax(best.values, dim=-1)
        out = torch.zeros_like(tokens)
        for i in range(self.n):
            nth, row = best.indices.T.eq(i).nonzero(as_tuple=True)
            if self.capacity_factor is not None:
                places = expert_capacity(len(tokens), self.n, self.top, self.capacity_factor)
                nth, row = nth[:places], row[:places]
            own = tokens[row]
            inner = F.silu(own @ self.w_gate[i].T) * (own @ self.w_up[i].T)
            out.index_add_(0, row, weights[row, nth, None] * (inner @ self.w_down[i].T))
        return out.reshape(x.shape)


class TokenAfterToken(nn.Module):
    """One token and one choice at a time; counts who came."""

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, factor: float | None = None
    ) -> None:
        super().__init__()
        self.settings = (experts, k, factor)
        self.w_down = nn.Parameter(torch.rand(experts, d_model, d_ff) - 0.5)
        self.w_up = nn.Parameter(torch.rand(experts, d_ff, d_model) - 0.5)
        self.w_gate = nn.Parameter(torch.rand(experts, d_ff, d_model) - 0.5)
        self.router = nn.Linear(in_features=d_model, out_features=experts, bias=False)

    def expert(self, i: int, token: Tensor) -> Tensor:
        inner = F.silu(self.w_gate[i] @ token) * (self.w_up[i] @ token)
        return self.w_down[i] @ inner

    def forward(self, x: Tensor) -> Tensor:
        experts, k, factor = self.settings
        tokens = x.flatten(0, 1)
        weights, chosen = top_k_route(self.router(tokens), k)
        room = [len(tokens)] * experts
        if factor is not None:
            room = [expert_capacity(len(tokens), experts, k, factor)] * experts
        out = [torch.zeros_like(token) for token in tokens]
        for choice in range(k):
            for t, token in enumerate(tokens):
                i = int(chosen[t, choice])
                if room[i] > 0:
                    room[i] -= 1
                    out[t] = out[t] + weights[t, choice] * self.expert(i, token)
        return torch.stack(out).view(x.shape)


class ByGates(nn.Module):
    """All experts for all tokens, and a table of gates in which most are 0."""

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, factor: float | None = None
    ) -> None:
        super().__init__()
        self.k, self.factor = k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate, self.w_up = (
            nn.Parameter(torch.randn(experts, d_ff, d_model)) for _ in range(2)
        )
        self.w_down = nn.Parameter(torch.randn(experts, d_model, d_ff))

    def forward(self, x: Tensor) -> Tensor:
        logits = self.router(x).flatten(0, 1)
        weights, experts = top_k_route(logits, self.k)
        if self.factor is not None:
            tokens, count = logits.shape
            places = expert_capacity(tokens, count, self.k, self.factor)
            weights = weights.masked_fill(dispatch_slots(experts, count, places) < 0, 0.0)
        gates = torch.zeros_like(logits).scatter(-1, experts, weights)
        gates = gates.view(*x.shape[:2], -1)
        up = torch.einsum("bld,xfd->blxf", x, self.w_up)
        inner = F.silu(torch.einsum("bld,xfd->blxf", x, self.w_gate)) * up
        return torch.einsum("blxf,xdf,blx->bld", inner, self.w_down, gates)


class Sorted(nn.Module):
    """All choices in the order of the experts, one slice for each."""

    def __init__(
        self, d_model: int, d_ff: int, experts: int, k: int, factor: float | None = None
    ) -> None:
        super().__init__()
        self.k, self.factor = k, factor
        self.router = nn.Linear(d_model, experts, bias=False)
        self.w_gate = nn.Parameter(torch.randn(experts, d_ff, d_model))
        self.w_up = nn.Parameter(torch.randn(experts, d_ff, d_model))
        self.w_down = nn.Parameter(torch.randn(experts, d_model, d_ff))

    def forward(self, x: Tensor) -> Tensor:
        tokens, count = x.reshape(-1, x.shape[-1]), self.w_up.shape[0]
        weights, experts = top_k_route(self.router(tokens), self.k)
        limit = len(tokens)
        if self.factor is not None:
            limit = expert_capacity(len(tokens), count, self.k, self.factor)
        queue, gate = experts.T.flatten(), weights.T.flatten()
        order = queue.argsort(stable=True)
        parts = torch.split(order, queue.bincount(minlength=count).tolist())
        out = torch.zeros_like(tokens)
        for i, part in enumerate(parts):
            served = part[:limit]
            rows = served % len(tokens)
            inner = F.silu(F.linear(tokens[rows], self.w_gate[i]))
            inner = inner * F.linear(tokens[rows], self.w_up[i])
            said = gate[served].unsqueeze(-1) * F.linear(inner, self.w_down[i])
            out = out.index_add(0, rows, said)
        return out.view(x.shape)


WRONG: tuple[Implementation, ...] = (
    NothingDone,
    WithResidual,
    DroppedPassOn,
    NotRenormalised,
    EqualWeights,
    PlainSum,
    BestAlone,
    TheWorst,
    AllExperts,
    OverTokens,
    WeightsNotTheirOwn,
    FirstWeight,
    WeightsReversed,
    RouterCutOff,
    Overwritten,
    LastChoiceAlone,
    WeightsOnTheInput,
    FirstExpertForAll,
    NextExpert,
    NoGate,
    NoUp,
    ActivatedProduct,
    GateSwapped,
    Rectified,
    WithGelu,
    WithSigmoid,
    NoActivation,
    NobodyDropped,
    AlwaysLimited,
    ChoicesForgotten,
    OnePlaceLess,
    FirstPlaceRefused,
    SecondsFromZero,
    PlacesOfTheFirstCall,
    NoLimitInTraining,
    NoiseInTraining,
    DropoutInTraining,
    RoundedDown,
    EachSequence,
    PlacesOfOneSequence,
    TokenByToken,
    RestShared,
    AllOrNothing,
    RouterWithBias,
    ListOfLayers,
)

EXERCISE = Exercise(
    solution=MixtureOfExperts,
    chapter=CHAPTER,
    title="The layer",
    points=5,
    minutes=20,
    difficulty=5,
    statement=(
        "A feed-forward layer of experts: score, choose, send each token to its experts, add up "
        "what they say with their weights. With a capacity factor, experts have a limit, and a "
        "choice that finds no place adds nothing. Use your functions from above. How you bring "
        "tokens and experts together is free; the checks compare numbers only."
    ),
    example=(
        "Two experts, k = 1, factor 1.0 and four tokens, three of which choose expert 0: each "
        "expert has ceil(4 x 1 x 1.0 / 2) = 2 places. The third token that wants expert 0 is "
        "dropped, and its output is 0. The others get what their expert says, with weight 1."
    ),
    conventions=(
        "`state_dict` holds `router.weight` (X, D), `w_gate` and `w_up` (X, F, D) and `w_down` "
        "(X, D, F), and nothing else that is learned. The checks copy weights into these.",
        "How the weights begin is up to you and not checked. To be of use they must be drawn at "
        "random, for each expert anew: from zeros nothing learns, and equal experts stay equal.",
        "An expert is a gated network with SiLU: w_gate is activated, w_up multiplies, w_down "
        "leads back. No biases.",
        "The weights of a token's experts sum to 1. They stay as they are if one of the choices is "
        "dropped.",
        "All B times L tokens share the places, in the order and with the rounding of the "
        "exercises before. `factor=None`: nobody is dropped.",
        "The layer does the same in training and in use: no noise, no dropout, the same limit.",
        "A dropped token gets zeros, not itself: the residual connection outside carries it.",
    ),
    hints=(
        "Flatten batch and length to one list of tokens first, and undo it at the end.",
        "For a start: for each expert, find the tokens that chose it, compute for these alone, and "
        "add the results to their rows.",
        "`nonzero` finds rows, `index_add` adds to them. Or compute all, and multiply by 0 what "
        "was not chosen: that is slow, but right.",
        "Where is the weight of a choice that got no place? Set it to 0.",
    ),
    cases=CASES,
    mistakes=(
        *WRONG,
        on_the_cpu(MixtureOfExperts),
        always_float32(MixtureOfExperts),
        cut_from_autograd(MixtureOfExperts),
    ),
    alternatives=(LoopOverExperts, TokenAfterToken, ByGates, Sorted),
)
