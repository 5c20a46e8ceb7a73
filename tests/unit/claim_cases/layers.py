"""Made-up tables for the claims that `darksecrets.beyond.layers` decides."""

import pandas as pd
from claim_tables import NO, OPEN, SEEDS, YES, Frames, whole

from darksecrets.beyond.layers import declared
from darksecrets.pages.claims.answers import Answer

Thirds = tuple[float, float, float]

THIRDS = {0: 0, 1: 0, 2: 0, 3: 1, 4: 1, 5: 2, 6: 2}
"""Layers of an encoder with six, and the third that each is in; the embeddings are in none."""
TASKS = ("RTE", "MRPC")


def estimate(name: str, value: float, half: float) -> dict[str, float]:
    return {name: value, f"{name}_low": value - half, f"{name}_high": value + half}


def before(
    table: str, name: str, thirds: tuple[float, float, float], half: float, **more
) -> Frames:
    """What is measured of the pre-trained encoder in its lower, middle and upper third."""
    rows = [
        {"task": "", "state": "pretrained", "seed": pd.NA, "layer": layer, **more}
        | estimate(name, thirds[third], half)
        for layer, third in THIRDS.items()
    ]
    return {table: pd.DataFrame(rows)}


def read(property: str, thirds: Thirds, half: float = 0.01) -> Frames:
    return whole(before("layer_probes", "accuracy", thirds, half, property=property))


def after(label: float, tag: float, half: float = 0.01) -> Frames:
    """How many more labels, and parts of speech, the upper third of fine-tuned models tells."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "layer": layer, "property": name}
        | estimate("accuracy", 0.6 + more * (third - 1) / 2, half)
        for task in TASKS
        for seed in SEEDS
        for name, more in {declared.LABEL: label, declared.TAG: tag}.items()
        for layer, third in THIRDS.items()
    ]
    return whole({"layer_probes": pd.DataFrame(rows)})


def resolved(relation: float, tag: float, half: float) -> Frames:
    rows = [
        {"task": "", "state": "pretrained", "seed": pd.NA, "property": name}
        | estimate("expected_layer", layer, half)
        for name, layer in {declared.RELATION: relation, declared.TAG: tag}.items()
    ]
    return whole({"layer_order": pd.DataFrame(rows)})


def trees(
    over_chain: float, over_embeddings: float, half: float = 0.02, random: float = 0.3
) -> Frames:
    """Gold arcs in trees of the encoder, whose embeddings have .5, and with random weights."""
    rows = [
        {"task": "", "state": state, "seed": seed, "layer": layer}
        | estimate("over_chain", over_chain, half)
        | estimate("uuas", 0.5 if layer == 0 else middle, half)
        for state, seed, middle in (
            ("pretrained", pd.NA, 0.5 + over_embeddings),
            ("random", 1, random),
        )
        for layer in THIRDS
    ]
    return whole({"structural_probes": pd.DataFrame(rows)})


def cosines(lower: float, upper: float, half: float = 0.02) -> Frames:
    thirds = (lower, (lower + upper) / 2, upper)
    return whole(before("layer_geometry", "anisotropy", thirds, half))


def used(rte: float, mrpc: float, half: float) -> Frames:
    rows = [
        {"task": task, "seed": seed, "property": declared.TAG, "layer": layer}
        | estimate("over_random", cost if layer else 40, half)
        for task, cost in (("RTE", rte), ("MRPC", mrpc))
        for seed in SEEDS
        for layer in THIRDS
    ]
    return whole({"removed_properties": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "K1": {
        YES: read(declared.TAG, (0.8, 0.9, 0.8)),
        NO: read(declared.TAG, (0.8, 0.9, 0.95)),
        OPEN: read(declared.TAG, (0.8, 0.9, 0.89)),
    },
    "K2": {
        YES: read(declared.RELATION, (0.8, 0.9, 0.8)),
        NO: read(declared.RELATION, (0.95, 0.9, 0.8)),
        OPEN: read(declared.RELATION, (0.89, 0.9, 0.8)),
    },
    "K3": {YES: after(0.2, 0), NO: after(-0.2, 0), OPEN: after(0.005, 0)},
    "K4": {YES: after(0.2, -0.1), NO: after(0.2, 0.1), OPEN: after(0.2, 0)},
    "K5": {
        YES: read(declared.POSITION, (0.6, 0.5, 0.4)),
        NO: read(declared.POSITION, (0.6, 0.6, 0.7)),
        OPEN: read(declared.POSITION, (0.6, 0.6, 0.595)),
    },
    "O1": {YES: resolved(3, 1, 0.4), NO: resolved(1, 3, 0.4), OPEN: resolved(3, 2.5, 0.4)},
    "H1": {YES: trees(0.1, 0.1), NO: trees(-0.1, 0.1), OPEN: trees(0.1, 0.01)},
    "A1": {YES: cosines(0.1, 0.4), NO: cosines(-0.1, 0.4), OPEN: cosines(0.01, 0.4)},
    "A2": {YES: cosines(0.1, 0.4), NO: cosines(0.4, 0.1), OPEN: cosines(0.1, 0.15)},
    "Y1": {YES: used(-4, -3, 1), NO: used(-4, 5, 1), OPEN: used(-4, -0.5, 1)},
}

ALSO = [
    ("H1", NO, trees(0.1, 0.1, random=0.7)),  # random weights have them, too
    ("H1", NO, trees(0.1, -0.1)),  # the embeddings have them, too
    ("K4", NO, after(-0.2, -0.1)),  # no features of the task above
]
