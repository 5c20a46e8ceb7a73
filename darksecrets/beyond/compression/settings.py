"""The section ``compression`` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among

Method = Literal["heads", "heads_and_mlps", "weights", "layers", "rank"]


@dataclass(frozen=True)
class Settings(Section):
    """Which models are compressed, and how much by each method."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models are compressed; those of `importance.pruning.tasks` if not "
        "given. Heads are removed only for these.",
        like="importance.pruning.tasks",
    )
    amounts: Mapping[Method, tuple[float, ...]] = setting(
        {
            "heads": (0.2, 0.4),
            "heads_and_mlps": (0.2, 0.4),
            "weights": (0.4, 0.7),
            "layers": (0.25, 0.5),
            "rank": (0.5, 0.25),
        },
        "Methods, and how much by each, as shares: `heads` that are removed for good; "
        "`heads_and_mlps`, both removed together; `weights` of all linear maps of the encoder, set "
        "to 0; `layers` dropped from the top; `rank` to which word embeddings are reduced, of "
        "their width. A method that is not named is not used.",
        items={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    )
    repetitions: int = setting(
        20, "How often every compressed model is timed.", minimum=6, maximum=10_000
    )
