"""What the demonstration uses of the files that ship: sections of a configuration for tests."""

from pathlib import Path
from typing import Any

from darksecrets.core.run.files import RESOURCES

Section = dict[str, Any]

DATA: Section = {"source": "tsv", "folder": str(RESOURCES / "corpus")}
"""All tasks, whole."""

FEW: Section = {"source": "tsv", "folder": str(Path(__file__).parent / "few_rows")}
"""The first rows of RTE, SST-2 and STS-B: 64 to train on, 32 to validate."""

MODEL: Section = {"source": "folder", "folder": str(RESOURCES / "tiny-bert")}
"""The tiny BERT."""

WORDS: Section = {"source": "conllu", "conllu": [str(RESOURCES / "corpus" / "words.conllu.gz")]}
"""Tags and dependencies of all validation texts."""
