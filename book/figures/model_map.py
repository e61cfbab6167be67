"""A whole language model as one drawing, whose parts lead to where they were derived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LEFT, HEIGHT, GAP = 340, 44, 34, 12
STREAM = 22  # where the residual stream runs
CARD = "background:#fff;color:#111;border-radius:8px"  # in both themes, as figures have it


@dataclass(frozen=True)
class Part:
    """A box of the drawing.

    words    what it does
    chapter  number of the chapter that derives it
    place    page and section, as a link
    branch   "" on the stream itself; "first", "inner" or "last" on a branch that leaves it
    """

    words: str
    chapter: int
    place: str
    branch: str = ""


@dataclass(frozen=True)
class ModelMap:
    """Boxes from the top, where tokens come in, to the bottom; some repeat in every block.

    before, block, after  the parts
    """

    before: Sequence[Part]
    block: Sequence[Part]
    after: Sequence[Part]

    def _repr_html_(self) -> str:
        """Give the drawing: the Tab key reaches its links."""
        boxes = [*self.before, *self.block, *self.after]
        tops = [16 + i * (HEIGHT + GAP) for i in range(len(boxes))]
        first, last = len(self.before), len(self.before) + len(self.block)
        drawn = [
            _line(STREAM, 4, STREAM, tops[-1] + HEIGHT + 12, arrow=True),
            _frame(tops[first] - 8, tops[last - 1] + HEIGHT + 8),
            *(_box(part, top) for part, top in zip(boxes, tops, strict=True)),
        ]
        height = tops[-1] + HEIGHT + 16
        return (
            f'<svg class="model-map" viewBox="0 0 {WIDTH} {height}" role="group" '
            f'aria-label="A language model from its input to its output" '
            f'style="width:100%;max-width:{WIDTH * 1.4:.0f}px;display:block;margin:auto;{CARD}" '
            f'font-family="inherit" font-size="12">{_ARROW}{"".join(drawn)}</svg>'
        )


_ARROW = (
    '<defs><marker id="model-map-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>'
)


def _box(part: Part, top: int) -> str:
    middle = top + HEIGHT / 2
    label = escape(f"{part.words}, chapter {part.chapter}")
    rectangle = (
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - 8}" height="{HEIGHT}" rx="5" '
        'fill="none" stroke="currentColor"/>'
    )
    words = (
        f'<text x="{LEFT + 10}" y="{middle + 4}" fill="currentColor">{escape(part.words)}</text>'
    )
    number = (
        f'<text x="{WIDTH - 18}" y="{middle + 4}" fill="currentColor" text-anchor="end">'
        f"{part.chapter}</text>"
    )
    shown = f"{rectangle}{words}{number}"
    link = f'<a href="{escape(part.place)}" aria-label="{label}" style="color:inherit">{shown}</a>'
    return "".join(_joins(part, middle)) + link


def _joins(part: Part, middle: float) -> list[str]:
    """Join a box to the stream: it reads a copy, or adds what it says, or stands in the stream."""
    if part.branch == "first":
        return [_line(STREAM, middle, LEFT, middle, arrow=True)]
    if part.branch == "last":
        return [_line(LEFT, middle, STREAM + 8, middle, arrow=True), _plus(middle)]
    if part.branch == "inner":
        return []
    return [_line(STREAM, middle, LEFT, middle)]


def _plus(middle: float) -> str:
    return (
        f'<circle cx="{STREAM}" cy="{middle}" r="8" fill="none" stroke="currentColor"/>'
        f'<path d="M{STREAM - 5} {middle}H{STREAM + 5}M{STREAM} {middle - 5}V{middle + 5}" '
        'stroke="currentColor"/>'
    )


def _frame(top: float, bottom: float) -> str:
    return (
        f'<rect x="4" y="{top}" width="{WIDTH - 6}" height="{bottom - top}" rx="8" fill="none" '
        'stroke="currentColor" stroke-dasharray="4 4" opacity="0.6"/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, *, arrow: bool = False) -> str:
    tip = ' marker-end="url(#model-map-tip)"' if arrow else ""
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="currentColor" fill="none"{tip}/>'
