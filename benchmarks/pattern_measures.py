"""Can the classifier of patterns be used on norms and effective attention?

    python benchmarks/pattern_measures.py results/demo [results/real …] [--task RTE] [--examples 24]

The classifier is trained on labelled maps of weights. Maps of the other measures, as shares of a
row, have no labels, so its errors on them cannot be counted. What can be seen is whether they look
like anything that it was trained on: the distance of a map's features to those of the nearest
labelled map, beside the distances of labelled maps to those of other encoders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import yaml
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.attention.extraction import read_sample
from darksecrets.attention_measures.running import Running
from darksecrets.attention_measures.running import run as load
from darksecrets.data.sampling import sample
from darksecrets.models.reading import Reading
from darksecrets.patterns import annotations, classifier, trained
from darksecrets.patterns.classes import LENIENT, PATTERNS
from darksecrets.patterns.features import features
from darksecrets.patterns.seen import Seen
from darksecrets.run.columns import MEASURES, WEIGHTS

Floats = npt.NDArray[np.float64]

BATCH, LONGEST = 16, 128
USUAL = 0.95
"""Share of the labelled maps that are at most this far from those of other encoders."""


class Labelled:
    """Features of the labelled maps, in units of their standard deviations."""

    def __init__(self) -> None:
        data = annotations.load([annotations.SHIPPED])
        table = data.table
        made = classifier.Inputs.of_maps(data.maps, table["special"], table["segments"])
        found = made.features.double().numpy()
        self.centre, self.scale = found.mean(axis=0), np.maximum(found.std(axis=0), 1e-9)
        self.features = self._scaled(found)
        encoders = np.asarray(data.encoders)
        apart = [
            _nearest(self.features[encoders == one], self.features[encoders != one])
            for one in pd.unique(encoders)
        ]
        self.usual = float(np.quantile(np.concatenate(apart), USUAL))

    def _scaled(self, found: Floats) -> Floats:
        scaled: Floats = (found - self.centre) / self.scale
        return scaled

    def far(self, found: Floats) -> npt.NDArray[np.bool_]:
        """[maps] which maps are farther from all labelled ones than is usual."""
        return _nearest(self._scaled(found), self.features) > self.usual


def _nearest(maps: Floats, others: Floats) -> Floats:
    """[maps] distance of each map to the nearest of the others."""
    from sklearn.neighbors import NearestNeighbors

    distances, _ = NearestNeighbors(n_neighbors=1).fit(others).kneighbors(maps)
    nearest: Floats = distances[:, 0]
    return nearest


def classified(maps: Running) -> Iterator[pd.DataFrame]:
    """A row per map of every measure: ``measure``, ``pattern``, ``probability``, features."""
    known = classifier.load(trained.CLASSIFIER)
    with torch.inference_mode():
        for examples, values in maps.batches():
            special, segments = (
                torch.from_numpy(np.stack([of(example) for example in examples]))
                for of in (maps.special, maps.segments)
            )
            for variant in maps.variants:
                own = torch.from_numpy(values[:, :, variant.heads].copy())
                of_example = torch.arange(len(examples)).repeat_interleave(
                    own[0, ..., 0, 0].numel()
                )
                seen = Seen.of(own.flatten(0, 2), special[of_example], segments[of_example])
                best = known.read(known(seen), LENIENT).max(dim=1)
                found = pd.DataFrame(features(seen).double().numpy()).add_prefix("feature ")
                names = np.array(list(PATTERNS))[best.indices.numpy()]
                yield found.assign(
                    measure=variant.measure, pattern=names, probability=best.values.numpy()
                )


def measured(run: Path, task: str, examples: int) -> pd.DataFrame:
    """All maps of a run's pre-trained model, and of the task's first fine-tuned one."""
    models = run / "models"
    folders = {"pretrained": models / "pretrained", "finetuned": models / task / "finetuned/seed-1"}
    samples = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))["samples"]
    sampled = sample(run / "data" / task, **samples)[:examples]
    encoders = {name: Reading(model, LONGEST, BATCH) for name, model in folders.items()}
    maps = load(encoders, read_sample(run / "data" / task, sampled), list(MEASURES))
    return pd.concat(classified(maps), ignore_index=True)


def rows_of(run: Path, task: str, examples: int, labelled: Labelled) -> list[dict[str, Any]]:
    """A row for every measure of one run."""
    found = measured(run, task, examples)
    name = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))["run"]
    by_weights = found.loc[found["measure"] == WEIGHTS, "pattern"].to_numpy()
    rows = []
    for measure in MEASURES:
        own = found[found["measure"] == measure]
        shares = own["pattern"].value_counts(normalize=True).reindex(list(PATTERNS), fill_value=0)
        far = labelled.far(own.filter(like="feature ").to_numpy())
        rows.append(
            {
                "run": name,
                "measure": measure,
                "maps": len(own),
                **{f"{kind}, %": round(100 * share, 1) for kind, share in shares.items()},
                "same class as by weights, %": round(
                    100 * np.mean(own["pattern"] == by_weights), 1
                ),
                "mean probability": round(float(own["probability"].mean()), 2),
                "unlike labelled maps, %": round(100 * far.mean(), 1),
            }
        )
    return rows


def main() -> None:
    """Read the command line, classify, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of finished runs")
    parser.add_argument("--task", default="RTE", help="whose models and examples are used")
    parser.add_argument("--examples", type=int, default=24)
    options = parser.parse_args()
    labelled = Labelled()
    rows = [
        row
        for folder in options.runs
        for row in rows_of(folder, options.task, options.examples, labelled)
    ]
    notes = (
        f"Maps of the pre-trained model and of one fine-tuned on {options.task}, on "
        f"{options.examples} examples, by every measure of attention, classified (lenient "
        "definition) by the classifier that ships, which was trained on labelled maps of weights. "
        "A map is unlike labelled maps if the nearest of them is farther, in features divided by "
        f"their standard deviations, than {100 * USUAL:.0f} % of the labelled maps are from those "
        "of other encoders. Shares of the other measures are not results: nobody has labelled such "
        "maps, so the errors of the classifier on them are unknown, and runs do not report them."
    )
    machine = describe("torch", "transformers", "scikit-learn")
    write_results(
        "pattern_measures", "Patterns by other measures", pd.DataFrame(rows), machine, notes
    )


if __name__ == "__main__":
    main()
