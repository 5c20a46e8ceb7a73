"""Backends of the sweep: they compute the outputs of a classifier under many interventions.

A `Backend` gives logits for pairs of an intervention and an example. `Loop` takes any intervention
and any encoder whose attention can be reached. `core.interventions.shared` is faster but supports
fewer of both.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch

from darksecrets.core.arrays import Flags, Reals
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import Intervention, intervene, require_reachable
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.data.batches import EncodedSplit

#: [interventions, examples, outputs]; NaN where not computed.
Logits = Reals
#: [interventions, examples]: which pairs of an intervention and an example.
Mask = Flags


class Backend(ABC):
    """Computes the logits of a classifier for pairs of an intervention and an example.

    Call its methods in `torch.inference_mode`.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: The examples.
        interventions: What to do to the model's attention; None leaves it intact.

    Raises:
        InputError: The model's attention cannot be reached.
    """

    name: ClassVar[str]

    def __init__(
        self,
        model: PreTrainedModel,
        split: EncodedSplit,
        interventions: Sequence[Intervention | None],
    ) -> None:
        require_reachable(model)
        self.model, self.split, self.interventions = model, split, interventions

    @abstractmethod
    def logits(self, rows: Sequence[int], pairs: Mask) -> Logits:
        """Compute some pairs.

        Args:
            rows: Row numbers of examples in the split, sorted by length.
            pairs: [interventions, rows], which pairs to compute.

        Returns:
            [interventions, rows, outputs], NaN where ``pairs`` is False.

        Raises:
            InputError: An output is not finite.
        """

    def all_logits(self, rows: Sequence[int]) -> Logits:
        """Logits of some examples under every intervention, [interventions, rows, outputs]."""
        return self.logits(rows, np.ones((len(self.interventions), len(rows)), dtype=bool))

    def run(self, number: int, rows: Sequence[int]) -> Logits:
        """Run the model on a padded batch of examples under one intervention, [rows, outputs]."""
        return self.checked(self.outputs(number, rows))

    def outputs(self, number: int, rows: Sequence[int]) -> torch.Tensor:
        """What the model makes of a padded batch of examples under one intervention."""
        batch = {name: t.to(self.model.device) for name, t in self.split.batch(list(rows)).items()}
        del batch["labels"]
        intervention = self.interventions[number]
        with intervene(self.model, intervention) if intervention else contextlib.nullcontext():
            logits: torch.Tensor = self.model(**batch).logits
        return logits

    def empty(self, examples: int) -> Logits:
        """[interventions, examples, outputs] of NaN, in the model's precision."""
        outputs = int(self.model.config.num_labels or 1)
        shape = (len(self.interventions), examples, outputs)
        return torch.full(shape, torch.nan, dtype=self.model.dtype).numpy()

    def checked(self, logits: torch.Tensor) -> Logits:
        """Logits as an array; an `InputError` if one is not finite."""
        if not logits.isfinite().all():
            raise InputError(
                f"{type(self.model).__name__}: the outputs are not finite numbers with "
                "heads disabled. The model has diverged, or its weights are damaged. Train again."
            )
        return logits.cpu().numpy()


class Loop(Backend):
    """Runs the model once per intervention, on batches of examples of similar length."""

    name = "loop"

    def logits(self, rows: Sequence[int], pairs: Mask) -> Logits:
        """See `Backend.logits`."""
        size = devices.sequence_bytes(self.model.config, int(self.split.lengths[list(rows)].max()))
        batch_size = devices.batch_size(self.model.device, size, cpu=len(rows), gpu=len(rows))
        logits = self.empty(len(rows))
        for number in np.flatnonzero(pairs.any(axis=1)).tolist():
            wanted = np.flatnonzero(pairs[number])
            for start in range(0, len(wanted), batch_size):
                batch = wanted[start : start + batch_size]
                logits[number, batch] = self.run(number, [rows[place] for place in batch])
        return logits
