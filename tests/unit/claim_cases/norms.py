"""Made-up tables for the claims that `darksecrets.beyond.norms` decides."""

from claim_tables import NO, OPEN, TASKS, YES, Frames, among, together

from darksecrets.pages.claims.answers import Answer


def encoder(column: str, value: float, kind: str = "special") -> Frames:
    """A number of the whole pre-trained encoder on every task, ± 0.05; and of other encoders."""
    parts = (
        (value, {"state": "pretrained", "layer": None}),
        (-9.0, {"state": "pretrained", "layer": 1}),
        (9.0, {"state": "finetuned", "layer": None}),
    )
    more = {"each": ("task",), "things": TASKS, "kind": kind, "half": 0.05, "uniform": 0.2}
    return among("norm_levels", column, *parts, **more)


def shares(norm: float, over: float) -> Frames:
    """A share of norm, and how much it exceeds that with random lengths."""
    both = encoder("norm", norm)
    excess = encoder("over_control", over)["norm_levels"]
    names = ["over_control", "over_control_low", "over_control_high"]
    both["norm_levels"][names] = excess[names]
    return both


def lengths(frequent: float, other: float) -> Frames:
    return together(
        encoder("length", frequent, "frequent word"), encoder("length", other, "other word")
    )


CASES: dict[str, dict[Answer, Frames]] = {
    "N1": {YES: shares(0.1, -0.1), NO: shares(0.1, 0.1), OPEN: shares(0.2, -0.1)},
    "N2": {
        YES: encoder("norm_weight_ratio", 0.4),
        NO: encoder("norm_weight_ratio", 0.6),
        OPEN: encoder("norm_weight_ratio", 0.5),
    },
    "N3": {
        YES: encoder("correlation", -0.3),
        NO: encoder("correlation", 0.3),
        OPEN: encoder("correlation", -0.2),
    },
    "N4": {YES: lengths(0.8, 1.1), NO: lengths(1.1, 0.8), OPEN: lengths(1, 1.01)},
}
