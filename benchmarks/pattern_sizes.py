"""Which size and scale should maps have for the network that classifies patterns? Cross-validated.

    python benchmarks/pattern_sizes.py [--annotations FOLDER] [--epochs 20] [--slow-epochs 8]
                                       [--seeds 1] [--folds 3]

The network, its training and the folds are the same; only the images differ: resampled to several
sizes, zero-padded to the longest map as in the follow-up (Prasanna, Rogers, Rumshisky 2020), or at
the size of each map; and the network's size with other scales. Images of the longest map's size
cost 15 times as much. They are trained for fewer epochs, and so is, for comparison, a repetition of
the network's size. Without options this takes about ten minutes on one core; with
``--epochs 30 --slow-epochs 30 --seeds 3 --folds 5``, as the workflow trains, several hours.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from _machine import describe, write_results
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.patterns import annotations, classifier, cnn, crossvalidation, quality
from darksecrets.patterns.classes import LENIENT, PATTERNS
from darksecrets.patterns.definitions import members, possible
from darksecrets.patterns.tables import EXAMPLE

Scale = Callable[[torch.Tensor], torch.Tensor]


def drawn(maps: torch.Tensor) -> torch.Tensor:
    """Darkness as annotators see it, [maps, L, L]."""
    darkest = maps.flatten(1).topk(len(maps[0]), dim=1).values[:, -1]
    return (maps.float() / darkest[:, None, None]).clamp(max=1)


SCALES: dict[str, Scale] = {
    "as drawn": drawn,
    "weights": lambda maps: maps.float(),
    "weights × L": lambda maps: maps.float() * len(maps[0]),
    "square roots": lambda maps: maps.float().sqrt(),
}


def resampled(maps: Sequence[torch.Tensor], scale: Scale, size: int) -> torch.Tensor:
    """[maps, size, size] images of one size; at `cnn.SIZE`, those of the classifier."""
    images = [
        nn.functional.interpolate(
            scale(one[None])[:, None], size=(size, size), mode="bilinear", antialias=True
        )[0]
        for one in maps
    ]
    return torch.cat(images)


def zero_padded(maps: Sequence[torch.Tensor], scale: Scale) -> torch.Tensor:
    """[maps, longest, longest] images with zeros to the right of and below each map."""
    longest = max(len(one) for one in maps)
    images = torch.zeros(len(maps), longest, longest)
    for image, one in zip(images, maps, strict=True):
        image[: len(one), : len(one)] = scale(one[None])[0]
    return images


class OnePlane(cnn.PatternNet):
    """The network for images with one plane, [maps, 1, size, size]."""

    def __init__(self) -> None:
        super().__init__(1)


class OwnSizes(OnePlane):
    """The network for maps at their own sizes: cells outside of a map are 0 in every layer.

    Outside of a map, an image is NaN. Each map has the same outputs as alone.
    """

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Classify images, [maps, 1, longest, longest]."""
        x = images.to(memory_format=torch.channels_last)
        inside = (~x.isnan()).float()
        x = x.nan_to_num()
        for layer in self.layers:
            if isinstance(layer, nn.BatchNorm2d):
                x = _normalise(layer, x, inside[:, 0] > 0)
                continue
            if isinstance(layer, nn.MaxPool2d):
                inside = layer(inside)
            x = layer(x) * inside
        return x.sum(dim=(2, 3)) / inside.sum(dim=(2, 3))


def _normalise(layer: nn.BatchNorm2d, x: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Normalise the cells inside of the maps, [maps, size, size], ignoring those outside."""
    cells = x.permute(0, 2, 3, 1)
    result = torch.zeros_like(cells)
    statistics = (layer.running_mean, layer.running_var, layer.weight, layer.bias)
    rest = (layer.training, layer.momentum, layer.eps)
    result[inside] = nn.functional.batch_norm(cells[inside], *statistics, *rest)
    return result.permute(0, 3, 1, 2)


def own_sizes(maps: Sequence[torch.Tensor], scale: Scale) -> torch.Tensor:
    """[maps, longest, longest] images with NaN to the right of and below each map."""
    images = zero_padded(maps, scale)
    for image, one in zip(images, maps, strict=True):
        image[len(one) :] = torch.nan
        image[:, len(one) :] = torch.nan
    return images


Variant = tuple[str, str, type[cnn.PatternNet], torch.Tensor]
"""Size, what is in the image, network, and images [maps, planes, size, size]."""

OF_NETWORK = f"{cnn.SIZE} × {cnn.SIZE}"
"""The size of the network that the classifier is compared with."""


def variants(data: annotations.Annotations, maps: Sequence[torch.Tensor]) -> Iterator[Variant]:
    """Everything that is compared."""
    marks = data.table["special"], data.table["segments"]
    planes = classifier.Inputs.of_maps(data.maps, *marks).images
    yield OF_NETWORK, "all four planes", cnn.PatternNet, planes
    for size in (cnn.SIZE, 16, 32, 48):
        images = resampled(maps, drawn, size)
        yield f"{size} × {size}", "as drawn", OnePlane, images[:, None]
    for name, scale in SCALES.items():
        if scale is not drawn:
            yield OF_NETWORK, name, OnePlane, resampled(maps, scale, cnn.SIZE)[:, None]


def slow_variants(maps: Sequence[torch.Tensor]) -> Iterator[Variant]:
    """The network's size again, and then those of the longest map's size."""
    yield OF_NETWORK, "as drawn", OnePlane, resampled(maps, drawn, cnn.SIZE)[:, None]
    yield "zero-padded", "as drawn", OnePlane, zero_padded(maps, drawn)[:, None]
    yield "own size", "as drawn", OwnSizes, own_sizes(maps, drawn)[:, None]


def cross_validate(
    data: annotations.Annotations,
    network: type[cnn.PatternNet],
    images: torch.Tensor,
    epochs: int,
    options: argparse.Namespace,
) -> pd.DataFrame:
    """Scores of one variant, over all seeds, and the CPU seconds of one of them."""
    tables = []
    start = time.process_time()
    for seed in range(options.seeds):
        numbers = crossvalidation.folds(data, options.folds, seed)
        outputs = np.empty((len(numbers), len(PATTERNS)))
        for number in range(1, options.folds + 1):
            learned, tested = (
                np.flatnonzero(part) for part in (numbers != number, numbers == number)
            )
            labels = [data.labels[row] for row in learned]
            known = torch.from_numpy(possible(labels, [""] * len(labels)))
            weights = torch.from_numpy(classifier.weights_of(labels))
            training = cnn.Training(epochs, seed)
            net = cnn.train(images[learned], known, weights, training, network)
            with torch.inference_mode():
                chances = torch.softmax(net(images[tested]), dim=1).double().numpy()
            outputs[tested] = chances @ members(LENIENT)
        table = data.table[["map", "label"]].assign(example=data.groups, encoder=data.encoders)
        table = table.assign(classifier="variant", left_out=EXAMPLE, definition=LENIENT)
        table["predicted"] = np.array(list(PATTERNS))[outputs.argmax(axis=1)]
        table[crossvalidation.probability_columns()] = outputs
        tables.append(table)
    seconds = (time.process_time() - start) / options.seeds
    scores = quality.scores(
        pd.concat([one.assign(repetition=n) for n, one in enumerate(tables)]), 1000, seed=0
    )
    scores = scores[scores["maps_of"] == quality.ALL]
    return scores.set_index("metric").loc[["weighted_f1", "macro_f1"]].assign(seconds=seconds)


def measure(options: argparse.Namespace) -> None:
    """Cross-validate every variant, and write the results after each."""
    torch.set_num_threads(1)
    data = annotations.load([options.annotations])
    maps = [torch.from_numpy(np.asarray(one, dtype=np.float32)) for one in data.maps]
    rows = []
    every = [(one, options.epochs) for one in variants(data, maps)]
    every += [(one, options.slow_epochs) for one in slow_variants(maps)]
    for (size, scale, network, images), epochs in every:
        scores = cross_validate(data, network, images, epochs, options)
        row: dict[str, object] = {"size": size, "image": scale, "epochs": epochs}
        for metric, name in (("weighted_f1", "weighted F1"), ("macro_f1", "macro F1")):
            score = scores.loc[metric]
            row[name] = f"{score['score']:.1f}"
            row[f"{name}, 95%"] = f"{score['ci_low']:.1f} to {score['ci_high']:.1f}"
        row["seconds"] = round(scores["seconds"].iloc[0])
        rows.append(row)
        write(pd.DataFrame(rows), len(data.table), options)


def write(table: pd.DataFrame, maps: int, options: argparse.Namespace) -> None:
    """Write the results so far."""
    notes = (
        f"{maps} labelled maps of 7 to 125 tokens, {options.folds} folds that share no example, "
        f"{options.seeds} seed(s) of folds and training. Scores × 100 with bootstrap intervals "
        "over examples; CPU seconds of one cross-validation. Compare only rows with the same "
        "number of epochs: images of the longest map's size are slow and get fewer epochs, so the "
        "variant of the network's size is repeated with as few. The workflow trains 30 epochs on 5 "
        "folds. *all four planes*: the network that the classifier is compared with; the others "
        "see one plane. Every score is under the lenient definition, with examples left out."
    )
    title = "Size and scale of maps for the network that classifies patterns"
    write_results("pattern_sizes", title, table, describe("torch", "numpy"), notes)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--annotations", type=Path, default=annotations.SHIPPED)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--slow-epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--folds", type=int, default=3)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
