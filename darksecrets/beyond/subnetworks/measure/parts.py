"""Subnetworks: the heads and MLPs of an encoder that are kept; the others add nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.importance.declared import HEADS, MLPS
from darksecrets.core.arrays import Flags
from darksecrets.core.models.hooks import Intervention
from darksecrets.core.models.selectors import Heads, Shape


@dataclass(frozen=True)
class Parts:
    """Some heads and MLPs of an encoder.

    Attributes:
        heads: [layers, heads].
        mlps: [layers].
    """

    heads: Flags
    mlps: Flags

    @classmethod
    def every(cls, shape: Shape) -> Parts:
        """All heads and MLPs."""
        return cls(np.ones((shape.layers, shape.heads), bool), np.ones(shape.layers, bool))

    @classmethod
    def drawn(cls, shape: Shape, size: tuple[int, int], rng: np.random.Generator) -> Parts:
        """As many heads and MLPs, drawn at random."""
        places = (np.zeros(shape.layers * shape.heads, bool), np.zeros(shape.layers, bool))
        for flags, count in zip(places, size, strict=True):
            flags[rng.permutation(len(flags))[:count]] = True
        return cls(places[0].reshape(shape.layers, shape.heads), places[1])

    @classmethod
    def from_table(cls, rows: pd.DataFrame) -> Parts:
        """Parts from rows of one subnetwork in the table ``subnetworks``."""
        ordered = rows.sort_values(["layer", "head"])
        heads, mlps = (
            ordered.loc[ordered["part"] == part, "kept"].to_numpy(dtype=bool)
            for part in (HEADS, MLPS)
        )
        return cls(heads.reshape(len(mlps), -1), mlps)

    @property
    def size(self) -> tuple[int, int]:
        """Numbers of heads and of MLPs."""
        return int(self.heads.sum()), int(self.mlps.sum())

    def removal(self) -> Intervention | None:
        """What removes all other parts; None if there are none."""
        from darksecrets.core.interventions.disable import ZERO, Disable, DisableParts

        gone: Heads = {
            layer: frozenset((np.flatnonzero(~kept) + 1).tolist())
            for layer, kept in enumerate(self.heads, start=1)
            if not kept.all()
        }
        mlps = frozenset((np.flatnonzero(~self.mlps) + 1).tolist())
        if mlps:
            return DisableParts(gone, ZERO, mlps)
        return Disable(gone, ZERO) if gone else None

    def table(self) -> pd.DataFrame:
        """Columns ``part``, ``layer``, ``head`` and ``kept``: all heads, then all MLPs."""
        layers, heads = (places.ravel() + 1 for places in np.indices(self.heads.shape))
        head_rows = {"part": HEADS, "layer": layers, "head": heads, "kept": self.heads.ravel()}
        mlp_rows = {"part": MLPS, "layer": np.arange(len(self.mlps)) + 1, "head": pd.NA}
        parts = [pd.DataFrame(head_rows), pd.DataFrame({**mlp_rows, "kept": self.mlps})]
        return pd.concat([part.astype({"head": "Int64"}) for part in parts], ignore_index=True)
