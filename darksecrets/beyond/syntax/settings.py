"""The section ``syntax`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darksecrets.core.run.settings import Section, constant, setting

SHIPPED = "<project>/darksecrets/resources/corpus"


@dataclass(frozen=True)
class Coreference(Section):
    """Texts in which heads look for antecedents."""

    path: str = setting(
        f"{SHIPPED}/stories.conllu.gz",
        "Texts in which heads look for antecedents: the documents of a file in CoNLL-U that marks "
        "mentions as CorefUD does (`Entity`); if not given, short stories that ship with the "
        "project.",
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

    source: Literal["conllu", "annotation"] = setting(
        "conllu",
        "Sentences with dependency trees: those of a file, or those of the tasks, as `annotation` "
        "has them (silver trees, if a pipeline parses them).",
    )
    path: str = setting(
        f"{SHIPPED}/treebank.conllu.gz",
        "Source `conllu`: a treebank in CoNLL-U, such as those of Universal Dependencies; if not "
        "given, sentences that ship with the project.",
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
