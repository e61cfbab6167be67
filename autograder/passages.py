"""Examine passages that were drawn from a text at random: no two right answers draw the same.

The text is the first argument of each call, and no token occurs in it twice, so that a token tells
where it is from.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise

import torch
from torch import Tensor

from autograder.compare import difference, values
from autograder.spec import Trial
from autograder.wire import Data, Reply


def passages(trial: Trial, reply: Reply, expected: Reply, tolerance: float | None) -> str | None:
    """Examine each call: rows of the text, and the tokens after them, wherever they begin."""
    if reply.fault or expected.values[0][0].is_meta:
        return values(trial, reply, expected, tolerance)
    if len(reply.values) != len(expected.values):
        return f"{len(reply.values)} results where {len(expected.values)} were expected"
    both = zip(reply.values, expected.values, strict=True)
    texts = [one.args[0].tolist() for one in trial.request.calls]
    found = [_strange(trial, *pair, text) for pair, text in zip(both, texts, strict=True)]
    problems = [(number, problem) for number, problem in enumerate(found, 1) if problem]
    if not problems:
        return None
    number, problem = problems[0]
    return f"call {number}: {problem}" if len(found) > 1 else problem


def passages_from_everywhere(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine whether they begin wherever the expected ones do, as often, and in no order."""
    problem = passages(trial, reply, expected, tolerance)
    if problem or reply.fault:
        return problem
    begins, usual = _begins(reply), {*_begins(expected)}
    missing = usual - {*begins}
    if missing:
        return f"{len(missing)} of {len(usual)} places never come up in {len(begins)} passages"
    return _uneven(begins, len(usual)) or _ordered(begins, trial, len(usual))


def passages_drawn_alike(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine two calls with equal generators."""
    problem = passages(trial, reply, expected, tolerance)
    if problem or reply.fault:
        return problem
    first, second = reply.values
    alike = all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    return None if alike else "equal generators gave different passages"


def passages_drawn_anew(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine two calls with different generators."""
    problem = passages(trial, reply, expected, tolerance)
    if problem or reply.fault:
        return problem
    first, second = reply.values
    return "another generator gave the same" if torch.equal(first[0], second[0]) else None


def passages_drawn_independently(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine many calls for two passages each, where there are two places."""
    problem = passages(trial, reply, expected, tolerance)
    if problem or reply.fault:
        return problem
    alike = sum(torch.equal(inputs[0], inputs[1]) for inputs, _ in reply.values)
    if 0 < alike < len(reply.values):
        return None
    often = "never" if alike == 0 else "always"
    return f"of two places, both rows {often} get the same in {len(reply.values)} calls"


def passages_and_text_kept(
    trial: Trial, reply: Reply, expected: Reply, tolerance: float | None
) -> str | None:
    """Examine whether the text is still what it was."""
    if reply.changed:
        return "the text had other numbers after the call than before"
    return passages(trial, reply, expected, tolerance)


def _strange(trial: Trial, got: Data, want: Data, text: list[int]) -> str | None:
    """Say why these are no passages of the text and what follows them."""
    problem = difference(_blank(got), _blank(want), None, trial.sizes, trial.returns)
    if problem:
        return problem
    rows, follow = (part.tolist() for part in got)
    if not {*chain(*rows), *chain(*follow)} <= {*text}:
        return "there are tokens that the text does not have"
    after = dict(pairwise(text))
    if any(after.get(a) != b for row in rows for a, b in pairwise(row)):
        return "a row is no passage of the text"
    pairs = zip(chain(*rows), chain(*follow), strict=True)
    wrong = sum(after.get(a) != b for a, b in pairs)
    return f"{wrong} tokens are not the ones that follow in the text" if wrong else None


def _blank(data: Data) -> Data:
    """Leave shapes, dtypes and devices, and no numbers."""
    if isinstance(data, (tuple, list)):
        return tuple(map(_blank, data))
    return torch.zeros_like(data) if isinstance(data, Tensor) else data


def _begins(reply: Reply) -> list[int]:
    tokens: list[int] = reply.values[0][0][:, 0].tolist()
    return tokens


def _uneven(begins: list[int], places: int) -> str | None:
    """Say so if places come up more or less often than chance has it: six deviations."""
    counts, usual = Counter(begins).values(), len(begins) / places
    if all(abs(count - usual) <= 6 * usual**0.5 for count in counts):
        return None
    return f"some places come up {max(counts)} times, some {min(counts)} times"


def _ordered(begins: list[int], trial: Trial, places: int) -> str | None:
    """Say so if a place often or hardly ever comes twice, or often the one after it."""
    text = trial.request.calls[0].args[0].tolist()
    steps = Counter((text.index(b) - text.index(a)) % places for a, b in pairwise(begins))
    usual = (len(begins) - 1) / places
    if 0.2 * usual <= steps[0] <= 2.5 * usual and steps[1] <= 2.5 * usual:
        return None
    return "where a passage begins tells where the next one does"
