"""Queries, keys and values, as several exercises of the chapter draw them."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Generator, Tensor

from autograder.inputs import described, normal, sizes
from autograder.spec import Trial
from autograder.variations import elsewhere
from autograder.wire import call

ENDINGS = {"q": "L K", "k": "M K", "v": "M W"}
CLEAR = 0.3  # by so much the best key wins: rounding, of half precision too, changes no winner


def axes(leading: str, ending: str) -> str:
    """Write "B L K", or "L K" where nothing leads."""
    return f"{leading} {ending}".strip()


def searched(
    tensors: list[Tensor], of: dict[str, int], leading: str = "B", note: str = "", **given: Any
) -> Trial:
    """Make a trial from q, k and v; what else is given goes by name."""
    words = ", ".join(described(name, axes(leading, e), of) for name, e in ENDINGS.items())
    words += "".join(f", {name} {value}" for name, value in given.items()) + note
    return Trial(call(*tensors, **given), words, of, axes(leading, "L W"))


def search(
    rng: Generator, leading: str = "B", fixed: Mapping[str, int] | None = None, **given: Any
) -> Trial:
    """Draw q, k and v of sizes that differ, but for those that are fixed."""
    of = sizes(rng, axes(leading, "L M K W")) | dict(fixed or {})
    tensors = [normal(rng, axes(leading, e), of) for e in ENDINGS.values()]
    tensors[0] = with_winners(tensors[0], tensors[1], rng)
    return searched(tensors, of, leading, **given)


def with_winners(q: Tensor, k: Tensor, rng: Generator) -> Tensor:
    """Draw queries again, longer each time, until each has a key that wins clearly."""
    length = 1.0
    while k.shape[-2] > 1:
        best, second = (q @ k.mT).topk(2, dim=-1).values.unbind(-1)
        close = (best - second < CLEAR).unsqueeze(-1)
        if not close.any():
            break
        length *= 1.1
        q = torch.where(close, length * torch.randn(q.shape, generator=rng), q)
    return q


def ranks(rng: Generator, **given: Any) -> Iterator[Trial]:
    """Draw trials with two batch axes, none and three."""
    small = {"X": 2, "B": 3, "H": 4}
    for leading in ("B H", "", "X B H"):
        yield search(rng, leading, {letter: small[letter] for letter in leading.split()}, **given)


def singles(rng: Generator, letters: str, **given: Any) -> Iterator[Trial]:
    """Draw a trial for each letter whose size is then 1."""
    for letter in letters:
        yield search(rng, fixed={letter: 1}, **given)


def equal_sizes(rng: Generator, **given: Any) -> Iterator[Trial]:
    """Draw as many queries as keys, values as wide as keys; then what is not contiguous."""
    of = sizes(rng, "B L K")
    same = of | {"M": of["L"], "W": of["K"]}
    q, k, v = (normal(rng, f"B {e}", same) for e in ENDINGS.values())
    words = f"q, k and v (B, L, K) = ({of['B']}, {of['L']}, {of['K']})"
    words += "".join(f", {name} {value}" for name, value in given.items())
    yield Trial(call(with_winners(q, k, rng), k, v, **given), words, of, "B L K")
    of = sizes(rng, "B L M W")
    of |= {"K": of["M"]}
    q, k, v = (normal(rng, f"B {e[::-1]}", of).mT for e in ENDINGS.values())
    yield searched([with_winners(q, k, rng), k, v], of, note=", not contiguous", **given)


def places(trial: Trial) -> Iterator[Trial]:
    """Give a trial as it is and on another device."""
    yield trial
    yield elsewhere(trial)
