"""Figures that move: their words, their numbers, and that they move."""

import json
import re
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest
import torch
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter

from book.figures.cache_calculator import cache_calculator
from book.figures.gates import gates
from book.figures.gradient_by_depth import gradient_by_depth
from book.figures.head_maps import head_maps
from book.figures.mask_painter import mask_painter
from book.figures.moving import IN_BOOK, Moving, page, still
from book.figures.next_token import next_token
from book.figures.rotary_score import SINUSOIDS, rotary_score
from book.figures.router_load import router_load
from book.figures.width_and_softmax import width_and_softmax
from solutions.activations import gelu, swish
from solutions.cache import kv_cache_bytes
from solutions.documents import document_mask
from solutions.masks import causal_mask, combine_masks, padding_mask
from solutions.positions import sinusoidal_encoding
from solutions.rotary import apply_rope
from solutions.routing import dispatch_slots, expert_capacity, top_k_route
from solutions.sampling import apply_temperature, top_k_filter, top_p_filter
from solutions.softmax import softmax

GUIDES = ("axis", "legend", "title")
DOUBLE = alt.param(name="factor", value=2, bind=alt.binding_range(min=1, max=9, step=1))


def toy() -> Moving:
    """Three bars that a slider makes longer."""
    chart = (
        alt.Chart(alt.Data(values=[{"x": x} for x in (1, 2, 3)]))
        .transform_calculate(y="datum.x * factor")
        .mark_bar()
        .encode(x="x:O", y="y:Q")
        .add_params(DOUBLE)
    )
    return Moving(chart, "Three <bars>", "How long?", "Bars of 2, 4 and 6", "They grow.")


def numbers(figure: Moving, **moved: object) -> list[dict[str, str]]:
    """Read what the marks of a figure say to a screen reader, after moving its controls."""
    return marks_of(figure.spec(), **moved)


def marks_of(spec: dict[str, Any], **moved: object) -> list[dict[str, str]]:
    """Read the marks of a specification."""
    for param in spec["params"]:
        param["value"] = moved.pop(param["name"], param.get("value"))
    assert not moved, f"no controls of these names: {moved}"
    tree = ElementTree.fromstring(still(spec))
    drawn = [mark for mark in tree.iter() if mark.get("aria-roledescription", "axis") not in GUIDES]
    marks = (mark.get("aria-label", "") for mark in drawn)
    pairs = (dict(re.findall(r"([^:;]+): ([^;]+)(?:; |$)", mark)) for mark in marks)
    return [{key.strip(): value for key, value in pair.items()} for pair in pairs if pair]


def test_the_numbers_of_a_formula_are_read_after_moving():
    assert [mark["y"] for mark in numbers(toy())] == ["2", "4", "6"]
    assert [mark["y"] for mark in numbers(toy(), factor=9)] == ["9", "18", "27"]


def test_a_page_has_a_picture_the_words_and_the_specification():
    figure = toy()
    tree = BeautifulSoup(page(figure), "html.parser")
    assert tree.img["alt"] == figure.description
    assert tree.img["src"].startswith("data:image/svg+xml;base64,")
    assert tree.select_one(".moving-chart")["aria-label"] == figure.title
    assert tree.strong.text == f"{figure.title}."
    assert figure.question in tree.figcaption.text
    assert figure.summary in tree.figcaption.text
    assert json.loads(tree.script.text) == figure.spec()
    assert figure.spec()["description"] == figure.description


def test_it_is_written_the_same_each_time():
    assert page(toy()) == page(toy())


def test_a_closing_tag_in_the_data_does_not_end_the_script():
    chart = alt.Chart(alt.Data(values=[{"x": "</script>"}])).mark_bar().encode(x="x:N")
    tree = BeautifulSoup(page(Moving(chart, "a", "b", "c", "d")), "html.parser")
    assert "</script>" in json.loads(tree.script.text)["data"]["values"][0]["x"]


def mimes(thing: object) -> list[str]:
    """Name the kinds in which IPython would show something."""
    return [*DisplayFormatter().format(thing)[0]]


@pytest.mark.parametrize(("in_book", "kind"), [("1", "text/html"), ("", "text/markdown")])
def test_the_book_shows_html_and_a_notebook_what_altair_shows(monkeypatch, in_book, kind):
    shown: list[object] = []
    monkeypatch.setenv(IN_BOOK, in_book)
    monkeypatch.setattr("IPython.display.display", lambda *things: shown.extend(things))
    toy()._ipython_display_()
    assert kind in repr(mimes(shown[-1]))
    assert len(shown) == (1 if in_book else 2)


# The figures of the chapters: their numbers are those of the solutions.


def test_width_and_softmax_shows_the_weights_of_the_chosen_width():
    scores = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(0)) * 3
    weights = softmax(scores)
    figure = width_and_softmax([16, 32, 64], weights)
    for at in (0, 1, 2):
        bars = [mark for mark in numbers(figure, at=at) if "weight" in mark]
        shown = torch.tensor([float(mark["weight"]) for mark in bars])
        torch.testing.assert_close(shown, weights[at].flatten(), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("causal", "window", "real", "first"),
    [(True, 0, 12, 12), (False, 0, 5, 12), (True, 3, 5, 12), (True, 0, 12, 5), (False, 4, 7, 2)],
)
def test_the_mask_painter_paints_what_the_masks_say(causal, window, real, first):
    n = 12
    places = torch.arange(n)
    ends = (places == first - 1).int()[None]  # where the first document ends
    documents = document_mask(ends, end=1)[0, 0]
    masks = [
        causal_mask(n, n) if causal else None,
        (places[:, None] - places).abs() < window if window else None,
        padding_mask(torch.tensor([real]), n)[0, 0],
        documents | documents.mT,  # in both directions: causal is a mask of its own here
    ]
    cells = numbers(mask_painter(), causal=causal, window=window, real=real, first=first)
    painted = torch.zeros(n, n, dtype=torch.bool)
    for cell in cells:
        painted[int(cell["query"]), int(cell["key"])] = cell["sees"] == "sees"
    assert len(cells) == n * n
    assert torch.equal(painted, combine_masks(*masks).expand(n, n))


def test_the_head_maps_show_the_chosen_head():
    weights = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(0)).tril()
    figure = head_maps(["a", "b", "c", "d"], weights)
    for layer, head in ((1, 1), (2, 3)):
        shown = torch.zeros(4, 4)
        for mark in numbers(figure, layer=layer, head=head):
            key, query = (int(mark[name]) for name in ("is read (key)", "reads (query)"))
            shown[query, key] = float(mark["weight"])
        torch.testing.assert_close(shown, weights[layer - 1, head - 1], atol=1e-3, rtol=0)


MODELS = {"Llama 2 70B": (80, 64, 8, 128), "Falcon 7B": (32, 71, 1, 64)}


@pytest.mark.parametrize("moved", [
    {"model": "Llama 2 70B", "context": 15, "batch": 0, "bytes": 2},
    {"model": "Falcon 7B", "context": 10, "batch": 3, "bytes": 4},
    {"model": "my own", "own_layers": 3, "own_heads": 6, "own_groups": 2, "own_width": 48},
])  # fmt: skip
def test_the_calculator_counts_as_the_formula_does(moved):
    own = (moved.get(f"own_{name}") for name in ("layers", "heads", "groups", "width"))
    layers, heads, groups, width = MODELS.get(moved["model"], own)
    tokens, batch = 2 ** moved.get("context", 15), 2 ** moved.get("batch", 0)
    shown = [mark["GiB"] for mark in numbers(cache_calculator(MODELS), **moved) if "bar" in mark][
        :3
    ]
    for text, kv_heads in zip(shown, (groups, heads, 1), strict=True):
        options = {"batch": batch, "bytes_per_number": moved.get("bytes", 2)}
        total = kv_cache_bytes(layers, kv_heads, width, tokens, **options)
        assert float(text.replace(",", "")) == pytest.approx(total / 2**30, rel=1e-6)


def test_the_rotary_score_is_that_of_turned_vectors():
    g = torch.Generator().manual_seed(1)
    query, key = torch.randn(2, 8, generator=g)
    speeds = torch.tensor([1.0, 0.3, 0.1, 0.03])
    for at_query, at_key in ((20, 12), (3, 40), (7, 7)):
        marks = numbers(rotary_score(query, key, speeds), query=at_query, key=at_key)
        turned_q = apply_rope(query[None], speeds[None] * at_query)[0]
        turned_k = apply_rope(key[None], speeds[None] * at_key)[0]
        by_distance = {
            int(m["distance (query - key)"].replace("−", "-")): m["score"]
            for m in marks
            if "score" in m
        }
        shown = float(by_distance[at_query - at_key].replace("−", "-"))
        assert shown == pytest.approx((turned_q @ turned_k).item(), abs=1e-3)
        hands = [m for m in marks if m.get("who") == "query"][::2]  # each has a tip as well
        xs = [float(m["x"].replace("−", "-")) for m in hands]
        torch.testing.assert_close(torch.tensor(xs), turned_q[0::2], atol=1e-3, rtol=0)


def test_with_one_and_zero_the_rotary_score_is_the_product_of_two_sinusoidal_codes():
    speeds = torch.tensor([1.0, 0.3, 0.1, 0.03])
    codes = sinusoidal_encoding(torch.arange(20.0)[:, None] * speeds)
    products = codes @ codes.T
    figure = rotary_score(torch.ones(8), torch.ones(8), speeds)
    for mark in numbers(figure, vectors=SINUSOIDS):
        distance = int(mark.get("distance (query - key)", "99").replace("−", "-"))
        if 0 <= distance < 20:
            shown = float(mark["score"].replace("−", "-"))
            assert shown == pytest.approx(products[distance, 0].item(), abs=1e-3)


def test_the_gradients_are_those_of_the_chosen_depth():
    lengths = {"post": {2: [1.0, 2.0], 3: [1.5, 2.5, 3.5]}, "pre": {2: [4, 3], 3: [5, 4.5, 0.3]}}
    for depth in (2, 3):
        marks = numbers(gradient_by_depth(lengths), depth=depth)
        points = [m for m in marks if "norm" in m and "length of the gradient" in m]
        shown = {float(m["length of the gradient"]) for m in points}
        assert shown == {*lengths["post"][depth], *lengths["pre"][depth]}


@pytest.mark.parametrize(("kind", "activation"), [
    ("identity (bilinear)", lambda z, beta: z),
    ("sigmoid (GLU)", lambda z, beta: z.sigmoid()),
    ("ReLU (ReGLU)", lambda z, beta: z.relu()),
    ("GELU (GeGLU)", lambda z, beta: gelu(z)),
    ("Swish (SwiGLU)", swish),
])  # fmt: skip
def test_the_gates_are_those_of_the_solutions(kind, activation):
    z = torch.tensor([-2.0, -0.5, 0.25, 1.5], requires_grad=True)
    (slope,) = torch.autograd.grad(gelu(z).sum(), z)
    figure = gates(z.detach(), gelu(z).detach(), slope)
    for beta, value in ((1.0, 1.0), (2.5, -1.5)):
        gate = activation(z, beta)
        (steep,) = torch.autograd.grad(gate.sum(), z)
        spec = figure.spec() | {"mark": {"type": "point"}}
        marks = marks_of(spec, kind=kind, beta=beta, value=value)
        for curve, expected in (
            ("gate", gate),
            ("its slope", steep),
            ("gate times value", gate * value),
        ):
            shown = [float(m["y"].replace("−", "-")) for m in marks if m["curve"] == curve]
            torch.testing.assert_close(torch.tensor(shown), expected.detach(), atol=1e-5, rtol=0)


@pytest.mark.parametrize(("k", "noise", "factor"), [(1, 0, 1), (2, 0, 0.5), (3, 1.5, 1.25)])
def test_the_router_gives_places_as_the_solutions_do(k, noise, factor):
    g = torch.Generator().manual_seed(2)
    scores, drawn = torch.randn(2, 40, 8, generator=g).mul(1000).round().div(1000)
    moved = {"k": k, "noise": noise, "factor": factor}
    _, chosen = top_k_route(scores + noise * drawn, k)
    slots = dispatch_slots(chosen, 8, expert_capacity(40, 8, k, factor))
    for fate, has_place in (("has a place", slots >= 0), ("dropped", slots < 0)):
        marks = [m for m in numbers(router_load(scores, drawn), **moved) if m.get("fate") == fate]
        shown = torch.zeros(8, dtype=torch.int64)
        for mark in marks:
            shown[int(mark["expert"])] = int(mark["tokens"])
        assert torch.equal(shown, chosen[has_place].bincount(minlength=8))


@pytest.mark.parametrize(
    ("temperature", "k", "p"), [(1, 9, 1), (0.5, 9, 0.8), (2, 4, 0.7), (1, 3, 1), (0.7, 1, 0.05)]
)
def test_the_next_token_is_filtered_as_the_solutions_do(temperature, k, p):
    logits = torch.tensor([1.0, 2.5, -1.0, 0.5, 2.0, 0.0, -0.5, 1.5, -2.0])
    names = list("abcdefghi")
    filtered = top_p_filter(top_k_filter(apply_temperature(logits, temperature), k), p)
    chances = filtered.softmax(-1)
    marks = numbers(next_token(names, logits), temperature=temperature, k=k, p=p)
    bars = {m["token"]: float(m["probability"]) for m in marks if m.get("fate") == "can be drawn"}
    assert {*bars} == {name for name, chance in zip(names, chances, strict=True) if chance > 0}
    for name, chance in bars.items():
        assert chance == pytest.approx(chances[names.index(name)].item(), abs=1e-4)
