"""Look at text: an encoder's maps of any sentences, their patterns, and what its heads attend to.

Nothing here needs labels, and nothing is trained. The workflow's target ``look`` calls the same
functions as `look`, one job after the other.
"""

from __future__ import annotations

import importlib.util
import logging
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.attention.store import AttentionStore
from darksecrets.features import tables as of_features
from darksecrets.features.annotation import load_pipeline, parse
from darksecrets.features.measures import measure
from darksecrets.features.tokens import Described
from darksecrets.models.selectors import Shape
from darksecrets.patterns.classes import PATTERNS
from darksecrets.run.errors import InputError
from darksecrets.run.tables import identify
from darksecrets.text import texts
from darksecrets.text.texts import Example

if TYPE_CHECKING:
    from spacy.language import Language
    from transformers import PreTrainedTokenizerBase

MODEL = "pretrained"
"""How the tables name the state of the model: as it is, without fine-tuning."""
SEED = 2019
"""Seed of the controls, as in a run."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Look:
    """What an encoder does on some examples, which are in the order of the text everywhere.

    Attributes:
        examples: A row per example, table `darksecrets.text.tables.EXAMPLES`.
        tokens: For each example, its L tokens.
        maps: For each example, [layer, head, query, key] attention weights, half precision.
        measures: Tables of the measures by name, such as ``head_statistics``.
        patterns: The pattern of every map; None without a classifier.
        left_out: What could not be measured, and why.
    """

    examples: pd.DataFrame
    tokens: list[list[str]]
    maps: list[npt.NDArray[np.float16]]
    measures: Mapping[str, pd.DataFrame]
    patterns: pd.DataFrame | None
    left_out: Mapping[str, str]


def look(
    text: object,
    model: str | Path,
    *,
    classifier: str | Path | None = None,
    pipeline: str | None = None,
    max_length: int = 128,
    seed: int = SEED,
) -> Look:
    """Look at what the heads of an encoder do on text.

    Args:
        text: A sentence, a list of examples, or a file, see `darksecrets.text.texts.read`.
        model: Hugging Face folder of an encoder, with or without a classifier.
        classifier: Folder of a trained classifier of patterns, ``patterns/classifier`` of a run.
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
    return Look(table, tokens, maps, measures, patterns, left_out(examples, unparsed))


def extract_examples(
    examples: Sequence[Example],
    model: Path,
    store: Path,
    max_length: int = 128,
    batch_size: int = 16,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Write the attention store of examples.

    Returns:
        The table of the examples, see `describe_examples`, and what `extraction.extract` returns.
    """
    from darksecrets.attention.extraction import extract
    from darksecrets.models.loading import load_tokenizer

    table = describe_examples(examples, load_tokenizer(model), max_length)
    columns = texts.columns(examples)
    details = extract(model, columns, store, max_length=max_length, batch_size=batch_size)
    return table, details


def describe_examples(
    examples: Sequence[Example], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> pd.DataFrame:
    """Tokenize examples; a warning names those that are too long, of which the end is cut off.

    Returns:
        The table `darksecrets.text.tables.EXAMPLES`.

    Raises:
        InputError: The tokenizer finds nothing in an example, or the model takes fewer tokens than
            ``max_length``.
    """
    from darksecrets.data.encoding import encode

    columns = texts.columns(examples)
    encoded = encode(columns, tokenizer, max_length, layout=True)
    for number, special in enumerate(encoded["special_tokens_mask"], 1):
        if all(special):
            raise InputError(
                f"text, example {number}: the model's tokenizer finds no token in "
                f"{examples[number - 1]!r}; expected words. Remove the example."
            )
    kept = [len(ids) for ids in encoded["input_ids"]]
    whole = [len(ids) for ids in tokenizer(*columns.values(), verbose=False)["input_ids"]]
    cut = [long - short for long, short in zip(whole, kept, strict=True)]
    for number, left in enumerate(cut):
        if left:
            _log.warning(
                "text, example %d: %d of its %d tokens are cut off, because at most %d are used "
                "(fine_tuning.max_length; the model takes %d).",
                *(number + 1, left, whole[number], max_length, tokenizer.model_max_length),
            )
    second = columns.get("sentence2", [""] * len(examples))
    numbers = {"idx": range(len(examples)), "sentence1": columns["sentence1"], "sentence2": second}
    return pd.DataFrame({**numbers, "tokens": kept, "cut": cut})


def classify_maps(
    store: AttentionStore, classifier: Path, examples: Sequence[Example]
) -> pd.DataFrame:
    """The pattern of every map, table `darksecrets.patterns.tables.PATTERN_MAPS`."""
    from darksecrets.patterns import cnn
    from darksecrets.patterns.classification import classify

    net, temperature = cnn.load(classifier)
    table = classify(store, net, temperature).sort_values(["idx", "layer", "head"])
    return identify(table.reset_index(drop=True), texts.digest(examples), MODEL)


def load_parser(parse: str, pipeline: str) -> tuple[Language | None, str]:
    """Load a pipeline as the configuration says; a warning tells if there is none.

    Args:
        parse: ``on``, ``off``, or ``auto`` for a pipeline only if it can be loaded.
        pipeline: A spaCy pipeline, by name or folder.

    Returns:
        The pipeline, or None and the reason.

    Raises:
        InputError: It is ``on`` but cannot be used, see `annotation.load_pipeline`.
    """
    if parse == "off":
        return None, "look.parse is off"
    if parse == "auto" and importlib.util.find_spec("spacy") is None:
        why = "spaCy is not installed"
        _log.warning("Measures that need words are left out: %s.", why)
        return None, why
    try:
        return load_pipeline(pipeline), ""
    except InputError as error:
        if parse == "on":
            raise
        _log.warning("Measures that need words are left out. %s", error)
        return None, f"the pipeline {pipeline!r} cannot be used"


def annotate(examples: Sequence[Example], nlp: Language | None) -> dict[int, dict[str, Any]]:
    """Annotation of each example by its number; without a pipeline, it has no words."""
    numbers = range(len(examples))
    if nlp is None:
        return {number: {"idx": number} for number in numbers}
    parsed = parse(numbers, texts.columns(examples), nlp)
    return {example["idx"]: example for example in parsed}


def measure_heads(
    store: AttentionStore,
    annotation: Mapping[int, Mapping[str, Any]],
    examples: Sequence[Example],
    seed: int = SEED,
) -> dict[str, pd.DataFrame]:
    """All measures of heads, `darksecrets.features.measures`, by the name of their tables.

    Without words in the annotation, features of words and pairs of tokens have no rows.
    """
    measures = measure(store, Described(store, annotation), seed)
    if not any("sentence1" in example for example in annotation.values()):
        statistics = measures[of_features.HEAD_STATISTICS.name]
        known = statistics["statistic"] != "punctuation"  # it would be 0, but it is unknown
        measures[of_features.HEAD_STATISTICS.name] = statistics[known].reset_index(drop=True)
    name = texts.digest(examples)
    return {table: identify(rows, name, MODEL) for table, rows in measures.items()}


def left_out(examples: Sequence[Example], unparsed: str = "") -> dict[str, str]:
    """What is not measured on a text, and why.

    Args:
        examples: The examples.
        unparsed: Why their words are not annotated; empty if they are.
    """
    found = {"framenet_heads": "the text has no annotation of frames"}
    if len(examples[0]) == 1:
        found["equal_words"] = "examples have one sentence, and two are compared"
    if unparsed:
        words = f"words have no tags and relations, because {unparsed}"
        found["stripes, cls_attention: all but special tokens"] = words
        found["head_statistics: punctuation"] = words
        found["token_pairs"] = found["equal_words"] = words
    return found


def choose_maps(
    patterns: pd.DataFrame, heads: Sequence[object], shape: Shape, most: int
) -> pd.DataFrame:
    """Choose the maps to draw large.

    Args:
        patterns: The pattern of every map, from `classify_maps`.
        heads: Selectors of heads. If there are none, an example's map of each pattern of which the
            classifier is most certain is chosen.
        shape: Layers and heads of the encoder.
        most: Number of examples of which maps are drawn, the first ones.

    Returns:
        The table `darksecrets.text.tables.SHOWN`.

    Raises:
        InputError: A selector names heads that the encoder lacks.
    """
    rows = patterns[patterns["idx"] < most]
    if heads:
        parsed = [shape.parse(selector) for selector in heads]
        wanted = {(layer, n) for each in parsed for layer, ns in each.items() for n in ns}
        places = zip(rows["layer"], rows["head"], strict=True)
        rows = rows[[place in wanted for place in places]]
    else:
        best = rows.sort_values("probability", ascending=False, kind="stable")
        best = best.drop_duplicates(["idx", "pattern"])
        order = best["pattern"].map(list(PATTERNS).index)
        rows = best.assign(order=order).sort_values(["idx", "order"])
    return rows[["idx", "layer", "head", "pattern", "probability"]].reset_index(drop=True)
