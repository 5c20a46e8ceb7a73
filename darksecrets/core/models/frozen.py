"""A classifier on a frozen encoder: only parameters that the checkpoint lacked are trained.

Dropout is off, so what enters the trainable part (the features of an example) never changes, and is
computed once. For BERT these are the pre-trained pooler's outputs; where the pooler is newly drawn,
as in checkpoints without one, it is trained, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.core.data.batches import batches_by_length
from darksecrets.core.models import devices
from darksecrets.core.models.session import trial_inputs
from darksecrets.core.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.data.batches import EncodedSplit

_TRIAL_LENGTH = 4  # tokens


class FrozenEncoder:
    """A classifier whose newly drawn parameters can be trained on stored features.

    Args:
        model: A classifier; it is set to evaluation mode, and all other parameters are frozen.
        new: Names of the newly drawn parameters, see `loading.load_classifier`.
    """

    def __init__(self, model: PreTrainedModel, new: Sequence[str]) -> None:
        self.model = model
        model.train(False)
        self.trial = trial_inputs(model, _TRIAL_LENGTH)
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in new)
        self.entry = self._first({name.rpartition(".")[0] for name in new})

    @property
    def trained(self) -> dict[str, torch.nn.Parameter]:
        """The newly drawn parameters by name."""
        return {name: p for name, p in self.model.named_parameters() if p.requires_grad}

    def features(self, split: EncodedSplit, batch_size: int, description: str) -> torch.Tensor:
        """Compute what enters the newly drawn part, for every example.

        Returns:
            [examples, width], float32, on the model's device.
        """
        caught: list[torch.Tensor] = []
        done: list[int] = []
        catch = self.entry.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0]))
        with catch, torch.no_grad(), progress(description, len(split), "examples") as advance:
            for rows in batches_by_length(split.lengths, batch_size):
                batch = split.batch(rows)
                del batch["labels"]
                self.model(**devices.move(batch, self.model.device))
                done += rows
                advance(len(rows))
        return torch.cat(caught)[torch.from_numpy(np.argsort(done)).to(self.model.device)]

    def logits(self, features: torch.Tensor) -> torch.Tensor:
        """Logits [examples, outputs] from features; gradients reach the newly drawn parameters.

        The model runs on a few tokens, whose features are replaced by those given.
        """
        with self.entry.register_forward_pre_hook(lambda *_: (features,)):
            return self.model(**self.trial).logits

    def _first(self, names: set[str]) -> torch.nn.Module:
        """The first of some modules to run."""
        order: list[torch.nn.Module] = []
        with torch.no_grad(), ExitStack() as hooks:
            for name in names:
                module = self.model.get_submodule(name)
                note = module.register_forward_pre_hook(lambda each, _: order.append(each))
                hooks.enter_context(note)
            self.model(**self.trial)
        return order[0]
