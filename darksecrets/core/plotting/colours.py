"""All colours by name: of figures, of the atlas and of pages. No other module has any of its own.

Those of lines and marks are safe for all common forms of colour blindness; where two of them are
told apart, markers or dashes differ too. In colour maps, darker is greater.
"""

from __future__ import annotations

# Okabe and Ito's colours.
BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILLION, PINK = "#E69F00", "#D55E00", "#CC79A7"
INK, GREY, BAND = "#333333", "#6E6E6E", "#D9D9D9"
UNKNOWN = BAND
"""Cells of heatmaps without a value."""
FAINT = "#E6E6E6"
"""Lines of grids."""

BASELINE = ORANGE
"""The intact model's score, next to those with heads disabled: the paper's orange."""
MARK = BLUE
"""Dots on heads, and words that a figure points at."""
HELPED, HURT = "#542788", "#B35806"
"""Scores above and below the intact model's: the ends of `CHANGE`."""

SIMILARITY = "Blues_r"
"""Colour map of the paper for similarities between 0 and 1: darker = greater difference."""
WEIGHT = "YlOrRd"
"""Colour map of the paper for attention weights per head: darker = more attention."""
MAP = "Reds"
"""Colour map of the paper for one self-attention map: darker = more attention."""
SCORE = "Blues"
"""Colour map for task scores: darker = greater score, as in the paper."""
CHANGE = "PuOr"
"""Colour map for differences around 0: orange below, purple above."""

STATES = {"pretrained": BLUE, "finetuned-from-normal": ORANGE, "finetuned": GREEN}
"""Every model state."""
PATTERNS = {  # Paul Tol's muted scheme
    "vertical": "#332288",
    "diagonal": "#88CCEE",
    "vertical+diagonal": "#44AA99",
    "block": "#DDCC77",
    "heterogeneous": "#CCCCCC",
}
"""Every pattern of self-attention, in the order of Figure 1."""
PATTERN_LETTERS = dict(zip(PATTERNS, "VD+BH", strict=True))
"""What is written for every pattern where there is no room for its name."""
PALE_BLUE, PALE_ORANGE = "#9ECAE1", "#F5B27A"
"""Behind text."""
