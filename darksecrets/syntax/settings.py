"""The section ``syntax`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darksecrets.run.settings import Section, constant, setting


@dataclass(frozen=True)
class Coreference(Section):
    """Texts in which heads look for antecedents."""

    source: Literal["builtin", "treebank"] = setting(
        "builtin",
        "Texts in which heads look for antecedents: stories of the built-in grammar; or the "
        "documents of `syntax.path`, if it marks mentions as CorefUD does (`Entity`).",
    )
    texts: int = setting(
        400,
        "How many of these texts; all documents if there are fewer.",
        minimum=20,
        maximum=100_000,
    )
    seed: int = constant(2019, "`sampling_seed` of the run: chooses texts and halves.")


@dataclass(frozen=True)
class Settings(Section):
    """The treebank, and what is done with it."""

    source: Literal["builtin", "conllu", "pipeline"] = setting(
        "builtin",
        "Sentences with dependency trees: those of the built-in grammar; a file; or those of the "
        "tasks, as `annotation.pipeline` parses them (silver trees).",
    )
    path: str | None = setting(
        None,
        "Source `conllu`: a treebank in CoNLL-U, such as those of Universal Dependencies.",
    )
    sentences: int = setting(
        1000,
        "Sentences that are read; all of them if there are fewer.",
        minimum=20,
        maximum=100_000,
    )
    probed: int = setting(
        1000,
        "How many of them probes are trained and scored on; their maps are kept in memory.",
        minimum=20,
        maximum=10_000,
    )
    seed: int = constant(2019, "`sampling_seed` of the run: chooses sentences and halves.")
    coreference: Coreference = setting(Coreference, "Coreference: heads and antecedents.")
