"""The section ``compression`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from darksecrets.run.settings import Section, Tasks, setting, tasks_among

Shares = tuple[float, ...]


def _shares(default: Shares, description: str) -> Any:  # noqa: ANN401 - a field
    limits = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}
    return setting(default, description, items=limits, uniqueItems=True)


@dataclass(frozen=True)
class Settings(Section):
    """Which models are compressed, and how much by each method."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models are compressed; those of `importance.pruning.tasks` if not "
        "given. Heads are removed only for these.",
        like="importance.pruning.tasks",
    )
    heads: Shares = _shares((0.2, 0.4), "Shares of the heads that are removed for good.")
    heads_and_mlps: Shares = _shares(
        (0.2, 0.4), "Shares of both the heads and the layers' MLPs that are removed together."
    )
    weights: Shares = _shares(
        (0.4, 0.7), "Shares of the weights of all linear maps of the encoder that are set to 0."
    )
    layers: Shares = _shares((0.25, 0.5), "Shares of the layers that are dropped, from the top.")
    rank: Shares = _shares(
        (0.5, 0.25), "Ranks to which word embeddings are reduced, as shares of their width."
    )
    repetitions: int = setting(
        20, "How often every compressed model is timed.", minimum=6, maximum=10_000
    )
