"""Tags, heads and dependency labels of the sampled sentences: parsed, or from CoNLL-U files.

The file has a JSON object per line for each sampled example: ``idx``, ``sentence1`` and (for pairs)
``sentence2``, each with its ``text`` and ``tokens``. A token is a word: ``text``, ``start`` and
``end`` (characters of the sentence), ``tag`` (Penn), ``head`` (number of a token; that of a root is
its own), ``dep``, and ``antecedent`` (number of the noun that a pronoun stands for, or null).
"""

from __future__ import annotations

import importlib.util
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.data import sources
from darksecrets.core.data.files import short
from darksecrets.core.data.tasks import Files, Task
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic
from darksecrets.paper.features import gold_words, parser
from darksecrets.paper.features.labels import is_english

if TYPE_CHECKING:
    from datasets import Dataset
    from spacy.language import Language

_log = logging.getLogger(__name__)

NONE = "none"
"""Source of a run whose words are not annotated."""


def annotate(
    dataset: Path, sample: Sequence[int], output: Path, task: Task, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the annotation of the sampled validation examples of a task.

    Args:
        dataset: Folder of the data set.
        sample: The ``idx`` of the sampled examples, see `darksecrets.core.data.sampling`.
        output: File to write.
        task: The task.
        settings: Section ``annotation`` of a configuration.

    Returns:
        For the record: name and version of the pipeline that was used, and of spaCy; or the files.
        Without a source, examples have no sentences.

    Raises:
        InputError: The pipeline or a file cannot be used, the data set lacks an example, or the
            files lack a text.
    """
    chosen = _examples(dataset, sample)
    columns = {name: list(chosen[name]) for name in task.columns}
    used: dict[str, Any]
    if settings["source"] == "conllu":
        used = {"files": list(settings["conllu"])}
        found = _looked_up(sample, columns, settings["conllu"])
    elif settings["source"] == NONE:
        used = {}
        found = [{"idx": idx} for idx in sample]
    else:
        nlp = parser.load_pipeline(settings["pipeline"])
        used = {"pipeline": parser.identify(nlp)}
        _warn_of_language(nlp, task.name, [text for texts in columns.values() for text in texts])
        found = list(parser.parse(sample, columns, nlp))
    with atomic(output) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for example in found:
            stream.write(json.dumps(example, ensure_ascii=False) + "\n")
    return used


def _examples(dataset: Path, sample: Sequence[int]) -> Dataset:
    """The sampled validation examples, in the order of the sample."""
    from datasets import load_from_disk

    split = load_from_disk(str(dataset))["validation"]
    rows = {idx: row for row, idx in enumerate(split["idx"])}
    if missing := [idx for idx in sample if idx not in rows]:
        raise InputError(
            f"{dataset}: the validation split lacks {len(missing)} of {len(sample)} sampled "
            f"examples, such as idx {missing[0]}; expected all. Draw the sample again."
        )
    return split.select([rows[idx] for idx in sample])


def _looked_up(
    sample: Sequence[int], columns: Mapping[str, Sequence[str]], files: Sequence[str]
) -> list[dict[str, Any]]:
    """Examples with the words that CoNLL-U files have for them."""
    corpus = gold_words.read(map(Path, files))
    if missing := corpus.lacks(text for texts in columns.values() for text in texts):
        raise InputError(gold_words.refusal(missing))
    return [
        {"idx": idx}
        | {
            name: {"text": texts[place], "tokens": corpus.words(texts[place])}
            for name, texts in columns.items()
        }
        for place, idx in enumerate(sample)
    ]


def check(config: Mapping[str, Any]) -> None:
    """Check, before any job, that words can be annotated as a resolved configuration says.

    Of texts on the Hub, the jobs find out whether CoNLL-U files have them.

    Raises:
        InputError: See `annotate`.
    """
    settings = config["annotation"]
    if settings["source"] == NONE:
        return
    needed = {"conllu": "conllu", "pipeline": "spacy"}[settings["source"]]
    if importlib.util.find_spec(needed) is None:
        _log.warning("%s is not installed here: the first job will check the words.", needed)
        return
    if settings["source"] == "pipeline":
        nlp = parser.load_pipeline(settings["pipeline"])
        for name, entry in config["tasks"].items():
            task = Task.from_entry(name, entry)
            if isinstance(task.data, Files):
                _warn_of_language(nlp, name, sources.texts_of(task))
        return
    corpus = gold_words.read(map(Path, settings["conllu"]))
    for name, entry in config["tasks"].items():
        task = Task.from_entry(name, entry)
        if isinstance(task.data, Files) and (missing := corpus.lacks(sources.texts_of(task))):
            raise InputError(f"{name}: {gold_words.refusal(missing)}")


def _warn_of_language(nlp: Language, task: str, texts: Sequence[str]) -> None:
    """Log a warning if a pipeline for English is to annotate texts of another language."""
    if nlp.lang == "en" and is_english(texts) is False:
        _log.warning(
            "%s: the texts, such as %s, do not look English, but annotation.pipeline %s is for "
            "English: its tags would mean nothing. Give CoNLL-U files (annotation.source: conllu), "
            "or set annotation.source to none.",
            *(task, short(texts[0]), nlp.meta["name"]),
        )


def check_files(config: Mapping[str, Any]) -> None:
    """Check, for plans too, that CoNLL-U files are there; warn if a pipeline is not.

    Raises:
        InputError: A file is missing.
    """
    settings = config["annotation"]
    if settings["source"] == "pipeline" and not parser.is_installed(settings["pipeline"]):
        _log.warning(
            "annotation.pipeline: there is no spaCy pipeline %r here. What needs tags and "
            "dependencies (Figure 7, pairs of words) will stop: %s",
            *(settings["pipeline"], parser.INSTALL),
        )
    if settings["source"] != "conllu":
        return
    if missing := [path for path in config["annotation"]["conllu"] if not Path(path).is_file()]:
        raise InputError(
            f"annotation.conllu: there is no file {missing[0]}. Correct the path of the sentences "
            "in CoNLL-U."
        )


def left_out(config: Mapping[str, Any], _: Path) -> str:
    """Why a run has to leave out what needs words; empty if they are annotated."""
    if config["annotation"]["source"] != NONE:
        return ""
    return (
        "Words have no tags and dependencies, because annotation.source is 'none'; 'pipeline' or "
        "'conllu' gives them some. Table 1 and Figures 1 to 6, 8 and 9 need none."
    )
