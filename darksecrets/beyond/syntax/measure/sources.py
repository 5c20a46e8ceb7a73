"""Where a treebank comes from: a file, or the annotated texts of the run.

- `conllu`: a file, such as a treebank of Universal Dependencies.
- `annotation`: texts of the tasks, as they were annotated. Trees of a parser are *silver*: its
  mistakes count against heads.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from darksecrets.beyond.syntax.declared import Settings
from darksecrets.core.data import conllu_files
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import spoken_file
from darksecrets.core.run.libraries import can_import
from darksecrets.core.stats.units import first_of_each, numbered_texts


def describe(settings: Settings) -> str:
    """The source in a few words, for figures."""
    if settings.source != "conllu":
        return "texts of the tasks"
    return spoken_file(Path(settings.path))


def describe_texts(settings: Settings) -> str:
    """Where the texts for coreference come from, in a few words, for figures."""
    return f"{spoken_file(Path(settings.coreference.path))}, at most {settings.coreference.texts}"


def check(config: Mapping[str, Any]) -> None:
    """Check a file of trees, and of mentions, before any job.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `conllu_files.read` and `read_texts`.
    """
    settings = Settings.of(config["syntax"])
    if settings.source == "annotation" and config["annotation"]["source"] == "none":
        raise InputError(
            "syntax.source is 'annotation', but annotation.source is 'none', so that no text "
            "has a tree. Set syntax.source to conllu, or annotate the words."
        )
    if can_import("conllu"):
        if settings.source == "conllu":
            conllu_files.read(Path(settings.path))
        read_texts(Path(settings.coreference.path))


def everything(settings: Settings, annotations: Sequence[Path]) -> list[Sentence]:
    """All sentences of the configured source.

    Args:
        settings: What is to be read.
        annotations: For the source `annotation`, the annotated texts of the run's tasks.

    Raises:
        InputError: See `conllu_files.read`; or no text has a tree.
    """
    if settings.source == "conllu":
        return conllu_files.read(Path(settings.path))
    return annotated(annotations, settings.seed)


def read_texts(path: Path) -> list[Sentence]:
    """Sentences of a file that marks mentions.

    Raises:
        InputError: See `conllu_files.read`; or the file marks no mentions.
    """
    found = conllu_files.read(path)
    if not any(sentence.mentions for sentence in found):
        raise InputError(
            f"{path}: no mention is marked (attribute Entity in the column MISC), so heads have no "
            "antecedents to look for. Set syntax.coreference.path to a file that marks mentions."
        )
    return found


def some(sentences: Sequence[Sentence], settings: Settings) -> list[Sentence]:
    """As many different sentences as the settings say, a random choice in their order."""
    units = numbered_texts([[sentence.text for sentence in sentences]])
    places = first_of_each(units).tolist()
    rng, wanted = random.Random(settings.seed), min(settings.sentences, len(places))
    return [sentences[place] for place in sorted(rng.sample(places, wanted))]


def annotated(annotations: Sequence[Path], seed: int) -> list[Sentence]:
    """Sentences of annotated texts: a random one of each text, each once.

    The second text of a pair mostly says the same as the first and is not used.

    Args:
        annotations: Files that the rule `annotate_examples` makes.
        seed: Seed of the choice.

    Raises:
        InputError: The annotation has no sentences.
    """
    rng, found = random.Random(seed), dict[str, Sentence]()
    for path in annotations:
        with path.open(encoding="utf-8") as stream:
            for line in stream:
                example = json.loads(line)
                name = f"{path.stem} {example['idx']}"
                sentences = list(_split(example["sentence1"], name, len(found)))
                if sentences and (chosen := rng.choice(sentences)).text not in found:
                    found[chosen.text] = chosen
    if not found:
        raise InputError(
            "The annotated texts of the run's tasks have no sentence that can be used. Use "
            "another syntax.source."
        )
    return list(found.values())


def _split(text: Mapping[str, Any], name: str, document: int) -> Iterator[Sentence]:
    """The sentences of a text: words that hang together, with one root."""
    tokens = text["tokens"]
    roots = [_root(tokens, place) for place in range(len(tokens))]
    for root in dict.fromkeys(roots):
        places = [place for place, own in enumerate(roots) if own == root]
        first, start = places[0], tokens[places[0]]["start"]
        words = [tokens[place] for place in places]
        if places != list(range(first, first + len(places))):
            continue  # interrupted by another sentence
        yield Sentence(
            name=name,
            document=document,
            text=text["text"][start : words[-1]["end"]],
            words=tuple(word["text"] for word in words),
            starts=tuple(word["start"] - start for word in words),
            ends=tuple(word["end"] - start for word in words),
            heads=tuple(
                ROOT if place == root else tokens[place]["head"] - first for place in places
            ),
            labels=tuple(word["dep"].lower() for word in words),
            tags=tuple(word["tag"] for word in words),
        )


def _root(tokens: Sequence[Mapping[str, Any]], place: int) -> int:
    """The root above a word; a root is its own head."""
    while tokens[place]["head"] != place:
        place = tokens[place]["head"]
    return place
