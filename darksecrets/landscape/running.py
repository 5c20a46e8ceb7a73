"""Outputs of many mixes of two classifiers, which share the layers that they have in common.

Mixes are run in an order in which neighbours agree in as many of the lowest layers as possible, and
hidden states are kept for every layer of the current one: what a mix has in common with the one
before is not computed again. A restored head changes the output of its layer's attention through
its slice of the projection, and so all heads of a layer share one pass through both versions of its
attention. The last layer is computed for the first token only.

BERT, RoBERTa and ELECTRA are run in this way. Other encoders are run as they are, once per mix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from darksecrets.ablation.disable import ZERO
from darksecrets.ablation.ties import decide_ties
from darksecrets.data.batches import MASK, by_length
from darksecrets.finetuning.evaluation import batch_size_for
from darksecrets.landscape.swaps import distinct
from darksecrets.models import devices
from darksecrets.models.hooks import shape_of
from darksecrets.models.layers import Layer, classify, embed, is_known, layer_of, layers_of
from darksecrets.models.mixing import END, START, Mix, Mixture, has_separate_heads, whole
from darksecrets.run.errors import InputError
from darksecrets.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.data.batches import EncodedSplit

Logits = npt.NDArray[np.float32]
Head = tuple[int, int]
"""A layer and one of its heads, both from 1."""

BLOCK = {"cpu": 2**27, "gpu": 2**31}
"""Bytes of the hidden states of a block of examples, at most, in all layers together."""


def heads_of(model: PreTrainedModel) -> list[Head]:
    """Every head whose own parameters can be restored; none if heads share them."""
    shape = shape_of(model)
    layers, heads = range(1, shape.layers + 1), range(1, shape.heads + 1)
    return [(n, head) for n in layers for head in heads] if has_separate_heads(model) else []


def run(
    mixture: Mixture,
    split: EncodedSplit,
    mixes: Sequence[Mix],
    heads: Sequence[Head] = (),
    *,
    predicted: bool = False,
    description: str = "Mixes",
) -> Logits:
    """Logits of all examples under some mixes, and of the fine-tuned model with a head restored.

    Mixes and heads that make no difference to the weights make none to the outputs.

    Args:
        mixture: The two models, on the device to use.
        split: The examples.
        mixes: Any mixes.
        heads: Heads to restore, each alone.
        predicted: Whether the greatest output of each example counts: where rounding decides which
            it is, the outputs are those of the example alone.
        description: Text of the progress bar.

    Returns:
        [mixes and heads, examples, outputs].

    Raises:
        InputError: An output is not finite.
    """
    fine_tuned = whole(mixture.layers, END)
    wanted = [mixture.simplified(mix) for mix in mixes]
    changed = [head for head in heads if mixture.change_of_head(*head)]
    different = list(dict.fromkeys([fine_tuned, *wanted]))
    found = _run(mixture, split, (different, changed), description)
    if predicted:
        with torch.inference_mode():
            decide_ties(Loop(mixture, split, different, changed), found.copy(), found)
    of_heads = {head: number for number, head in enumerate(changed, start=len(different))}
    places = [different.index(mix) for mix in wanted]
    return found[[*places, *(of_heads.get(head, 0) for head in heads)]]


def _run(
    mixture: Mixture,
    split: EncodedSplit,
    wanted: tuple[Sequence[Mix], Sequence[Head]],
    description: str,
) -> Logits:
    """[mixes and heads, examples, outputs] of different mixes and heads."""
    backend = (Shared if is_known(mixture.end) else Loop)(mixture, split, *wanted)
    shape = (sum(map(len, wanted)), len(split), _outputs(mixture))
    found = np.empty(shape, dtype=np.float32)
    steps = progress(description, len(split), "examples")
    with torch.inference_mode(), steps as advance:
        for rows in by_length(split.lengths, backend.block_size):
            found[:, rows] = backend.block(rows).float().cpu().numpy()
            advance(len(rows))
    if not np.isfinite(found).all():
        raise InputError(
            f"{type(mixture.end).__name__}: found outputs that are not finite numbers with layers "
            "exchanged. A model has diverged, or its weights are damaged. Train again."
        )
    return found


class Loop:
    """Runs the model itself, once per mix and restored head; see `run`."""

    def __init__(
        self, mixture: Mixture, split: EncodedSplit, mixes: Sequence[Mix], heads: Sequence[Head]
    ) -> None:
        self.mixture, self.split = mixture, split
        self.mixes, self.heads = list(mixes), list(heads)
        self.block_size = batch_size_for(mixture.end, split)

    def block(self, rows: Sequence[int]) -> torch.Tensor:
        """[mixes and heads, rows, outputs] of some examples."""
        numbers = range(len(self.mixes) + len(self.heads))
        return torch.stack([self.logits(number, rows) for number in numbers])

    def logits(self, number: int, rows: Sequence[int]) -> torch.Tensor:
        """[rows, outputs] of a padded batch under one mix, or with one head restored."""
        self._prepare(number)
        model = self.mixture.model
        batch = {name: t.to(model.device) for name, t in self.split.batch(list(rows)).items()}
        del batch["labels"]
        found: torch.Tensor = model(**batch).logits
        return found

    def run(self, number: int, rows: Sequence[int]) -> Logits:
        """The same as an array, for `darksecrets.ablation.ties`."""
        array: Logits = self.logits(number, rows).float().cpu().numpy()
        return array

    def _prepare(self, number: int) -> None:
        if number < len(self.mixes):
            self.mixture.apply(self.mixes[number])
        else:
            self.mixture.apply(whole(self.mixture.layers, END))
            self.mixture.restore_head(*self.heads[number - len(self.mixes)])


@dataclass(frozen=True)
class _Group:
    """Examples of equal length, without padding.

    Attributes:
        places: [n] their positions in the block.
        inputs: Their token ids and so on, [n, L].
    """

    places: list[int]
    inputs: dict[str, torch.Tensor]


States = list[torch.Tensor]
"""Hidden states of each group of a block at one place of the encoder, [n, L, size]."""


class Shared(Loop):
    """Computes BERT's layers itself, and what mixes share only once; see `run`."""

    def __init__(
        self, mixture: Mixture, split: EncodedSplit, mixes: Sequence[Mix], heads: Sequence[Head]
    ) -> None:
        super().__init__(mixture, split, mixes, heads)
        self._starts, self._ends = (
            layers_of(model, model.dtype, ZERO) for model in (mixture.start, mixture.end)
        )
        config = mixture.end.config
        size = 4 * (mixture.layers + 4) * int(split.lengths.max()) * config.hidden_size
        on_cpu = max(1, BLOCK["cpu"] // size)
        on_gpu = max(1, BLOCK["gpu"] // size)
        self.block_size = devices.batch_size(mixture.end.device, size, cpu=on_cpu, gpu=on_gpu)

    def block(self, rows: Sequence[int]) -> torch.Tensor:
        """See `Loop.block`."""
        groups = list(self._groups(rows))
        shape = (len(self.mixes) + len(self.heads), len(rows), _outputs(self.mixture))
        found: torch.Tensor = self._ends[0].biases[0].new_empty(shape)
        fine_tuned = whole(self.mixture.layers, END)
        states: list[States] = []
        before: Mix = ()
        for mix in distinct([*self.mixes, fine_tuned]):  # this one is the last
            del states[_shared(before, mix) :]
            while len(states) <= self.mixture.layers - 1:
                states.append(self._state(len(states), mix, groups, states))
            self.mixture.apply_to(self.mixture.layers + 1, mix[-1])
            logits = self._decide(self._layer(self.mixture.layers, mix), states[-1], groups)
            found[[number for number, each in enumerate(self.mixes) if each == mix]] = logits
            before = mix
        for layer in sorted({layer for layer, _ in self.heads}):
            own = [number for number, (of, _) in enumerate(self.heads) if of == layer]
            wanted = [self.heads[number][1] for number in own]
            restored = self._restored(layer, wanted, states[layer - 1], groups)
            for number, logits in zip(own, restored, strict=True):
                found[len(self.mixes) + number] = logits
        return found

    def _groups(self, rows: Sequence[int]) -> Iterator[_Group]:
        lengths = self.split.lengths[list(rows)]
        for length in np.unique(lengths):
            places = np.flatnonzero(lengths == length).tolist()
            batch = self.split.batch([rows[place] for place in places])
            inputs = {
                name: tensor.to(self.mixture.end.device)
                for name, tensor in batch.items()
                if name not in (MASK, "labels")
            }
            yield _Group(places, inputs)

    def _state(
        self, depth: int, mix: Mix, groups: Sequence[_Group], states: Sequence[States]
    ) -> States:
        """What leaves the embeddings, depth 0, or a layer, from 1."""
        if depth == 0:
            self.mixture.apply_to(0, mix[0])
            return [embed(self.mixture.model, group.inputs) for group in groups]
        layer = self._layer(depth, mix)
        return [layer.forward(hidden, _none(layer, hidden)) for hidden in states[depth - 1]]

    def _layer(self, number: int, mix: Mix) -> Layer:
        """One layer of a mix; number from 1."""
        for share, layers in ((START, self._starts), (END, self._ends)):
            if mix[number] == (share, share):
                return layers[number - 1]
        self.mixture.apply_to(number, mix[number])
        return layer_of(self.mixture.model, number, self.mixture.model.dtype, ZERO)

    def _decide(self, last: Layer, states: States, groups: Sequence[_Group]) -> torch.Tensor:
        """[examples, outputs] from what enters the last layer."""
        logits = [
            classify(self.mixture.model, last.first_token(hidden, _none(last, hidden)))
            for hidden in states
        ]
        places = [place for group in groups for place in group.places]
        return torch.cat(logits)[torch.from_numpy(np.argsort(places)).to(logits[0].device)]

    def _restored(
        self, number: int, heads: Sequence[int], states: States, groups: Sequence[_Group]
    ) -> Iterator[torch.Tensor]:
        """[examples, outputs] with each of some heads of one layer restored.

        Args:
            number: The layer, from 1.
            heads: Its heads, from 1.
            states: What enters the layer.
            groups: The examples.
        """
        if number == len(self._ends):
            for head in heads:
                yield self._decide(self._last_with(head), states, groups)
            return
        start, end = self._starts[number - 1], self._ends[number - 1]
        attended, contexts = [], []
        for hidden in states:
            old, new = (layer.context_and_change(hidden)[0] for layer in (end, start))
            attended.append(end.project(old, hidden))
            contexts.append((old, new))
        for head in heads:
            own = torch.tensor([head - 1], device=states[0].device)
            current = [
                intact + (start.project_heads(new, own) - end.project_heads(old, own))
                for intact, (old, new) in zip(attended, contexts, strict=True)
            ]
            current = [end.feed_forward(end.first_norm(hidden)) for hidden in current]
            for layer in self._ends[number:-1]:
                current = [layer.forward(hidden, _none(layer, hidden)) for hidden in current]
            yield self._decide(self._ends[-1], current, groups)

    def _last_with(self, head: int) -> Layer:
        """The last layer of the fine-tuned model with one head restored."""
        number, model = len(self._ends), self.mixture.model
        self.mixture.apply_to(number, (END, END))
        self.mixture.restore_head(number, head)
        return layer_of(model, number, model.dtype, ZERO)


def _outputs(mixture: Mixture) -> int:
    return int(mixture.end.config.num_labels or 1)


def _none(layer: Layer, hidden: torch.Tensor) -> torch.Tensor:
    """[n, heads] no head is disabled."""
    return torch.zeros(len(hidden), layer.heads, dtype=torch.bool, device=hidden.device)


def _shared(one: Mix, other: Mix) -> int:
    """In how many components, from the lowest, two mixes agree."""
    agree = [a == b for a, b in zip(one, other, strict=False)]
    return agree.index(False) if False in agree else len(agree)
