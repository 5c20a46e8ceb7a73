"""Disabling attention heads of any encoder that uses transformers' attention interface (§4.6).

    with disable(model, "all of layer 1"):
        model(**inputs)

In mode ``uniform``, the paper's, every weight of a disabled head is 1/L, with L the number of real
tokens: the head's output is the mean of their value vectors. In layers with local attention, L is
the number of real tokens that the row may attend to, and the others get no weight. In mode
``zero``, every weight is 0. Padding gets no weight in either mode. The maps that the model returns
are the changed ones.

To add a mode, write an `Intervention` and give it an entry in `INTERVENTIONS`: the configuration
key ``ablation.mode`` then accepts its name, and the sweep runs it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from darksecrets.core.models.hooks import Call, Intervention, intervene, shape_of
from darksecrets.core.models.selectors import Heads
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

UNIFORM, ZERO = "uniform", "zero"


@dataclass(frozen=True)
class Disable(Intervention):
    """Replace the maps of some heads.

    Attributes:
        heads: The heads to disable, by layer; both count from 1.
        mode: ``uniform`` or ``zero``.
    """

    heads: Heads
    mode: str = UNIFORM

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:
        """The weights, constant where a head is disabled."""
        disabled = [head - 1 for head in sorted(self.heads.get(call.layer, ()))]
        if not disabled:
            return weights
        weights = weights.clone()
        weights[:, disabled] = uniform(weights, call) if self.mode == UNIFORM else 0.0
        return weights


@dataclass(frozen=True)
class HeadMask(Intervention):
    """Multiply what heads put out by factors, as ``head_mask`` did in earlier transformers.

        with intervene(model, HeadMask(mask)):
            model(**inputs)

    Attributes:
        mask: [layer, head] a factor for every head, for all examples: 1 leaves it as it is, 0 is
            mode ``zero``. It may require gradients.
    """

    mask: torch.Tensor

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:
        """The outputs, [example, head, token, size], times the factors of their heads."""
        factors = self.mask[call.layer - 1].to(outputs)
        if len(factors) != outputs.shape[1]:
            raise InputError(
                f"The mask has {len(factors)} heads a layer; the model has {outputs.shape[1]}."
            )
        return outputs * factors[:, None, None]


@dataclass(frozen=True)
class DisableParts(Disable):
    """Replace the maps of some heads, and let the MLPs of some layers add nothing.

    Attributes:
        mlps: The layers whose MLPs to disable, from 1.
    """

    mlps: frozenset[int] = frozenset()

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        """What the MLP adds to the hidden states, 0 where it is disabled."""
        return torch.zeros_like(output) if layer in self.mlps else output


def uniform(weights: torch.Tensor, call: Call) -> torch.Tensor:
    """1/L for every row over the L keys that it may attend to, [example, 1, query, key].

    A row at padding may have none, if all real tokens are out of its reach; its weights are 0.
    """
    if call.real is None:
        return weights.new_full((len(weights), 1, 1, 1), 1 / weights.shape[-1])
    real = call.real.to(weights.dtype)
    return real / real.sum(dim=-1, keepdim=True).clamp(min=1)


#: The interventions, by the name of their mode.
INTERVENTIONS: dict[str, Callable[[Heads], Intervention]] = {
    mode: partial(Disable, mode=mode) for mode in (UNIFORM, ZERO)
}


@contextlib.contextmanager
def disable(
    model: PreTrainedModel,
    selector: Any,  # noqa: ANN401 - see selectors
    mode: str = UNIFORM,
) -> Iterator[None]:
    """Disable heads within a ``with`` block. Blocks can be nested; the inner one wins.

    Args:
        model: An encoder, with or without a classifier.
        selector: Which heads, see `darksecrets.core.models.selectors`.
        mode: A name in `INTERVENTIONS`: ``uniform`` or ``zero``.

    Raises:
        InputError: The selector names nothing or what the model lacks, or the model's attention
            cannot be reached.
    """
    check_mode(mode)
    with intervene(model, INTERVENTIONS[mode](shape_of(model).parse(selector))):
        yield


def check_mode(mode: str) -> None:
    """Refuse a mode that is not in `INTERVENTIONS`."""
    if mode not in INTERVENTIONS:
        raise InputError(f"No mode is called {mode!r}. Choose one of {', '.join(INTERVENTIONS)}.")
