"""Which query sees which key under four masks at a time."""

from __future__ import annotations

import altair as alt

from book.figures.moving import BLUE, WIDTH, Moving

TOKENS = 12
# A pair is visible if every mask allows it. `query` and `key` count from 0.
RULES = {
    "causal": "(!causal || datum.key <= datum.query)",
    "window": "(window == 0 || abs(datum.query - datum.key) < window)",
    "padding": "(datum.key < real)",
    "document": "((datum.key < first) == (datum.query < first))",
}


def mask_painter() -> Moving:
    """Draw 12 queries by 12 keys, painted by four masks that a reader sets."""
    pairs = [{"query": i, "key": j} for i in range(TOKENS) for j in range(TOKENS)]
    chart = (
        alt.Chart(alt.Data(values=pairs))
        .transform_calculate(sees=f"{' && '.join(RULES.values())} ? 'sees' : 'hidden'")
        .mark_rect(stroke="#bbbbbb")
        .encode(
            x=alt.X("key:O", title="key", axis=alt.Axis(orient="top", labelAngle=0)),
            y=alt.Y("query:O", title="query"),
            color=alt.Color("sees:N", title=None, scale=_colours()),
        )
        .properties(width=WIDTH - 120, height=WIDTH - 120)
        .add_params(*_controls())
    )
    return Moving(
        chart,
        title="A mask painter",
        question="Set the window to 3 and the real tokens to 5. Which queries see nothing at all, "
        "and what would softmax make of their rows? Then take the window off and let the first "
        "document end at 5: is causal attention still a single triangle?",
        description="A square of 12 queries by 12 keys under a causal mask: the lower triangle "
        "with its diagonal is visible, the rest is hidden.",
        summary="The causal mask gives a triangle, a window cuts it to a band, padding hides the "
        "last columns, and a boundary between documents leaves two triangles. With a window of 3 "
        "and 5 real tokens, queries 7 to 11 see nothing.",
    )


def _colours() -> alt.Scale:
    return alt.Scale(domain=["sees", "hidden"], range=[BLUE, "#f2f2f2"])


def _controls() -> list[alt.Parameter]:
    sliders = {
        "window": (0, "window (0: none)", 0),
        "real": (1, "real tokens", TOKENS),
        "first": (1, "first document ends at", TOKENS),
    }
    causal = alt.param(name="causal", value=True, bind=alt.binding_checkbox(name="causal"))
    return [
        causal,
        *(
            alt.param(
                name=name,
                value=value,
                bind=alt.binding_range(min=low, max=TOKENS, step=1, name=words),
            )
            for name, (low, words, value) in sliders.items()
        ),
    ]
