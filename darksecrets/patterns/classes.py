"""The five classes of self-attention maps: names, definitions and keys (section 4.1, Figure 1)."""

from __future__ import annotations

PATTERNS: dict[str, str] = {
    "vertical": (
        "One or several columns run dark through nearly all rows, whichever tokens they are. "
        "No diagonal is plainly seen."
    ),
    "diagonal": (
        "One or more lines, or a narrow band, along or beside the main diagonal: tokens attend to "
        "themselves or their neighbours. No full column is plainly seen."
    ),
    "vertical+diagonal": "A diagonal and at least one nearly full column are both plainly seen.",
    "block": (
        "Tokens attend within their own sentence: two squares along the diagonal and two pale "
        "quadrants, or one square beside pale special tokens. The squares strike the eye first."
    ),
    "heterogeneous": (
        "None of these: scattered cells, columns that reach only some of the rows, repeated words."
    ),
}
"""Name and definition of every class, in the order of the paper's Figure 1.

If two fit, the more salient one is chosen; a broken column counts as vertical when it reaches about
two thirds of the rows.
"""

KEYS = dict(zip("vdmbh", PATTERNS, strict=True))
"""The key that stands for each class: m as in mixed, of vertical and diagonal."""
