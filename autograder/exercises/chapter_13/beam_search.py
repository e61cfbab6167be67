"""Exercise: beam search.

Out of scope: batches of prompts, caches (which would have to be put in order with the beams).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from autograder.compare import first_of_several, inputs_kept, second_of_several, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.exercises.chapter_13._draws import model, tokens, until
from autograder.inputs import integer, uniform
from autograder.lent import NextToken
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import Reply, call
from solutions.beams import beam_search
from solutions.generation import Model

NEVER = -1
Found = tuple[Tensor, Tensor]


def _trial(
    rng: Generator,
    *,
    end: int | None = None,
    beams: int = 3,
    steps: int = 4,
    alpha: float = 0.0,
    length: int | None = None,
    loud: float = 0.5,
) -> Trial:
    """Draw a model that is not very sure of anything: with `loud` it is surer."""
    vocabulary = integer(rng, 5, 7)
    length = length or integer(rng, 2, 4)
    end = integer(rng, 0, vocabulary - 1) if end is None else end
    box = model(rng, vocabulary)
    box = NextToken(box.embed, box.mix, loud * box.head)
    words = f"prompt (L,) = ({length},), {vocabulary} tokens, beams = {beams}, steps = {steps}, "
    words += f"end = {end}, alpha = {alpha:g}"
    prompt = tokens(rng, vocabulary, length)
    return Trial(call(box, prompt, beams, steps, end, alpha=alpha), words, {}, "tokens, score")


def _with(trial: Trial, **changed: float) -> Found:
    """Search with other numbers of beams, another end or alpha."""
    box, prompt, beams, steps, end, alpha = _given(trial)
    beams, alpha = int(changed.get("beams", beams)), changed.get("alpha", alpha)
    return beam_search(box.function(), prompt, beams, steps, end, alpha=alpha)


def _given(trial: Trial) -> tuple[NextToken, Tensor, int, int, int, float]:
    """Give what a search is given, in order."""
    (one,) = trial.request.calls
    box, prompt, beams, steps, end = one.args
    return box, prompt, beams, steps, end, one.kwargs["alpha"]


def _other_than(trial: Trial, reply: Reply, **changed: float) -> bool:
    found = reply.values[0][0]
    return not torch.equal(_with(trial, **changed)[0], found)


def without_end(rng: Generator) -> Iterator[Trial]:
    """Draw searches that find something else than the greedy one, and than a wider one."""

    def wanted(trial: Trial, reply: Reply) -> bool:
        return _other_than(trial, reply, beams=1) and _other_than(trial, reply, beams=50)

    yield until(lambda: _trial(rng, beams=2, end=NEVER + 1, steps=5), beam_search, _unended)
    yield until(lambda: _trial(rng, beams=2, steps=4), beam_search, wanted)
    yield until(lambda: _trial(rng, beams=3, steps=5), beam_search, wanted)


def _unended(trial: Trial, reply: Reply) -> bool:
    _, prompt, _, steps, end, _ = _given(trial)
    new = reply.values[0][0][len(prompt) :]
    return len(new) == steps and end not in new.tolist() and _other_than(trial, reply, beams=1)


def greedy(rng: Generator) -> Iterator[Trial]:
    yield until(lambda: _trial(rng, beams=1, steps=5), beam_search, lambda t, r: True)
    yield until(lambda: _trial(rng, beams=1, steps=5), beam_search, _unended_greedy)


def _unended_greedy(trial: Trial, reply: Reply) -> bool:
    _, prompt, _, steps, _, _ = _given(trial)
    return len(reply.values[0][0]) == len(prompt) + steps


def finishing(rng: Generator) -> Iterator[Trial]:
    """Draw searches in which a finished continuation wins against longer ones."""

    def early(trial: Trial, reply: Reply) -> bool:
        _, prompt, _, steps, _, _ = _given(trial)
        new = len(reply.values[0][0]) - len(prompt)
        return 1 < new < steps - 1 and _other_than(trial, reply, beams=1)

    for beams in (2, 3):
        yield until(partial(_trial, rng, beams=beams, steps=6), beam_search, early)


def by_length(rng: Generator) -> Iterator[Trial]:
    """Draw searches in which it matters how, and when, the length divides."""

    def less(trial: Trial, reply: Reply) -> bool:
        return _other_than(trial, reply, alpha=0.0)

    def more(trial: Trial, reply: Reply) -> bool:
        return _other_than(trial, reply, alpha=4.0)

    def at_the_end(trial: Trial, reply: Reply) -> bool:
        box, prompt, beams, steps, end, alpha = _given(trial)
        at_each_step = _search(
            box.function(), prompt, beams, steps, end, alpha=alpha, how="by quotient"
        )
        return not torch.equal(at_each_step[0], reply.values[0][0])

    for wanted in (less, more, at_the_end):
        alpha = uniform(rng, 0.7, 1.2)
        drawn = partial(_trial, rng, beams=2, steps=4, alpha=alpha)
        yield until(drawn, beam_search, wanted)


def wide(rng: Generator) -> Iterator[Trial]:
    """Draw searches with more beams than there are tokens, or continuations."""
    yield until(lambda: _trial(rng, beams=11, steps=3), beam_search, lambda t, r: True)
    yield until(lambda: _trial(rng, beams=60, steps=2, alpha=0.7), beam_search, lambda t, r: True)


def end_in_prompt(rng: Generator) -> Iterator[Trial]:
    def drawn() -> Trial:
        trial = _trial(rng, beams=3, steps=4)
        (one,) = trial.request.calls
        prompt = one.args[1].clone()
        prompt[0] = prompt[-1] = one.args[4]
        request = replace(
            trial.request, calls=(replace(one, args=(one.args[0], prompt, *one.args[2:])),)
        )
        return replace(
            trial, request=request, inputs=f"{trial.inputs}, which is in the prompt, too"
        )

    def goes_on(trial: Trial, reply: Reply) -> bool:
        return len(reply.values[0][0]) > len(trial.request.calls[0].args[1]) + 1

    yield until(drawn, beam_search, goes_on)


def sure(rng: Generator) -> Iterator[Trial]:
    """Draw models whose scores are so large that most probabilities are 0 in float32."""
    yield until(lambda: _trial(rng, beams=3, steps=4, loud=80.0), beam_search, lambda t, r: True)
    yield from _impossible_in_float32(rng)


def _impossible_in_float32(rng: Generator) -> Iterator[Trial]:
    """Draw searches whose winner has a token that softmax in float32 gives the probability 0.

    All tokens but one make the end so probable that float32 has 0 for all else. The prompt ends
    with the one. The power of the length is so high that a long text of that kind wins.
    """

    def drawn() -> Trial:
        trial = _trial(rng, beams=60, steps=3, alpha=14.0)
        box, prompt, *others, end, alpha = _given(trial)
        embed, mix, head = box.embed.clone(), box.mix.clone(), box.head.clone()
        special = (end + 1) % len(embed)
        mix[:, :2], embed[:, :2] = 0.0, 20.0  # its tanh is 1
        embed[special, 0] = 0.0
        head[:2] = 0.0
        head[0, end], head[1, special] = 115.0, -230.0
        prompt = torch.cat([prompt[:-1], prompt.new_tensor([special])])
        one = call(NextToken(embed, mix, head), prompt, *others, end, alpha=alpha)
        return replace(trial, request=one)

    def long(trial: Trial, reply: Reply) -> bool:
        return len(reply.values[0][0]) == len(trial.request.calls[0].args[1]) + 3

    yield until(drawn, beam_search, long)


def single(rng: Generator) -> Iterator[Trial]:
    yield until(lambda: _trial(rng, steps=1), beam_search, lambda t, r: True)
    yield until(lambda: _trial(rng, length=1, beams=2), beam_search, lambda t, r: True)


def twice(rng: Generator) -> Iterator[Trial]:
    trials = [until(lambda: _trial(rng), beam_search, lambda t, r: True) for _ in range(2)]
    calls = tuple(one for trial in trials for one in trial.request.calls)
    request = replace(trials[0].request, calls=(*calls, calls[0]))
    yield Trial(request, "three searches with 3 beams, one after the other", {}, "tokens, score")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from finishing(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(next(finishing(rng)))


CASES = (
    Case("the best of all beams comes back", without_end, first_of_several, weight=3),
    Case("its score is the sum of log-probabilities", without_end, second_of_several, weight=2),
    Case("with one beam it is the greedy loop", greedy, values),
    Case("a finished beam keeps its score and its place", finishing, values, weight=2),
    Case("the winner is chosen by its score and its length", by_length, values, weight=2),
    Case("more beams than tokens are no problem", wide, values),
    Case("an end in the prompt does not count", end_in_prompt, values),
    Case("probabilities of almost 0 stay finite as logarithms", sure, values),
    Case("a single step, or a prompt of one token, works", single, values),
    Case("one search does not change the next", twice, values),
    Case("the prompt itself is not changed", kept, inputs_kept),
    # one number on the CPU mixes with any device
    Case("works on whatever device the tokens are on", devices, first_of_several),
)


def _search(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float, how: str
) -> Found:
    """Search, with one thing done differently; a list of (tokens, sum, finished)."""
    start, living = len(prompt), [(prompt, torch.zeros((), device=prompt.device), False)]
    if how == "prompt counts":
        living = [(prompt, living[0][1], bool((prompt == end).any()))]
    for _ in range(steps):
        found = []
        for text, score, done in living:
            if done:
                found.append((text, score, True))
                continue
            logits = model(text[None])[0][0, 0 if how == "first place" else -1]
            chances = _scored(logits, how)
            for token in range(len(chances)):
                new = torch.cat([text, text.new_tensor([token])])
                total = _added(score, chances[token], how)
                found.append((new, total, token == end and how != "no end"))
        if how == "finished dropped":
            found = [one for one in found if not one[2]] or found
        found.sort(key=lambda one: _rank(one, start, alpha, how), reverse=how != "worst")
        living = found[: beams + (how == "one more")]
        if how == "first end wins" and living[0][2]:
            break
    best = max(living, key=lambda one: _quotient(one, start, alpha, how))
    length = torch.tensor(len(best[0]) - start, device=prompt.device)
    if how == "whole length":
        length = length + start
    return best[0], best[1] / length**alpha


def _scored(logits: Tensor, how: str) -> Tensor:
    if how == "raw":
        return logits
    if how == "without shift":
        return (logits.exp() / logits.exp().sum()).log()
    if how == "log of softmax":
        return logits.softmax(-1).log()
    if how == "shifted log":
        return (logits.softmax(-1) + 1e-6).log()
    return logits.softmax(-1) if how in ("probabilities", "product") else logits.log_softmax(-1)


def _added(score: Tensor, chance: Tensor, how: str) -> Tensor:
    if how == "product":
        return chance if not bool(score) else score * chance
    return chance if how == "last alone" else score + chance


def _quotient(one: tuple[Tensor, Tensor, bool], start: int, alpha: float, how: str) -> float:
    length = len(one[0]) - (0 if how == "whole length" else start)
    quotient: float = float(one[1]) / length**alpha
    return quotient


def _rank(one: tuple[Tensor, Tensor, bool], start: int, alpha: float, how: str) -> float:
    if how == "by quotient":
        return _quotient(one, start, alpha, how)
    return float(one[1])


def the_greedy_loop(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """Only the best continuation is kept at each step: that is the greedy loop, whatever `beams`
    is.
    """
    return beam_search(model, prompt, 1, steps, end, alpha=alpha)


def each_beam_its_best(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """Each beam goes on by itself, with its own best token. The best continuations of *all* beams
    compete: one beam may have two successors and another none.
    """
    found = []
    first, start = model(prompt[None])[0][0, -1].log_softmax(-1), len(prompt)
    best = first.topk(min(beams, len(first)))
    for score, token in zip(best.values, best.indices, strict=True):
        text, total = torch.cat([prompt, token[None]]), score
        while len(text) < start + steps and text[-1] != end:
            chances = model(text[None])[0][0, -1].log_softmax(-1)
            text = torch.cat([text, chances.argmax()[None]])
            total = total + chances.max()
        length = torch.tensor(len(text) - start, device=prompt.device)
        found.append((text, total / length**alpha))
    return max(found, key=lambda one: float(one[1]))


def raw_scores(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You add up the model's scores as they are. They are logarithms of probabilities only after
    something is taken away from them, another number in each row.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="raw")


def probabilities_added(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You add up probabilities. Probabilities of successive tokens multiply; it is their logarithms
    that add up.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="probabilities")


def probabilities_multiplied(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You multiply probabilities. The order is right, but the score that is asked is a sum of
    logarithms, which does not underflow in long texts.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="product")


def without_shift(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """The scores are exponentiated as they are. What is exp(1000)? Which function gives the
    logarithm of a softmax directly?
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="without shift")


def shifted_log(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You add a small number to the probabilities before the logarithm, so that the sum is a little
    off. Which function gives the logarithm directly?
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="shifted log")


def log_of_softmax(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You take the logarithm of a softmax. Where the softmax has become 0 that is -inf, and beams
    that can be told apart no longer are. `log_softmax` does both in one step.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="log of softmax")


def last_chance_alone(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """A beam's score is the log-probability of its last token alone. It is the sum over all new
    tokens.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="last alone")


def first_position(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You read the scores at the first position. The *last* one predicts what comes next."""
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="first place")


def the_worst(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You keep the continuations with the lowest scores. Log-probabilities are negative: the
    largest is the one nearest to 0.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="worst")


def end_ignored(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """The end has no effect: beams are continued after it."""
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="no end")


def finished_dropped(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """A beam that finishes is dropped. It keeps its place, with the score that it has."""
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="finished dropped")


def first_end_wins(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You stop as soon as the first beam has finished. Others that go on may have a better quotient
    in the end.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="first end wins")


def prompt_counts(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """A prompt that holds the end counts as finished. Only new tokens count."""
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="prompt counts")


def length_ignored(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """alpha has no effect: the winner has the largest sum, which favours short texts."""
    return beam_search(model, prompt, beams, steps, end, alpha=0.0)


def length_of_all(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You divide by the length of the whole text. The prompt has cost nothing: count the new tokens
    alone.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="whole length")


def length_at_each_step(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You divide by the length at each step, to choose the beams. Here the sums choose the beams,
    and quotients only the winner.
    """
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="by quotient")


def sum_of_the_winner(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """The winner is right, but it is its sum that you return. Asked is the quotient."""
    text, quotient = beam_search(model, prompt, beams, steps, end, alpha=alpha)
    return text, quotient * (len(text) - len(prompt)) ** alpha


def one_beam_more(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You keep one beam more than asked."""
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="one more")


def padded(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """The winner comes back with more than one `end` behind it. The text stops at the first."""
    text, quotient = beam_search(model, prompt, beams, steps, end, alpha=alpha)
    missing = steps - (len(text) - len(prompt))
    return torch.nn.functional.pad(text, (0, missing), value=end), quotient


def end_cut_off(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """The winner's `end` is missing in what you return. It is the last of the new tokens."""
    text, quotient = beam_search(model, prompt, beams, steps, end, alpha=alpha)
    return (text[:-1] if text[-1] == end else text), quotient


def new_tokens_alone(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You return the new tokens without the prompt in front of them."""
    text, quotient = beam_search(model, prompt, beams, steps, end, alpha=alpha)
    return text[len(prompt) :], quotient


def all_the_beams(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """You return a batch. Asked is the winner alone, one row of tokens and one number."""
    text, quotient = beam_search(model, prompt, beams, steps, end, alpha=alpha)
    return text[None], quotient[None]


def in_lists(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    open_or_not: list[tuple[tuple[int, ...], float]] = [((), 0.0)]  # what was written, its sum
    for _ in range(steps):
        candidates = []
        for written, total in open_or_not:
            if end in written:
                candidates.append((written, total))
                continue
            text = torch.cat([prompt, prompt.new_tensor(written)])
            chances = model(text[None])[0][0, -1].log_softmax(-1).tolist()
            candidates += [((*written, t), total + chance) for t, chance in enumerate(chances)]
        open_or_not = sorted(candidates, key=lambda one: one[1])[-beams:]
    quotient, written = max((s / len(w) ** alpha, w) for w, s in open_or_not)
    text = torch.cat([prompt, prompt.new_tensor(written)])
    return text, torch.tensor(quotient, device=prompt.device)


def finished_aside(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    """Finished ones wait in a list of their own, and take part in the choice at each step."""
    rows, sums = prompt.unsqueeze(0), torch.zeros(1, device=prompt.device)
    waiting: list[tuple[Tensor, Tensor]] = []
    for _ in range(steps):
        chances = torch.log_softmax(model(rows)[0][:, -1, :], dim=-1)
        all_sums = (sums.unsqueeze(1) + chances).reshape(-1)
        pool = torch.cat([all_sums, *(total[None] for _, total in waiting)])
        best = pool.sort(descending=True).indices[:beams]
        stay = best[best >= len(all_sums)] - len(all_sums)
        waiting = [waiting[int(i)] for i in stay]
        new = best[best < len(all_sums)]
        size = chances.shape[1]
        parents, tokens = new.div(size, rounding_mode="floor"), new % size
        grown, sums = torch.cat([rows[parents], tokens[:, None]], 1), all_sums[new]
        over = tokens == end
        waiting += list(zip(grown[over], sums[over], strict=True))
        rows, sums = grown[~over], sums[~over]
        if not len(rows):
            break
    found = [*waiting, *zip(rows, sums, strict=True)]
    quotients = [total / (len(text) - len(prompt)) ** alpha for text, total in found]
    winner = int(torch.stack(quotients).argmax())
    return found[winner][0], quotients[winner]


def one_by_one(
    model: Model, prompt: Tensor, beams: int, steps: int, end: int, *, alpha: float = 0.0
) -> Found:
    return _search(model, prompt, beams, steps, end, alpha=alpha, how="")


EXERCISE = Exercise(
    solution=beam_search,
    chapter=CHAPTER,
    title="Beam search",
    points=4,
    minutes=18,
    difficulty=5,
    statement=(
        "Search for a probable continuation of one prompt. At each step, every kept continuation "
        "(a beam) is continued with every token, and the best `beams` of all of them are kept. A "
        "finished beam is not continued; it competes with the score that it has. At the end the "
        "winner is chosen by its score, divided by a power of its length."
    ),
    example=(
        "The first token is 0 with probability 0.6, or 1 with 0.4. After 0 the four tokens have "
        "0.3, 0.25, 0.25, 0.2; after 1, token 3 has 0.9. The greedy loop writes 0, 0 with 0.6 * "
        "0.3 = 0.18. With two beams 1 survives the first step, and 1, 3 wins with 0.4 * 0.9 = "
        "0.36. The score is ln 0.36 = -1.02; with alpha = 1 it is divided by 2, the number of new "
        "tokens."
    ),
    conventions=(
        "The score of a beam is the sum of the log-probabilities of its new tokens; the prompt "
        "costs nothing. Sums decide which beams are kept, quotients decide at the end.",
        "A beam that has written `end` stays as it is. It keeps a place among the `beams` as long "
        "as its sum is among the best. An end in the prompt does not count.",
        "The length is that of the new tokens, `end` included. At the end all kept beams may win, "
        "finished or not.",
        "What comes back is the prompt with the new tokens of the winner, to its first new `end`, "
        "and its quotient as a tensor of one number, on any device. No two scores are equal.",
    ),
    hints=(
        "Lists will do: for each beam its tokens and its sum. With tensors it is faster.",
        "In a flat list of all sums, beam and token are quotient and remainder.",
        "A finished beam can be continued too, with `end` at no cost and all else impossible.",
        "Take the logarithm and the softmax in one step.",
    ),
    cases=CASES,
    mistakes=(
        the_greedy_loop,
        each_beam_its_best,
        raw_scores,
        probabilities_added,
        probabilities_multiplied,
        without_shift,
        shifted_log,
        log_of_softmax,
        last_chance_alone,
        first_position,
        the_worst,
        end_ignored,
        finished_dropped,
        first_end_wins,
        prompt_counts,
        length_ignored,
        length_of_all,
        length_at_each_step,
        sum_of_the_winner,
        one_beam_more,
        padded,
        end_cut_off,
        new_tokens_alone,
        all_the_beams,
        on_the_cpu(beam_search),
        changed_in_place(beam_search, 2),
    ),
    alternatives=(in_lists, finished_aside, one_by_one),
)
