"""Exercise: the loop, with the most probable token.

Out of scope: caches, prompts of several lengths (generate_cached), ties.
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
from solutions.generation import Model, generate

NEVER = -1


def _trial(
    rng: Generator,
    *,
    end: int | None = None,
    batch: int | None = None,
    steps: int | None = None,
    length: int | None = None,
) -> Trial:
    vocabulary = integer(rng, 5, 8)
    steps = integer(rng, 4, 6) if steps is None else steps
    batch, length = batch or integer(rng, 2, 3), length or integer(rng, 3, 5)
    end = integer(rng, 0, vocabulary - 1) if end is None else end
    prompt = tokens(rng, vocabulary, batch, length)
    words = (
        f"prompt (B, L) = ({batch}, {length}), {vocabulary} tokens, steps = {steps}, end = {end}"
    )
    return Trial(call(model(rng, vocabulary), prompt, steps, end), words, {}, "")


def _given(trial: Trial) -> tuple[Model, Tensor, int, int]:
    """Give what the loop is given, in order."""
    box, prompt, steps, end = trial.request.calls[0].args
    return box.function(), prompt, steps, end


def _prompt(trial: Trial) -> Tensor:
    found: Tensor = trial.request.calls[0].args[1]
    return found


def _ends(trial: Trial, reply: Reply) -> list[int]:
    return finished(reply, _prompt(trial).shape[1], trial.request.calls[0].args[3])


def _lively(trial: Trial, reply: Reply) -> bool:
    """Whether all rows write several tokens, and not the same."""
    new = reply.values[0][:, _prompt(trial).shape[1] :]
    return min(len(set(row)) for row in new.tolist()) > 2 and len(new.unique(dim=0)) == len(new)


def no_end(rng: Generator) -> Iterator[Trial]:
    for _ in range(2):
        yield until(lambda: _trial(rng, end=NEVER), generate, _lively)


def one_row(rng: Generator) -> Iterator[Trial]:
    yield until(lambda: _trial(rng, end=NEVER, batch=1), generate, _lively)
    yield until(lambda: _trial(rng, end=NEVER, batch=3, length=1), generate, _lively)
    yield until(lambda: _trial(rng, end=NEVER, batch=4, length=4, steps=4), generate, _lively)


def long_memory(rng: Generator) -> Iterator[Trial]:
    """Draw prompts whose first token decides what is written."""

    def remembered(trial: Trial, reply: Reply) -> bool:
        box, prompt, steps, end = trial.request.calls[0].args
        cut = generate(box.function(), prompt[:, 1:], steps, end)
        return bool((cut != reply.values[0][:, 1:]).any(1).all())

    yield until(lambda: _trial(rng, end=NEVER, batch=2, steps=6), generate, remembered)

    def beyond(trial: Trial, reply: Reply) -> bool:
        return not torch.equal(short_window(*_given(trial)), reply.values[0])

    yield until(lambda: _trial(rng, end=NEVER, batch=4, length=20, steps=6), generate, beyond)


def one_ends(rng: Generator) -> Iterator[Trial]:
    """Draw rows of which one finishes early and would go on, and one never does."""

    def wanted(trial: Trial, reply: Reply) -> bool:
        ends = _ends(trial, reply)
        steps = trial.request.calls[0].args[2]
        return min(ends) < steps - 2 and max(ends) == 1000 and _goes_on(trial, reply)

    yield until(lambda: _trial(rng, batch=3, steps=6), generate, wanted)
    yield until(lambda: _trial(rng, batch=2, steps=7), generate, wanted)


def _goes_on(trial: Trial, reply: Reply) -> bool:
    """Whether rows that have finished would have written something else after the end."""
    (one,) = trial.request.calls
    box, prompt, steps, _ = one.args
    endless = generate(box.function(), prompt, steps, NEVER)
    return not torch.equal(endless[:, : reply.values[0].shape[1]], reply.values[0])


def all_end(rng: Generator) -> Iterator[Trial]:
    """Draw rows that finish at different steps, the last one before the steps are over."""

    def wanted(trial: Trial, reply: Reply) -> bool:
        ends = _ends(trial, reply)
        return bool(min(ends) < max(ends) < trial.request.calls[0].args[2] - 1)

    for batch in (2, 3):
        yield until(partial(_trial, rng, batch=batch, steps=8), generate, wanted)


def end_in_prompt(rng: Generator) -> Iterator[Trial]:
    def wanted(trial: Trial, reply: Reply) -> bool:
        prompt, end = _prompt(trial), trial.request.calls[0].args[3]
        begun = bool((prompt[:, 0] == end).all() and (prompt[0, -1] == end))
        return begun and min(_ends(trial, reply)) > 2

    def begins_with_end() -> Trial:
        trial = _trial(rng, batch=2)
        (one,) = trial.request.calls
        box, prompt, steps, end = one.args
        prompt = prompt.clone()
        prompt[:, 0], prompt[0, -1] = end, end
        words = f"{trial.inputs}, which is in the prompt, too"
        return Trial(call(box, prompt, steps, end), words, {}, "")

    yield until(begins_with_end, generate, wanted)


def no_steps(rng: Generator) -> Iterator[Trial]:
    yield _trial(rng, steps=0)
    yield until(lambda: _trial(rng, steps=1, end=NEVER), generate, lambda trial, reply: True)


def twice(rng: Generator) -> Iterator[Trial]:
    trials = [until(lambda: _trial(rng, end=NEVER, batch=2), generate, _lively) for _ in range(2)]
    calls = tuple(one for trial in trials for one in trial.request.calls)
    request = replace(trials[0].request, calls=(*calls, calls[0]))
    yield Trial(request, "three prompts, of 2 rows each, one after the other", {}, "")


def kept(rng: Generator) -> Iterator[Trial]:
    yield from no_end(rng)
    yield from one_ends(rng)


def devices(rng: Generator) -> Iterator[Trial]:
    yield elsewhere(next(one_ends(rng)))


CASES = (
    Case("the best token is appended, step by step", no_end, values, weight=3),
    Case("works for one row, and for prompts of one token", one_row, values),
    Case("the model reads the whole text so far", long_memory, values, weight=2),
    Case("a row that has finished gets the end alone", one_ends, values, weight=2),
    Case("when all rows have finished it stops", all_end, values, weight=2),
    Case("an end in the prompt does not count", end_in_prompt, values),
    Case("no step and a single one work", no_steps, values),
    Case("one call does not change the next", twice, values),
    Case("the prompt itself is not changed", kept, inputs_kept),
    Case("works on whatever device the tokens are on", devices, values),
)


def _loop(model: Model, prompt: Tensor, steps: int, end: int, **kind: bool) -> Tensor:
    """Write, with one thing done differently."""
    out, done = prompt, torch.zeros_like(prompt[:, 0], dtype=torch.bool)
    if kind.get("prompt_counts"):
        done = (prompt == end).any(1)
    for _ in range(steps):
        seen = out[:, -1:] if kind.get("last_alone") else out
        seen = prompt if kind.get("prompt_alone") else seen
        seen = out[:, -prompt.shape[1] :] if kind.get("window") else seen
        seen = out[:, -8:] if kind.get("eight") else seen
        scores = model(seen)[0]
        scores = scores[:, 0] if kind.get("first_place") else scores[:, -1]
        best = scores.argmin(-1) if kind.get("worst") else scores.argmax(-1)
        best = best[:1].expand(len(out)) if kind.get("first_row") else best
        if not kind.get("rows_go_on"):
            best = best.masked_fill(done, 0 if kind.get("zeros") else end)
        if kind.get("dropped") and bool((done | (best == end)).all()):
            break
        out = torch.cat([out, best[:, None]], 1)
        done = done | (best == end)
        over = done.any() if kind.get("any_row") else done.all()
        if bool(over) and not kind.get("no_stop"):
            break
    return out


def last_token_alone(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You feed the last token alone. Without a cache the model has forgotten all before it: feed
    the whole text, the prompt too.
    """
    return _loop(model, prompt, steps, end, last_alone=True)


def prompt_alone(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You always feed the prompt, so each step gives the same token. Feed the new tokens, too."""
    return _loop(model, prompt, steps, end, prompt_alone=True)


def window(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You feed the newest tokens only, as many as the prompt has. The model should read the whole
    text so far.
    """
    return _loop(model, prompt, steps, end, window=True)


def short_window(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """In a long text you feed the newest tokens only, a fixed number of them. The model should read
    all that is there.
    """
    return _loop(model, prompt, steps, end, eight=True)


def first_position(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You read the scores at the first position. The *last* one predicts what comes next."""
    return _loop(model, prompt, steps, end, first_place=True)


def the_worst(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You append the token with the lowest score."""
    return _loop(model, prompt, steps, end, worst=True)


def first_row_for_all(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """All rows get the token of the first row. Each has its own."""
    return _loop(model, prompt, steps, end, first_row=True)


def rows_go_on(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """A row that has finished goes on writing after its end while others are not done. It should
    get `end` again.
    """
    return _loop(model, prompt, steps, end, rows_go_on=True)


def filled_with_zeros(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """A row that has finished is filled with token 0. It should get `end` again."""
    return _loop(model, prompt, steps, end, zeros=True)


def end_ignored(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """The end has no effect: rows go on after it, to the last step."""
    return _loop(model, prompt, steps, NEVER)


def never_stops(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """When all rows have finished you go on appending `end` to the last step. Nothing more should
    be added.
    """
    return _loop(model, prompt, steps, end, no_stop=True)


def first_end_stops_all(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You stop as soon as one row has finished. The others may have more to say."""
    return _loop(model, prompt, steps, end, any_row=True)


def prompt_counts(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """A row whose prompt holds the end counts as finished. Only tokens that the model writes
    count: many prompts begin with it.
    """
    return _loop(model, prompt, steps, end, prompt_counts=True)


def end_dropped(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """The `end` with which the last row finishes is not appended. It is part of the text."""
    return _loop(model, prompt, steps, end, dropped=True)


def one_step_more(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You append one token more than there are steps."""
    return _loop(model, prompt, steps + 1, end)


def one_step_less(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You append one token less than there are steps."""
    return _loop(model, prompt, max(steps - 1, 0), end)


def steps_in_all(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You stop when the text, prompt included, has as many tokens as there are steps. The steps
    count new tokens only.
    """
    return _loop(model, prompt, max(steps - prompt.shape[1], 0), end)


def new_tokens_alone(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You return the new tokens without the prompt in front of them."""
    return generate(model, prompt, steps, end)[:, prompt.shape[1] :]


def prompt_rewritten(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """Your text is the model's guesses at *all* positions: the prompt itself is replaced. Only what
    comes after the last position is new.
    """
    out = prompt
    for _ in range(steps):
        out = torch.cat([out[:, :1], model(out)[0].argmax(-1)], 1)
    return out


def as_floats(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """The tokens come back as floats. They are indices, int64."""
    return generate(model, prompt, steps, end).float()


def drawn(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """You draw tokens at random. Here the most probable one is asked at every step."""
    out = prompt
    for _ in range(steps):
        chances = model(out)[0][:, -1].softmax(-1)
        out = torch.cat([out, torch.multinomial(chances, 1)], 1)
    return out


def row_by_row(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """Each row by itself, then all filled to the length of the longest."""
    texts = []
    for row in prompt:
        text = row
        while len(text) < len(row) + steps and (len(text) == len(row) or text[-1] != end):
            logits, _ = model(text[None])
            text = torch.cat([text, logits[0, -1:].argmax(-1)])
        texts.append(text)
    longest = max(map(len, texts))
    return torch.stack(
        [torch.nn.functional.pad(t, (0, longest - len(t)), value=end) for t in texts]
    )


def ends_looked_up(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    start, out = prompt.shape[1], prompt.clone()
    while out.shape[1] < start + steps:
        finished = torch.any(out[:, start:] == end, dim=1)
        if torch.all(finished):
            return out
        scores = model(out)[0][:, -1, :]
        new = torch.where(finished, end, scores.max(dim=-1).indices)
        out = torch.hstack([out, new.unsqueeze(1)])
    return out


def cut_afterwards(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    """Write on regardless, then put ends where they belong, and cut."""
    start, out = prompt.shape[1], prompt
    for _ in range(steps):
        out = torch.cat((out, model(out)[0].argmax(-1)[:, -1:]), dim=-1)
    new = out[:, start:]
    over = (new == end).cumsum(1) > 0
    length = steps if steps == 0 else int((~over).sum(1).max()) + 1
    return torch.cat([prompt, new.masked_fill(over, end)[:, :length]], 1)


def with_a_cache(model: Model, prompt: Tensor, steps: int, end: int) -> Tensor:
    out, fed, caches = [prompt], prompt, None
    done = prompt.new_zeros(len(prompt), 1) > 0
    for _ in range(steps):
        logits, caches = model(fed, caches)
        fed = logits[:, -1:].argmax(-1)
        fed[done] = end
        out.append(fed)
        done = done | (fed == end)
        if done.all():
            break
    return torch.cat(out, dim=1)


EXERCISE = Exercise(
    solution=generate,
    chapter=CHAPTER,
    title="The loop",
    points=3,
    minutes=9,
    difficulty=2,
    statement=(
        "Let a model go on with a batch of prompts. At each step it reads the whole text so far, "
        "and the most probable next token of each row is appended. A row is finished when it has "
        "written `end`, and the loop when all rows are."
    ),
    example=(
        "The model counts: after token i comes i + 1. The prompts are 0, 1 and 2, 3; the end is 4. "
        "Step 1 appends 2 and 4: the second row has finished. Step 2 appends 3 and 4 again. Step 3 "
        "appends 4 and 4, and the loop stops, even if more steps were allowed."
    ),
    conventions=(
        "`model(tokens)` gives two things: the scores (B, L, V) of the token *after* each "
        "position, and caches, which you may ignore here.",
        "A row that has finished gets `end` at each further step.",
        "An end in the prompt does not count.",
        "The prompt is in the result. No two scores of a row are equal.",
    ),
    hints=(
        "Which position of the scores tells of the token after the last one?",
        "Keep a boolean for each row: has it written the end?",
        "`torch.cat` appends, along axis 1; the new tokens need that axis.",
    ),
    cases=CASES,
    mistakes=(
        last_token_alone,
        prompt_alone,
        window,
        short_window,
        first_position,
        the_worst,
        first_row_for_all,
        rows_go_on,
        filled_with_zeros,
        end_ignored,
        never_stops,
        first_end_stops_all,
        prompt_counts,
        end_dropped,
        one_step_more,
        one_step_less,
        steps_in_all,
        new_tokens_alone,
        prompt_rewritten,
        as_floats,
        drawn,
        on_the_cpu(generate),
        changed_in_place(generate, 2),
    ),
    alternatives=(row_by_row, ends_looked_up, cut_afterwards, with_a_cache),
)
