"""Look at text: an encoder's maps of any sentences, their patterns, and what its heads attend to.

Nothing here needs labels, and nothing is trained. The workflow's target ``inspect`` is one job that
calls `inspect`.
"""

from __future__ import annotations

import html
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Halves
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.errors import InputError
from darksecrets.pages.inspect import texts
from darksecrets.pages.inspect.html import Heads, page
from darksecrets.pages.inspect.maps import classify_maps, extract_examples
from darksecrets.pages.inspect.measuring import SEED, annotate, left_out, measure_heads
from darksecrets.pages.inspect.texts import MOST
from darksecrets.paper.features.parser import load_pipeline
from darksecrets.paper.patterns.network.trained import CLASSIFIER

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from spacy.language import Language
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, repr=False)
class Inspection:
    """What an encoder does on some examples, which are in the order of the text everywhere.

    Attributes:
        examples: A row per example, table `darksecrets.pages.inspect.tables.EXAMPLES`.
        pieces: A row per example, see `darksecrets.core.attention.store`: ``tokens``, ``segments``,
            ``special``, ``starts`` and ``ends`` of each.
        maps: For each example, [layer, head, query, key] attention weights, half precision.
        measures: Tables of the measures by name, such as ``head_statistics``.
        patterns: The pattern of every map; None without a classifier.
        left_out: What could not be measured, and why.
        model: What the model is called.
    """

    examples: pd.DataFrame
    pieces: pd.DataFrame
    maps: list[Halves]
    measures: Mapping[str, pd.DataFrame]
    patterns: pd.DataFrame | None
    left_out: Mapping[str, str]
    model: str

    @property
    def tokens(self) -> list[list[str]]:
        """For each example, its L tokens."""
        return [list(own) for own in self.pieces["tokens"]]

    def __repr__(self) -> str:
        layers, heads = self.maps[0].shape[:2]
        lengths = [len(tokens) for tokens in self.tokens]
        longest = f"{min(lengths)} to {max(lengths)}" if len(set(lengths)) > 1 else lengths[0]
        return (
            f"Inspection({len(self.maps)} examples of {longest} tokens; maps: {layers} layers × "
            f"{heads} heads; measures: {', '.join(self.measures)}; patterns: "
            f"{'none' if self.patterns is None else len(self.patterns)})"
        )

    def _repr_html_(self) -> str:
        """The page, for a notebook: in a frame of its own, so that neither changes the other."""
        content = html.escape(self.page(), quote=True)
        return (
            f'<iframe srcdoc="{content}" title="Attention heads" loading="lazy" '
            'style="width: 100%; height: 760px; border: 0"></iframe>'
        )

    def page(self, most: int = MOST) -> str:
        """One HTML page, which opens from disk and loads nothing: all heads small, one large.

        Args:
            most: Largest number of examples, the first ones.
        """
        statistics = self.measures["head_statistics"]
        heads = Heads(self.examples, self.pieces, self.maps, self.patterns, statistics)
        return page(heads, self.model, most)

    def plot_map(self, layer: int, head: int, example: int = 0) -> Figure:
        """Draw a map with its tokens; rows attend to columns.

        Args:
            layer: From 1.
            head: From 1.
            example: From 0, as in `maps`.

        Raises:
            InputError: There is no such layer, head or example.
        """
        from darksecrets.core.plotting.notebook import plot_map

        _require(example, "example", 0, len(self.maps) - 1)
        layers, heads = self.maps[example].shape[:2]
        _require(layer, "layer", 1, layers)
        _require(head, "head", 1, heads)
        title = f"Layer {layer}, head {head}"
        return plot_map(self.maps[example][layer - 1, head - 1], self.tokens[example], title)

    def show(self, example: int = 0) -> Figure:
        """Draw all heads' maps of an example, small; see `plot_map` for one with its tokens.

        Args:
            example: From 0, as in `maps`.

        Raises:
            InputError: There is no such example.
        """
        from darksecrets.core.plotting.notebook import all_heads_figure

        _require(example, "example", 0, len(self.maps) - 1)
        row = self.examples.iloc[example]
        sentences = [text for text in (row["sentence1"], row["sentence2"]) if text]
        return all_heads_figure(self.maps[example], " ||| ".join(sentences))


def _require(number: int, name: str, first: int, last: int) -> None:
    if not first <= number <= last:
        raise InputError(f"There is no {name} {number}: they count from {first} to {last}.")


def inspect(
    text: object,
    model: str | Path | PreTrainedModel,
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    classifier: str | Path | None = CLASSIFIER,
    pipeline: str | Language | None = None,
    max_length: int = 128,
    seed: int = SEED,
) -> Inspection:
    """Look at what the heads of an encoder do on text.

    Args:
        text: A sentence, a list of examples, or a file, see `darksecrets.pages.inspect.texts.read`.
        model: An encoder, with or without a classifier: a Hugging Face folder, a name on the Hub,
            or a loaded model with its tokenizer.
        tokenizer: Of a loaded model.
        classifier: Folder of a trained classifier of patterns, ``patterns/classifier`` of a run;
            the one that ships if omitted, and none if None.
        pipeline: A spaCy pipeline, by name or folder, or loaded; without it, words have no
            features.
        max_length: Longest example, in tokens; what is longer is cut off, with a warning.
        seed: Seed of the controls.

    Raises:
        InputError: The text, the model or the pipeline cannot be used.
    """
    from darksecrets.core.models.given import model_folder, name_of

    examples = texts.read(text)
    nlp = load_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    with (
        model_folder(model, tokenizer, max_length) as checked,
        tempfile.TemporaryDirectory() as folder,
    ):
        table = extract_examples(examples, checked, Path(folder) / "store", max_length)
        store = AttentionStore.open(Path(folder) / "store")
        patterns = None if classifier is None else classify_maps(store, Path(classifier), examples)
        annotation = annotate(examples, nlp)
        measures = measure_heads(store, annotation, examples, seed)
        rows = np.argsort(store.idx).tolist()
        maps = [store.maps(row).copy() for row in rows]
        pieces = store.table.iloc[rows].reset_index(drop=True)
    unparsed = "" if nlp else "no pipeline was used"
    return Inspection(
        table,
        pieces,
        maps,
        measures,
        patterns,
        left_out(examples, unparsed),
        name_of(model),
    )
