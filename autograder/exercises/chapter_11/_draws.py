"""Sizes and weights of blocks and of whole models."""

from collections.abc import Iterator, Mapping

import torch
from torch import Generator, Tensor

from autograder.inputs import integer, normal

Sizes = dict[str, int]
State = dict[str, Tensor]

GROUPS = ((2, 2), (2, 3), (3, 2))  # key/value heads, query heads for each
WIDTH = 2  # of a head: one pair for rotary positions


def block_sizes(rng: Generator, letters: str = "B L F", **fixed: int) -> Sizes:
    """Draw heads in groups, and the given sizes, most of them different; D is heads times width.

    A vocabulary is larger than the rest, so that tokens differ.
    """
    g, share = GROUPS[integer(rng, 0, len(GROUPS) - 1)]
    of = {"G": g, "H": g * share, "K": WIDTH} | fixed
    of["D"] = of["H"] * of["K"]
    rest = [n for n in range(2, 10) if n not in of.values() and n != share]
    order = torch.randperm(len(rest), generator=rng).tolist()
    asked = [letter for letter in letters.split() if letter not in fixed]
    drawn = {letter: rest[i] for letter, i in zip(asked, order[: len(asked)], strict=True)}
    return drawn | of | ({"V": drawn["V"] + 9} if "V" in drawn else {})


def attention(rng: Generator, of: Sizes, name: str) -> State:
    """Draw the four matrices of an attention with G key/value heads."""
    rows = {"w_q": of["D"], "w_k": of["G"] * of["K"], "w_v": of["G"] * of["K"], "w_o": of["D"]}
    return {
        f"{name}.{matrix}.weight": normal(rng, "S D", {**of, "S": n}, std=of["D"] ** -0.5)
        for matrix, n in rows.items()
    }


def feed_forward(rng: Generator, of: Sizes) -> State:
    """Draw the three matrices of a gated layer."""
    return {
        "feed_forward.w_gate.weight": normal(rng, "F D", of, std=of["D"] ** -0.5),
        "feed_forward.w_up.weight": normal(rng, "F D", of, std=of["D"] ** -0.5),
        "feed_forward.w_down.weight": normal(rng, "D F", of, std=of["F"] ** -0.5),
    }


def gain(rng: Generator, of: Sizes, name: str) -> State:
    """Draw the factors of a norm, no two alike."""
    return {f"{name}.weight": normal(rng, "D", of, mean=1.0, std=0.4)}


def block(rng: Generator, of: Sizes) -> State:
    """Draw the weights of a block of an encoder or a decoder."""
    norms = gain(rng, of, "norm_1") | gain(rng, of, "norm_2")
    return norms | attention(rng, of, "attend") | feed_forward(rng, of)


def cross_block(rng: Generator, of: Sizes) -> State:
    """Draw the weights of a block that also reads the encoder."""
    cross = attention(rng, of, "cross") | gain(rng, of, "norm_3")
    return block(rng, of) | cross


def prefixed(prefix: str, state: Mapping[str, Tensor]) -> State:
    """Put a layer's weights under its name in a larger module."""
    return {f"{prefix}.{name}": value for name, value in state.items()}


def tables(rng: Generator, of: Sizes, std: float = 1.0) -> State:
    """Draw the embedding and the output projection."""
    return {
        "embed.weight": normal(rng, "V D", of, std=std),
        "head.weight": normal(rng, "V D", of, std=of["D"] ** -0.5),
    }


def ids(rng: Generator, of: Sizes, axes: str) -> Tensor:
    """Draw token ids, of which few are alike."""
    shape = [of[letter] for letter in axes.split()]
    return torch.randint(of["V"], shape, generator=rng)


def stacked(name: str, blocks: Iterator[State]) -> State:
    """Number the blocks of a list."""
    return {k: v for i, one in enumerate(blocks) for k, v in prefixed(f"{name}.{i}", one).items()}


def cache_of(rng: Generator, of: Sizes, tokens: int) -> tuple[Tensor, Tensor]:
    """Draw the keys and values of tokens that came before."""
    shape = {**of, "M": tokens}
    return normal(rng, "B G M K", shape), normal(rng, "B G M K", shape)
