"""A figure with controls: Vega-Lite in the web book, in a notebook whatever Altair shows there.

A module of this folder takes arrays and gives a `Moving`. On a page of the book it is a picture
that comes to life where scripts run, so that print, EPUB and readers without scripts have it too.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

import altair as alt

from book.figures.style import BLUE, GREEN, GREY, ORANGE, PINK

WIDTH = 420  # of a whole figure; a narrow window shrinks it
IN_BOOK = "COURSE_BOOK"  # set while the web book is built
PALETTE = [BLUE, ORANGE, GREEN, PINK, GREY]

PAGE = """\
<figure class="moving">
<img alt="{description}" src="data:image/svg+xml;base64,{picture}">
<div class="moving-chart" role="group" aria-label="{title}"></div>
<figcaption><p><strong>{title}.</strong> {question}</p>
<details><summary>What there is to see</summary><p>{summary}</p></details></figcaption>
<script type="application/json">{spec}</script>
</figure>
"""


@dataclass(frozen=True)
class Moving:
    """A chart with controls, and its words.

    chart        with parameters that are bound to sliders, boxes or menus
    title        what it shows, without a full stop
    question     what to move, and what to find out by it
    description  what a reader sees at first: the alternative text
    summary      what the figure shows, for who cannot move it
    """

    chart: alt.TopLevelMixin
    title: str
    question: str
    description: str
    summary: str

    def spec(self) -> dict[str, Any]:
        """Give the Vega-Lite specification."""
        spec: dict[str, Any] = looked_after(self.chart).to_dict()
        return spec | {"description": self.description}

    def _ipython_display_(self) -> None:
        """Show the figure, on a page of the book or in a notebook."""
        show = import_module("IPython.display")
        if os.environ.get(IN_BOOK):
            show.display(show.HTML(page(self)))
        else:
            show.display(looked_after(self.chart), show.Markdown(words(self)))


def words(figure: Moving) -> str:
    """Write title, question and, folded, what there is to see, in Markdown."""
    folded = f"<details><summary>What there is to see</summary>{escape(figure.summary)}</details>"
    return f"**{figure.title}.** {figure.question}\n\n{folded}"


def looked_after(chart: Any) -> Any:
    """Give a chart the look of all figures: see `style`."""
    return (
        chart.configure(background="white", font="sans-serif")
        .configure_range(category=PALETTE)
        .configure_view(stroke=None)
        .configure_axis(gridColor="#e4e4e4", labelFontSize=12, titleFontSize=12)
        .configure_legend(labelFontSize=12, titleFontSize=12, orient="top")
        .configure_title(fontSize=13, anchor="start", fontWeight="normal")
        .configure_header(labelFontSize=12, titleFontSize=12)
    )


def page(figure: Moving) -> str:
    """Write the figure for a page: a picture, and what the script needs to bring it to life."""
    spec = figure.spec()
    return PAGE.format(
        picture=base64.b64encode(still(spec).encode()).decode(),
        spec=json.dumps(spec).replace("</", "<\\/"),
        **{
            name: escape(getattr(figure, name))
            for name in ("title", "question", "description", "summary")
        },
    )


def still(spec: dict[str, Any]) -> str:
    """Draw a specification as SVG, its controls as they are at first."""
    svg: str = import_module("vl_convert").vegalite_to_svg(spec)
    return svg
