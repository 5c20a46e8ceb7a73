"""How the classifier of patterns is trained (section 4.1).

On encoders that it has not seen, a network that is trained on labelled maps alone is far worse than
a regression on hand-made features that express the definitions of the classes
(`benchmarks/results/pattern_transfer.md`). So the regression teaches the network; only the network
classifies the maps of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from darksecrets.paper.patterns.maps.labelled_maps import Annotations
from darksecrets.paper.patterns.network import augmentation, cnn, drawn_maps, logistic
from darksecrets.paper.patterns.network.features import features
from darksecrets.paper.patterns.network.kinds import MAP_KINDS, possible
from darksecrets.paper.patterns.network.seen import Seen

EVENNESS = 0.5
"""How much rare kinds weigh in training: 0 each map the same, 1 each kind the same."""
COMPOSED = 0.1
"""Weight of a composed map in training; that of the labelled ones is 1 on average."""
LABELLED = 8.0
"""Weight of a labelled map in the network's training; that of a drawn one is 1 on average."""
_TOGETHER = 256  # drawn maps that are prepared together
_LEAST = 1e-12


@dataclass(frozen=True)
class Inputs:
    """What is classified.

    Attributes:
        images: [maps, channels, size, size], see `cnn.images`.
        features: [maps, features], see `features.features`.
    """

    images: torch.Tensor
    features: torch.Tensor

    @classmethod
    def of(cls, seen: Seen) -> Inputs:
        """Prepare maps of equal length."""
        return cls(cnn.images(seen), features(seen))

    @classmethod
    def prepare_maps(
        cls,
        maps: Iterable[npt.NDArray[np.floating]],
        special: Iterable[str],
        segments: Iterable[str],
    ) -> Inputs:
        """Prepare maps of any lengths, with a digit per token as in a set of labelled maps."""
        parts = [
            cls.of(_see([one], [marks], [sentences]))
            for one, marks, sentences in zip(maps, special, segments, strict=True)
        ]
        images, values = (
            torch.cat([getattr(one, name) for one in parts]) for name in ("images", "features")
        )
        return cls(images, values)

    def __getitem__(self, rows: npt.NDArray[np.generic]) -> Inputs:
        """The inputs of some maps."""
        return Inputs(self.images[rows], self.features[rows])

    def __add__(self, other: Inputs) -> Inputs:
        """These maps and then others."""
        return Inputs(
            torch.cat([self.images, other.images]), torch.cat([self.features, other.features])
        )


def _see(
    maps: Sequence[npt.NDArray[np.floating]], special: Sequence[str], segments: Sequence[str]
) -> Seen:
    """Maps of equal length as annotators see them."""
    weights = torch.from_numpy(np.stack([np.asarray(one, dtype=np.float32) for one in maps]))
    return Seen.of(weights, _digits(special) == 1, _digits(segments))


def _digits(texts: Sequence[str]) -> torch.Tensor:
    """[texts, L] the digits of texts of equal length."""
    return torch.tensor([[int(digit) for digit in text] for text in texts])


@dataclass(frozen=True)
class Prepared:
    """Labelled maps, prepared for training on any of them.

    Attributes:
        inputs: Of the labelled maps.
        kinds: [maps, kinds] which kinds each may be.
        composed: Of maps composed of them; None if there are none.
        sources: [composed maps] the labelled map that each is made of.
        composed_kinds: [composed maps, kinds] one-hot.
        varied: Of maps varied from them, which have no labels.
        varied_sources: [varied maps, 2] the labelled maps that each is made of.
    """

    inputs: Inputs
    kinds: npt.NDArray[np.bool_]
    composed: Inputs | None
    sources: npt.NDArray[np.int64]
    composed_kinds: npt.NDArray[np.bool_]
    varied: Inputs
    varied_sources: npt.NDArray[np.int64]

    @classmethod
    def of(cls, data: Annotations, seed: int) -> Prepared:
        """Prepare labelled maps; the seed is that of the composed and varied ones."""
        table = data.table
        inputs = Inputs.prepare_maps(data.maps, table["special"], table["segments"])
        kinds = possible(data.labels, list(table["strict"]))
        nothing = np.zeros(0, dtype=np.int64), np.zeros((0, len(MAP_KINDS)), dtype=bool)
        made = augmentation.vary(data, seed)
        varied = Inputs.prepare_maps(made.maps, made.special, made.segments)
        prepared = cls(inputs, kinds, None, *nothing, varied, made.sources)
        return prepared.composed_again(data, seed)

    def composed_again(self, data: Annotations, seed: int) -> Prepared:
        """The same with other composed maps."""
        made = augmentation.compose(data, seed)
        if not made.maps:
            return self
        marks = data.table.iloc[made.sources]
        composed = Inputs.prepare_maps(made.maps, marks["special"], marks["segments"])
        one_hot = np.eye(len(MAP_KINDS), dtype=bool)[made.kinds]
        return replace(self, composed=composed, sources=made.sources, composed_kinds=one_hot)

    def examples(
        self, rows: npt.NDArray[np.int64]
    ) -> tuple[Inputs, npt.NDArray[np.bool_], npt.NDArray[np.float32]]:
        """Inputs, possible kinds and weights of some maps and of what is composed of them."""
        inputs, kinds, weights = self.inputs[rows], self.kinds[rows], weights_of(self.kinds[rows])
        added = np.isin(self.sources, rows)
        if self.composed is None or not added.any():
            return inputs, kinds, weights
        return (
            inputs + self.composed[added],
            np.concatenate([kinds, self.composed_kinds[added]]),
            np.concatenate([weights, np.full(added.sum(), COMPOSED, dtype=np.float32)]),
        )

    def varied_from(self, rows: npt.NDArray[np.int64]) -> Inputs:
        """The maps that are varied from some of the labelled ones alone."""
        return self.varied[np.flatnonzero(np.isin(self.varied_sources, rows).all(axis=1))]


def train_regression(prepared: Prepared, rows: npt.NDArray[np.int64]) -> logistic.Logistic:
    """Train on some labelled maps, and on what is composed of them."""
    inputs, kinds, weights = prepared.examples(rows)
    known, counts = torch.from_numpy(kinds), torch.from_numpy(weights)
    return logistic.train(inputs.features, known, counts)


def train_network(
    prepared: Prepared, rows: npt.NDArray[np.int64], drawn: Inputs, training: cnn.Training
) -> cnn.PatternNet:
    """Train the paper's network.

    It learns the labels of some labelled maps, and what the regression, which is trained on the
    same labels, says of drawn maps and of maps varied from the labelled ones. Of a labelled map
    that may be of several kinds, it learns what the regression says among these.

    Args:
        prepared: Labelled maps.
        rows: Those to train on.
        drawn: From `prepare_drawn`; labels and encoders that are left out have no part in them.
        training: Settings.
    """
    regression, labelled = train_regression(prepared, rows), prepared.inputs[rows]
    possible = torch.from_numpy(prepared.kinds[rows])
    known = torch.softmax(regression(labelled.features), dim=1) * possible + _LEAST * possible
    varied = prepared.varied_from(rows)
    taught = drawn + Inputs(varied.images.to(drawn.images), varied.features)
    answers = torch.softmax(regression(taught.features), dim=1)
    likeliest = np.eye(len(MAP_KINDS), dtype=bool)[answers.argmax(dim=1).numpy()]
    weights = [LABELLED * weights_of(prepared.kinds[rows]), weights_of(likeliest)]
    return cnn.train(
        torch.cat([labelled.images.to(taught.images), taught.images]),
        torch.cat([known / known.sum(dim=1, keepdim=True), answers]),
        torch.from_numpy(np.concatenate(weights)),
        training,
    )


def prepare_drawn(training: cnn.Training) -> Inputs:
    """Draw maps and prepare them; their images are in half precision, to save memory."""
    of_length: dict[int, list[drawn_maps.DrawnMap]] = {}
    for one in drawn_maps.draw(training.drawn, training.seed):
        of_length.setdefault(len(one.weights), []).append(one)
    parts = []
    for maps in of_length.values():
        for start in range(0, len(maps), _TOGETHER):
            some = maps[start : start + _TOGETHER]
            seen = _see(
                [one.weights for one in some],
                [one.special for one in some],
                [one.segments for one in some],
            )
            parts.append(Inputs.of(seen))
    images = torch.cat([part.images.half() for part in parts])
    return Inputs(images, torch.cat([part.features for part in parts]))


def weights_of(kinds: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """[maps] weight of each map in training, by the frequency of its kind; the mean is 1."""
    _, places, counts = np.unique(kinds, axis=0, return_inverse=True, return_counts=True)
    weights = (1 / counts[places]) ** EVENNESS
    return np.asarray(weights / weights.mean(), dtype=np.float32)
