"""One look for all figures: colours that colour-blind readers can tell apart, sharp at any size."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

try:
    from matplotlib_inline.backend_inline import set_matplotlib_formats
except ImportError:  # outside of Jupyter there are no inline figures to set up
    set_matplotlib_formats = None

# Okabe & Ito's palette without its yellow, which is too pale on white.
BLUE, ORANGE, GREEN, PINK, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#555555"

SETTINGS = {
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "axes.prop_cycle": plt.cycler(color=[BLUE, ORANGE, GREEN, PINK, GREY]),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "legend.frameon": False,
    "svg.hashsalt": "transformer-course",
}


def use_style() -> None:
    """Set the look of every figure that follows; in a notebook, draw them as SVG."""
    plt.rcParams.update(SETTINGS)
    if set_matplotlib_formats is not None:
        set_matplotlib_formats("svg")


def panels(count: int, height: float = 2.8) -> list[Axes]:
    """Make a row of panels, 8 inches wide in all."""
    _, axes = plt.subplots(1, count, figsize=(8, height), layout="constrained", squeeze=False)
    return list(axes[0])
