"""Exercise: each node of a graph averages what the nodes that it hears send."""

import math
from collections.abc import Iterator, Mapping

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_01 import CHAPTER
from autograder.exercises.chapter_01 import _draws as draw
from autograder.inputs import described, normal, sizes
from autograder.slips import always_float32, changed_in_place, cut_from_autograd, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import backward, in_dtypes
from autograder.wire import call
from solutions.messages import message_passing


def _graph(rng: Generator, nodes: int) -> Tensor:
    """Draw arrows so that each node hears another one, and not each hears back or itself."""
    edges = torch.rand(nodes, nodes, generator=rng) < 0.4
    i = torch.arange(nodes)
    after = (i + 1) % nodes
    edges[i, after], edges[after, i] = True, edges[after, i] & (i > 0)
    edges[0, 0], edges[1, 1] = True, False
    return edges


def _trial(scores: Tensor, messages: Tensor, edges: Tensor, of: dict[str, int], b: str) -> Trial:
    words = (
        f"{described('scores', draw.axes(b, 'L L'), of)}, "
        f"{described('messages', draw.axes(b, 'L W'), of)}, edges: {int(edges.sum())}"
    )
    return Trial(call(scores, messages, edges), words, of, draw.axes(b, "L W"))


def _drawn(
    rng: Generator, leading: str = "B", fixed: Mapping[str, int] | None = None, deaf: bool = False
) -> Trial:
    """Draw scores, messages and a graph, with one node that hears nobody where `deaf`."""
    of = sizes(rng, draw.axes(leading, "W")) | {"L": 6} | dict(fixed or {})
    of |= {letter: 9 for letter in of if letter != "L" and of[letter] == of["L"]}
    edges = _graph(rng, of["L"])
    if deaf:
        edges[2] = False
    scores = normal(rng, draw.axes(leading, "L L"), of)
    return _trial(scores, normal(rng, draw.axes(leading, "L W"), of), edges, of, leading)


def one_round(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)
    yield _drawn(rng, fixed={"L": 7})


def one_way(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    scores, messages, _ = trial.request.calls[0].args
    past = torch.ones(6, 6, dtype=torch.bool).tril()
    yield _trial(scores, messages, past, dict(trial.sizes), "B")


def deaf_nodes(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, deaf=True)
    trial = _drawn(rng)
    scores, messages, _ = trial.request.calls[0].args
    yield _trial(scores, messages, torch.zeros(6, 6, dtype=torch.bool), dict(trial.sizes), "B")


def unheard_nodes(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    scores, messages, edges = trial.request.calls[0].args
    edges = edges.clone()
    edges[:, 3] = False
    yield _trial(scores, messages, edges, dict(trial.sizes), "B")


def complete(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    scores, messages, edges = trial.request.calls[0].args
    yield _trial(scores, messages, torch.ones_like(edges), dict(trial.sizes), "B")


def loud_strangers(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    scores, messages, edges = trial.request.calls[0].args
    yield _trial(scores + 300.0 * ~edges, messages, edges, dict(trial.sizes), "B")


def quiet_friends(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    scores, messages, edges = trial.request.calls[0].args
    yield _trial(scores - 9e4, messages, edges, dict(trial.sizes), "B")


def large(rng: Generator) -> Iterator[Trial]:
    trial = _drawn(rng)
    scores, messages, edges = trial.request.calls[0].args
    yield _trial(1000 * scores, messages, edges, dict(trial.sizes), "B")


def other_ranks(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, "B H", {"B": 2, "H": 3})
    yield _drawn(rng, "")
    yield _drawn(rng, "X B H", {"X": 2, "B": 3, "H": 4})


def one_of_them(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng, fixed={"B": 1})
    yield _drawn(rng, fixed={"W": 1})
    of = {"B": 4, "L": 1, "W": 3}
    edges = torch.ones(1, 1, dtype=torch.bool)
    yield _trial(normal(rng, "B L L", of), normal(rng, "B L W", of), edges, of, "B")


def gradients(rng: Generator) -> Iterator[Trial]:
    yield backward(_drawn(rng), rng)
    yield backward(_drawn(rng, deaf=True), rng)


def dtypes(rng: Generator) -> Iterator[Trial]:
    yield from in_dtypes(_drawn(rng, deaf=True))


def lent(rng: Generator) -> Iterator[Trial]:
    yield _drawn(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield from draw.places(_drawn(rng))


CASES = (
    Case("each node averages what those it hears send", one_round, values, weight=2),
    Case("a node does not hear those that only hear it", one_way, values),
    Case("a node that hears nobody gets zeros", deaf_nodes, values),
    Case("a node that nobody hears still hears others", unheard_nodes, values),
    Case("with all edges it is plain attention", complete, values),
    Case("large scores without an edge change nothing", loud_strangers, values),
    Case("very negative scores along an edge still count", quiet_friends, values, tolerance=1e-2),
    Case("scores in the thousands stay finite", large, values),
    Case("works with no batch axis and with several", other_ranks, values),
    Case("works with one node, example or message entry", one_of_them, values),
    Case("the gradient is finite, with deaf nodes too", gradients, values),
    Case("the dtype of scores and messages is kept", dtypes, values, tolerance=6e-2),
    Case("the inputs themselves are not changed", lent, inputs_kept),
    Case("works on whatever device the inputs are on", devices, values),
)


def _weights(scores: Tensor, edges: Tensor, fill: float = -math.inf) -> Tensor:
    return scores.masked_fill(~edges, fill).softmax(-1)


def transposed(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The arrows point the wrong way: edges[i, j] means that node i hears node j, and you let j
    hear i. In a model that reads from left to right, this shows it the future.
    """
    return message_passing(scores, messages, edges.T)


def both_ways(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Every arrow is used in both directions. Node i hearing j does not mean that j hears i."""
    return message_passing(scores, messages, edges | edges.T)


def inverted(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """True is taken to hide. Here True means that there is an edge, that is, hears."""
    return message_passing(scores, messages, ~edges)


def all_to_all(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The edges are not used: everybody hears everybody."""
    return scores.softmax(-1) @ messages


def hears_itself(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Every node hears itself, whatever the edges say. It should do so only at edges[i, i] True."""
    own = torch.eye(edges.shape[-1], dtype=torch.bool, device=edges.device)
    return message_passing(scores, messages, edges | own)


def never_itself(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """No node hears itself, whatever the edges say. It does so where edges[i, i] is True."""
    own = torch.eye(edges.shape[-1], dtype=torch.bool, device=edges.device)
    return message_passing(scores, messages, edges & ~own)


def nan_for_the_deaf(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """A node that hears nobody gets NaN: a softmax in which every score is minus infinity is 0/0.
    Its answer should be zeros.
    """
    return _weights(scores, edges) @ messages


def mean_for_the_deaf(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """A node that hears nobody gets the mean of all messages, since equal scores share equally,
    however negative they are. Its answer should be zeros.
    """
    return _weights(scores, edges, torch.finfo(scores.dtype).min) @ messages


def own_for_the_deaf(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """A node that hears nobody gets its own message back. That is another convention; here its
    answer is zeros.
    """
    lonely = ~edges.any(-1, keepdim=True)
    return torch.where(lonely, messages, message_passing(scores, messages, edges))


def unheard_cleared(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """A node that nobody hears gets zeros. It is the one that hears nobody who should: a row of
    edges says whom a node hears, a column by whom it is heard.
    """
    return torch.where(edges.any(-2).unsqueeze(-1), message_passing(scores, messages, edges), 0)


def nan_replaced(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The answers are right, but for a node that hears nobody NaN is made first and replaced
    afterwards, and the gradient still passes through it. Replace it in the weights, before they
    meet the messages.
    """
    return _weights(scores, edges).matmul(messages).nan_to_num()


def infinity_added(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The answers are right, but minus infinity is added to the scores, and that lets the gradient
    of a node that hears nobody pass: NaN. Fill such scores, do not add to them.
    """
    bias = torch.zeros_like(edges, dtype=scores.dtype).masked_fill(~edges, -math.inf)
    return torch.where(edges, (scores + bias).softmax(-1), 0) @ messages


def zeroed_afterwards(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The softmax runs over all nodes, and those not heard are set to 0 afterwards: the weights no
    longer sum to 1.
    """
    return (scores.softmax(-1) * edges) @ messages


def renormalised(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The softmax runs over all nodes, and the rest is divided by its sum afterwards. If a score
    without an edge is large, that rest has already been rounded to 0.
    """
    kept = scores.softmax(-1) * edges
    return kept / kept.sum(-1, keepdim=True).clamp(min=1e-20) @ messages


def zero_scores(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Scores without an edge are set to 0. That is a score like any other: its exponential is 1."""
    return (scores * edges).softmax(-1) @ messages


def weak_fill(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Scores without an edge are set to a finite number such as -1e4 or -6e4. Lower scores along an
    edge lose to it.
    """
    return (_weights(scores, edges, -1e4) * edges) @ messages


def weaker_fill(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Scores without an edge are set to a number like -100, which real scores can reach: they then
    take weight away before you set it to 0.
    """
    return (_weights(scores, edges, -100.0) * edges) @ messages


def fill_too_large_for_half(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Scores without an edge are set to a number like -1e9, which float16 does not have. Minus
    infinity exists in every float dtype.
    """
    return (_weights(scores, edges, -1e9) * edges) @ messages


def over_receivers(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Each sender shares itself out among those that hear it. It is the one who hears that shares
    its weight among the senders: a row sums to 1.
    """
    shares = scores.masked_fill(~edges, -math.inf).softmax(-2)
    return torch.where(edges, shares, 0) @ messages


def scores_transposed(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The scores are read the wrong way round: scores[i, j] says how much i wants to hear j."""
    return message_passing(scores.mT, messages, edges)


def plain_mean(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """All that a node hears counts alike: the scores are not used."""
    return message_passing(torch.zeros_like(scores), messages, edges)


def plain_sum(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Messages are added up without weights, as many networks on graphs do. Here they are averaged,
    with weights from the scores.
    """
    return edges.to(messages.dtype) @ messages


def scores_as_weights(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The scores are used as weights as they are. A softmax makes them positive, with sum 1."""
    return (scores * edges) @ messages


def not_normalised(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The exponentials are never divided by their sum."""
    return (scores.exp() * edges) @ messages


def unstable(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """The scores are exponentiated as they are: large ones overflow. Subtract the row's largest
    score first, or let torch's softmax do it.
    """
    powers = torch.where(edges, scores.exp(), 0)
    return powers / powers.sum(-1, keepdim=True).clamp(min=1e-20) @ messages


def loudest_alone(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Each node takes the message with the highest score alone. Here all that it hears count."""
    heard = scores.masked_fill(~edges, -math.inf)
    best = messages.take_along_dim(heard.argmax(-1, keepdim=True), dim=-2)
    return torch.where(edges.any(-1, keepdim=True), best, 0)


def own_added(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """A node's own message is added to what it collects. That is the second half of a round, the
    update; only what is collected is asked.
    """
    return messages + message_passing(scores, messages, edges)


def node_by_node(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    collected = []
    for i in range(edges.shape[0]):
        heard = edges[i]
        shares = scores[..., i, heard].softmax(-1).unsqueeze(-1)
        collected.append((shares * messages[..., heard, :]).sum(-2))
    return torch.stack(collected, dim=-2)


def by_adding(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    lowest = torch.finfo(scores.dtype).min / 2
    bias = torch.zeros_like(edges, dtype=scores.dtype).masked_fill(~edges, lowest)
    shares = (scores + bias).softmax(-1)
    return torch.einsum("...ij,...jw->...iw", shares.masked_fill(~edges, 0), messages)


def with_lowest_number(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    lowest = torch.finfo(scores.dtype).min
    return torch.where(edges, scores, lowest).softmax(-1).mul(edges) @ messages


def by_powers(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    top = scores.masked_fill(~edges, -math.inf).amax(-1, keepdim=True)
    top = torch.where(top.isfinite(), top, 0)
    powers = (scores - top).masked_fill(~edges, -math.inf).exp()
    total = powers.sum(-1, keepdim=True)
    return powers @ messages / torch.where(total > 0, total, 1)


def deaf_ones_last(scores: Tensor, messages: Tensor, edges: Tensor) -> Tensor:
    """Let nodes that hear nobody hear all, and clear their answers."""
    lonely = edges.any(dim=-1, keepdim=True).logical_not()
    shares = scores.masked_fill(~(edges | lonely), -math.inf).softmax(dim=-1)
    return (shares @ messages).masked_fill(lonely, 0.0)


EXERCISE = Exercise(
    solution=message_passing,
    chapter=CHAPTER,
    title="A round of messages",
    points=4,
    minutes=14,
    difficulty=3,
    statement=(
        "Attention on a graph: every node sends a message, and every node averages what arrives "
        "from the nodes that it hears, with weights from a softmax of its scores. Write it node by "
        "node, or all at once with matrices: both give the same."
    ),
    example=(
        "Three nodes send 6, 12 and 30, and all scores are 0. Node 0 hears the nodes 1 and 2: "
        "half of 12 and half of 30 make 21. Node 1 hears node 0 alone and gets 6. Node 2 hears "
        "nobody and gets 0, although others hear it."
    ),
    conventions=(
        "edges[i, j] is True where node i hears node j: a row belongs to the one who hears. With "
        "edges[0, 2] alone, node 0 gets the message of node 2, and node 2 gets nothing. (Many "
        "libraries for graphs store sender first.)",
        "A node hears itself only where edges[i, i] is True.",
        "A node that hears nobody gets zeros, and gradients stay finite.",
        "The graph is the same for the whole batch: edges has no batch axes, scores and messages "
        "may have some.",
    ),
    hints=(
        "For one node: which scores and which messages remain, if you keep only the nodes that it "
        "hears? `tensor[..., i, mask]` keeps just those.",
        "All at once: a score that must not count needs the exponential 0. Which score has it?",
        "A row in which nothing remains becomes NaN in a softmax. Put zeros there before the "
        "weights meet the messages, not after.",
    ),
    cases=CASES,
    mistakes=(
        transposed,
        both_ways,
        inverted,
        all_to_all,
        hears_itself,
        never_itself,
        nan_for_the_deaf,
        mean_for_the_deaf,
        own_for_the_deaf,
        unheard_cleared,
        nan_replaced,
        infinity_added,
        zeroed_afterwards,
        renormalised,
        zero_scores,
        weak_fill,
        weaker_fill,
        fill_too_large_for_half,
        over_receivers,
        scores_transposed,
        plain_mean,
        plain_sum,
        scores_as_weights,
        not_normalised,
        unstable,
        loudest_alone,
        own_added,
        changed_in_place(message_passing),
        on_the_cpu(message_passing),
        always_float32(message_passing),
        cut_from_autograd(message_passing),
    ),
    alternatives=(node_by_node, by_adding, with_lowest_number, by_powers, deaf_ones_last),
)
