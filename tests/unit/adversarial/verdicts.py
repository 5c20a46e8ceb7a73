"""Trials of the claims: tables whose true numbers are just at the border of what is claimed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from claim_cases import CASES, kovaleva
from claim_cases.kovaleva import BEST, TUNED
from claim_tables import (
    METRICS,
    NO,
    OPEN,
    PAPERS,
    RUN,
    SEEDS,
    TASKS,
    YES,
    Frames,
    crossed,
    decide,
    made,
    tasks,
)

from adversarial.trials import ONE_END, POWER, Size, Statements, Trial
from darksecrets.core.stats.crossed import drawn_means, excess_over_rivals
from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.pages.claims import registry
from darksecrets.pages.contracts import TABLES

_NORMAL = 1.96
_SEED = 0.5  # standard deviation over seeds, in half-widths of the intervals


def _zero(table: str, column: str, by: str, values: list[str], **of: str) -> Frames:
    """A number of 0 for every task, and for every one of some values of a column."""
    every = crossed(TASKS, values, value=0.0)
    return made(table, column, every, each=("task", by), half=0.1, **of)  # type: ignore[arg-type]


BORDERS: dict[str, Frames] = {
    **{
        name: CASES[name][OPEN]
        for name in (
            "10",
            "12",
            "22",
            "23",
            "24",
            "26",
            "27",
            "28",
            "30",
            "31",
            "32",
            "37",
            "40",
            "44",
            "45",
            "48",
        )
    },
    "1": made("survival", "unbiased_gain", tasks(0.0), **BEST),
    "21": made(
        *("mean_differences", "difference", {(): 38.9}),
        each=(),
        half=1,
        **{"model": "finetuned", "reference": "pretrained", "tasks": 7},
    ),
    "29": kovaleva.trends(0.0, 0.0),
    "33": _zero("attention_origins", "difference", "feature", ["[CLS]", "[SEP]"]),
    "34": made(
        "token_pair_correlations",
        "weight",
        crossed(TASKS, ["verb to subject", "noun to pronoun"], value=0.5),
        each=("task", "relation"),
        half=0.1,
        **TUNED,
    ),
    "41": made("survival", "unbiased_gain", tasks(0.0), **TUNED, kind="layer"),
    "48": kovaleva.tolerated(0.4, 0.2),
}
"""By claim, tables with true numbers, of which at least one is at the border; intervals are ±."""

_COMPARED = {"22": ("finetuned", "pretrained"), "23": ("finetuned-from-normal", "finetuned")}
_ALL: dict[str, Frames] = {
    **{
        name: made(
            *("score_differences", "difference", tasks(0.0)), model=model, reference=reference
        )
        for name, (model, reference) in _COMPARED.items()
    },
    "32": kovaleva.ratios("greatest", 0.1, 0.1),
}
"""Claims about every task, all of which are at the border."""

_COLUMNS = {
    "attention_changes": "over_control",
    "attention_levels": "weight",
    "attention_trends": "correlation",
    "pruned_heads": "largest",
}
"""Columns of tables that claims read through a function."""
_MOST = {"35": "[SEP]", "36": "punctuation"}
"""Claims that a feature gets most attention, and the feature."""
_FEATURES, _LEAD = 9, 0.06
_FALL = 17.0
"""Points between a fine-tuned model and one that failed."""

_TESTED = "20"
"""The claim that a test decides."""
_TESTS = "claims decided by a test"
_OFTEN = 2
"""Claims of a kind are decided this often for each sweep, all of them together."""


def claims(size: Size, folder: Path) -> Iterator[Trial]:
    """Claims on null tables: estimates vary around the border, and p-values by chance."""
    paper = PAPERS["kovaleva2019"]
    kinds: dict[str, list[registry.Claim]] = {}
    for claim in paper.claims:
        if claim.id in {*BORDERS, _TESTED}:
            kinds.setdefault(_kind(claim), []).append(claim)
    for number, (kind, of_kind) in enumerate(kinds.items()):
        rng, said = np.random.default_rng([41, number]), Statements()
        for _ in range(max(4, _OFTEN * size.sweeps // len(of_kind))):
            found = [decide(claim.id, _drawn(claim, rng)).answer for claim in of_kind]
            said.each("claims: verdict, the claim holds", np.equal(found, YES), ONE_END)
            if kind != _TESTS:  # which never refute
                said.each("claims: verdict, the claim does not hold", np.equal(found, NO), ONE_END)
        yield from said.trials(f"{kind}; the truth is at the border")
    yield from _all_at_the_border(paper, size)
    yield from _ties(paper, size)
    yield from _failing(size)
    yield from _power(paper)


def _all_at_the_border(paper: registry.Paper, size: Size) -> Iterator[Trial]:
    """Each of seven tasks may refute: the claim fails if any does, corrected for their number."""
    rng, said = np.random.default_rng(43), Statements()
    of_kind = [claim for claim in paper.claims if claim.id in _ALL]
    for _ in range(_OFTEN * size.sweeps // len(of_kind)):
        found = [decide(each.id, _noisy(_ALL[each.id], each, rng)).answer for each in of_kind]
        said.each("claims: verdict, the claim holds", np.equal(found, YES), ONE_END)
        said.each("claims: verdict, the claim does not hold", np.equal(found, NO), ONE_END)
    yield from said.trials("claims about every task; the truth of all is at the border")


def _ties(paper: registry.Paper, size: Size) -> Iterator[Trial]:
    """A feature ties with others, or is the greatest by little; or it clearly is so or is not."""
    of_kind = [claim for claim in paper.claims if claim.id in _MOST]
    for equal in (2, 5, _FEATURES):
        for lead, words in ((0.0, "tie"), (0.001, "nearly tie")):
            rng, said = np.random.default_rng([44, equal, bool(lead)]), Statements()
            for _ in range(size.sweeps):
                some = [decide(one.id, _attended(one, rng, equal, lead, 1)) for one in of_kind]
                every = [decide(one.id, _attended(one, rng, equal, lead, 9)) for one in of_kind]
                if not lead:
                    holds = [found.answer == YES for found in some]
                    said.each("claims: verdict, the claim holds", holds, ONE_END)
                fails = [[found.answer == NO for found in each] for each in (some, every)]
                said.each("claims: verdict, the claim does not hold", fails, ONE_END)
            yield from said.trials(f"claims that a feature gets most: {equal} features {words}")
    for lead, answer in ((_LEAD, YES), (-_LEAD, NO)):
        rng, said = np.random.default_rng(45), Statements()
        for _ in range(size.sweeps):
            found = [decide(one.id, _attended(one, rng, 2, lead, 9)).answer for one in of_kind]
            said.each(
                f"claims: verdict that a feature gets most, it {answer}", np.equal(found, answer)
            )
        yield from said.trials("it clearly does, or another one", POWER)


def _failing(size: Size) -> Iterator[Trial]:
    """One fine-tuning in ten fails: so the mean of all is at the border, that of others beyond."""
    for seeds in (2, 3, 5):
        rng, said = np.random.default_rng([46, seeds]), Statements()
        run = replace(RUN, seeds=dict.fromkeys(METRICS, range(seeds)))
        for _ in range(_OFTEN * size.sweeps):
            found = decide("22", _scores_that_fall(rng, seeds), run).answer
            said.each("claims: verdict, the claim holds", found == YES, ONE_END)
            said.each("claims: verdict, the claim does not hold", found == NO, ONE_END)
        yield from said.trials(f"one fine-tuning in ten fails on RTE; {seeds} seeds")


def _scores_that_fall(rng: np.random.Generator, seeds: int) -> Frames:
    """Gains over the pre-trained model and the baseline; a failure on RTE falls to the latter."""
    rows = []
    for task in TASKS:
        usual = 0.1 * _FALL if task == "RTE" else 10.0
        fails = (rng.random(seeds) < 0.1) & (task == "RTE")
        gains = usual + rng.normal(0, 0.3) + rng.normal(0, 0.5, seeds) - _FALL * fails
        for reference, over in (("pretrained", 0.0), ("majority", _FALL - usual)):
            means = mean_over_seeds(gains + over, 0.3**2)
            numbers = {"difference": means.mean, "ci_low": means.low, "ci_high": means.high}
            named = {"task": task, "model": "finetuned", "reference": reference, "seeds": seeds}
            rows += [named | numbers | {"metric": metric} for metric in METRICS[task]]
    return {"score_differences": pd.DataFrame(rows)}


def _attended(
    claim: registry.Claim, rng: np.random.Generator, equal: int, lead: float, tasks: int
) -> Frames:
    """Levels over seeds and examples of the feature claimed and of others.

    Args:
        claim: The claim.
        rng: Source of randomness.
        equal: So many features get the most, the one claimed among them.
        lead: What it gets beyond these.
        tasks: On so many tasks, the first ones; on others it clearly gets most.
    """
    named = claim.questions[0].tasks
    found = kovaleva.most(_MOST[claim.id], 0.0, 0.0, named[0])
    levels = found["attention_levels"].set_index("task")
    ends = [f"over_rivals{end}" for end in ("", "_low", "_high")]
    for number, task in enumerate(named):
        true = np.where(np.arange(_FEATURES) < equal, 0.0, -0.1)
        true[0] += lead if number < tasks else _LEAD
        values = true + rng.normal(0, 0.1, (1, 60, _FEATURES))
        values = values + rng.normal(0, 0.005, (len(SEEDS), 1, _FEATURES))
        both = np.stack([values, values + rng.normal(0, 0.03, values.shape)])
        seed = rng.integers(2**32)
        drawn = [drawn_means(one, 500, np.random.default_rng(seed)) for one in both]
        of_rivals = excess_over_rivals(both.mean(axis=(1, 2)), np.stack(drawn), 0.0)
        levels.loc[task, ends] = of_rivals[:, 0]
    return {"attention_levels": levels.reset_index()}


def _kind(claim: registry.Claim) -> str:
    """How a claim is decided."""
    if claim.id == _TESTED:
        return _TESTS
    question = claim.questions[0]
    if question.extreme:
        return "claims that a task is the greatest or least"
    if question.quantifier == "every":
        return "claims about every task"
    return "claims about some task, or the greatest"


def _power(paper: registry.Paper) -> Iterator[Trial]:
    """Claims whose numbers are far on one side."""
    for answer, words in ((YES, "holds"), (NO, "does not hold")):
        rng, said = np.random.default_rng(42), Statements()
        for claim in paper.claims:
            if claim.id in BORDERS:
                found = decide(claim.id, _noisy(CASES[claim.id][answer], claim, rng)).answer
                said.each(f"claims: verdict, the claim {words}", found == answer, ONE_END)
        yield from said.trials("claims that are clearly so", POWER)


def _drawn(claim: registry.Claim, rng: np.random.Generator) -> Frames:
    if claim.id == _TESTED:
        frames = kovaleva.last_layers(0.5, 0.0)
        at = frames["last_layers"]["task"] == "RTE"
        frames["last_layers"].loc[at, "q_greatest"] = 2 * rng.random()  # one-sided
        return frames
    return _noisy(BORDERS[claim.id], claim, rng)


def _noisy(frames: Frames, claim: registry.Claim, rng: np.random.Generator) -> Frames:
    """The tables, with errors of examples, which all seeds share, and of seeds."""
    question = claim.questions[0]
    name = question.table if question.table in TABLES else question.tables[0]
    column = question.value if question.table in TABLES else _COLUMNS[name]
    frame = frames[name].copy()
    ends = [each.name for each in TABLES[name].columns if each.interval_of == column]
    half = (frame[ends[1]] - frame[ends[0]]) / 2
    things = frame.drop(columns=[column, *ends, *({"seed"} & set(frame))]).astype(str)
    numbers = things.groupby(list(things), dropna=False).ngroup()
    error = rng.normal(size=numbers.max() + 1)[numbers] * half / _NORMAL
    if "seed" in frame:
        error += _SEED * half * rng.normal(size=len(frame))
    for each in (column, *ends):
        frame[each] = frame[each] + error
    return frames | {name: frame}
