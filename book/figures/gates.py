"""What a gate lets through: activations, and the layers that gate with them."""

from __future__ import annotations

import altair as alt
from torch import Tensor

from book.figures.moving import WIDTH, Moving

# The value of a gate at its input z. `datum.gelu` and `datum.slope` come with the figure, as no
# formula of its language has the error function.
SIGMOID = "1 / (1 + exp(-{0}))"
KINDS = {
    "identity (bilinear)": ("datum.z", "1"),
    "sigmoid (GLU)": (SIGMOID.format("datum.z"), "datum.gate * (1 - datum.gate)"),
    "ReLU (ReGLU)": ("max(datum.z, 0)", "datum.z > 0 ? 1 : 0"),
    "GELU (GeGLU)": ("datum.gelu", "datum.slope"),
    "Swish (SwiGLU)": (
        f"datum.z * {SIGMOID.format('(beta * datum.z)')}",
        f"{SIGMOID.format('(beta * datum.z)')} + beta * datum.gate"
        f" * (1 - {SIGMOID.format('(beta * datum.z)')})",
    ),
}
CURVES = ("gate", "its slope", "gate times value")


def gates(z: Tensor, gelu: Tensor, slope: Tensor) -> Moving:
    """Draw a gate, its slope, and what it makes of a value.

    z      (N,) inputs
    gelu   (N,) GELU of them
    slope  (N,) its derivative there
    """
    columns = zip(z.tolist(), gelu.tolist(), slope.tolist(), strict=True)
    rows = [{"z": round(a, 3), "gelu": round(b, 6), "slope": round(c, 6)} for a, b, c in columns]
    named = alt.Scale(domain=[*CURVES])
    chart = (
        alt.Chart(alt.Data(values=rows))
        .transform_calculate(gate=_chosen(0))
        .transform_calculate(steepness=_chosen(1), through="datum.gate * value")
        .transform_fold(["gate", "steepness", "through"], as_=["curve", "y"])
        .transform_calculate(curve=_named())
        .mark_line(clip=True)
        .encode(
            x=alt.X("z:Q", title="z, what the gate is given"),
            y=alt.Y("y:Q", title=None, scale=alt.Scale(domain=[-3, 4])),
            color=alt.Color("curve:N", scale=named, title=None),
            strokeDash=alt.StrokeDash("curve:N", scale=named, title=None),
        )
        .properties(width=WIDTH - 50, height=240)
        .add_params(*_controls())
    )
    return Moving(
        chart,
        title="Gates",
        question="Choose Swish and let beta grow: which other curve does it become, and at beta 0? "
        "Where has each gate a slope of 0, so that nothing is learned there? Then make the value "
        "negative: can what comes through be negative where the gate is wide open?",
        description="Three curves against z from -4 to 4 for Swish with beta 1: the gate, with a "
        "shallow dip left of 0, its slope, and the gate times a value of one half.",
        summary="Swish with a large beta is ReLU, with beta 0 it is half of z. ReLU has slope 0 "
        "for all negative z, GELU and Swish at one point only, their minimum, and hardly any far "
        "left. The value gives the sign and the gate says how much of it passes.",
    )


def _chosen(which: int) -> str:
    """Write an expression that picks the formula of the chosen kind."""
    branches = "".join(f"kind == '{kind}' ? {pair[which]} : " for kind, pair in KINDS.items())
    return f"{branches}0"


def _named() -> str:
    return (
        f"datum.curve == 'gate' ? '{CURVES[0]}' : "
        f"datum.curve == 'steepness' ? '{CURVES[1]}' : '{CURVES[2]}'"
    )


def _controls() -> list[alt.Parameter]:
    menu = alt.binding_select(options=[*KINDS], name="gate")
    beta = alt.binding_range(min=0, max=10, step=0.5, name="beta of Swish")
    value = alt.binding_range(min=-2, max=2, step=0.5, name="value")
    return [
        alt.param(name="kind", value="Swish (SwiGLU)", bind=menu),
        alt.param(name="beta", value=1, bind=beta),
        alt.param(name="value", value=0.5, bind=value),
    ]
