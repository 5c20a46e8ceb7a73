"""Tags, heads and dependency labels of the sampled sentences: gold, or from a spaCy pipeline.

The file has a JSON object per line for each sampled example: ``idx``, ``sentence1`` and (for pairs)
``sentence2``, each with its ``text`` and ``tokens``. A token is a word: ``text``, ``start`` and
``end`` (characters of the sentence), ``tag`` (Penn), ``head`` (number of a token; that of a root is
its own), ``dep``, and ``antecedent`` (number of the noun that a pronoun stands for, or null).
"""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.data.sampling import ANNOTATION
from darksecrets.features.annotated import Examples
from darksecrets.features.labels import (
    NOUNS,
    PRONOUNS,
    agreeing_nouns,
    unknown_dependencies,
    unknown_tags,
)
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from darksecrets.data.tasks import Task

_log = logging.getLogger(__name__)

#: Attributes that a pipeline must set: the component that sets each, and the check of its labels.
_NEEDED = (
    ("token.tag", "tagger", "Penn tags", unknown_tags),
    ("token.dep", "parser", "labels of ClearNLP or Universal Dependencies", unknown_dependencies),
)
_NOT_NEEDED = ["ner", "lemmatizer", "morphologizer", "textcat"]


def annotate(
    dataset: Path, sample: Sequence[int], output: Path, task: Task, pipeline: str
) -> dict[str, str] | None:
    """Write the annotation of the sampled validation examples of a task.

    Args:
        dataset: Folder of the data set; if it has a gold annotation, that is used.
        sample: The ``idx`` of the sampled examples, see `darksecrets.data.sampling`.
        output: File to write.
        task: The task.
        pipeline: Name or folder of an installed spaCy pipeline; unused with gold annotation.

    Returns:
        Name and version of the pipeline that was used, and of spaCy; None with gold annotation.

    Raises:
        InputError: The pipeline cannot be used, or the data set lacks an example.
    """
    gold = dataset / ANNOTATION
    nlp = None if gold.is_file() else load_pipeline(pipeline)
    found = _gold(gold, task) if nlp is None else _parsed(dataset, sample, task, nlp)
    annotation = {example["idx"]: example for example in found}
    if missing := [idx for idx in sample if idx not in annotation]:
        raise InputError(
            f"{dataset}: the validation split lacks {len(missing)} of {len(sample)} sampled "
            f"examples, such as idx {missing[0]}; expected all. Draw the sample again."
        )
    with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for idx in sample:
            stream.write(json.dumps(annotation[idx], ensure_ascii=False) + "\n")
    return None if nlp is None else identify(nlp)


def _gold(path: Path, task: Task) -> Iterator[dict[str, Any]]:
    """Examples of the built-in corpus, without its links."""
    for idx, example in Examples(path).items():
        sentences = {name: example[name] for name in task.columns}
        yield {"idx": idx} | {
            name: {"text": sentence["text"], "tokens": sentence["tokens"]}
            for name, sentence in sentences.items()
        }


def _parsed(
    dataset: Path, wanted: Sequence[int], task: Task, nlp: Language
) -> Iterator[dict[str, Any]]:
    """Examples as annotated by a spaCy pipeline."""
    from datasets import load_from_disk

    split = load_from_disk(str(dataset))["validation"]
    rows = {idx: row for row, idx in enumerate(split["idx"])}
    chosen = split.select([rows[idx] for idx in wanted if idx in rows])
    columns = {name: list(chosen[name]) for name in task.columns}
    yield from parse(list(chosen["idx"]), columns, nlp)


def parse(
    idx: Sequence[int], columns: Mapping[str, Sequence[str]], nlp: Language
) -> Iterator[dict[str, Any]]:
    """Annotate examples with a spaCy pipeline, in the form that the module's docstring describes.

    Args:
        idx: Number of each example.
        columns: Its sentences: ``sentence1`` and, for pairs, ``sentence2``.
        nlp: From `load_pipeline`.
    """
    parsed = zip(*(nlp.pipe(sentences) for sentences in columns.values()), strict=True)
    for number, docs in zip(idx, parsed, strict=True):
        yield {"idx": number} | {
            name: {"text": doc.text, "tokens": _tokens(doc)}
            for name, doc in zip(columns, docs, strict=True)
        }


def _tokens(doc: Doc) -> list[dict[str, Any]]:
    """Words of a text that spaCy has parsed."""
    tokens = [
        {
            "text": word.text,
            "start": word.idx,
            "end": word.idx + len(word.text),
            "tag": word.tag_,
            "head": word.head.i,
            "dep": word.dep_,
        }
        for word in doc
    ]
    for sentence in doc.sents:
        for number in range(sentence.start, sentence.end):
            tokens[number]["antecedent"] = antecedent(tokens, number, sentence.start)
    return tokens


def antecedent(tokens: Sequence[Mapping[str, Any]], number: int, first: int) -> int | None:
    """Guess which noun a pronoun stands for: the nearest preceding one that agrees in number.

    Args:
        tokens: ``text`` and ``tag`` of the words of a text.
        number: The word, a pronoun or not.
        first: First word of its sentence; earlier nouns are not considered.

    Returns:
        Number of the noun; None if the word is not a third-person pronoun or there is no such noun.
    """
    if tokens[number]["tag"] not in PRONOUNS:
        return None
    agreeing = agreeing_nouns(tokens[number]["text"]) & NOUNS
    nouns = (i for i in range(number - 1, first - 1, -1) if tokens[i]["tag"] in agreeing)
    return next(nouns, None)


def load_pipeline(pipeline: str) -> Language:
    """Load a spaCy pipeline and check that it gives Penn tags and known dependency labels.

    Raises:
        InputError: The pipeline does not exist, lacks a tagger or parser, or has other labels.
    """
    import spacy

    try:
        nlp = spacy.load(pipeline, exclude=_NOT_NEEDED)
    except (OSError, ValueError, ImportError) as error:
        raise InputError(
            f"annotation.pipeline: found {pipeline!r}, which spaCy cannot load "
            f"({str(error).splitlines()[0]}); expected the name of an installed pipeline, or its "
            "folder. Install it (python -m spacy download en_core_web_sm), or give the folder of "
            "another one."
        ) from error
    for attribute, component, kind, unknown in _NEEDED:
        makers = [name for name in nlp.pipe_names if attribute in nlp.get_pipe_meta(name).assigns]
        labels = [label for name in makers for label in nlp.pipe_labels[name]]
        if not labels:
            raise InputError(
                f"annotation.pipeline: {pipeline!r} has the components "
                f"{', '.join(nlp.pipe_names) or 'none'}, but no trained {component}, which was "
                "expected. Use a pipeline with tagger and parser, such as en_core_web_sm."
            )
        if foreign := unknown(labels):
            raise InputError(
                f"annotation.pipeline: the {component} of {pipeline!r} has the unknown labels "
                f"{', '.join(map(repr, foreign[:8]))}{' …' if len(foreign) > 8 else ''}; expected "
                f"{kind}. Use a pipeline for English, such as en_core_web_sm."
            )
    return nlp


def identify(nlp: Language) -> dict[str, str]:
    """Name and version of a pipeline, and of spaCy."""
    name = f"{nlp.meta['lang']}_{nlp.meta['name']}"
    return {"name": name, "version": nlp.meta["version"], "spacy": version("spacy")}


def files_of(pipeline: Path) -> list[Path]:
    """Files that identify a pipeline in a folder; they change if it is trained again there."""
    inside = (path.relative_to(pipeline) for path in pipeline.rglob("*") if path.is_file())
    cached = ("__pycache__", ".")
    return sorted(
        pipeline / path for path in inside if not any(p.startswith(cached) for p in path.parts)
    )


def check(config: Mapping[str, Any]) -> None:
    """Check, before any job, that the pipeline of a resolved configuration can be used.

    Raises:
        InputError: See `load_pipeline`.
    """
    if not any("files" in entry or "hub" in entry for entry in config["tasks"].values()):
        return  # the built-in corpus has gold annotation
    if importlib.util.find_spec("spacy") is None:
        _log.warning("spacy is not installed here: the first job will check the pipeline.")
        return
    load_pipeline(config["annotation"]["pipeline"])
