"""Functions of torch's own that do what an exercise asks, for use where its answer may not lie.

A class bundle has no solutions. Where a student's answer calls an earlier exercise that is still
wrong, one of these stands in for it. Each is a function that its exercise, or the next one,
forbids: to have it tells nobody how to write the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Give torch's softmax."""
    return torch.softmax(x, dim)


def attention_weights(q: Tensor, k: Tensor) -> Tensor:
    """Give torch's attention with the unit vectors as values: its answers are the weights."""
    keys = k.shape[-2]
    units = torch.eye(keys, dtype=k.dtype, device=k.device).expand(*k.shape[:-1], keys)
    return F.scaled_dot_product_attention(q, k, units)


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Give torch's attention with unit vectors as keys and as values."""
    keys = scores.shape[-1]
    units = torch.eye(keys, dtype=scores.dtype, device=scores.device)
    units, mask = units.expand(*scores.shape[:-2], keys, keys), mask.expand(scores.shape)
    return F.scaled_dot_product_attention(scores, units, units, mask, scale=1.0)


def masked_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Give torch's attention, whose boolean masks mean the same."""
    return F.scaled_dot_product_attention(q, k, v, mask)


def multi_head_attention(
    x: Tensor,
    memory: Tensor,
    weights: tuple[Tensor, ...],
    heads: int,
    mask: Tensor | None = None,
) -> Tensor:
    """Give torch's, which wants time first and a mask that says whom to hide, head by head."""
    hidden = None
    if mask is not None:
        full = mask.expand(x.shape[0], heads, x.shape[1], memory.shape[1])
        hidden = ~full.flatten(0, 1)
    q, k = x.transpose(0, 1), memory.transpose(0, 1)
    projections, w_o = torch.cat(weights[:3]), weights[3]
    answers, _ = F.multi_head_attention_forward(
        *(q, k, k, len(w_o), heads, projections, None, None, None, False, 0.0, w_o, None),
        attn_mask=hidden,
        need_weights=False,
    )
    return answers.transpose(0, 1)


def grouped_query_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Give torch's attention, which knows groups; it gives zeros to a query that sees nothing."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)


def swish(x: Tensor, beta: float = 1.0) -> Tensor:
    """Give torch's SiLU, at the scale that beta asks for; at 0 it has none, and is a line."""
    return F.silu(beta * x) / beta if beta else x / 2


def standardise(x: Tensor, dims: int | tuple[int, ...], eps: float = 1e-5) -> Tensor:
    """Give torch's layer norm, which wants its axes at the end."""
    axes = (dims,) if isinstance(dims, int) else dims
    ends = tuple(range(-len(axes), 0))
    moved = x.movedim(axes, ends)
    return F.layer_norm(moved, moved.shape[-len(axes) :], eps=eps).movedim(ends, axes)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    """Give torch's layer norm."""
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """Give torch's RMS norm."""
    return F.rms_norm(x, weight.shape, weight, eps)


READY_MADE: dict[str, Callable[..., Any]] = {
    "softmax": softmax,
    "attention_weights": attention_weights,
    "masked_softmax": masked_softmax,
    "masked_attention": masked_attention,
    "multi_head_attention": multi_head_attention,
    "grouped_query_attention": grouped_query_attention,
    "swish": swish,
    "standardise": standardise,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
}
