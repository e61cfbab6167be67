"""A router at work: noise, top-k, capacity, the load of each expert and what is dropped."""

from __future__ import annotations

import altair as alt
from torch import Tensor

from book.figures.moving import WIDTH, Moving

FATES = ("has a place", "dropped")


def router_load(scores: Tensor, noise: Tensor) -> Moving:
    """Draw how many tokens each expert gets and keeps.

    scores  (T, X) what the router says of each expert
    noise   (T, X) drawn from a standard normal distribution
    """
    tokens, experts = scores.shape
    chart = alt.layer(_bars(scores, noise), _limit()).properties(width=WIDTH - 60, height=220)
    return Moving(
        chart.add_params(*_controls(tokens, experts)),
        title=f"{tokens} tokens meet {experts} experts",
        question="Without noise, which capacity factor loses no token, and how much room stands "
        "empty then? Add noise: does it spread the load? Then let every token have two experts: "
        "whose choices are dropped?",
        description=f"Bars with the load of {experts} experts, one choice for each of {tokens} "
        "tokens; what lies above the dashed line, the capacity, is dropped.",
        summary="A few experts get most tokens and the rest stand idle. A capacity that loses "
        "nothing must fit the most popular one, and is mostly empty elsewhere. Noise spreads the "
        "load by sending tokens where they did not want to go. With two choices the second ones "
        "come last, so they are dropped first.",
    )


def _bars(scores: Tensor, noise: Tensor) -> alt.Chart:
    tokens, experts = scores.shape
    all_of_them = alt.Scale(domain=[*range(experts)])  # those without a token, too
    return (
        _queued(scores, noise)
        .mark_bar()
        .encode(
            x=alt.X("expert:O", title="expert", axis=alt.Axis(labelAngle=0), scale=all_of_them),
            y=alt.Y("count():Q", title="tokens", scale=alt.Scale(domain=[0, tokens])),
            color=alt.Color("fate:N", title=None, scale=_colours()),
            order=alt.Order("fate:N", sort="descending"),
        )
    )


def _queued(scores: Tensor, noise: Tensor) -> alt.Chart:
    """Let each token choose, and say of each choice whether it has a place.

    Places are given out to all first choices before any second one, in the order of the tokens.
    """
    rows = [
        {"token": t, "expert": [*range(scores.shape[1])], "score": _short(a), "z": _short(b)}
        for t, (a, b) in enumerate(zip(scores, noise, strict=True))
    ]
    return (
        alt.Chart(alt.Data(values=rows))
        .transform_flatten(["expert", "score", "z"])
        .transform_calculate(noisy="datum.score + noise * datum.z")
        .transform_window(
            rank="row_number()",
            groupby=["token"],
            frame=[None, 0],
            sort=[alt.SortField("noisy", order="descending")],
        )
        .transform_filter("datum.rank <= k")
        .transform_window(
            place="row_number()",
            groupby=["expert"],
            frame=[None, 0],
            sort=[alt.SortField("rank"), alt.SortField("token")],
        )
        .transform_calculate(fate=f"datum.place <= capacity ? '{FATES[0]}' : '{FATES[1]}'")
    )


def _limit() -> alt.Chart:
    line = alt.Chart(alt.Data(values=[{}])).mark_rule(strokeDash=[5, 4], strokeWidth=2)
    return line.transform_calculate(y="capacity").encode(y=alt.Y("y:Q", title="tokens"))


def _short(row: Tensor) -> list[float]:
    return [round(x, 3) for x in row.tolist()]


def _colours() -> alt.Scale:
    return alt.Scale(domain=[*FATES], range=["#0072B2", "#D55E00"])


def _controls(tokens: int, experts: int) -> list[alt.Parameter]:
    choices = alt.binding_range(min=1, max=4, step=1, name="experts for each token")
    strength = alt.binding_range(min=0, max=3, step=0.25, name="noise")
    room = alt.binding_range(min=0.25, max=4, step=0.25, name="capacity factor")
    return [
        alt.param(name="k", value=1, bind=choices),
        alt.param(name="noise", value=0, bind=strength),
        alt.param(name="factor", value=1, bind=room),
        alt.param(name="capacity", expr=f"ceil(factor * {tokens} * k / {experts})"),
    ]
