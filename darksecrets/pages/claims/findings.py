"""What a run found, in a few sentences: the first lines of the report, the atlas and the terminal.

Every sentence is made from the run's tables, and names the figure or table that shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd

from darksecrets.core.run import learned
from darksecrets.core.run.tables import Table, integer, text
from darksecrets.pages.claims.answers import Answer
from darksecrets.paper.ablation.findings import describe_needed_heads
from darksecrets.paper.features.findings import describe_special_tokens
from darksecrets.paper.finetuning.findings import describe_changed_layers, describe_learned_tasks
from darksecrets.paper.patterns.findings import describe_heterogeneous_shares

FINDINGS = Table(
    "findings",
    "What the run found, in a few sentences made from its tables.",
    (
        integer("number", "place among the sentences, from 1", low=1),
        text("sentence", "the finding"),
        text("shown_by", "figure or table that shows it, by name", optional=True),
    ),
    key=("number",),
)
SYNTHETIC = (
    "The sentences of this run were generated: its numbers check the installation and say nothing "
    "about BERT"
)
"""What is said first of a run on the sentences that ship with the project."""


@dataclass(frozen=True)
class Run:
    """What a run is, as far as sentences need it.

    Attributes:
        metrics: Main metric of every task.
        ablated: Main metric of the tasks whose heads are disabled.
        synthetic: Whether its sentences were generated.
        unlearned: Tasks that its fine-tuned models have not learned: no sentence is about them.
    """

    metrics: Mapping[str, str]
    ablated: Mapping[str, str]
    synthetic: bool
    unlearned: frozenset[str] = frozenset()

    def say(self, describe: Callable[[list[str]], str], tasks: Sequence[str] | None = None) -> str:
        """A sentence about tasks, all if not given, see `learned.describe_learned`."""
        chosen = list(self.metrics) if tasks is None else tasks
        return learned.describe_learned(describe, chosen, self.unlearned)


Tables = Mapping[str, pd.DataFrame]
Sentence = tuple[str, tuple[str, ...], Callable[[Tables, Run], str]]

_SENTENCES: Sequence[Sentence] = (
    (
        "table1",
        ("learned", "score_means"),
        lambda tables, _: describe_learned_tasks(tables["learned"], tables["score_means"]),
    ),
    (
        "figure5",
        ("cosine",),
        lambda tables, run: run.say(partial(describe_changed_layers, tables["cosine"])),
    ),
    (
        "figure2",
        ("patterns",),
        lambda tables, run: run.say(partial(describe_heterogeneous_shares, tables["patterns"])),
    ),
    (
        "figure6",
        ("stripes",),
        lambda tables, run: run.say(partial(describe_special_tokens, tables["stripes"])),
    ),
    (
        "figure8",
        ("head_ablation",),
        lambda tables, run: run.say(
            lambda tasks: describe_needed_heads(
                tables["head_ablation"], {task: run.ablated[task] for task in tasks}
            ),
            list(run.ablated),
        ),
    ),
)
"""What shows a finding, the tables that it needs, and what is said of them."""
TABLES = tuple(dict.fromkeys(name for _, needed, _ in _SENTENCES for name in needed))
"""Tables that sentences are made from, if the run makes them."""


def find(tables: Tables, claims: pd.DataFrame, run: Run) -> pd.DataFrame:
    """Say what a run found.

    Args:
        tables: The tables of `TABLES` that the run has, by name.
        claims: The table `claims`.
        run: What the run is.

    Returns:
        The table `FINDINGS`.
    """
    if "learned" in tables:
        judged = tables["learned"].to_dict("records")
        run = replace(run, unlearned=frozenset(learned.unlearned(judged)))
    rows = [(SYNTHETIC, "")] if run.synthetic else []
    rows += [
        (describe(tables, run), shown_by)
        for shown_by, needed, describe in _SENTENCES
        if all(name in tables and len(tables[name]) for name in needed)
    ]
    if not run.synthetic and len(claims):
        rows.append((describe_verdicts(claims), "claims"))
    frame = pd.DataFrame(rows, columns=["sentence", "shown_by"])
    frame.insert(0, "number", range(1, len(frame) + 1))
    return frame


def describe_verdicts(claims: pd.DataFrame) -> str:
    """How many claims hold in the run, how many do not, and what the others would need."""
    said = f"Of {len(claims)} claims, {describe_answers(claims['verdict'], 'in this run')}"
    needs = claims.loc[claims["verdict"] == Answer.OPEN, "needs"].dropna()
    needs = needs[needs != ""]
    if len(needs):
        said += f"; most of these {needs.value_counts().index[0]}"
    both = (claims["verdict"] == Answer.YES) & (claims["verdict_on_random_weights"] == Answer.YES)
    if both.any():
        said += f"; {both.sum()} of those that hold are not about training: random weights do, too"
    on_learned = describe_answers(claims["verdict_on_learned_tasks"])
    return f"{said}. On the tasks that were learned, {on_learned}"


def describe_answers(answers: pd.Series[Any], where: str = "") -> str:
    """How many claims hold, such as "1 holds, 4 do not, and 27 are undecided".

    Args:
        answers: The answers.
        where: What is said behind the first verb.
    """
    holds, fails, undecided = count_answers(answers)
    hold = "holds" if holds == 1 else "hold"
    do = "does" if fails == 1 else "do"
    are = "is" if undecided == 1 else "are"
    place = f" {where}" if where else ""
    return f"{holds} {hold}{place}, {fails} {do} not, and {undecided} {are} undecided"


def count_answers(answers: pd.Series[Any]) -> tuple[int, int, int]:
    """How many claims hold, do not hold, and are undecided."""
    counts = answers.value_counts()
    holds, fails, undecided = (
        int(counts.get(answer, 0)) for answer in (Answer.YES, Answer.NO, Answer.OPEN)
    )
    return holds, fails, undecided
