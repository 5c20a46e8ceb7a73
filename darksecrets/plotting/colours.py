"""Colours of model states and patterns, the same in all figures and in the atlas."""

from __future__ import annotations

# Okabe and Ito's colours, safe for all common forms of colour blindness.
STATES = {
    "pretrained": "#0072B2",
    "finetuned-from-normal": "#E69F00",
    "finetuned": "#009E73",
}
"""Colour of every model state."""
# Colours of Paul Tol's muted scheme, also safe for all common forms of colour blindness.
PATTERNS = {
    "vertical": "#332288",
    "diagonal": "#88CCEE",
    "vertical+diagonal": "#44AA99",
    "block": "#DDCC77",
    "heterogeneous": "#CCCCCC",
}
"""Colour of every pattern of self-attention, in the order of Figure 1."""
