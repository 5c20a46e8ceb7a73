"""Which token the stripe is, in maps that are classified as having columns (section 4.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.arrays import Floats, Integers, Reals
from darksecrets.patterns.tables import SPECIAL, STRIPE_KINDS, STRIPE_TOKENS, WITH_COLUMNS
from darksecrets.run.columns import FIRST, MAPS, SEPARATOR, TOKEN_KINDS, names
from darksecrets.run.errors import InputError
from darksecrets.stats import ratios


def stripe_tokens(maps: pd.DataFrame, idx: Integers, tokens: Reals, columns: Reals) -> pd.DataFrame:
    """Count the kinds of the strongest columns in one model's maps with columns.

    Intervals are over examples, see `darksecrets.stats.ratios`.

    Args:
        maps: Columns ``idx``, ``layer``, ``head``, ``pattern``, a row per map.
        idx: [examples] numbers of the examples of the next two.
        tokens: [examples, kinds] share of the example's tokens of each of `TOKEN_KINDS`.
        columns: [examples, layers, heads, kinds] 1 for the kind of the map's strongest column, or
            shares of equally strong ones.

    Returns:
        The table `stripe_tokens` without the columns that identify the model.

    Raises:
        InputError: The maps are not those of the columns.
    """
    shown = _patterns(maps, idx, columns.shape[1:3])
    kinds, chances = _with_special(columns), _with_special(tokens)
    parts = []
    for pattern in WITH_COLUMNS:
        having = (shown == pattern).astype(np.float64)
        sizes = _with_encoder(having.sum(axis=2))[..., None]
        hits = _with_encoder(np.einsum("elh,elhk->elk", having, kinds))
        parts.append(_rows(hits, sizes, chances).assign(pattern=pattern))
    table = pd.concat(parts, ignore_index=True).sort_values("layer", kind="stable")
    table["layer"] = table["layer"].where(table["layer"] > 0).astype("Int64")
    kept = [name for name in STRIPE_TOKENS.names if name not in names(*MAPS)]
    return table[kept].reset_index(drop=True)


def _patterns(maps: pd.DataFrame, idx: Integers, heads: tuple[int, ...]) -> npt.NDArray[np.object_]:
    """[examples, layers, heads] the pattern of every map."""
    numbers = pd.Index(idx).get_indexer(pd.Index(maps["idx"]))
    wanted = len(idx) * heads[0] * heads[1]
    if len(maps) != wanted or (numbers < 0).any():
        raise InputError(
            f"Found the patterns of {len(maps)} maps, and the strongest columns of {wanted} "
            f"({len(idx)} examples); expected the same maps. Remove both files and run again."
        )
    shown = np.empty((len(idx), *heads), dtype=np.object_)
    shown[numbers, maps["layer"] - 1, maps["head"] - 1] = maps["pattern"]
    return shown


def _with_special(values: Reals) -> Floats:
    """[..., STRIPE_KINDS] from [..., TOKEN_KINDS]: the special tokens together are added."""
    of = {name: values[..., number].astype(np.float64) for number, name in enumerate(TOKEN_KINDS)}
    of[SPECIAL] = of[FIRST] + of[SEPARATOR]
    return np.stack([of[name] for name in STRIPE_KINDS], axis=-1)


def _with_encoder(values: Floats) -> Floats:
    """[examples, 1 + layers, ...] first the sum over layers, the whole encoder."""
    return np.concatenate([values.sum(axis=1, keepdims=True), values], axis=1)


def _rows(hits: Floats, sizes: Floats, chances: Floats) -> pd.DataFrame:
    """A row per layer (0: the encoder) and kind.

    Args:
        hits: [examples, layers, kinds] maps by kind of their strongest column.
        sizes: [examples, layers, 1] maps.
        chances: [examples, kinds] share of the example's tokens.
    """
    expected = sizes * chances[:, None]
    sizes = np.broadcast_to(sizes, hits.shape)
    share, control = ratios.share(hits, sizes), ratios.ratio(expected, sizes)
    over = ratios.difference(share, control)
    layers, kinds = np.indices(hits.shape[1:])
    values = {
        "layer": layers,
        "kind": np.array(STRIPE_KINDS)[kinds],
        "maps": sizes.sum(axis=0).astype(np.int64),
        "examples": (sizes > 0).sum(axis=0),
        "share": share.value,
        "ci_low": share.low,
        "ci_high": share.high,
        "control": control.value,
        "over_control": over.value,
        "over_control_low": over.low,
        "over_control_high": over.high,
    }
    return pd.DataFrame({name: array.ravel() for name, array in values.items()})
