"""The attention of every head of a small trained model, one at a time."""

from __future__ import annotations

import altair as alt
from torch import Tensor

from book.figures.moving import WIDTH, Moving


def head_maps(names: list[str], weights: Tensor) -> Moving:
    """Draw who reads whom in one head, chosen by layer and head.

    names    of the tokens of one sequence, n of them
    weights  (layers, H, n, n) causal attention weights
    """
    layers, heads, n, _ = weights.shape
    rows = [
        {"layer": a + 1, "head": h + 1, "query": i, "key": [*range(i + 1)], "weight": shown}
        for a in range(layers)
        for h in range(heads)
        for i in range(n)
        for shown in [[round(w, 3) for w in weights[a, h, i, : i + 1].tolist()]]
    ]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.layer == layer && datum.head == head")
        .transform_flatten(["key", "weight"])
        .mark_rect()
        .encode(
            x=_axis("key", "top", "is read (key)", names),
            y=_axis("query", "left", "reads (query)", names),
            color=alt.Color(
                "weight:Q",
                scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                legend=alt.Legend(orient="bottom", gradientLength=WIDTH / 2),
            ),
        )
        .properties(width=WIDTH - 80, height=WIDTH - 80)
        .add_params(_slider("layer", 1, layers, layers), _slider("head", 1, heads, 1))
    )
    return Moving(
        chart,
        title="Every head of the trained model",
        question="Look for a head that reads the token before its own, and in layer 2 for one that "
        "reads what came after the earlier copy. In which layer must the first one be, and why?",
        description=f"A triangle of {n} queries by the keys before them for one head of layer "
        f"{layers}; bright squares are large weights.",
        summary="Each square is a weight, its row a query. A head that looks one back is a bright "
        "line just under the diagonal. A head that finds what followed the earlier copy is a line "
        "further down, one period less a step away.",
    )


def _axis(field: str, side: str, title: str, names: list[str]) -> alt.X | alt.Y:
    kind = alt.X if field == "key" else alt.Y
    words = alt.Axis(orient=side, labelAngle=0, labelExpr=f"{names}[datum.value]")
    return kind(f"{field}:O", title=title, axis=words, scale=alt.Scale(domain=[*range(len(names))]))


def _slider(name: str, low: int, high: int, value: int) -> alt.Parameter:
    bind = alt.binding_range(min=low, max=high, step=1, name=name)
    return alt.param(name=name, value=value, bind=bind)
