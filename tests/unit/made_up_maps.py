"""Stores of made-up maps, and tokens with random features, for measures of heads."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.core.attention.store import AttentionStore, Windows, reach_of, write_store
from darksecrets.paper.features.labels import FEATURES, RELATIONS, WORD_FEATURES
from darksecrets.paper.features.tokens import Tokens

LAYERS, HEADS = 2, 3
LENGTHS = [23, 17, 17, 17, 9, 9, 5]


def random_tokens(length: int, idx: int, rng: np.random.Generator) -> Tokens:
    """Build two sentences with random features, pairs and equal words; some examples lack some."""
    middle = length // 2
    segments = (np.arange(length) > middle).astype(np.int64)
    special = np.isin(np.arange(length), [0, middle, length - 1])
    features = np.zeros((length, len(FEATURES)), dtype=np.bool_)
    rates = rng.choice([0, 0.1, 0.4], size=len(WORD_FEATURES))
    features[:, :-2] = (rng.random((length, len(WORD_FEATURES))) < rates) & ~special[:, None]
    features[0, -2], features[1:, -1] = True, special[1:]

    def pairs(count: int, *, across: bool) -> npt.NDArray[np.int64]:
        words = np.flatnonzero(~special)
        every = [
            (a, b)
            for a in words.tolist()
            for b in words.tolist()
            if a != b and (segments[a] != segments[b]) == across
        ]
        chosen = rng.permutation(len(every))[:count]
        return np.array([every[i] for i in sorted(chosen)], dtype=np.int64).reshape(-1, 2)

    related = tuple(pairs(int(n), across=False) for n in rng.integers(0, 4, len(RELATIONS)))
    equal = pairs(int(rng.integers(0, 4)), across=True)
    words = np.where(special, -1, rng.integers(6, size=length))
    forms = np.stack([words // 2, words // 3, words % 2, words % 3], axis=1)
    return Tokens(idx, segments, special, features, related, equal, words, forms)


def random_maps(
    seed: int, lengths: Sequence[int], shape: tuple[int, int], power: float, windows: Windows = ()
) -> list[npt.NDArray[np.float16]]:
    """Maps whose weights differ more the greater the power, of 0 beyond the windows."""
    rng = np.random.default_rng(seed)
    made = []
    for n in lengths:
        weights = rng.exponential(size=(*shape, n, n)) ** power
        reach = reach_of(windows, n)
        if reach is not None:
            weights *= reach[:, None]
        made.append((weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16))
    return made


def save(
    folder: Path,
    maps: list[npt.NDArray[np.float16]],
    windows: Windows = (),
    idx: Sequence[int] | None = None,
    word: str = "w",
) -> AttentionStore:
    lengths, idx = [one.shape[-1] for one in maps], idx or range(len(maps))
    examples = pd.DataFrame({"idx": idx, "tokens": [[word] * n for n in lengths]})
    for name in ("segments", "special", "starts", "ends"):
        examples[name] = [[0] * n for n in lengths]
    with write_store(folder, examples, *maps[0].shape[:2], windows) as writer:
        for one in maps:
            writer.append(one)
    return AttentionStore.open(folder)


def can(store: AttentionStore, layer: int, i: int, j: int) -> bool:
    """Whether a query may attend to a key."""
    window = store.windows[layer] if store.windows else None
    return window is None or abs(i - j) <= window


class Even:
    """Stands in for a store: uniform attention in reach, in double precision."""

    def __init__(self, store: AttentionStore, tokens: list[Tokens]) -> None:
        self.windows, self.tokens, self.layers = store.windows, tokens, store.layers

    def maps(self, example: int) -> npt.NDArray[np.float64]:
        places = range(len(self.tokens[example].special))
        maps = [
            [[float(can(self, layer, i, j)) for j in places] for i in places]
            for layer in range(self.layers)
        ]
        weights = np.array(maps)[:, None]
        return weights / weights.sum(axis=-1, keepdims=True)
