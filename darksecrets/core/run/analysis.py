"""What an analysis beyond the paper says of itself, from which the workflow wires it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from darksecrets.core.run.settings import Section
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import Table

Capability = Literal["interventions", "values", "layers", "words"]
"""What a run may lack: of the encoder, heads that can be disabled, value vectors that can be
observed, layers whose weights can be exchanged one by one; of the texts, words with tags and
dependencies."""


@dataclass(frozen=True)
class Analysis:
    """An analysis beyond the paper.

    Attributes:
        name: Its name in the configuration, where it may have a section of its own.
        question: What it asks, in a sentence.
        papers: The papers that asked it, short.
        tables: Its tables, by the heading under which the reference lists them.
        settings: Its section of the configuration, if it has one.
        shown: Measures of heads for the atlas.
        about_attention: Whether its measures say what heads attend to, so that the importance of
            heads is compared with them.
        needs: Analyses whose results it reads.
        requires: What the encoder must offer, or the texts.
        check: Name of a function that checks its settings before any job: it takes the resolved
            configuration, and raises `InputError`. Tables and figures do not depend on its code.
    """

    name: str
    question: str
    papers: str
    tables: Mapping[str, Sequence[Table]]
    settings: type[Section] | None = None
    shown: Sequence[Shown] = ()
    about_attention: bool = False
    needs: Sequence[str] = ()
    requires: Sequence[Capability] = ()
    check: str = ""

    @property
    def section(self) -> str:
        """Heading under which its tables are listed."""
        return next(iter(self.tables))
