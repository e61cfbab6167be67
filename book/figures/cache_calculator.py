"""How many bytes a key/value cache takes, of real models or of one's own."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from book.figures.moving import WIDTH, Moving

OWN = "my own"
SHAPE = ("layers", "heads", "groups", "width")
BARS = {"as it is": "groups", "a key for every head": "heads", "one key for all": "1"}
NUMBERS = "2 * {layers} * {groups} * {width} * pow(2, context) * pow(2, batch) * bytes"


def cache_calculator(models: Mapping[str, tuple[int, int, int, int]]) -> Moving:
    """Draw the cache in GiB: of the model, with a key for every head, and with one for all.

    models  name -> layers, query heads, key/value heads, width of a head
    """
    sizes = {name: _of_model(models, name) for name in SHAPE}
    chart = (
        alt.Chart(alt.Data(values=[{"bar": bar} for bar in BARS]))
        .transform_calculate(groups=_by_bar(sizes))
        .transform_calculate(
            GiB=NUMBERS.format(**sizes | {"groups": "datum.groups"}) + " / pow(2, 30)"
        )
    )
    x = alt.X("GiB:Q", title="GiB", scale=alt.Scale(domainMin=0))
    y = alt.Y("bar:N", title=None, sort=[*BARS], axis=alt.Axis(labelLimit=160))
    bars = chart.mark_bar().encode(x=x, y=y, color=alt.Color("bar:N", sort=[*BARS], legend=None))
    labels = chart.mark_text(align="left", dx=4).encode(
        x=x, y=y, text=alt.Text("GiB:Q", format=",.3~r")
    )
    drawn = alt.layer(bars, labels).properties(width=WIDTH - 190, height=130)
    return Moving(
        drawn.add_params(*_controls([*models, OWN])),
        title="What a cache takes",
        question="Choose Llama 2 70B at 32,768 tokens (2 to the power of 15). How many users fit "
        "into the 80 GiB of a card that holds nothing else, and how many would if every head had "
        "a key of its own?",
        description="Three bars in GiB for the chosen model: as it is, with a key for every query "
        "head, and with one key for all heads.",
        summary="The cache grows in proportion to layers, key/value heads, their width, tokens, "
        "sequences and bytes for each number. The query heads do not count. At 32,768 tokens in "
        "two bytes Llama 2 70B takes 10 GiB for one sequence; with a key for every head it would "
        "take 80.",
    )


def _of_model(models: Mapping[str, tuple[int, int, int, int]], name: str) -> str:
    """Write the expression for one size: that of the chosen model, or the slider's."""
    known = {model: shape[SHAPE.index(name)] for model, shape in models.items()}
    return f"(model == '{OWN}' ? own_{name} : {known}[model])"


def _by_bar(sizes: Mapping[str, str]) -> str:
    """Write the expression for the key/value heads of a bar."""
    first, second, _ = BARS
    own, every = sizes["groups"], sizes["heads"]
    return f"datum.bar == '{first}' ? {own} : datum.bar == '{second}' ? {every} : 1"


def _controls(models: list[str]) -> list[alt.Parameter]:
    ranges = {
        "context": (10, 20, 15, "tokens: 2 to the power of"),
        "batch": (0, 8, 0, "sequences: 2 to the power of"),
        "own_layers": (1, 128, 32, "my own: layers"),
        "own_heads": (1, 128, 32, "my own: query heads"),
        "own_groups": (1, 128, 8, "my own: key/value heads"),
        "own_width": (16, 256, 128, "my own: width of a head"),
    }
    sliders = {
        name: alt.param(
            name=name, value=value, bind=alt.binding_range(min=low, max=high, step=1, name=words)
        )
        for name, (low, high, value, words) in ranges.items()
    }
    menu = alt.binding_select(options=models, name="model")
    size = alt.binding_select(options=[1, 2, 4], name="bytes for each number")
    model = alt.param(name="model", value="Llama 2 70B", bind=menu)
    own = [param for name, param in sliders.items() if name.startswith("own")]
    per_number = alt.param(name="bytes", value=2, bind=size)
    return [model, sliders["context"], sliders["batch"], per_number, *own]
