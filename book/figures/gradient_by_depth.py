"""How large the gradient is at each height of a tower, with the norm after or before."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from book.figures.moving import WIDTH, Moving

PLACES = {"post": "post-norm", "pre": "pre-norm"}


def gradient_by_depth(lengths: Mapping[str, Mapping[int, list[float]]]) -> Moving:
    """Draw the gradients of all layers, for a depth that the reader chooses.

    lengths  "post" or "pre" -> number of layers -> the length of the gradient of each feed-forward
             layer, from the lowest to the highest
    """
    depths = sorted(lengths["post"])
    rows = [
        {"norm": words, "depth": depth, "layer": layer, "gradient": float(f"{length:.4g}")}
        for place, words in PLACES.items()
        for depth in depths
        for layer, length in enumerate(lengths[place][depth], start=1)
    ]
    named = alt.Scale(domain=[*PLACES.values()])
    menu = alt.binding_select(options=depths, name="layers, every second one feed-forward")
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_filter("datum.depth == depth")
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "layer:Q", title="feed-forward layer, from the bottom", axis=alt.Axis(tickMinStep=1)
            ),
            y=alt.Y("gradient:Q", title="length of the gradient", scale=_scale(rows)),
            color=alt.Color("norm:N", scale=named, title=None),
            strokeDash=alt.StrokeDash("norm:N", scale=named, title=None),
        )
        .properties(width=WIDTH - 70, height=220)
        .add_params(alt.param(name="depth", value=depths[-1], bind=menu))
    )
    return Moving(
        chart,
        title="Gradients by height, before the first step of training",
        question="Let the tower grow. By what factor does the gradient of the top layer change "
        "with the norm after the sum, and with the norm before it?",
        description=f"Two curves against the feed-forward layers of a tower of {depths[-1]}: that "
        "of post-norm is level, that of pre-norm falls from the bottom to the top.",
        summary=_summary(lengths, depths),
    )


def _scale(rows: list[dict[str, object]]) -> alt.Scale:
    """Keep one scale for all depths, so that curves can be compared."""
    lengths = [float(str(row["gradient"])) for row in rows]
    return alt.Scale(type="log", domain=[min(lengths) / 1.3, max(lengths) * 1.3])


def _summary(lengths: Mapping[str, Mapping[int, list[float]]], depths: list[int]) -> str:
    few, many = depths[0], depths[-1]
    post, pre = (lengths[p][many][-1] / lengths[p][few][-1] for p in PLACES)
    return (
        f"From {few} to {many} layers the gradient of the top layer changes by a factor of "
        f"{post:.2f} with post-norm and of {pre:.2f} with pre-norm. Within a tower the gradients "
        "of post-norm stay about level, those of pre-norm fall towards the top."
    )
