"""What temperature, top-k and top-p leave of the distribution of the next token."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
from torch import Tensor

from book.figures.moving import WIDTH, Moving

SHOWN = 16  # bars; the rest of the vocabulary is counted, and not drawn
FATES = ("can be drawn", "hidden")


def next_token(names: Sequence[str], logits: Tensor) -> Moving:
    """Draw the most probable tokens with their probabilities, before and after the filters.

    names   what to call each token
    logits  (V,) its score
    """
    order = logits.argsort(descending=True).tolist()
    scores = logits.tolist()
    rows = [{"token": names[i], "z": round(scores[i], 4), "rank": r} for r, i in enumerate(order)]
    mass = [{"op": "sum", "field": "weight", "as": "before"}]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(weight=f"exp((datum.z - {rows[0]['z']}) / temperature)")
        .transform_joinaggregate(total="sum(weight)")
        .transform_filter("datum.rank < k")
        .transform_joinaggregate(among="sum(weight)")
        .transform_window(window=[alt.WindowFieldDef(**mass[0])], sort=[{"field": "rank"}])
        .transform_calculate(
            stays="(datum.before - datum.weight) / datum.among < p || datum.rank == 0"
        )
        .transform_calculate(kept="datum.stays ? datum.weight : 0")
        .transform_joinaggregate(left="sum(kept)")
        .transform_calculate(
            probability="datum.stays ? datum.weight / datum.left : datum.weight / datum.total",
            fate=f"datum.stays ? '{FATES[0]}' : '{FATES[1]}'",
        )
        .transform_filter(f"datum.rank < {SHOWN}")
        .mark_bar()
        .encode(
            x=alt.X("token:N", title="token", sort={"field": "rank"}),
            y=alt.Y("probability:Q", title="probability", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("fate:N", scale=alt.Scale(domain=[*FATES]), title=None),
            opacity=alt.Opacity(
                "fate:N", scale=alt.Scale(domain=[*FATES], range=[1, 0.4]), legend=None
            ),
        )
        .properties(width=WIDTH - 50, height=220)
        .add_params(*_controls(len(names)))
    )
    return Moving(
        chart,
        title="The next token",
        question="Set k and p such that two tokens are left, then raise the temperature: which of "
        "the two filters holds on to two? Which temperature makes the best token almost certain "
        "without any filter?",
        description="Bars of falling height for the 16 most probable tokens at temperature 1, with "
        "no filter: all can be drawn.",
        summary="A low temperature makes the first bar grow and the others vanish, a high one "
        "levels them. Top-k keeps k bars at any temperature. Top-p keeps as many as make up p: "
        "few where the distribution is sharp, many where it is flat, so that a higher temperature "
        "lets more tokens through. What is left is divided by its sum.",
    )


def _controls(tokens: int) -> list[alt.Parameter]:
    temperature = alt.binding_range(min=0.1, max=3, step=0.1, name="temperature")
    k = alt.binding_range(min=1, max=tokens, step=1, name="k of top-k")
    p = alt.binding_range(min=0.05, max=1, step=0.05, name="p of top-p")
    return [
        alt.param(name="temperature", value=1, bind=temperature),
        alt.param(name="k", value=tokens, bind=k),
        alt.param(name="p", value=1, bind=p),
    ]
