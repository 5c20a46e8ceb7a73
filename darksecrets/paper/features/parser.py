"""Words of texts as a spaCy pipeline tags and parses them (sections 4.4 and 4.5)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.libraries import require
from darksecrets.paper.features.labels import antecedent, unknown_dependencies, unknown_tags

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

#: Attributes that a pipeline must set: the component that sets each, and the check of its labels.
_NEEDED = (
    ("token.tag", "tagger", "Penn tags", unknown_tags),
    ("token.dep", "parser", "labels of ClearNLP or Universal Dependencies", unknown_dependencies),
)
INSTALL = (
    "Install the pipeline (python -m spacy download en_core_web_sm), or give the name or folder of "
    "one that is installed."
)
_NOT_NEEDED = ["ner", "lemmatizer", "morphologizer", "textcat"]


def parse(
    idx: Sequence[int], columns: Mapping[str, Sequence[str]], nlp: Language
) -> Iterator[dict[str, Any]]:
    """Annotate examples with a spaCy pipeline, in the form of `paper.features.annotation`.

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


def is_installed(pipeline: str) -> bool:
    """Whether a pipeline is a folder, or a package here; it is not loaded.

    Where spaCy itself is not installed, jobs have environments of their own: nothing is known.
    """
    if importlib.util.find_spec("spacy") is None or Path(pipeline).is_dir():
        return True
    try:
        distribution(pipeline)
    except (PackageNotFoundError, ValueError):
        return False
    return True


def load_pipeline(pipeline: str) -> Language:
    """Load a spaCy pipeline and check that it gives Penn tags and known dependency labels.

    Raises:
        InputError: The pipeline does not exist, lacks a tagger or parser, or has other labels.
    """
    require("spacy", "words", "A pipeline for tags and dependencies")
    import spacy

    try:
        nlp = spacy.load(pipeline, exclude=_NOT_NEEDED)
    except (OSError, ValueError, ImportError) as error:
        raise InputError(
            f"annotation.pipeline: spaCy cannot load {pipeline!r} "
            f"({str(error).splitlines()[0]}). {INSTALL}"
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
