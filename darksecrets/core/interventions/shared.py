"""The shared backend: runs many sets of disabled heads and computes what they share only once.

It supports BERT, RoBERTa and ELECTRA. It does less work than a loop that runs the model once per
set (section 4.6):

- Layers below the lowest disabled one give the intact model's states, computed once (`Trunk`). If
  all sets disable some heads, the trunk is the model without these.
- In that layer only the outputs of the disabled heads change. The change is added through their
  slice of the output projection; queries, keys, values and maps are not computed again. Nor is
  the first feed-forward map: what a head changes in its result goes through a product of matrices
  that is only as wide as the head (`darksecrets.core.models.layers.Layer.raised_with`).
- The last layer is computed for [CLS] only. A single query needs no projected keys and values of
  all tokens: its products with the keys are products with the hidden states, and so are the sums of
  values.
- Inputs of equal length make a batch, so there is no padding.
- All sets of a layer are one batch in the layers above, and what sets have in common from the
  lowest layer on is computed once (`darksecrets.core.interventions.sharing`).
- On a CPU, every thread works on a batch of its own (`darksecrets.core.models.threads`).
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.core.arrays import Flags, Integers
from darksecrets.core.data.batches import MASK
from darksecrets.core.interventions.backends import Backend
from darksecrets.core.interventions.disable import UNIFORM, Disable
from darksecrets.core.interventions.sharing import Sharing
from darksecrets.core.models import devices, threads
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.layers import Raised, classify, embed, is_known, layers_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.data.batches import EncodedSplit
    from darksecrets.core.interventions.backends import Logits, Mask
    from darksecrets.core.models.hooks import Intervention

# Tokens per pass through a layer, chosen so that the values between its matrix products stay in the
# CPU's cache; and numbers in all hidden states of a batch. On a GPU both are upper limits.
CHUNK = {"cpu": 2**10, "gpu": 2**16}
BATCH = {"cpu": 2**24, "gpu": 2**28}


def supports(model: PreTrainedModel, interventions: Sequence[Intervention | None]) -> bool:
    """Whether the backend supports the model and all interventions, which must share one mode."""
    changes = [change for change in interventions if change is not None]
    disabling = [change for change in changes if type(change) is Disable]
    modes = {change.mode for change in disabling}
    return is_known(model) and len(disabling) == len(changes) and len(modes) <= 1


def select(model: PreTrainedModel, interventions: Sequence[Intervention | None]) -> torch.Tensor:
    """Which heads each intervention disables, [interventions, layers, heads]."""
    shape = shape_of(model)
    selected = torch.zeros(len(interventions), shape.layers, shape.heads, dtype=torch.bool)
    for number, change in enumerate(interventions):
        for layer, heads in change.heads.items() if isinstance(change, Disable) else ():
            selected[number, layer - 1, [head - 1 for head in sorted(heads)]] = True
    return selected


class Shared(Backend):
    """Runs all interventions together on inputs of equal length.

    Args:
        model: See `Backend`; `supports` must be true for it and these interventions.
        split: See `Backend`.
        interventions: See `Backend`.
    """

    name = "shared"

    def __init__(
        self,
        model: PreTrainedModel,
        split: EncodedSplit,
        interventions: Sequence[Intervention | None],
    ) -> None:
        super().__init__(model, split, interventions)
        modes = [change.mode for change in interventions if isinstance(change, Disable)]
        selected = select(model, interventions)
        sharing = Sharing(selected.numpy())
        self._branches = _Branches(model, sharing, modes[0] if modes else UNIFORM)

    def logits(self, rows: Sequence[int], pairs: Mask) -> Logits:
        """See `Backend.logits`."""
        found = self.empty(len(rows))

        def compute(places: list[int], trunk: Trunk) -> None:
            sets, inputs = np.nonzero(pairs[:, places])
            if len(sets):
                outputs = self._branches.logits(trunk, sets, inputs)
                found[sets, np.array(places)[inputs]] = self.checked(outputs)

        self._call_by_group(compute, rows, np.logical_or.reduce(pairs, axis=0))
        return found

    def _call_by_group(
        self, compute: Callable[[list[int], Trunk], None], rows: Sequence[int], wanted: Mask
    ) -> None:
        """Call a function with places of wanted rows, a few at a time, and their trunk."""

        def place_rows(places: list[int]) -> None:
            inputs = self.split.batch([rows[place] for place in places])
            kept = {n: t for n, t in inputs.items() if n not in (MASK, "labels")}
            on_device = {name: tensor.to(self.model.device) for name, tensor in kept.items()}
            compute(places, self._branches.trunk(on_device))

        for _ in threads.apply(place_rows, self._groups(rows, wanted), self.model.device):
            pass

    def _groups(self, rows: Sequence[int], wanted: Flags) -> list[list[int]]:
        """Places among the rows of wanted examples of equal length, the most tokens first.

        So the last ones are small, and no thread waits long for another.
        """
        lengths = self.split.lengths[list(rows)]
        groups = []
        for length in np.unique(lengths[wanted]):
            equal = np.flatnonzero((lengths == length) & wanted).tolist()
            step = self._branches.batch_size(int(length))
            groups += [equal[start : start + step] for start in range(0, len(equal), step)]
        return sorted(groups, key=lambda places: -int(lengths[places].sum()))


@dataclass(frozen=True)
class _State:
    """The trunk at one layer, for n inputs of L tokens.

    Attributes:
        hidden: [n, L, size], input of the layer.
        attended: [n, L, size], the input plus the attention's output, before normalisation.
        change: [n, L, heads, head size], what disabling each head adds to its output.
        raised: The first half of the feed-forward part; None in the last layer, of which only the
            first token is needed.
    """

    hidden: torch.Tensor
    attended: torch.Tensor
    change: torch.Tensor
    raised: Raised | None


Trunk = list[_State]


class _Branches:
    """A classifier under many sets of disabled heads, each of which branches off the trunk.

    Args:
        model: A model whose layers `darksecrets.core.models.layers` supports.
        sharing: The sets.
        mode: ``uniform`` or ``zero``.
    """

    def __init__(self, model: PreTrainedModel, sharing: Sharing, mode: str) -> None:
        self._model, self._sharing = model, sharing
        on_device = (torch.from_numpy(f).to(model.device) for f in (sharing.common, sharing.own))
        self._common, self._own = on_device
        self._size: int = model.config.hidden_size
        # Half of the memory is for what passes through a layer, half for the hidden states before
        # and after it, and the trunk.
        each = 2 * devices.sequence_bytes(model.config, 1)
        self._tokens = devices.batch_size(model.device, each, **CHUNK)
        self._batch = devices.batch_size(model.device, 2 * 4 * 3, **BATCH)
        self._layers = layers_of(model, mode)
        self._kept = threading.local()

    def batch_size(self, length: int) -> int:
        """Batch size for inputs of a length, if all sets are to be computed."""
        return max(1, self._batch // (len(self._own) * length * self._size))

    def trunk(self, inputs: dict[str, torch.Tensor]) -> Trunk:
        """Run the model without the heads that all sets disable.

        Args:
            inputs: ``input_ids`` and other inputs of the embeddings, [n, L], without padding.
        """
        hidden = embed(self._model, inputs)
        states: Trunk = []
        for layer, common in zip(self._layers, self._common, strict=True):
            context, change = layer.context_and_change(hidden)
            context = torch.where(common[:, None], context + change, context)
            attended = layer.project(context, hidden)
            if len(states) == len(self._layers) - 1:
                states.append(_State(hidden, attended, change, None))
                break
            normalised, mean, scale = layer.normalise(attended)
            raised = Raised(layer.up(normalised), mean, scale)
            states.append(_State(hidden, attended, change, raised))
            hidden = layer.lower(raised.wide, normalised)
        return states

    def logits(self, trunk: Trunk, sets: Integers, rows: Integers) -> torch.Tensor:
        """Outputs of the classifier for pairs of a set and an input.

        Args:
            trunk: Of some inputs.
            sets: [pairs], numbers of sets.
            rows: [pairs], numbers of inputs in the trunk.

        Returns:
            [pairs, outputs].
        """
        ranks = self._sharing.rank[sets]
        order = np.lexsort([rows, ranks])
        step = max(1, self._batch // (trunk[0].hidden.shape[1] * self._size))
        batches = [order[start : start + step] for start in range(0, len(order), step)]
        found = [self._branch(trunk, ranks[batch], rows[batch]) for batch in batches]
        return torch.cat(found)[self._index(np.argsort(order))]

    def _branch(self, trunk: Trunk, ranks: Integers, rows: Integers) -> torch.Tensor:
        """As `logits`, for pairs sorted by rank, in place of numbers of sets, and input."""
        length, size = trunk[0].hidden.shape[1:]
        below, nodes = trunk[0].hidden[:0], np.empty(0, dtype=np.int64)
        stacks = itertools.cycle(self._memory("stacks", below, 2, len(ranks), length, size))
        for number, layer in enumerate(self._layers[:-1]):
            pairs, nodes_here = self._sharing.nodes(number, ranks, rows)
            old = int(np.searchsorted(self._sharing.first[ranks[pairs]], number))
            above = next(stacks)[: len(pairs)]
            for chunk in self._chunks(0, old, length):
                of = pairs[chunk]
                disabled = self._disabled(number, ranks[of])
                above[chunk] = layer.forward(below[self._index(nodes[of])], disabled)
            for chunk in self._chunks(old, len(pairs), length):
                of = pairs[chunk]
                above[chunk] = self._leave(trunk[number], number, ranks[of], rows[of])
            below, nodes = above, nodes_here
        last = len(self._layers) - 1
        first_tokens = [
            self._layers[-1].first_token(hidden, self._disabled(last, ranks[chunk]))
            for chunk in self._chunks(0, len(ranks), length)
            for hidden in [self._top(trunk, below, nodes[chunk], rows[chunk])]
        ]
        return classify(self._model, torch.cat(first_tokens))

    def _memory(self, name: str, like: torch.Tensor, *shape: int) -> torch.Tensor:
        """A tensor in memory that a thread keeps for it: on a CPU, the first use of it is slow."""
        if like.device.type != "cpu":
            return like.new_empty(shape)
        numbers, kept = math.prod(shape), getattr(self._kept, name, None)
        if kept is None or kept.numel() < numbers:
            kept = like.new_empty(numbers)
            setattr(self._kept, name, kept)
        return kept[:numbers].view(shape)

    def _top(
        self, trunk: Trunk, below: torch.Tensor, nodes: Integers, rows: Integers
    ) -> torch.Tensor:
        """Input of the last layer: of nodes, and of the trunk for pairs that leave it there."""
        node_outputs = below[self._index(nodes)]
        return torch.cat([node_outputs, trunk[-1].hidden[self._index(rows[len(nodes) :])]])

    def _disabled(self, number: int, ranks: Integers) -> torch.Tensor:
        """[ranks, heads], all heads that are disabled in a layer."""
        return self._own[self._index(ranks), number] | self._common[number]

    def _index(self, numbers: Integers) -> torch.Tensor | slice:
        """Integers as an index; a slice, which copies nothing, if they follow each other."""
        if len(numbers) and np.array_equal(
            numbers, np.arange(numbers[0], numbers[0] + len(numbers))
        ):
            return slice(int(numbers[0]), int(numbers[0]) + len(numbers))
        return torch.from_numpy(numbers).to(self._model.device)

    def _chunks(self, start: int, end: int, length: int) -> Iterator[slice]:
        step = max(1, self._tokens // length)
        return (slice(first, min(first + step, end)) for first in range(start, end, step))

    def _leave(self, state: _State, number: int, ranks: Integers, rows: Integers) -> torch.Tensor:
        """Output of the layer, [pairs, L, size], for pairs that leave the trunk at it, by rank."""
        layer, attended = self._layers[number], state.attended[rows.tolist()]
        parts = [
            (here, self._index(rows[here]), heads)
            for here, heads in self._group_by_set(number, ranks)
        ]
        for here, of_trunk, heads in parts:
            attended[here] += layer.project_heads(state.change[of_trunk], heads)
        normalised, mean, scale = layer.normalise(attended)
        if state.raised is None or not any(layer.is_narrow(heads) for _, _, heads in parts):
            return layer.feed_forward(normalised)
        wide = self._memory("wide", attended, *attended.shape[:2], state.raised.wide.shape[2])
        for here, of_trunk, heads in parts:
            if layer.is_narrow(heads):
                intact, change = state.raised.of(of_trunk), state.change[of_trunk]
                layer.raised_with(intact, change, heads, mean[here], scale[here], wide[here])
            else:
                wide[here] = layer.up(normalised[here])
        return layer.lower(wide, normalised)

    def _group_by_set(self, number: int, ranks: Integers) -> Iterator[tuple[slice, torch.Tensor]]:
        """Places of every set among pairs sorted by rank, and its own heads in a layer."""
        start = 0
        for rank, same_rank in itertools.groupby(ranks.tolist()):
            end = start + len(list(same_rank))
            yield slice(start, end), self._own[rank, number].nonzero()[:, 0]
            start = end
