"""Decide claims: from estimates to an answer with its reason."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from darksecrets.pages.claims.answers import Answer, every, some
from darksecrets.pages.claims.estimates import Estimate, Threshold, difference
from darksecrets.pages.claims.gathering import ABSENT, NUMBERS, gather, why_empty
from darksecrets.pages.claims.needed import (
    NOTHING,
    OF_TEST,
    joined,
    lacks_in_words,
    needs_in_words,
)
from darksecrets.pages.claims.registry import Claim, Extreme, Paper, Question
from darksecrets.pages.claims.sources import Run, Tables, UnansweredError
from darksecrets.pages.claims.tables import NOT_COMPARABLE, UNDECIDED

_SHOWN = 8
"""Names listed in a reason before the others are only counted."""


@dataclass(frozen=True)
class Finding:
    """The answer to a question.

    Attributes:
        answer: Whether the statement holds in this run.
        reason: Why, in words.
        decisive: The estimate that decides, or would; None if there is none.
        compared: All estimates that were compared.
        needs: What would decide it, in words; empty if it is decided.
    """

    answer: Answer
    reason: str
    decisive: Estimate | None = None
    compared: tuple[Estimate, ...] = ()
    needs: str = ""


def table(papers: Iterable[Paper], tables: Tables, run: Run) -> pd.DataFrame:
    """Decide all claims.

    Returns:
        The table `darksecrets.pages.claims.tables.CLAIMS`.
    """
    rows = []
    of_random = tables.take_random_weights()
    for paper in papers:
        at_hand = [task for task in paper.tasks if task in run.tasks]
        for claim in paper.claims:
            found = decide(claim, paper.tasks, tables, run)
            learned = decide_on_learned_tasks(claim, paper.tasks, tables, run)
            random = decide_on_random_weights(claim, at_hand, of_random, run)
            rows.append(_row(claim, found, learned, random, run))
    return pd.DataFrame(rows)


def decide_on_random_weights(
    claim: Claim, tasks: Sequence[str], of_random: Tables, run: Run
) -> Answer | None:
    """Decide a claim about training by the rows of an encoder that was never trained.

    A claim that holds of it, too, says nothing about what the encoder has learned.

    Args:
        claim: The claim.
        tasks: The paper's tasks that the run has.
        of_random: From `Tables.take_random_weights`.
        run: The run.

    Returns:
        The answer; None if a table of the claim has no rows of such an encoder, or the run none of
        its tasks.
    """
    limited = _limited(claim, tasks, tasks)
    if limited is None or not {*claim.tables} <= {*of_random.frames}:
        return None
    of_one_encoder = tuple(replace(question, seeds=1) for question in limited.questions)
    alone = replace(run, seeds={task: seeds[:1] for task, seeds in run.seeds.items()})
    return decide(replace(limited, questions=of_one_encoder), tasks, of_random, alone).answer


def decide_on_learned_tasks(
    claim: Claim, tasks: Sequence[str], tables: Tables, run: Run
) -> Finding:
    """Decide a claim about those of its tasks that the run's fine-tuned models have learned.

    A statement about all of a paper's tasks stays open if some are not in the run. This says what
    the run finds on the others.

    Args:
        claim: The claim.
        tasks: The paper's tasks.
        tables: The run's tables.
        run: The run.
    """
    try:
        unlearned = tables.unlearned()
    except UnansweredError as why:
        return Finding(Answer.OPEN, str(why))
    known = [task for task in tasks if task in run.tasks and task not in unlearned]
    limited = _limited(claim, tasks, known)
    if limited is None:
        return Finding(Answer.OPEN, ABSENT)
    return decide(limited, known, tables, run)


def _limited(claim: Claim, tasks: Sequence[str], known: Sequence[str]) -> Claim | None:
    """A claim about those of its tasks that are known; None if a question is about no such task.

    Args:
        claim: The claim.
        tasks: Tasks of questions that name none.
        known: Tasks to limit it to.
    """
    questions = []
    for question in claim.questions:
        about = question.tasks or tasks
        own = tuple(task for task in about if task in known)
        if about and not own:
            return None
        questions.append(replace(question, tasks=own))
    return replace(claim, questions=tuple(questions))


def decide(claim: Claim, tasks: Sequence[str], tables: Tables, run: Run) -> Finding:
    """Decide a claim. Of several questions, the first that decides gives the number shown.

    A p-value is not shown as the number: the first question without a test gives it then.

    Args:
        claim: The claim.
        tasks: The paper's tasks.
        tables: The run's tables.
        run: The run.
    """
    questions = claim.questions
    found = [_answer(question, question.tasks or tasks, tables, run) for question in questions]
    overall = every(finding.answer for finding in found)
    deciding = [finding for finding in found if finding.answer == overall]
    numbers = [each for question, each in zip(questions, found, strict=True) if not question.test]
    shown = [finding for finding in numbers if finding.answer == overall] or numbers or found
    reasons = list(dict.fromkeys(finding.reason for finding in deciding))
    if overall == Answer.OPEN:
        at_hand = _decide_at_hand(questions, tasks, tables, run)
        if at_hand != Answer.OPEN:
            reasons.append(f"of the models at hand alone, it {at_hand}")
    needs = joined(each.needs for each in deciding) if all(each.needs for each in deciding) else ""
    return Finding(
        overall,
        "; ".join(reasons),
        shown[0].decisive,
        tuple(estimate for finding in found for estimate in finding.compared),
        needs,
    )


def _decide_at_hand(
    questions: Sequence[Question], tasks: Sequence[str], tables: Tables, run: Run
) -> Answer:
    """The answer about the fine-tuned models of the run, whatever other seeds would have given.

    It is open if the run has as many seeds as the claim needs: too few were not the reason then.
    """
    seeds = run.seeds_of(None)
    if all(seeds >= question.seeds for question in questions):
        return Answer.OPEN
    return every(
        _answer(replace(each, seeds=1), each.tasks or tasks, tables, run).answer
        for each in questions
    )


def _answer(question: Question, tasks: Sequence[str], tables: Tables, run: Run) -> Finding:
    try:
        estimates = gather(question, tasks, tables, run)
    except UnansweredError as why:
        return Finding(Answer.OPEN, str(why), needs="would need that table")
    if not estimates:
        return Finding(Answer.OPEN, why_empty(question), needs=f"would need {NUMBERS}")
    if question.extreme:
        finding = _compare_with_others(question, question.extreme, estimates)
    else:
        assert question.threshold is not None
        finding = _compare_with_threshold(
            question.quantifier, question.threshold, estimates, estimates
        )
    if question.premise and finding.answer == Answer.NO:
        reason = f"nothing to explain: {finding.reason}"
        return replace(finding, answer=Answer.OPEN, reason=reason, needs=NOTHING)
    return _as_test(finding, question.value) if question.test else finding


def _as_test(finding: Finding, column: str) -> Finding:
    """Name p-values by their column, if it says more; they have no interval, and never disprove."""
    name = "p-value" if column == Question.value else column
    named = tuple(
        replace(each, name=(*each.name, name), low=math.nan, high=math.nan)
        for each in finding.compared
    )
    decisive = finding.decisive
    if decisive:
        decisive = replace(decisive, low=math.nan, high=math.nan)
    needs = "" if finding.answer != Answer.OPEN else lacks_in_words(finding.compared) or OF_TEST
    return replace(finding, decisive=decisive, compared=named, needs=needs)


def _compare_with_threshold(
    quantifier: str,
    threshold: Threshold,
    compared: Sequence[Estimate],
    estimates: Sequence[Estimate],
) -> Finding:
    """Compare estimates with a threshold.

    Of several estimates, `every` is true if each interval alone says so (an intersection–union
    test) and false if an interval corrected for their number says so; `some` is the reverse.
    """
    if quantifier in ("greatest", "least"):
        compared = [_extremum(compared, greatest=quantifier == "greatest")]
    corrected = Answer.YES if quantifier == "some" else Answer.NO
    known = sum(each.is_known for each in compared)
    judged = [_judged(threshold, each, known, corrected) for each in compared]
    finding = _summed_up(threshold, judged, estimates, some if quantifier == "some" else every)
    if finding.answer != Answer.OPEN:
        return finding
    needs = lacks_in_words(estimates) or needs_in_words(threshold, judged)
    return replace(finding, needs=needs)


def _judged(
    threshold: Threshold, estimate: Estimate, known: int, corrected: Answer
) -> tuple[Estimate, Answer]:
    """One of several estimates, with the interval that decides, and its answer.

    Args:
        threshold: What it is compared with.
        estimate: The estimate.
        known: How many estimates are known.
        corrected: The answer that needs an interval corrected for their number.
    """
    usual = threshold.answer(estimate)
    wide = estimate.widen_for(known)
    if usual == corrected and threshold.answer(wide) != corrected:
        return wide, Answer.OPEN
    return estimate, usual


def _extremum(estimates: Sequence[Estimate], *, greatest: bool) -> Estimate:
    """The greatest or least of some quantities; its interval follows from those of all."""
    pick = max if greatest else min
    valued = [each for each in estimates if not math.isnan(each.value)]
    if not valued:
        return estimates[0]
    wide = [each.widen_for(len(valued)) for each in valued]
    low, high = pick(each.low for each in wide), pick(each.high for each in wide)
    unknown = next((each.unknown for each in estimates if not each.is_known), "")
    best = pick(valued, key=lambda each: each.value)
    return replace(best, low=low, high=high, unknown=unknown, together=len(valued))


def _compare_with_others(
    question: Question, extreme: Extreme, estimates: Sequence[Estimate]
) -> Finding:
    """Compare the things claimed to be greatest, or least, with every other, or with `some`."""
    groups: dict[tuple[str, ...], list[Estimate]] = {}
    for estimate in estimates:
        groups.setdefault(estimate.name[:-1], []).append(estimate)
    pairs = [pair for group in groups.values() for pair in _pairs(extreme, group)]
    between = [difference(*pair, independent=extreme.of == "task") for pair in pairs]
    return _compare_with_threshold(question.quantifier, Threshold(above=0), between, estimates)


def _pairs(extreme: Extreme, group: Sequence[Estimate]) -> list[tuple[Estimate, Estimate]]:
    """What is claimed to be greater, and what to be less."""
    claimed = [one for one in group if one.name[-1] in extreme.which]
    others = [one for one in group if one.name[-1] not in extreme.which]
    pairs = itertools.product(claimed, others)
    return [(one, other) if extreme.greatest else (other, one) for one, other in pairs]


def _summed_up(
    threshold: Threshold,
    judged: Sequence[tuple[Estimate, Answer]],
    estimates: Sequence[Estimate],
    combine: Callable[[Iterable[Answer]], Answer],
) -> Finding:
    """The answer for all, the estimate that decides it, and the reason."""
    overall = combine(decision for _, decision in judged)
    pick = min if combine is every else max
    valued = [(one, found) for one, found in judged if not math.isnan(threshold.margin(one))]
    deciding = [one for one, found in valued if found == overall] or [one for one, _ in valued]
    decisive = pick(deciding, key=threshold.margin) if deciding else None
    reason = _reason(threshold, overall, judged, estimates)
    return Finding(overall, reason, decisive, tuple(estimates))


def _reason(
    threshold: Threshold,
    overall: Answer,
    judged: Sequence[tuple[Estimate, Answer]],
    estimates: Sequence[Estimate],
) -> str:
    """Why the answer is what it is: what decided first, then the rest."""
    words = {
        Answer.YES: threshold.words,
        Answer.NO: threshold.refuted,
        Answer.OPEN: threshold.undecided,
    }
    parts = {
        decision: _about(
            words[decision],
            [one.name for one, found in judged if one.is_known and found == decision],
            len(judged),
        )
        for decision in (Answer.YES, Answer.NO)
    }
    parts[Answer.OPEN] = _reason_of_open(words[Answer.OPEN], judged)
    unknown: dict[str, list[tuple[str, ...]]] = {}
    for each in estimates:
        if not each.is_known:
            name = each.name[:1] if each.unknown == ABSENT else each.name
            unknown.setdefault(each.unknown, []).append(name)
    missing = [_about(why, names, len(estimates)) for why, names in unknown.items()]
    first = parts.pop(overall)
    if overall == Answer.OPEN:
        return "; ".join(filter(None, [*missing, first, *parts.values()]))
    return "; ".join(filter(None, [first, *parts.values(), *missing]))


def _reason_of_open(words: str, judged: Sequence[tuple[Estimate, Answer]]) -> str:
    """What leaves estimates open: their own intervals, or those corrected for their number."""
    groups: dict[int, list[tuple[str, ...]]] = {}
    for one, found in judged:
        if one.is_known and found == Answer.OPEN:
            groups.setdefault(one.together, []).append(one.name)
    parts = [
        _about(words if number == 1 else f"corrected for {number}, {words}", names, len(judged))
        for number, names in groups.items()
    ]
    return "; ".join(parts)


def _about(words: str, names: Sequence[tuple[str, ...]], total: int) -> str:
    """Words about some things; nothing if there are none, and no names if it is all of them."""
    if not names:
        return ""
    if len(names) == total and not (total == 1 and names[0]):
        return words
    said = list(dict.fromkeys(" ".join(name) for name in names))
    more = f" and {len(said) - _SHOWN} others" if len(said) > _SHOWN else ""
    return f"{words}: {', '.join(said[:_SHOWN])}{more}"


def _row(
    claim: Claim, finding: Finding, learned: Finding, random: Answer | None, run: Run
) -> dict[str, Any]:
    """A row of the table of claims."""
    one = finding.decisive or Estimate.missing((), "")
    return {
        **{name: getattr(claim, name) for name in ("paper", "id", "section", "claim", "published")},
        **dict(zip(("value", "ci_low", "ci_high"), (one.value, *one.ends), strict=True)),
        "unit": claim.unit,
        "of": " ".join(one.name),
        "seeds": one.seeds,
        "verdict": str(finding.answer),
        "verdict_on_learned_tasks": str(learned.answer),
        "verdict_on_random_weights": "" if random is None else str(random),
        "verdict_on_paper": _verdict(claim, finding.answer, run),
        "reason": finding.reason,
        "needs": finding.needs,
        "estimates": "; ".join(map(_format_interval, finding.compared)),
        "tables": " ".join(claim.tables),
    }


def _verdict(claim: Claim, found: Answer, run: Run) -> str:
    """The verdict on the paper; none from a run on other data or with another model."""
    if not set(claim.data) <= set(run.shared):
        return NOT_COMPARABLE
    return UNDECIDED if found == Answer.OPEN else str(found)


def _format_interval(estimate: Estimate) -> str:
    """A number with its interval, such as ``RTE 1.2 [0.3, 2.1]``."""
    said = [*estimate.name]
    if math.isnan(estimate.value):
        return " ".join([*said, estimate.unknown])
    said.append(f"{estimate.value:.4g}")
    low, high = estimate.ends
    if low < high:
        said.append(f"[{low:.4g}, {high:.4g}]")
    return " ".join(said)
