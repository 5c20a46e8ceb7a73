"""Made-up weights and lengths of tokens, and what `norms.measuring` would keep of them."""

import numpy as np
import numpy.typing as npt

from darksecrets.beyond.norms.declared import KINDS
from darksecrets.beyond.norms.measure.running import DRAWS, Measured

Floats = npt.NDArray[np.float64]

EXAMPLES, TOKENS, LAYERS, HEADS = 60, 16, 2, 3


def kinds_of_tokens(
    rng: np.random.Generator, examples: int = EXAMPLES, tokens: int = TOKENS
) -> npt.NDArray[np.bool_]:
    """[example, token, kind] as in pairs of sentences: one [CLS], two [SEP], words of all kinds."""
    kinds = np.zeros((examples, tokens, len(KINDS)), dtype=bool)
    words = rng.integers(3, len(KINDS), size=(examples, tokens))
    words[:, [0, tokens // 2, tokens - 1]] = 0, 1, 1
    np.put_along_axis(kinds, words[..., None], values=True, axis=-1)
    kinds[..., 2] = kinds[..., 0] | kinds[..., 1]
    return kinds


def stripes(rng: np.random.Generator, kinds: npt.NDArray[np.bool_]) -> Floats:
    """[example, token, layer, head] mean weights that tokens get: much at the separators."""
    drawn = rng.gamma(2, size=(*kinds.shape[:2], LAYERS, HEADS))
    drawn *= np.where(kinds[..., 1], 6, 1)[:, :, None, None]
    return drawn / drawn.sum(axis=1, keepdims=True)


def measured(
    weights: Floats, sizes: Floats, kinds: npt.NDArray[np.bool_], rng: np.random.Generator
) -> Measured:
    """What would be kept of an encoder.

    Args:
        weights: [example, token, layer, head] mean weights that tokens get; they sum to 1.
        sizes: The same shape: lengths ‖f(x)‖.
        kinds: [example, token, kind].
        rng: Draws the random assignments of lengths.
    """
    counts = kinds.sum(axis=1)
    flags = kinds.astype(float)

    def sums(values: Floats) -> Floats:
        return np.einsum("etlh,etk->eklh", values, flags)

    def shares(values: Floats) -> Floats:
        return sums(values) / values.sum(axis=1)[:, None]

    orders = [
        rng.permuted(np.tile(np.arange(TOKENS), (len(sizes), 1)), axis=1) for _ in range(DRAWS)
    ]
    shuffled = [
        shares(weights * np.take_along_axis(sizes, order[:, :, None, None], axis=1))
        for order in orders
    ]
    x, y = np.log(weights * TOKENS), np.log(sizes)
    moments = [sums(each) for each in (np.ones_like(x), x, y, x * x, y * y, x * y)]
    present = np.where(counts > 0, 1, np.nan)[:, :, None, None]
    mean = sums(sizes) / np.maximum(counts, 1)[:, :, None, None]
    norm = shares(weights * sizes)
    return Measured(
        idx=np.arange(len(sizes)),
        tokens=counts,
        uniform=np.broadcast_to(
            present * counts[..., None, None] / TOKENS, (*counts.shape, LAYERS, 1)
        ),
        weight=present * shares(weights),
        norm=present * norm,
        shuffled=present * np.mean(shuffled, axis=0),
        length=present * mean / sizes.mean(axis=1)[:, None],
        summed=present * norm.mean(axis=-1, keepdims=True),
        moments=np.stack(moments, axis=-1),
    )
