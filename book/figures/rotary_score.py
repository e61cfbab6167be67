"""Positions that turn: a query and a key, or the sinusoids, and the score against the distance."""

from __future__ import annotations

import altair as alt
import torch
from torch import Tensor

from book.figures.moving import WIDTH, Moving

FARTHEST = 48
DRAWN, SINUSOIDS = "drawn at random", "both (1, 0): the sinusoids"
TURNED = {
    "x": "datum.first * cos({0} * datum.speed) - datum.second * sin({0} * datum.speed)",
    "y": "datum.first * sin({0} * datum.speed) + datum.second * cos({0} * datum.speed)",
}
POSITION = "(datum.who == 'query' ? query : key)"
Vectors = dict[str, tuple[Tensor, Tensor]]  # what is chosen -> query and key

# <turned q, turned k> of one pair; its sum over the pairs depends on the distance alone.
PART = (
    "(datum.q1 * datum.k1 + datum.q2 * datum.k2) * cos(datum.distance * datum.speed)"
    " + (datum.q1 * datum.k2 - datum.q2 * datum.k1) * sin(datum.distance * datum.speed)"
)


def rotary_score(query: Tensor, key: Tensor, speeds: Tensor) -> Moving:
    """Draw the pairs of a query and of a key as hands, and their score against the distance.

    query, key  (K,) before they are turned
    speeds      (K/2,) the angle by which each pair turns from one position to the next
    """
    plain = torch.tensor([1.0, 0.0]).repeat(len(speeds))
    vectors = {DRAWN: (query, key), SINUSOIDS: (plain, plain)}
    chart = alt.vconcat(_hands(vectors, speeds), _scores(vectors, speeds))
    menu = alt.param(
        name="vectors",
        value=DRAWN,
        bind=alt.binding_select(options=[*vectors], name="query and key"),
    )
    return Moving(
        chart.add_params(_slider("query", 20), _slider("key", 12), menu),
        title="Turned by their positions",
        question="Move query and key by the same number of places: the hands turn, and what does "
        "the score do? Then move the key alone. Which pair decides about neighbours, and which "
        "about far-off tokens? With (1, 0) in each pair the hands are the code of a position, and "
        "the curve is the inner product of two codes: where is it largest?",
        description=f"{len(speeds)} dials, each with a hand for the query at position 20 and one "
        f"for the key at position 12. Below, the score against the distance from -{FARTHEST} to "
        f"{FARTHEST}, with a point at distance 8.",
        summary="If both move alike, all hands turn and the score stays: the point does not leave "
        "its place on the curve. If one moves, the point runs along the curve. The first pair "
        "turns fast and makes the narrow ripples, the last hardly turns and makes the wide ones. "
        "Two codes agree best with themselves, at distance 0, and the curve is even.",
    )


def _hands(vectors: Vectors, speeds: Tensor) -> alt.FacetChart:
    rows = [
        {
            "vectors": name,
            "pair": f"pair {i}",
            "who": who,
            "speed": round(speeds[i].item(), 6),
            "first": round(vector[2 * i].item(), 4),
            "second": round(vector[2 * i + 1].item(), 4),
        }
        for name, (query, key) in vectors.items()
        for i in range(len(speeds))
        for who, vector in (("query", query), ("key", key))
    ]
    both = torch.stack(vectors[DRAWN])
    farthest = both.reshape(-1, 2).norm(dim=-1).max().item() * 1.1
    scale = alt.Scale(domain=[-farthest, farthest])
    quiet = alt.Axis(labels=False, ticks=False, title=None, values=[0])
    hands = alt.Chart().encode(
        x=alt.X("x:Q", scale=scale, axis=quiet),
        y=alt.Y("y:Q", scale=scale, axis=quiet),
        color=alt.Color("who:N", sort=["query", "key"], title=None),
    )
    rules = hands.mark_rule(strokeWidth=3).encode(x2=alt.datum(0), y2=alt.datum(0))
    tips = hands.mark_point(filled=True, size=50)
    side = (WIDTH - 60) / len(speeds)
    return (
        alt.layer(rules.properties(name="hand_0"), tips.properties(name="tip_0"))  # Altair asks it
        .properties(width=side, height=side)
        .facet(
            data=alt.Data(values=rows),
            facet=alt.Facet("pair:N", title=None),
            columns=len(speeds),
            spacing=8,
        )
        .transform_filter("datum.vectors == vectors")
        .transform_calculate(x=TURNED["x"].format(POSITION), y=TURNED["y"].format(POSITION))
    )


def _scores(vectors: Vectors, speeds: Tensor) -> alt.LayerChart:
    names = ("q1", "q2", "k1", "k2", "speed")
    rows: list[dict[str, object]] = []
    for name, (query, key) in vectors.items():
        pairs = torch.cat([query.reshape(-1, 2), key.reshape(-1, 2), speeds[:, None]], dim=1)
        for pair in pairs.tolist():
            numbers = (round(x, 6) for x in pair)
            rows.append({"vectors": name, **dict(zip(names, numbers, strict=True))})
    distances = [*range(-FARTHEST, FARTHEST + 1)]
    base = (
        alt.Chart(alt.Data(values=[row | {"distance": distances} for row in rows]))
        .transform_filter("datum.vectors == vectors")
        .transform_flatten(["distance"])
        .transform_calculate(part=PART)
        .transform_aggregate(score="sum(part)", groupby=["distance"])
        .encode(
            x=alt.X("distance:Q", title="distance (query - key)"),
            y=alt.Y("score:Q", title="score"),
        )
    )
    here = base.transform_filter("datum.distance == query - key")
    point = here.mark_point(filled=True, size=110, color="#D55E00")
    return alt.layer(base.mark_line(), point).properties(width=WIDTH - 60, height=140)


def _slider(name: str, value: int) -> alt.Parameter:
    bind = alt.binding_range(min=0, max=FARTHEST, step=1, name=f"position of the {name}")
    return alt.param(name=name, value=value, bind=bind)
