"""No inference passes on what knows nothing more often than stated; true effects are found.

Heads of places, classes and distances belong to `make test`: exactly none of them passes. The
others need many draws, and belong to `make test-all`; `benchmarks/adversaries.py` makes the same
trials with still more.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from adversarial import inferences
from adversarial.every import ALL
from adversarial.trials import MEDIUM, NULL, POWER, SMALL, Trial

from darksecrets.pages.contracts import TABLES

ROOT = Path(__file__).parents[2]
STATED = ROOT / "benchmarks" / "results" / "adversaries.csv"


@pytest.fixture(scope="module")
def trials(tmp_path_factory) -> list[Trial]:
    folder = tmp_path_factory.mktemp("adversaries")
    return [trial for inference in ALL for trial in inference(MEDIUM, folder)]


@pytest.fixture(scope="module")
def trials_of_links(tmp_path_factory) -> list[Trial]:
    folder = tmp_path_factory.mktemp("links")
    both = (inferences.links, inferences.related)
    return [trial for inference in both for trial in inference(SMALL, folder)]


@pytest.mark.thorough
def test_nothing_that_knows_nothing_passes_more_often_than_stated(trials):
    nulls = [trial for trial in trials if trial.truth == NULL]
    assert len(nulls) > 100
    broken = [(trial, trial.share) for trial in nulls if not trial.keeps_its_rate()]
    assert not broken


TESTS = re.compile(
    r"[pq]_.*|.*_[pq]|exceeds_controls|noninferior|probability|greatest_of_.*|verdict"
)
"""Columns that say whether something is true."""

ELSEWHERE = {
    "framenet_heads": {"q_value", "p_family"},  # see exceeds_controls
    "framenet_controls": {"p_value", "difference"},
    "learned": {"p_value"},  # tests/unit/paper/finetuning/test_comparison.py
    "equal_word_controls": {"difference"},  # see equal_words
    "token_pair_correlations": {"weight", "over_control"},
    "head_ablation": {"delta"},  # see p_value
    "layer_ablation": {"delta"},
    "set_ablation": {"delta"},
    "worst_heads": {"q_value"},  # of head_ablation
    "smaller_models": {"delta"},  # of pruning_curves
    "pattern_maps": {"probability"},  # of a classifier
    "pattern_predictions": {"probability_.*"},
    "typical_maps": {"probability"},
    "pattern_agreement": {
        "kappa",
        "[pq]_.*",
    },  # tests/unit/paper/patterns/shares/test_head_agreement.py
    "claims": {"value"},  # of the tables; see verdict
    "claims_by_measure": {"value", "verdict"},  # of claims
    "layer_order": {"expected_layer"},  # of gains
    "beside_paper": {"value"},  # of the tables
    # tests/unit/beyond/compression/test_statistics.py
    "compression": {"score", "delta", "retention", "above_chance"},
    # tests/unit/beyond/landscape
    "loss_surfaces": {"loss"},
    "flatness": {"rise"},
    # tests/unit/core/stats/test_two_way.py
    "seed_variance": {"variance", "[pq]_value"},
    # tests/unit/core/stats/test_maxima.py, tests/unit/beyond/seeds/test_claims.py
    "expected_maximum": {"expected", "gain"},
    # tests/unit/beyond/seeds/test_seeds.py
    "early_stopping": {"[pq]_value"},
}
"""Columns whose statements are those of others, or none, or whose nulls are in another test."""


REPEATED = ("attention_levels_by_measure",)
"""Made by the functions of the table of weights, which do not know what their maps are of."""


def statements() -> set[tuple[str, str]]:
    """Table and column of every statement: tests, and intervals of what may be below 0."""
    found = set()
    for table in TABLES.values():
        if table.name in REPEATED:
            continue
        by_name = {column.name: column for column in table.columns}
        for column in table.columns:
            of = by_name.get(column.interval_of)
            if TESTS.fullmatch(column.name):
                found.add((table.name, column.name))
            elif of is not None and of.low < 0:
                found.add((table.name, of.name))
    return found


def test_every_statement_of_the_tables_is_tried():
    """A table with a new test or interval needs its adversaries, on the page of all trials."""
    page = pd.read_csv(STATED, keep_default_na=False)
    nulls = page.loc[page["truth"] == NULL, "inference"].unique()
    tried = [(re.split(r"[ :]", inference)[0], inference) for inference in nulls]
    missing = {
        (table, column)
        for table, column in statements()
        if not any(name == table and re.search(rf"\b{column}\b", said) for name, said in tried)
        and not any(re.fullmatch(known, column) for known in ELSEWHERE.get(table, ()))
    }
    assert not missing


@pytest.mark.slow
def test_heads_of_places_classes_and_distances_never_pass(trials_of_links):
    """Sums or products of these have exactly nothing left in one of the controls."""
    names = ("framenet_heads:", "token_pairs:", "equal_words:")
    found = [trial for trial in trials_of_links if trial.inference.startswith(names)]
    chance = ("random", "all", "Dirichlet")  # such heads pass as often as is stated
    simple = [
        t
        for t in found
        if t.truth == NULL
        and not t.kind.startswith((*chance, "sum of products"))
        and ", over " not in t.kind
    ]
    assert len(simple) > 60
    assert {sum(trial.draws) for trial in simple} == {0}


@pytest.mark.thorough
def test_strong_effects_are_found_by_every_inference_that_looks_for_them(trials):
    shares: dict[str, list[float]] = {}
    for trial in trials:
        if trial.truth == POWER:
            shares.setdefault(trial.inference, []).append(trial.share)
    assert len(shares) >= 10
    for inference, found in shares.items():
        assert found[-1] == max(found), f"{inference}: the stronger, the more often"


@pytest.mark.thorough
def test_effects_are_found_as_often_as_the_page_of_adversaries_states(trials):
    """An inference that loses a fifth of its power is noticed, up to the error of fewer draws."""
    page = pd.read_csv(STATED).set_index(["inference", "tried on"])["share %"] / 100
    effects = [trial for trial in trials if trial.truth == POWER]
    known = [trial for trial in effects if (trial.inference, trial.kind) in page.index]
    assert len(known) > 0.8 * len(effects)
    weaker = [
        (trial, trial.share, stated)
        for trial in known
        if not is_as_strong(trial, stated := float(page[trial.inference, trial.kind]))
    ]
    assert not weaker


def is_as_strong(trial: Trial, stated: float) -> bool:
    """Whether four fifths of a stated power are within 3.1 standard errors of that of a trial."""
    least = np.sqrt(stated * (1 - stated) / len(trial.draws))
    return bool(trial.share + 3.1 * max(trial.error, least) >= 0.8 * stated)


def test_power_that_is_lost_is_noticed():
    def found(draws: int) -> Trial:
        return Trial("q", "an effect", POWER, 0.05, (1,) * draws + (0,) * (45 - draws), 1)

    assert is_as_strong(found(36), 0.9)
    assert not is_as_strong(found(18), 0.9)


def test_a_rate_is_exceeded_only_beyond_the_error_of_dependent_draws():
    def trial(*draws: int) -> Trial:
        return Trial("q", "null", NULL, 0.05, draws, 20)

    assert trial(*[1] * 50).keeps_its_rate()
    assert not trial(*[3] * 50).keeps_its_rate()
    together = np.zeros(50, dtype=int)
    together[:6] = 20  # in 6 draws of 50, all; as likely as not at a rate of 5 %, if all depend
    assert trial(*together.tolist()).keeps_its_rate()
    assert trial(*together.tolist()).share == pytest.approx(0.12)


def test_few_independent_draws_have_their_exact_error():
    """Of 30 at 5 %, six or more have a probability of .0033, seven or more of .0006."""

    def passed(count: int) -> Trial:
        return Trial("q", "null", NULL, 0.05, (1,) * count + (0,) * (30 - count), 1)

    assert passed(6).keeps_its_rate()
    assert not passed(7).keeps_its_rate()
