"""Screening: most of the work in bfloat16, with the predictions of float32.

The error of an output is the largest error of a difference between two of its logits. It is
measured on the pairs of an intervention and an example that are computed in both precisions: a
seeded sample, and every pair that is recomputed. The bound is the largest error seen times a safety
factor. Each layer at which interventions begin has its own bound, because an intervention that
begins higher has fewer layers in bfloat16 above it. A prediction whose margin exceeds the bound
stands; the others are recomputed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from darksecrets.ablation.backends import Backend, Block
from darksecrets.ablation.ties import SAFETY, SEED, margins, ties
from darksecrets.arrays import Floats, Integers
from darksecrets.run.progress import progress

if TYPE_CHECKING:
    from darksecrets.ablation.backends import Logits, Mask
    from darksecrets.ablation.shared import Shared

# Share of every layer's pairs that is sampled, and the least number of pairs (all if there are
# fewer).
SHARE, SAMPLED = 0.005, 30
# Errors that must have been seen before a bound is used.
ENOUGH = 20


class Bounds:
    """Error bounds by the layer that interventions begin at.

    Args:
        first: [interventions], the layers, from 0.
        layers: Number of layers.
        examples: Number of examples.
    """

    def __init__(self, first: Integers, layers: int, examples: int) -> None:
        self._first = first
        self._largest, self._seen = np.zeros(layers), np.zeros(layers, dtype=np.int64)
        pairs = examples * np.bincount(first, minlength=layers)
        self._enough = np.minimum(ENOUGH, pairs)
        #: [interventions, examples], the pairs that are computed in both precisions.
        self.sample: Mask = np.zeros((len(first), examples), dtype=bool)
        rng = np.random.default_rng(SEED)
        for layer, count in enumerate(np.maximum(SAMPLED, np.ceil(SHARE * pairs)).astype(int)):
            chosen = np.flatnonzero(first == layer)
            drawn = rng.choice(pairs[layer], min(count, pairs[layer]), replace=False)
            self.sample[chosen[drawn // examples], drawn % examples] = True

    def see(self, screened: Logits, exact: Logits) -> None:
        """Take errors into account.

        Args:
            screened: [interventions, examples, outputs].
            exact: Likewise, NaN where it was not computed.
        """
        difference = screened.astype(np.float64) - exact
        errors = np.ptp(difference, axis=-1)
        for layer in range(len(self._largest)):
            seen = errors[self._first == layer]
            seen = seen[~np.isnan(seen)]
            self._seen[layer] += len(seen)
            self._largest[layer] = max(self._largest[layer], *seen, 0.0)

    @property
    def errors(self) -> list[float]:
        """The largest error seen, by layer."""
        return [float(error) for error in self._largest]

    @property
    def limits(self) -> Floats:
        """The bounds by layer; infinite if too few errors have been seen.

        The bound of a layer is at least that of every layer above it.
        """
        limits = np.where(self._seen >= self._enough, SAFETY * self._largest, np.inf)
        return np.maximum.accumulate(limits[::-1])[::-1]

    def unsure(self, screened: Logits) -> Mask:
        """Pairs, [interventions, examples], whose prediction may differ in float32."""
        limits = self.limits
        unknown: Mask = np.isinf(limits)[self._first][:, None]
        return unknown | self.doubtful(screened, limits)

    def doubtful(self, screened: Logits, limits: Floats) -> Mask:
        """The same under these limits, of interventions that have one."""
        limit = limits[self._first][:, None]
        sure = margins(screened) >= limit  # False for NaN, too
        return (~sure | ties(screened)) & np.isfinite(limit)


class Screening(Backend):
    """Runs the shared backend in bfloat16, then in float32 where that could change a prediction.

    Args:
        shared: The backend to wrap.
    """

    name = "shared, screened"
    arithmetic = "bfloat16, then float32 where that could change a prediction"

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared.model, shared.split, shared.interventions)
        self.shared = shared
        layers = int(shared.model.config.num_hidden_layers)
        self.bounds = Bounds(shared.first_layers, layers, len(shared.split))

    def logits(self, rows: Sequence[int], pairs: Mask) -> Logits:
        """See `Backend.logits`."""
        return self.shared.logits(rows, pairs)

    def block(self, rows: Sequence[int]) -> Block:
        """Screen every pair; recompute a sample, and what is unsure under the bounds so far.

        What is unsure under the bounds of earlier blocks is recomputed with the sample, while what
        interventions share is at hand. Where there is no bound yet, `settle` decides.
        """
        sample, limits = self.bounds.sample[:, list(rows)], self.bounds.limits
        found = self.shared.in_both(
            rows,
            lambda screened, places: sample[:, places] | self.bounds.doubtful(screened, limits),
        )
        self.bounds.see(found.screened, found.exact)
        doubtful = self.bounds.doubtful(found.screened, self.bounds.limits)
        more = self.logits(rows, doubtful & np.isnan(found.exact[..., 0]))
        self.bounds.see(found.screened, more)
        return Block(found.screened, np.where(np.isnan(more), found.exact, more))

    def resume(self, block: Block) -> None:
        """Take the errors of a block that was computed before into account."""
        self.bounds.see(block.screened, block.exact)

    def settle(self, blocks: Sequence[Sequence[int]], found: Block) -> dict[str, Any]:
        """Compute exactly, in place, what is unsure under the bounds of all blocks.

        Recomputing may raise the bounds, so this repeats until nothing is unsure. The errors of all
        blocks must have been seen.
        """
        screened, exact = found.screened, found.exact
        while (pending := self.bounds.unsure(screened) & np.isnan(exact[..., 0])).any():
            total = int(pending.sum())
            with progress("Computing unsure predictions again", total, "predictions") as advance:
                for block in blocks:
                    rows = [row for row in block if pending[:, row].any()]
                    more = self.logits(rows, pending[:, rows])
                    self.bounds.see(screened[:, rows], more)
                    exact[:, rows] = np.where(pending[:, rows, None], more, exact[:, rows])
                    advance(int(pending[:, rows].sum()))
        return {"screening": self._describe(found)}

    def _describe(self, found: Block) -> dict[str, Any]:
        recomputed = ~np.isnan(found.exact[..., 0])
        corrected = (found.screened.argmax(-1) != found.exact.argmax(-1)) & recomputed
        return {
            "largest_error_by_layer": self.bounds.errors,
            "bound_by_layer": self.bounds.limits.tolist(),
            "safety_factor": SAFETY,
            "sampled": int(self.bounds.sample.sum()),
            "recomputed": int(recomputed.sum()),
            "recomputed_share": float(recomputed.mean()),
            "corrected": int(corrected.sum()),
        }
