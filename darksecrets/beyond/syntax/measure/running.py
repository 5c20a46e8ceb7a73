"""One pass of a model over a treebank; of its maps, only what the tables need is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from darksecrets.beyond.syntax.declared import ATTENTION_TREES, DISTRACTORS, SYNTACTIC_HEADS
from darksecrets.beyond.syntax.measure import distractors, guesses, heads, trees
from darksecrets.beyond.syntax.measure.guesses import Guess, Read
from darksecrets.beyond.syntax.measure.pairs import Floats
from darksecrets.beyond.syntax.measure.relations import relations
from darksecrets.beyond.syntax.measure.trees import Counts
from darksecrets.beyond.syntax.measure.words import word_maps
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.tables import Table, identify


@dataclass(frozen=True)
class Measured:
    """What one model does with each sentence that it can read whole, in the treebank's order.

    Attributes:
        read: The sentences.
        guesses: For each, [words, layer, head, direction], see `guesses.guesses`.
        trees: For each, [layer, head, direction, 2] see `trees.count_gold_arcs`.
        subjects: For each, [choices, layer, 4] see `distractors.subject_shares`.
    """

    read: list[Read]
    guesses: list[Guess]
    trees: list[Counts]
    subjects: list[Floats]


def measure(reading: Reading, sentences: Sequence[Sentence]) -> Measured:
    """Measure a model on a treebank; see `words.word_maps` for the arguments and errors."""
    found: dict[int, tuple[Read, Guess, Counts, Floats]] = {}
    alike = distractors.ComparableChoices.of(sentences)
    for batch in word_maps(reading, sentences):
        cropped = guesses.sentence_guesses(batch, sentences)
        counts = trees.count_gold_arcs(batch, sentences)
        shares = distractors.subject_shares(batch, sentences, alike)
        for place, number in enumerate(batch.numbers):
            found[number] = *cropped[place], counts[place], shares[place]
    in_order = (found[number] for number in sorted(found))
    return Measured(*(list(each) for each in zip(*in_order, strict=True)))


def tables(models: Mapping[str, Measured], random: str, seed: int) -> dict[Table, pd.DataFrame]:
    """All tables of a run.

    Args:
        models: What each model does with the same sentences, by the name of its folder.
        random: Name of the encoder with random weights.
        seed: Seed of the halves.

    Raises:
        InputError: See `relations.relations`.
    """
    known = relations(models[random].read, seed)
    by_chance = distractors.table(models[random].read, models[random].subjects)
    parts: dict[Table, list[pd.DataFrame]] = {}
    for model, found in models.items():
        shares = distractors.table(found.read, found.subjects)
        rows_by_model = {
            SYNTACTIC_HEADS: heads.model_rows(known, found.guesses),
            ATTENTION_TREES: trees.table(found.read, found.trees, seed),
            DISTRACTORS: shares.assign(random=by_chance["share"].to_numpy()),
        }
        for table, rows in rows_by_model.items():
            parts.setdefault(table, []).append(identify(rows, None, model))
    return {table: pd.concat(rows, ignore_index=True) for table, rows in parts.items()}
