"""All tables of one model: of a treebank's words, and of a task's examples."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.beyond.layers import declared
from darksecrets.beyond.layers.declared import (
    LAYER_GEOMETRY,
    LAYER_ORDER,
    LAYER_PROBES,
    REMOVED_PROPERTIES,
    STRUCTURAL_PROBES,
    Settings,
)
from darksecrets.beyond.layers.measure.geometry import geometry_rows
from darksecrets.beyond.layers.measure.probing import (
    order_row,
    probe_rows,
    training_groups,
    usable,
)
from darksecrets.beyond.layers.measure.properties import (
    Property,
    example_properties,
    word_properties,
    word_types,
)
from darksecrets.beyond.layers.measure.removal import removal_rows
from darksecrets.beyond.layers.measure.states import example_states, word_states
from darksecrets.beyond.layers.measure.structural import structural_rows
from darksecrets.core.arrays import Flags, Integers
from darksecrets.core.data.batches import load_split
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.tables import Table
from darksecrets.core.stats.units import first_of_each, numbered_texts

Tables = dict[Table, pd.DataFrame]
Kept = tuple[Property, Flags]


@dataclass(frozen=True)
class Examples:
    """Examples of a task: those that probes are trained on, then those that score.

    Attributes:
        task: The task.
        dataset: Its data, see the data contract.
        columns: Sentences of all of them.
        labels: [examples] class of each; of a regression, whether it is above the mean of training.
        classes: Names of the classes.
        training: [examples] whether it is a training example.
    """

    task: Task
    dataset: Path
    columns: Mapping[str, list[str]]
    labels: Integers
    classes: tuple[str, ...]
    training: Flags

    @classmethod
    def read(cls, task: Task, dataset: Path, settings: Settings) -> Examples:
        """Draw examples of both splits; of those with the same text, only the first counts."""
        from datasets import load_from_disk

        splits = load_from_disk(str(dataset))
        columns: dict[str, list[str]] = {name: [] for name in task.columns}
        labels, sizes = [], []
        for name in ("train", "validation"):
            texts = {column: list(splits[name][column]) for column in task.columns}
            different = first_of_each(numbered_texts(texts.values()))
            drawn = np.random.default_rng(settings.seed).permutation(different)
            chosen = np.sort(drawn[: settings.examples]).tolist()
            for column, values in texts.items():
                columns[column] += [values[row] for row in chosen]
            known = np.asarray(splits[name]["label"], dtype=np.float64)
            labels.append(known[chosen])
            sizes.append(len(chosen))
        classes = tuple(task.labels) or ("low", "high")
        numbers = np.concatenate(labels)
        if task.is_regression:
            numbers = numbers > labels[0].mean()
        return cls(
            task=task,
            dataset=dataset,
            columns=columns,
            labels=numbers.astype(np.int64),
            classes=classes,
            training=np.arange(len(numbers)) < sizes[0],
        )


def treebank_tables(
    reading: Reading,
    sentences: Sequence[Sentence],
    settings: Settings,
    examples: Examples | None = None,
) -> Tables:
    """Tables of a model about the words of a treebank.

    Args:
        reading: The model.
        sentences: The treebank.
        settings: How much is read.
        examples: Of the task that it was fine-tuned on, to see what a property is used for.

    Raises:
        InputError: No sentence can be read whole.
    """
    drawn = np.random.default_rng(settings.seed).permutation(len(sentences))
    some = [sentences[number] for number in np.sort(drawn[: settings.sentences]).tolist()]
    with tempfile.TemporaryDirectory() as folder:
        states = word_states(reading, some, Path(folder) / "states.npy")
        training = training_groups(len(states.sentences), settings.seed)
        kept = list(usable(word_properties(states, some), training))
        found = {
            **property_tables(kept, settings.seed),
            STRUCTURAL_PROBES: structural_rows(
                states, some, training, settings.rank, settings.seed
            ),
            LAYER_GEOMETRY: geometry_rows(states, word_types(states, some), settings.seed),
        }
        if examples is not None:
            removed = [each for each in kept if each[0].name in declared.REMOVED]
            found[REMOVED_PROPERTIES] = _removal_rows(removed, reading, examples, settings)
    return found


def _removal_rows(
    removed: list[Kept], reading: Reading, examples: Examples, settings: Settings
) -> pd.DataFrame:
    task = examples.task
    validation = load_split(
        examples.dataset, "validation", reading.tokenizer(), task, reading.max_length
    )
    return removal_rows(removed, reading.folder, task, validation, settings.seed)


def example_tables(reading: Reading, examples: Examples, settings: Settings) -> Tables:
    """Tables of a model about the examples of a task."""
    states = example_states(reading, examples.columns, settings.seed)
    properties = example_properties(states, examples.labels, examples.classes)
    return property_tables(list(usable(properties, examples.training)), settings.seed)


def property_tables(kept: Iterable[Kept], seed: int) -> Tables:
    """What probes read of every property, and in which layer."""
    probes, order = [], []
    for found, training in kept:
        probes.append(probe_rows(found, training, seed))
        order.append(order_row(found, training, seed))
    return {
        LAYER_PROBES: pd.concat(probes, ignore_index=True) if probes else pd.DataFrame(),
        LAYER_ORDER: pd.DataFrame(order),
    }
