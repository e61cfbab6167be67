"""Exercise: the loop with a cache, with prompts of several lengths and drawn tokens.

Out of scope: filters and temperatures (they change the scores that a model gives).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Generator, Tensor

from autograder.compare import inputs_kept, values
from autograder.exercises.chapter_13 import CHAPTER
from autograder.exercises.chapter_13._draws import finished, model, tokens, until
from autograder.inputs import integer
from autograder.slips import changed_in_place, on_the_cpu
from autograder.spec import Case, Exercise, Trial
from autograder.variations import elsewhere
from autograder.wire import Reply, call
from solutions.generation import Model, generate_cached
from solutions.sampling import sample_token

NEVER = -1


def _trial(
    rng: Generator,
    *,
    end: int | None = None,
    batch: int = 3,
    steps: int = 5,
    length: int | None = None,
    pad: bool = True,
    budget: bool = False,
) -> Trial:
    vocabulary = integer(rng, 6, 8)
    length = length or integer(rng, 4, 6)
    end = integer(rng, 0, vocabulary - 1) if end is None else end
    prompt = tokens(rng, vocabulary, batch, length)
    padding = torch.rand(length - 1, generator=rng).argsort()[:batch] if pad else torch.zeros(batch)
    keep = torch.arange(length) >= padding[:, None]
    uniforms = torch.rand(steps, batch, generator=rng)
    words = f"prompt (B, L) = ({batch}, {length}), {vocabulary} tokens, uniforms (N, B) = "
    words += f"({steps}, {batch}), end = {end}, padding {padding.long().tolist()}"
    box = model(rng, vocabulary)
    box = replace(box, budget=length + steps) if budget else box
    return Trial(call(box, prompt, keep, uniforms, end), words, {}, "")


def _start(trial: Trial) -> int:
    prompt: Tensor = trial.request.calls[0].args[1]
    return prompt.shape[1]


def _ends(trial: Trial, reply: Reply) -> list[int]:
    return finished(reply, _start(trial), trial.request.calls[0].args[4])


def _lively(trial: Trial, reply: Reply) -> bool:
    new = reply.values[0][:, _start(trial) :]
    return min(len(set(row)) for row in new.tolist()) > 2 and len(new.unique(dim=0)) == len(new)


def one_length(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        yield until(lambda: _trial(rng, end=NEVER, pad=False), generate_cached, _lively)


def several_lengths(rng: Generator) -> Iterator[Trial]:
    """Draw prompts whose padding would change what is written if the model read it."""

    def wanted(trial: Trial, reply: Reply) -> bool:
        box, prompt, keep, uniforms, end = trial.request.calls[0].args
        read = generate_cached(box.function(), prompt, torch.ones_like(keep), uniforms, end)
        later = keep_forgotten(box.function(), prompt, keep, uniforms, end)
        others = (read, later)
        return _lively(trial, reply) and not any(torch.equal(o, reply.values[0]) for o in others)

    for _ in range(2):
        yield until(lambda: _trial(rng, end=NEVER), generate_cached, wanted)


def alone(rng: Generator) -> Iterator[Trial]:
    yield until(lambda: _trial(rng, end=NEVER, batch=1, pad=False), generate_cached, _lively)
    yield until(
        lambda: _trial(rng, end=NEVER, batch=2, length=1, pad=False), generate_cached, _lively
    )
    yield until(
        lambda: _trial(rng, end=NEVER, batch=4, length=5, steps=4), generate_cached, _lively
    )


def fed_once(rng: Generator) -> Iterator[Trial]:
    """Draw models that refuse to be fed more tokens than there are."""
    yield until(lambda: _trial(rng, end=NEVER, budget=True), generate_cached, _lively)
    yield until(lambda: _trial(rng, end=NEVER, pad=False, budget=True), generate_cached, _lively)


def one_ends(rng: Generator) -> Iterator[Trial]:
    def wanted(trial: Trial, reply: Reply) -> bool:
        box, prompt, keep, uniforms, _ = trial.request.calls[0].args
        ends = _ends(trial, reply)
        endless = generate_cached(box.function(), prompt, keep, uniforms, NEVER)
        written = endless[:, : reply.values[0].shape[1]]
        return min(ends) < 4 and max(ends) == 1000 and not torch.equal(written, reply.values[0])

    for _ in range(2):
        yield until(lambda: _trial(rng, batch=2, steps=7), generate_cached, wanted)


def all_end(rng: Generator) -> Iterator[Trial]:
    def wanted(trial: Trial, reply: Reply) -> bool:
        ends = _ends(trial, reply)
        return min(ends) < max(ends) < 6

    for batch in (2, 3):
        yield until(partial(_trial, rng, batch=batch, steps=8), generate_cached, wanted)


def end_before(rng: Generator) -> Iterator[Trial]:
    """Draw prompts that hold the end, as what is read and as padding."""

    def drawn() -> Trial:
        trial = _trial(rng, batch=2)
        box, prompt, keep, uniforms, end = trial.request.calls[0].args
        prompt = torch.where(keep, prompt, end)
        prompt[:, -2] = end
        words = f"{trial.inputs}, which is in the prompt and is the padding"
        return Trial(call(box, prompt, keep, uniforms, end), words, {}, "")

    yield until(drawn, generate_cached, lambda trial, reply: min(_ends(trial, reply)) > 1)


def no_steps(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, steps=0)
    yield until(lambda: _trial(rng, steps=1, end=NEVER), generate_cached, lambda t, r: True)


def twice(rng: Generator) -> Iterator[Trial]:
    trials = [
        until(lambda: _trial(rng, end=NEVER, batch=2, length=5), generate_cached, _lively)
        for _ in range(2)
    ]
    calls = tuple(one for trial in trials for one in trial.request.calls)
    request = replace(trials[0].request, calls=(*calls, calls[0]))
    yield Trial(request, "three prompts, of 2 rows each, one after the other", {}, "")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from several_lengths(rng)
    yield from one_ends(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(next(one_ends(rng)))


CASES = (
    Case("tokens are drawn, step by step, with a cache", one_length, values, weight=3),
    Case("padding in front is not read", several_lengths, values, weight=3),
    Case("works for one row, and for prompts of one token", alone, values),
    Case("each token is fed once", fed_once, values, weight=2),
    Case("a row that has finished gets the end alone", one_ends, values),
    Case("when all rows have finished it stops", all_end, values),
    Case("an end in the prompt or as padding does not count", end_before, values),
    Case("no step and a single one work", no_steps, values),
    Case("no cache is left for the next call", twice, values, weight=2),
    Case("nothing that was given is changed", kept, inputs_kept),
    Case("works on whatever device the tokens are on", devices, values),
)


def _loop(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int, *, how: str
) -> Tensor:
    """Write, with one thing done differently."""
    out, fed, caches = prompt, prompt, None
    done = torch.zeros_like(keep[:, 0])
    if how == "prompt counts":
        done = (prompt == end).any(1)
    for step, uniform in enumerate(uniforms):
        scores, after = model(*_fed(how, out, fed, caches, keep))
        caches = caches if how == "prompt's caches" and step else after
        scores = scores[:, 0] if how == "first place" else scores[:, -1]
        number = uniforms[0] if how == "first number" else uniform
        number = number[:1].expand(len(out)) if how == "one number" else number
        new = scores.argmax(-1) if how == "best" else sample_token(scores, number)
        if how != "rows go on":
            new = new.masked_fill(done, 0 if how == "zeros" else end)
        fed = new[:, None]
        out = torch.cat([out, fed], 1)
        more = torch.zeros_like(done) if how == "hidden" else torch.ones_like(done)
        more = keep[:, 0] if how == "keep repeated" else more
        keep = torch.cat([keep, more[:, None]], 1)
        keep = torch.ones_like(keep) if how == "keep forgotten" else keep
        done = done | (new == end)
        over = done.any() if how == "any" else done.all()
        if bool(over) and how != "no stop":
            break
    return out


def _fed(
    how: str, out: Tensor, fed: Tensor, caches: object, keep: Tensor
) -> tuple[Tensor, object, Tensor | None]:
    """Give what the model is fed."""
    table: dict[str, tuple[Tensor, object, Tensor | None]] = {
        "no caches": (fed, None, keep[:, -fed.shape[1] :]),
        "whole text": (out, None, keep),
        "whole text, caches": (out, caches, None),
        "no keep": (fed, caches, None),
    }
    return table.get(how, (fed, caches, keep))


def caches_not_passed(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """After the prompt you feed the new token alone, without the caches: the model has forgotten
    everything before it.
    """
    return _loop(model, prompt, keep, uniforms, end, how="no caches")


def caches_of_the_prompt(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """At every step you pass the caches of the prompt. Each call gives new caches, with the tokens
    in them that were just fed: pass those on.
    """
    return _loop(model, prompt, torch.ones_like(keep), uniforms, end, how="prompt's caches")


def fed_again(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """You feed the whole text at each step, together with caches that hold it already: the model
    reads everything twice.
    """
    return _loop(model, prompt, keep, uniforms, end, how="whole text, caches")


def no_cache(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """The tokens are right, but the model is fed the whole text at each step. With its caches, one
    new token is enough.
    """
    return _loop(model, prompt, keep, uniforms, end, how="whole text")


def prompt_token_by_token(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """The last token of the prompt is fed twice: once with the prompt, and once more before the
    first draw. The scores of the prompt's last position already tell what comes next.
    """
    if not len(uniforms):
        return prompt
    _, caches = model(prompt, None, keep)

    def begun(fed: Tensor, inner: object, full: Tensor) -> tuple[Tensor, object]:
        if inner is None:
            return model(fed[:, -1:], caches, torch.cat([full, full[:, -1:]], 1))
        return model(fed, inner, torch.cat([keep[:, :0], full, full[:, -1:]], 1))

    return _loop(begun, prompt, keep, uniforms, end, how="")


def keep_not_passed(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """`keep` is not passed to the model, so that it reads the padding as if it were text."""
    return _loop(model, prompt, keep, uniforms, end, how="no keep")


def keep_not_extended(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """Your `keep` is that of the prompt, or of the new token alone. It is about *all* tokens so
    far, those in the caches too, so it grows with the text.
    """
    grown = keep

    def stuck(fed: Tensor, caches: object, full: Tensor) -> tuple[Tensor, object]:
        return model(fed, caches, grown)

    return _loop(stuck, prompt, keep, uniforms, end, how="")


def keep_forgotten(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """With the prompt you pass the right `keep`, and from then on one that is True everywhere. The
    padding is in the caches still: it has to stay hidden at every step.
    """
    return _loop(model, prompt, keep, uniforms, end, how="keep forgotten")


def new_tokens_hidden(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """`keep` grows by False: the model does not read its own tokens. They are real: True."""
    return _loop(model, prompt, keep, uniforms, end, how="hidden")


def keep_copied(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """`keep` grows by a copy of its first column: rows with padding lose their new tokens, too.
    What is written is always real.
    """
    return _loop(model, prompt, keep, uniforms, end, how="keep repeated")


def keep_inverted(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """`keep` is passed the other way round. True stands for a real token."""

    def inverted(fed: Tensor, caches: object, full: Tensor) -> tuple[Tensor, object]:
        return model(fed, caches, ~full)

    return _loop(inverted, prompt, keep, uniforms, end, how="")


def first_position(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """You read the scores at the first position. The *last* one predicts what comes next."""
    return _loop(model, prompt, keep, uniforms, end, how="first place")


def last_real_token(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """You look for the last real token as if padding came behind (`keep.sum(1) - 1`). It stands in
    front, so the last position is real in every row.
    """

    def picked(fed: Tensor, caches: object, full: Tensor) -> tuple[Tensor, object]:
        scores, caches = model(fed, caches, full)
        last = full.sum(1) - 1 if fed.shape[1] == full.shape[1] else torch.zeros_like(full[:, 0])
        rows = torch.arange(len(fed), device=fed.device)
        return scores[rows, last.long()][:, None], caches

    return _loop(picked, prompt, keep, uniforms, end, how="")


def greedy(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """You append the most probable token. Here tokens are drawn, with the numbers that are
    given.
    """
    return _loop(model, prompt, keep, uniforms, end, how="best")


def own_numbers(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """You draw with numbers of your own. They are given, as `uniforms`, so that results can be
    compared.
    """
    return _loop(model, prompt, keep, torch.rand_like(uniforms), end, how="")


def first_number_always(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """The numbers of the first step are used at all steps."""
    return _loop(model, prompt, keep, uniforms, end, how="first number")


def one_number_for_all(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """All rows are drawn with the number of the first one. Row i of `uniforms` has one for each."""
    return _loop(model, prompt, keep, uniforms, end, how="one number")


def rows_go_on(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """A row that has finished goes on writing after its end while others are not done. It should
    get `end` again.
    """
    return _loop(model, prompt, keep, uniforms, end, how="rows go on")


def filled_with_zeros(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """A row that has finished is filled with token 0. It should get `end` again."""
    return _loop(model, prompt, keep, uniforms, end, how="zeros")


def end_ignored(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """The end has no effect: rows go on after it, to the last step."""
    return _loop(model, prompt, keep, uniforms, NEVER, how="")


def never_stops(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """When all rows have finished you go on appending `end` to the last step. Nothing more should
    be added.
    """
    return _loop(model, prompt, keep, uniforms, end, how="no stop")


def first_end_stops_all(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """You stop as soon as one row has finished. The others may have more to say."""
    return _loop(model, prompt, keep, uniforms, end, how="any")


def prompt_counts(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """A row whose prompt or padding holds the end counts as finished. Only tokens that the model
    writes count.
    """
    return _loop(model, prompt, keep, uniforms, end, how="prompt counts")


def new_tokens_alone(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """You return the new tokens without the prompt in front of them."""
    return generate_cached(model, prompt, keep, uniforms, end)[:, prompt.shape[1] :]


def prompt_first(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """Read the prompt, then one loop of drawing and reading."""
    if len(uniforms) == 0:
        return prompt.clone()
    scores, caches = model(prompt, None, keep)
    text, over = [prompt], prompt.new_zeros(len(prompt)) == 1
    for i in range(uniforms.shape[0]):
        if i > 0:
            real = torch.ones_like(text[-1], dtype=torch.bool)
            keep = torch.cat((keep, real), dim=1)
            scores, caches = model(text[-1], caches=caches, keep=keep)
        chosen = sample_token(scores[:, -1, :], uniforms[i])
        chosen = torch.where(over, end, chosen)
        text.append(chosen.unsqueeze(-1))
        over = over.logical_or(chosen.eq(end))
        if over.all():
            break
    return torch.cat(text, dim=-1)


def in_one_table(model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int) -> Tensor:
    """Room for everything first, then it is filled in."""
    length, steps = prompt.shape[1], len(uniforms)
    text = torch.nn.functional.pad(prompt, (0, steps), value=end)
    real = torch.nn.functional.pad(keep, (0, steps), value=True)
    caches, read = None, 0
    for now in range(length, length + steps):
        logits, caches = model(text[:, read:now], caches, real[:, :now])
        mass = logits[:, -1].softmax(-1).cumsum(-1)
        number = uniforms[now - length, :, None] * mass[:, -1:]
        going = ~(text[:, length:now] == end).any(1)
        text[going, now] = (mass > number).int().argmax(-1)[going]
        read = now
        if bool((text[:, length : now + 1] == end).any(1).all()):
            return text[:, : now + 1]
    return text


def prompt_in_pieces(
    model: Model, prompt: Tensor, keep: Tensor, uniforms: Tensor, end: int
) -> Tensor:
    """Feed the prompt a token at a time, too."""
    caches, text, scores = None, prompt, prompt[..., None]
    over = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    for i in range(prompt.shape[1] if len(uniforms) else 0):
        scores, caches = model(prompt[:, i : i + 1], caches, keep[:, : i + 1])
    for step, uniform in enumerate(uniforms, start=1):
        new = sample_token(scores[:, -1], uniform)
        new[over] = end
        text = torch.cat([text, new[:, None]], 1)
        over |= new == end
        if over.all() or step == len(uniforms):
            return text
        keep = torch.cat([keep, torch.full_like(new[:, None], 1, dtype=torch.bool)], 1)
        scores, caches = model(new[:, None], caches, keep)
    return text


EXERCISE = Exercise(
    solution=generate_cached,
    chapter=CHAPTER,
    title="The loop with a cache",
    points=4,
    minutes=14,
    difficulty=4,
    statement=(
        "Let a model go on with a batch of prompts of several lengths, and feed it each token only "
        "once: the prompts at first, and then, with the caches, one new token of each row at a "
        "time. The tokens are drawn, as by `sample_token`, with numbers that are given."
    ),
    example=(
        "Prompts 0, 1 and 3, the second with one token of padding in front: `keep` is True, True "
        "and False, True. The model is fed both columns, and two tokens are drawn. Then it is fed "
        "these two, with its caches and a `keep` of three columns; the last column is True, True."
    ),
    conventions=(
        "`model(tokens, caches, keep)` gives the scores (B, L, V) for the tokens that are fed, and "
        "new caches. The old ones are not changed; pass on the new ones. Its parameters are called "
        "`tokens`, `caches`, `keep`.",
        "`keep` is about all tokens so far, those in the caches too: it grows by a True for each "
        "row and step.",
        "Padding stands in front, so the last position is real in every row.",
        "The token drawn last need not be fed: nothing is drawn after it.",
        "A row is finished when it has written `end`, and gets `end` from then on; when all have "
        "finished the loop stops. An end in the prompt or as padding does not count.",
        "Row i of `uniforms` has the numbers for step i.",
    ),
    hints=(
        "What is fed is the prompt at first, and later the tokens that were just drawn.",
        "Three things grow or change at each step: the text, `keep`, the caches.",
        "Read the scores of the last position, draw, and put `end` where a row has finished.",
    ),
    cases=CASES,
    mistakes=(
        caches_not_passed,
        caches_of_the_prompt,
        fed_again,
        no_cache,
        prompt_token_by_token,
        keep_not_passed,
        keep_not_extended,
        keep_forgotten,
        new_tokens_hidden,
        keep_copied,
        keep_inverted,
        first_position,
        last_real_token,
        greedy,
        own_numbers,
        first_number_always,
        one_number_for_all,
        rows_go_on,
        filled_with_zeros,
        end_ignored,
        never_stops,
        first_end_stops_all,
        prompt_counts,
        new_tokens_alone,
        on_the_cpu(generate_cached),
        changed_in_place(generate_cached, 2),
    ),
    alternatives=(prompt_first, in_one_table, prompt_in_pieces),
)
