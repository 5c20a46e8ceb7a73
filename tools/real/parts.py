"""Parts of the pages that are made from the kept tables: Markdown tables, and numbers in sentences.

A part is a function without arguments that returns Markdown; `PARTS` names all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from darksecrets.core.data.metrics import METRICS, accuracy_rows
from darksecrets.core.run.numbers import written, written_plus_minus
from darksecrets.core.run.states import FINETUNED, PRETRAINED, STATE_NAMES
from darksecrets.pages.claims import findings
from darksecrets.pages.claims.beside_paper import SCORES
from darksecrets.pages.claims.findings import describe_answers
from darksecrets.pages.claims.page import describe_number
from darksecrets.paper.finetuning.findings import (
    find_tasks_whose_last_layers_change_most,
    score_gains,
)
from darksecrets.paper.framenet.figures.figure3_controls import count_exceeding_heads
from darksecrets.paper.framenet.tables import ELEMENT_TO_PREDICATE
from darksecrets.paper.patterns.classes import STRICT
from darksecrets.paper.patterns.findings import heterogeneous_shares
from tools.real.kept import BEYOND, IMPORTANCE, KEPT, MULTILINGUAL, PAPER, Run

Part = Callable[[], str]

QUESTIONS: Mapping[str, Sequence[str]] = {
    "patterns": ("10", "11", "12", "13", "54"),
    "links": ("15", "19"),
    "fine-tuning": ("20", "21", "22", "23", "24"),
    "stripes": ("26", "27", "28", "29", "30", "31", "32", "33"),
    "heads-of-words": ("34", "35", "36"),
    "ablation": ("1", "37", "40", "41", "49", "44", "45", "46", "47"),
}
"""Numbers of the paper's claims, by the question that they belong to."""

KOVALEVA = "kovaleva2019"

HOLDS, UNDECIDED = "holds", "undecided"

LATER: Mapping[str, Mapping[str, Sequence[str]]] = {
    "syntax": {
        "clark2019": ("S1", "S2", "S3", "S4", "S8", "S9"),
        "htut2019": ("T1",),
    },
    "norms": {"kobayashi2020": ("N1", "N2", "N3", "N4")},
    "importance": {"michel2019": ("P1", "P2"), "voita2019": ("V2",), KOVALEVA: ("48",)},
    "layers": {
        "liu2019": ("K1", "K2", "K3", "K4", "K5"),
        "tenney2019": ("O1",),
        "hewitt2019": ("H1",),
        "ethayarajh2019": ("A1", "A2"),
        "elazar2021": ("Y1",),
    },
    "predictions": {"wu2020": ("M2",)},
    "inputs": {"ettinger2020": ("I1", "I2", "I3"), "balasubramanian2020": ("I4",)},
}
"""Claims of later papers, by the analysis that decides them and by the paper's file."""

FIGURES = ("table1", "figure2", "figure5", "figure6", "figure8")
"""What the sentences of `findings.csv` are about."""

ENCODERS = tuple(name for name in (PAPER, MULTILINGUAL) if (KEPT / name).is_dir())
"""Kept runs of the paper's analyses, an encoder each."""

RUNS = (*ENCODERS, BEYOND, IMPORTANCE)
"""All kept runs."""


def write_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, with the empty lines that it needs around it."""
    lines = [head, ["---"] * len(head), *rows]
    written_lines = [f"| {' | '.join(line)} |" for line in lines]
    return "\n\n" + "\n".join(written_lines) + "\n\n"


def write_interval(value: float, low: float, high: float, form: str) -> str:
    """A number with its 95 % interval, such as ``23.1 (18.1 to 28.0)``."""
    return f"{written(value, form)} ({written(low, form)} to {written(high, form)})"


def scores(name: str) -> str:
    """Table 1: scores of a run, those of the paper below them."""
    run = Run.kept(name)
    means = {
        (row["task"], row["metric"], row["model"]): row for row in _rows(run.table("score_means"))
    }
    printed = {
        (row["task"], row["metric"], row["quantity"]): row["paper"]
        for row in _rows(run.table("beside_paper"))
    }
    seeds_of_run = run.table("learned").dropna(subset="seed")
    learned = seeds_of_run.groupby("task", sort=False)["learned"]
    counts = {str(task): f"{seeds.sum()} of {len(seeds)}" for task, seeds in learned}
    rows = []
    for task, metric, model in means:
        if model != "finetuned":
            continue
        ours = [_score(means[task, metric, state]) for state in SCORES]
        rows.append([task, METRICS[metric].title, *ours, counts[task]])
        papers = [printed.get((task, metric, quantity)) for quantity in SCORES.values()]
        if None not in papers:
            rows.append(["", "*paper*", *(f"*{value:g}*" for value in papers), ""])
    states = [STATE_NAMES[state] for state in SCORES]
    return write_table(["task", "metric", *states, "seeds that learned it"], rows)


def _score(row: Mapping[str, Any]) -> str:
    """A score with half of its interval."""
    return written_plus_minus(row["score"], row["ci_low"], row["ci_high"])


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table."""
    records = table.to_dict("records")
    return [{str(column): value for column, value in row.items()} for row in records]


def claims(question: str) -> str:
    """The claims of a question: the paper's number, and every encoder's answer and number."""
    runs = {name: Run.kept(name).encoder for name in ENCODERS}
    return _write_claims(runs, {KOVALEVA: QUESTIONS[question]})


def claims_of_all_encoders() -> str:
    """The paper's claims that hold for all encoders, for none, and for some, as a list.

    Answers are those on the tasks that each run has learned; claims that are undecided for an
    encoder are only counted.
    """
    runs = {Run.kept(name).encoder: _claims_of(name) for name in ENCODERS}
    all_hold, none_holds, differ, undecided = [], [], [], 0
    for place, claim in _claims_of(PAPER).items():
        if place[0] != KOVALEVA:
            continue
        answers = {name: _answer_of(found.get(place)) for name, found in runs.items()}
        sentence = str(claim["claim"]).rstrip(".")
        if UNDECIDED in answers.values():
            undecided += 1
        elif set(answers.values()) == {HOLDS}:
            all_hold.append(sentence)
        elif HOLDS not in answers.values():
            none_holds.append(sentence)
        else:
            said = "; ".join(f"{name}: {answer}" for name, answer in answers.items())
            differ.append(f"{sentence} ({said})")
    lines = [
        _counted("Hold for all", all_hold),
        _counted("Hold for none", none_holds),
        _counted("Differ", differ),
        f"- **Undecided for at least one** ({undecided}): see the tables below.",
    ]
    return "\n\n" + "\n".join(lines) + "\n\n"


def _counted(what: str, sentences: Sequence[str]) -> str:
    """A line of a list: what claims have in common, how many they are, and which."""
    named = "; ".join(sentences) or "none"
    return f"- **{what}** ({len(sentences)}): {named}."


def _answer_of(claim: Mapping[str, Any] | None) -> str:
    return UNDECIDED if claim is None else str(claim["verdict_on_learned_tasks"])


def later_claims(analysis: str) -> str:
    """The claims that an analysis of later papers decides."""
    names = LATER[analysis]
    own = IMPORTANCE if analysis == "importance" else BEYOND
    runs = [own, *(name for name in ENCODERS if name != PAPER)]
    able = [name for name in runs if names.keys() <= {paper for paper, _ in _claims_of(name)}]
    return _write_claims({name: Run.kept(name).encoder for name in able}, names)


def _write_claims(runs: Mapping[str, str], names: Mapping[str, Sequence[str]]) -> str:
    """Claims as a table, by the paper's file and their numbers; a column for every run.

    Answers are those on the tasks that each run has learned.
    """
    found = {name: _claims_of(name) for name in runs}
    rows = []
    for place in ((paper, name) for paper, chosen in names.items() for name in chosen):
        cells = [found[name].get(place) for name in runs]
        claim = next(cell for cell in cells if cell is not None)
        rows.append([claim["claim"], str(claim["published"]) or "–", *map(_describe_claim, cells)])
    return write_table(["claim", "paper", *runs.values()], rows)


def _claims_of(run: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Rows of a run's claims, by the paper's file and the claim's number."""
    table = Run.kept(run).table("claims").fillna({"published": "", "unit": "", "of": ""})
    return {(row["paper"], str(row["id"])): row for row in _rows(table)}


def _describe_claim(claim: Mapping[str, Any] | None) -> str:
    """A run's answer to a claim, and the number that decides it, or why there is none."""
    if claim is None:
        return "–"
    about = describe_number(claim) or _why_none(claim["reason"])
    return f"{claim['verdict_on_learned_tasks']}: {about}"


def _why_none(reason: str) -> str:
    """The first of a claim's reasons, without scores in brackets and what the number would be."""
    first = reason.split("; ")[0].split(" (")[0]
    # Tables that were kept earlier name the column, which is called "value".
    return f"no number: {first.removeprefix('value ')}"


def answers(name: str) -> str:
    """How many of the paper's claims hold, do not hold, and are undecided, on learned tasks."""
    return _count_answers(name, "verdict_on_learned_tasks")


def answers_on_all_tasks(name: str) -> str:
    """How many of the paper's claims hold, do not hold, and are undecided, on the paper's tasks."""
    return _count_answers(name, "verdict")


def _count_answers(name: str, column: str) -> str:
    table = Run.kept(name).table("claims")
    found = table.loc[table["paper"] == KOVALEVA, column]
    return f"of {len(found)} claims, {describe_answers(found)}"


def finding(name: str, figure: str) -> str:
    """What a run found, in the sentence that belongs to a figure, from the kept tables.

    Of tables that are not kept, the sentence is the one that the run wrote, of all its tasks.
    """
    run = Run.kept(name)
    tables = {name: run.table(name) for name in findings.TABLES if run.has(name)}
    metrics = {task: _main_metric(run, task) for task in run.table("cosine")["task"].unique()}
    known = findings.Run(metrics, metrics, synthetic=False)
    made = findings.find(tables, run.table("claims"), known)
    for table in (made, run.table("findings")):
        for row in _rows(table):
            if row["shown_by"] == figure:
                return str(row["sentence"])
    raise LookupError(figure)


def _main_metric(run: Run, task: str) -> str:
    """The first metric of a task in the run."""
    rows = run.table("score_means")
    return str(rows.loc[rows["task"] == task, "metric"].iloc[0])


def printed() -> str:
    """Numbers of the paper's text beside the run's, and why they can be compared or not."""
    table = Run.kept(PAPER).table("beside_paper")
    table = table[(table["section"] != "Table 1") & table["value"].notna()]
    rows = []
    for row in _rows(table):
        here = written(row["value"], ".3g")
        if not pd.isna(row["ci_low"]):
            here = write_interval(row["value"], row["ci_low"], row["ci_high"], ".3g")
        what = f"{row['quantity']} ({row['unit']})"
        paper = f"{row['paper']:g}"
        rows.append([row["section"], what, row["task"], paper, here, row["comparable"]])
    return write_table(["§", "number", "task", "paper", "here", "comparable?"], rows)


def learned_tasks(name: str) -> list[str]:
    """The tasks that a run's fine-tuned models have learned."""
    table = Run.kept(name).table("learned")
    rows = table[table["seed"].isna() & table["learned"].astype(bool)]
    return [str(task) for task in rows["task"]]


def gain(name: str) -> str:
    """Points gained by fine-tuning: mean over learned tasks, and the smallest and largest."""
    means = Run.kept(name).table("score_means")
    gains = score_gains(means, learned_tasks(name), FINETUNED, PRETRAINED)
    return f"{gains.mean():.1f} ({write_range(gains, '.1f')})"


QUESTIONS_OF_SUMMARY = {
    "Do the last two layers change most?": "yes, except on QQP",
    "Points gained by fine-tuning, mean of tasks": "35.9",
    "Heterogeneous maps, fine-tuned": "32 to 61 %",
    "Heads along frame links": "2 of 144",
    "Points gained without the best head": "0.1 to 1.2",
}
"""What is asked in a few rows, and what the paper says."""


def summary() -> str:
    """What each encoder's run found on the tasks that it has learned, in a few rows."""
    runs = {Run.kept(name).encoder: _summary_of(name) for name in ENCODERS}
    rows = [
        [*asked, *found]
        for asked, *found in zip(QUESTIONS_OF_SUMMARY.items(), *runs.values(), strict=True)
    ]
    return write_table(["question", "paper", *runs], rows)


def _summary_of(name: str) -> list[str]:
    """A run's answers to the `QUESTIONS_OF_SUMMARY`."""
    run, tasks = Run.kept(name), learned_tasks(name)
    changed = find_tasks_whose_last_layers_change_most(run.table("cosine"), tasks)
    shares = heterogeneous_shares(run.table("patterns"), STRICT, "finetuned", tasks)
    heads = run.table("framenet_heads")
    heads = heads[heads["state"] == "pretrained"]
    as_published = heads["direction"] == ELEMENT_TO_PREDICATE
    exceeding, every = count_exceeding_heads(heads[as_published])
    reverse, _ = count_exceeding_heads(heads[~as_published])
    survival = run.table("survival")
    survival = survival[(survival["state"] == "finetuned") & (survival["kind"] == "head")]
    survival = survival[survival["task"].isin(tasks)]
    gains = accuracy_rows(survival).groupby("on")["unbiased_gain"].mean()
    return [
        f"on {len(changed)} of {len(tasks)} tasks",
        gain(name),
        f"{write_range(100 * shares, '.0f')} %",
        f"{exceeding} of {every} beyond all controls, {reverse} in reverse",
        f"{write_range(gains, '.1f')}, on held-out examples",
    ]


def probe() -> str:
    """How well a probe over the attention of all heads parses, in per cent."""
    table = Run.kept(BEYOND).table("attention_probes")
    (row,) = (row for row in _rows(table) if row["probe"] == "attention")
    value, low, high = (100 * row[name] for name in ("uas", "uas_low", "uas_high"))
    return write_interval(value, low, high, ".1f")


def special_shares(column: str) -> str:
    """Share of attention that special tokens get before fine-tuning, over tasks, in per cent."""
    table = Run.kept(BEYOND).table("norm_levels")
    is_whole = (table["state"] == "pretrained") & table["layer"].isna()
    return write_range(100 * table.loc[is_whole & (table["kind"] == "special"), column], ".0f")


def write_range(values: pd.Series[float], form: str) -> str:
    """The least and the greatest of some numbers, such as ``32 to 61``."""
    return f"{written(values.min(), form)} to {written(values.max(), form)}"


def costs(name: str) -> str:
    """CPU time and memory by rule, the longest first."""
    table = Run.kept(name).costs.sort_values("cpu", ascending=False)
    rows = [
        [
            f"`{row['rule']}`",
            str(row["jobs"]),
            f"{row['cpu'] / 60:.0f}",
            f"{row['memory'] / 1000:.1f}",
        ]
        for row in _rows(table.head(8))
    ]
    return write_table(["rule", "jobs", "CPU minutes of all", "largest memory, GB"], rows)


def hours(name: str) -> str:
    """CPU hours of all jobs."""
    return f"{Run.kept(name).costs['cpu'].sum() / 3600:.1f}"


def fact(name: str, key: str) -> str:
    """What the run recorded of itself."""
    return Run.kept(name).facts[key]


def _named(prefix: str, part: Callable[[str], str], names: Iterable[str]) -> dict[str, Part]:
    """A part for each name, such as ``costs-paper``."""
    return {f"{prefix}-{name}": functools.partial(part, name) for name in names}


PARTS: dict[str, Part] = {
    "printed": printed,
    "summary": summary,
    "claims-of-all-encoders": claims_of_all_encoders,
    "probe": probe,
    **_named("scores", scores, ENCODERS),
    **_named("answers", answers, ENCODERS),
    **_named("answers-on-all-tasks", answers_on_all_tasks, ENCODERS),
    **_named("gain", gain, ENCODERS),
    **{
        f"finding-{figure}-{name}": functools.partial(finding, name, figure)
        for name in ENCODERS
        for figure in FIGURES
    },
    **_named("special", special_shares, ("weight", "norm")),
    **_named("claims", claims, QUESTIONS),
    **_named("claims", later_claims, LATER),
    **_named("costs", costs, RUNS),
    **_named("hours", hours, RUNS),
    **{
        f"{key.lower()}-{name}": functools.partial(fact, name, key)
        for name in RUNS
        for key in ("Commit", "Hardware", "Software")
    },
}
"""What pages may name between ``<!--= name -->`` and ``<!--/-->``."""


def compare(run: Run) -> str:
    """A run beside the kept one and the paper: printed numbers, then claims with other answers."""
    kept = Run.kept(PAPER)
    keys = ["section", "quantity", "task", "metric"]
    theirs = run.table("beside_paper").set_index(keys)
    ours = kept.table("beside_paper").set_index(keys)
    numbers = pd.DataFrame(
        {"paper": theirs["paper"], "kept": ours["value"], "this run": theirs["value"]}
    )
    verdicts = [
        table.set_index(["paper", "id"])["verdict"]
        for table in (kept.table("claims"), run.table("claims"))
    ]
    both = pd.concat(verdicts, axis=1, keys=["kept", "this run"], join="inner")
    other = both[both["kept"] != both["this run"]]
    return "\n\n".join(
        [
            "Numbers that the paper prints:",
            numbers.reset_index().to_string(index=False, na_rep="–"),
            f"Claims with another answer, {len(other)} of {len(both)}:",
            other.reset_index().to_string(index=False),
        ]
    )
