"""Outputs of many mixes of two classifiers, which share the layers that they have in common.

All mixes go through the encoder together. After each layer, those that agree up to it are one node;
nodes that enter the same version of a layer are one batch. A head that is reset changes the output
of its layer's attention through its slice of the projection: all heads of a layer share one pass
through both versions of its attention, and leave the fine-tuned model there. The last layer is
computed for the first token only.

BERT, RoBERTa and ELECTRA are run in this way. Other encoders are run as they are, once per mix.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.ablation.disable import ZERO
from darksecrets.ablation.ties import decide_ties
from darksecrets.arrays import Singles
from darksecrets.data.batches import MASK, EncodedSplit, by_length
from darksecrets.finetuning.evaluation import batch_size_for
from darksecrets.models import devices, threads
from darksecrets.models.hooks import shape_of
from darksecrets.models.layers import Layer, classify, embed, is_known, layer_of, layers_of
from darksecrets.models.mixing import END, START, Mix, Mixture, has_separate_heads, whole
from darksecrets.run.errors import InputError
from darksecrets.run.progress import progress

Logits = Singles
Head = tuple[int, int]
"""A layer and one of its heads, both from 1."""

Key = TypeVar("Key")

BLOCK = {"cpu": 2**28, "gpu": 2**33}
"""Bytes of a thread's hidden states of a block of examples before and after a layer, at most."""
CHUNK = {"cpu": 2**10, "gpu": 2**16}
"""Tokens per pass through a layer, see `darksecrets.ablation.shared`."""


def heads_of(model: PreTrainedModel) -> list[Head]:
    """Every head whose own parameters can be reset; none if heads share them."""
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
    """Logits of all examples under some mixes, and of the fine-tuned model with a head reset.

    Mixes and heads that make no difference to the weights make none to the outputs.

    Args:
        mixture: The two models, on the device to use.
        split: The examples.
        mixes: Any mixes.
        heads: Heads to reset, each alone.
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
    backend = (Shared if is_known(mixture.end) else Loop)(mixture, split, different, changed)
    shape = (len(different) + len(changed), len(split), _outputs(mixture))
    found = np.empty(shape, dtype=np.float32)
    steps = progress(description, len(split), "examples")
    with torch.inference_mode(), steps as advance:
        blocks = list(by_length(split.lengths, backend.block_size))
        for rows, outputs in zip(blocks, backend.blocks(blocks), strict=True):
            found[:, rows] = outputs.float().cpu().numpy()
            advance(len(rows))
    if not np.isfinite(found).all():
        raise InputError(
            f"{type(mixture.end).__name__}: found outputs that are not finite numbers with layers "
            "exchanged. A model has diverged, or its weights are damaged. Train again."
        )
    if predicted:
        with torch.inference_mode():
            decide_ties(Loop(mixture, split, different, changed), found)
    of_heads = {head: number for number, head in enumerate(changed, start=len(different))}
    places = [different.index(mix) for mix in wanted]
    return found[[*places, *(of_heads.get(head, 0) for head in heads)]]


class Loop:
    """Runs the model itself, once per mix and reset head; see `run`."""

    def __init__(
        self, mixture: Mixture, split: EncodedSplit, mixes: Sequence[Mix], heads: Sequence[Head]
    ) -> None:
        self.mixture, self.split = mixture, split
        self.mixes, self.heads = list(mixes), list(heads)
        self.block_size = batch_size_for(mixture.end, split)

    def blocks(self, blocks: Iterable[Sequence[int]]) -> Iterator[torch.Tensor]:
        """The outputs of some blocks of examples, in their order."""
        return map(self.block, blocks)

    def block(self, rows: Sequence[int]) -> torch.Tensor:
        """[mixes and heads, rows, outputs] of some examples."""
        numbers = range(len(self.mixes) + len(self.heads))
        return torch.stack([self.logits(number, rows) for number in numbers])

    def logits(self, number: int, rows: Sequence[int]) -> torch.Tensor:
        """[rows, outputs] of a padded batch under one mix, or with one head reset."""
        if number < len(self.mixes):
            self.mixture.apply(self.mixes[number])
        else:
            self.mixture.apply(whole(self.mixture.layers, END))
            self.mixture.reset_head(*self.heads[number - len(self.mixes)])
        model = self.mixture.model
        batch = {name: t.to(model.device) for name, t in self.split.batch(list(rows)).items()}
        del batch["labels"]
        return model(**batch).logits

    def run(self, number: int, rows: Sequence[int]) -> Logits:
        """The same as an array, for `darksecrets.ablation.ties`."""
        return self.logits(number, rows).float().cpu().numpy()


_Group = tuple[list[int], dict[str, torch.Tensor]]
"""Examples of equal length: their positions in the block; their token ids and so on, [n, L]."""


@dataclass(frozen=True)
class _Node:
    """What some models have computed alike, up to a layer.

    Attributes:
        mix: Their mix, up to this layer.
        head: Number of the head that is reset in them; None for none.
    """

    mix: Mix
    head: int | None = None


States = list[torch.Tensor]
"""Hidden states of all nodes at one place of the encoder, by group: [nodes, n, L, size]."""


class Shared(Loop):
    """Computes BERT's layers itself, and what models share only once; see `run`."""

    def __init__(
        self, mixture: Mixture, split: EncodedSplit, mixes: Sequence[Mix], heads: Sequence[Head]
    ) -> None:
        super().__init__(mixture, split, mixes, heads)
        self._starts, self._ends = (
            layers_of(model, ZERO) for model in (mixture.start, mixture.end)
        )
        self._whole = whole(mixture.layers, END)
        config, nodes = mixture.end.config, len(self.mixes) + len(self.heads) + 2
        size = 2 * 4 * nodes * int(split.lengths.max()) * config.hidden_size
        on_cpu, on_gpu = (max(1, BLOCK[device] // size) for device in ("cpu", "gpu"))
        self.block_size = devices.batch_size(mixture.end.device, size, cpu=on_cpu, gpu=on_gpu)
        tokens = devices.sequence_bytes(config, 1)
        self._tokens = devices.batch_size(mixture.end.device, tokens, **CHUNK)
        self._lock = threading.Lock()  # on the mixture's model, whose weights change

    def blocks(self, blocks: Iterable[Sequence[int]]) -> Iterator[torch.Tensor]:
        """See `Loop.blocks`; on a CPU, every thread works on a block of its own."""
        return threads.apply(self.block, blocks, self.mixture.end.device)

    def block(self, rows: Sequence[int]) -> torch.Tensor:
        """See `Loop.block`."""
        groups = list(self._groups(rows))
        nodes = [_Node(mix) for mix in self._prefixes(1)]
        states = self._embedded(nodes, groups)
        for number in range(1, self.mixture.layers):
            nodes, states = self._through(number, nodes, states)
        wanted = [_Node(mix) for mix in self.mixes]
        wanted += [_Node(self._whole, head) for head in range(len(self.heads))]
        found: torch.Tensor = states[0].new_empty(len(wanted), len(rows), _outputs(self.mixture))
        for (places, _), tokens in zip(groups, self._last(wanted, nodes, states), strict=True):
            found[:, places] = self._classified(wanted, tokens)
        return found

    def _prefixes(self, components: int) -> list[Mix]:
        """What all mixes are in the lowest components, each once; and the fine-tuned model."""
        return sorted({mix[:components] for mix in (*self.mixes, self._whole)})

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
            yield places, inputs

    def _embedded(self, nodes: Sequence[_Node], groups: Sequence[_Group]) -> States:
        found: list[list[torch.Tensor]] = [[] for _ in groups]
        for node in nodes:
            with self._lock:
                self.mixture.apply_to(0, node.mix[0])
                for of_group, (_, inputs) in zip(found, groups, strict=True):
                    of_group.append(embed(self.mixture.model, inputs))
        return [torch.stack(of_group) for of_group in found]

    def _through(
        self, number: int, before: Sequence[_Node], states: States
    ) -> tuple[list[_Node], States]:
        """The nodes after a layer, by its number from 1, and what leaves it."""
        place = {node: index for index, node in enumerate(before)}
        below, fine_tuned = self._whole[:number], self._whole[: number + 1]
        carried = [node.head for node in before if node.head is not None]
        own = [head for head, (layer, _) in enumerate(self.heads) if layer == number]
        nodes = [_Node(mix) for mix in self._prefixes(number + 1)]
        parents = [place[_Node(node.mix[:-1])] for node in nodes]
        nodes += [_Node(fine_tuned, head) for head in carried]
        parents += [place[_Node(below, head)] for head in carried]
        found = [of.new_empty(len(nodes) + len(own), *of.shape[1:]) for of in states]
        for share, chosen in _grouped(node.mix[number] for node in nodes):
            layer = self._layer(number, share)
            for old, new in zip(states, found, strict=True):
                step = max(1, self._tokens // old.shape[2])
                sources = torch.split(_flat([parents[n] for n in chosen], old), step)
                for source, target in zip(
                    sources, torch.split(_flat(chosen, old), step), strict=True
                ):
                    hidden = old.flatten(0, 1)[source]
                    new.flatten(0, 1)[target] = layer.forward(hidden, _none(layer, hidden))
        for old, new in zip(states, found, strict=True) if own else ():
            self._reset(number, own, old[place[_Node(below)]], new[len(nodes) :])
        return nodes + [_Node(fine_tuned, head) for head in own], found

    def _layer(self, number: int, share: Sequence[float], head: int | None = None) -> Layer:
        """One layer, by its number from 1, with shares of the fine-tuned weights.

        Args:
            number: The layer.
            share: The shares of its attention and feed-forward part.
            head: Number of a head in ``heads`` that is reset in it.
        """
        for pure, layers in ((START, self._starts), (END, self._ends)):
            if head is None and tuple(share) == (pure, pure):
                return layers[number - 1]
        with self._lock:
            self.mixture.apply_to(number, share)
            if head is not None:
                self.mixture.reset_head(*self.heads[head])
            model = self.mixture.model
            return layer_of(model, number, ZERO, copied=True)

    def _reset(
        self, number: int, own: Sequence[int], hidden: torch.Tensor, found: torch.Tensor
    ) -> None:
        """Put the outputs of a fine-tuned layer with each of some heads reset in their places.

        Args:
            number: The layer, from 1.
            own: Numbers of the heads in ``heads``.
            hidden: [n, L, size], what enters the fine-tuned layer.
            found: [heads, n, L, size], where to put the outputs.
        """
        start, end = self._starts[number - 1], self._ends[number - 1]
        old, new = (layer.context_and_change(hidden)[0] for layer in (end, start))
        intact = end.project(old, hidden)
        for place, head in enumerate(own):
            of_head = torch.tensor([self.heads[head][1] - 1], device=hidden.device)
            change = start.project_heads(new, of_head) - end.project_heads(old, of_head)
            found[place] = end.feed_forward(end.first_norm(intact + change))

    def _last(self, wanted: Sequence[_Node], before: Sequence[_Node], states: States) -> States:
        """[models, n, size] output of the last layer at the first token, by group."""
        number = self.mixture.layers
        place = {node: index for index, node in enumerate(before)}
        parents, keys = [], []
        for node in wanted:
            own = node.head is not None and self.heads[node.head][0] == number  # reset only there
            parents.append(place[_Node(node.mix[:number], None if own else node.head)])
            keys.append((node.mix[number], node.head if own else None))
        found = [of.new_empty(len(wanted), of.shape[1], of.shape[3]) for of in states]
        for (share, head), chosen in _grouped(keys):
            layer = self._layer(number, share, head)
            for old, new in zip(states, found, strict=True):
                hidden = old[[parents[index] for index in chosen]]
                flat = hidden.flatten(0, 1)
                tokens = layer.first_token(flat, _none(layer, flat))
                new[chosen] = tokens.view(*hidden.shape[:2], -1)
        return found

    def _classified(self, wanted: Sequence[_Node], tokens: torch.Tensor) -> torch.Tensor:
        """[models, n, outputs] from what leaves the last layer, [models, n, size]."""
        found = tokens.new_empty(*tokens.shape[:2], _outputs(self.mixture))
        for share, chosen in _grouped(node.mix[-1] for node in wanted):
            with self._lock:
                self.mixture.apply_to(self.mixture.layers + 1, share)
                logits = classify(self.mixture.model, tokens[chosen].flatten(0, 1))
            found[chosen] = logits.view(len(chosen), tokens.shape[1], -1)
        return found


def _grouped(keys: Iterable[Key]) -> list[tuple[Key, list[int]]]:
    """Every key once, with the numbers of its places."""
    found: dict[Key, list[int]] = {}
    for index, key in enumerate(keys):
        found.setdefault(key, []).append(index)
    return list(found.items())


def _flat(nodes: Sequence[int], states: torch.Tensor) -> torch.Tensor:
    """Numbers of some nodes' examples, if those of [nodes, n, L, size] are counted through."""
    n = states.shape[1]
    numbers = torch.tensor(nodes, device=states.device)[:, None] * n
    return (numbers + torch.arange(n, device=states.device)).flatten()


def _outputs(mixture: Mixture) -> int:
    return int(mixture.end.config.num_labels or 1)


def _none(layer: Layer, hidden: torch.Tensor) -> torch.Tensor:
    """[n, heads] no head is disabled."""
    return torch.zeros(len(hidden), layer.heads, dtype=torch.bool, device=hidden.device)
