"""What the width of queries and keys does to a softmax, with the scale and without."""

from __future__ import annotations

import altair as alt
import torch
from torch import Tensor

from book.figures.moving import WIDTH, Moving

SIDES = ("without a scale", "divided by √d_k")
MEASURES = ("entropy", "trace of the Jacobian")


def width_and_softmax(widths: list[int], weights: Tensor) -> Moving:
    """Draw the weights of one query, moved by the width.

    widths   of the queries and keys
    weights  (widths, 2, M) the weights without a scale, then with it
    """
    chosen = alt.param(
        name="at",
        value=widths.index(64),
        bind=alt.binding_range(min=0, max=len(widths) - 1, step=1, name="d_k is 2 to the power of"),
    )
    chart = alt.vconcat(_weights(widths, weights), _measures(widths, weights)).add_params(chosen)
    return Moving(
        chart,
        title="The weights of one query while d_k grows",
        question="Move the width from 1 to 1024. From which width on does one key get more than "
        "90 % without a scale, and what has become of the gradient there?",
        description=_description(widths, weights),
        summary="Without a scale the weights gather on one key as the width grows, entropy and "
        "trace fall towards 0, and with the trace what a gradient can tell the scores. Divided by "
        "the root of d_k, both stay where they were.",
    )


def _weights(widths: list[int], weights: Tensor) -> alt.Chart:
    rows = [
        {"at": i, "d_k": d_k, "side": side, "key": key, "weight": round(float(weight), 4)}
        for i, d_k in enumerate(widths)
        for side, of_side in zip(SIDES, weights[i], strict=True)
        for key, weight in enumerate(of_side)
    ]
    bars = alt.Chart(alt.Data(values=rows)).transform_filter("datum.at == at")
    return (
        bars.mark_bar()
        .encode(
            x=alt.X("key:O", title="key", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("weight:Q", title="weight", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("side:N", sort=SIDES, legend=None),
            column=alt.Column("side:N", sort=SIDES, title=None),
        )
        .properties(width=WIDTH / 2 - 50, height=130)
    )


def _measures(widths: list[int], weights: Tensor) -> alt.LayerChart:
    entropy = -torch.special.xlogy(weights, weights).sum(-1)
    trace = 1 - weights.square().sum(-1)
    rows = [
        {"at": i, "d_k": d_k, "side": side, "measure": name, "value": round(float(value), 4)}
        for i, d_k in enumerate(widths)
        for name, values in zip(MEASURES, (entropy, trace), strict=True)
        for side, value in zip(SIDES, values[i], strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("d_k:Q", scale=alt.Scale(type="log", base=2), title="d_k"),
        y=alt.Y("value:Q", title=None),
        color=alt.Color("side:N", sort=SIDES, legend=None),
        detail="measure:N",
    )
    lines = base.mark_line().encode(strokeDash=alt.StrokeDash("measure:N", title=None))
    here = base.transform_filter("datum.at == at").mark_point(filled=True, size=90)
    return alt.layer(lines, here).properties(width=WIDTH - 60, height=150)


def _description(widths: list[int], weights: Tensor) -> str:
    unscaled, scaled = weights[widths.index(64)].amax(-1).tolist()
    return (
        f"Bars with the weights of {weights.shape[-1]} keys at width 64: without a scale the "
        f"largest is {unscaled:.2f}, divided by the root of d_k it is {scaled:.2f}. Below, entropy "
        f"and trace of the Jacobian against the width from {widths[0]} to {widths[-1]}: falling "
        "without a scale, level with it."
    )
