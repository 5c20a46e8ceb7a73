"""Settings, table and entry of the analysis of attention to the first token."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import HEAD, LAYER, TASK, names
from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import Column, Table


@dataclass(frozen=True)
class Settings(Section):
    """Whose heads are measured, and on how much."""

    tasks: Tasks = tasks_among("tasks", "Tasks whose sampled examples are read; all if not given.")
    examples: int = setting(10, "Examples of a task; all if it has fewer.", minimum=1)


FIRST_TOKENS = Table(
    "first_tokens",
    "Attention of the pre-trained model to the first token.",
    (
        TASK,
        LAYER,
        HEAD,
        Column("share", "number", "mean attention to the first token", "share", low=0, high=1),
        Column("uniform", "number", "if uniform", "share", low=0, high=1, control_of="share"),
    ),
    key=names(TASK, LAYER, HEAD),
    every=names(LAYER, HEAD),
)

ANALYSIS = Analysis(
    name="first_tokens",
    question="How much do heads attend to the first token?",
    papers="Somebody 2026",
    tables={"Section 4.4, further: first tokens": (FIRST_TOKENS,)},
    settings=Settings,
    shown=(Shown(FIRST_TOKENS, "share", "Attention to the first token", "First tokens (4.4)"),),
)
