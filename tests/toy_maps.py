"""A small set of random maps, for the tests of labelling."""

import numpy as np
import pandas as pd

from darksecrets.paper.patterns.maps.mapset import COLUMNS, MapSet, no_labels


def toy_set(count: int, seed: int = 0) -> MapSet:
    """Maps of 3 to 6 tokens, ``toy-0001`` and so on, without labels."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 7, size=count)
    rows = [
        {
            "map": f"toy-{number:04d}",
            "model": "toy",
            "task": "RTE",
            "state": "finetuned",
            "seed": 1,
            "idx": number,
            "layer": 1 + number % 2,
            "head": 1 + number % 3,
            "tokens": " ".join(["[CLS]", *["word"] * (length - 2), "[SEP]"]),
            "segments": "0" * length,
            "special": "1" + "0" * (length - 2) + "1",
            "earlier": "",
        }
        for number, length in enumerate(lengths, 1)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"seed": "Int64"})
    maps = [rng.dirichlet(np.ones(n), size=n).astype(np.float16) for n in lengths]
    return MapSet(table, maps, no_labels())
