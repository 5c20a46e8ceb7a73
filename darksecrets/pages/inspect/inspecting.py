"""Look at text: an encoder's maps of any sentences, their patterns, and what its heads attend to.

Nothing here needs labels, and nothing is trained. The workflow's target ``inspect`` calls the same
functions as `inspect`, one job after the other.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.attention.store import AttentionStore
from darksecrets.pages.inspect import texts
from darksecrets.pages.inspect.maps import classify_maps, extract_examples
from darksecrets.pages.inspect.measuring import SEED, annotate, left_out, measure_heads
from darksecrets.paper.features.parser import load_pipeline


@dataclass(frozen=True)
class Inspection:
    """What an encoder does on some examples, which are in the order of the text everywhere.

    Attributes:
        examples: A row per example, table `darksecrets.pages.inspect.tables.EXAMPLES`.
        tokens: For each example, its L tokens.
        maps: For each example, [layer, head, query, key] attention weights, half precision.
        measures: Tables of the measures by name, such as ``head_statistics``.
        patterns: The pattern of every map by both classifiers, in the column ``classifier``; None
            without any.
        left_out: What could not be measured, and why.
    """

    examples: pd.DataFrame
    tokens: list[list[str]]
    maps: list[Halves]
    measures: Mapping[str, pd.DataFrame]
    patterns: pd.DataFrame | None
    left_out: Mapping[str, str]


def inspect(
    text: object,
    model: str | Path,
    *,
    classifier: str | Path | None = None,
    pipeline: str | None = None,
    max_length: int = 128,
    seed: int = SEED,
) -> Inspection:
    """Look at what the heads of an encoder do on text.

    Args:
        text: A sentence, a list of examples, or a file, see `darksecrets.pages.inspect.texts.read`.
        model: Hugging Face folder of an encoder, with or without a classifier.
        classifier: Folder of the trained classifiers of patterns: those that ship with the
            project, or ``patterns/classifier`` of a run that trained one.
        pipeline: A spaCy pipeline, by name or folder; without it, words have no features.
        max_length: Longest example, in tokens; what is longer is cut off, with a warning.
        seed: Seed of the controls.

    Raises:
        InputError: The text, the model or the pipeline cannot be used.
    """
    examples = texts.read(text)
    with tempfile.TemporaryDirectory() as folder:
        table, _ = extract_examples(examples, Path(model), Path(folder) / "store", max_length)
        store = AttentionStore.open(Path(folder) / "store")
        patterns = None if classifier is None else classify_maps(store, Path(classifier), examples)
        annotation = annotate(examples, load_pipeline(pipeline) if pipeline else None)
        measures = measure_heads(store, annotation, examples, seed)
        rows = np.argsort(store.idx).tolist()
        maps = [store.maps(row).copy() for row in rows]
        tokens = [store.tokens(row) for row in rows]
    unparsed = "" if pipeline else "no pipeline was given"
    return Inspection(table, tokens, maps, measures, patterns, left_out(examples, unparsed))
