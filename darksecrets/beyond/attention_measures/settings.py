"""The section ``attention_measures`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darksecrets.core.run.settings import Section, setting

Measures = tuple[Literal["norms", "effective"], ...]


@dataclass(frozen=True)
class Settings(Section):
    """What is taken as attention beside its weights."""

    measures: Measures = setting(
        ("norms", "effective"),
        "What sections 4.2, 4.4, 4.5 and 5 take as attention beside its weights: the norms of what "
        "is weighted (Kobayashi et al. 2020), effective attention (Brunner et al. 2020), or both; "
        "claims are decided by each.",
        minItems=1,
        uniqueItems=True,
    )
