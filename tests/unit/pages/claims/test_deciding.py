"""Quantifiers, missing tasks and seeds, tables of other runs, and null data."""

import dataclasses
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from claim_cases import CASES
from claim_cases.kovaleva import (
    beside_random,
    beside_untrained,
    changes,
    framenet,
    levels,
    most,
    needed,
    sums_of_sep,
    tasks,
    trends,
    words,
)
from claim_tables import (
    CLAIMS,
    METRICS,
    NO,
    OPEN,
    PAPERS,
    RUN,
    TASKS,
    YES,
    Frames,
    decide,
    decide_all,
    whole,
)

from darksecrets.pages.claims import deciding, sources
from darksecrets.pages.claims import tables as claim_columns
from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.estimates import Estimate, Threshold
from darksecrets.pages.claims.registry import Extreme, Question
from darksecrets.pages.claims.sources import Run, Tables
from darksecrets.pages.contracts import TABLES


def without(frames: Frames, **values: object) -> Frames:
    """Tables without the rows that have a value."""
    for column, value in values.items():
        frames = {name: frame[frame[column] != value] for name, frame in frames.items()}
    return frames


def some_tasks(*names: str) -> Run:
    return replace(RUN, tasks={name: METRICS[name] for name in names})


def test_a_task_that_is_not_in_the_run_leaves_a_statement_about_all_open():
    few = some_tasks("MRPC", "RTE", "SST-2")
    found = decide("22", CASES["22"][YES], few)
    assert found.answer == OPEN
    assert found.reason.startswith("not in this run: STS-B, QQP, QNLI, MNLI; above 0: MRPC")


def test_one_task_refutes_a_statement_about_all():
    assert decide("22", CASES["22"][NO], some_tasks("RTE")).answer == NO
    assert decide("12", CASES["12"][NO], some_tasks("SST-2", "QQP")).answer == NO


def test_the_number_is_that_of_the_task_that_decides():
    wide = CASES["22"][NO]["score_differences"].copy()
    wide.loc[wide["task"] == "QQP", "ci_low"] = -50.0
    found = decide("22", {"score_differences": wide})
    assert (found.answer, found.decisive.name, found.decisive.value) == (NO, ("RTE",), -10)


def test_one_task_is_enough_for_a_statement_about_some():
    assert decide("1", CASES["1"][YES], some_tasks("RTE")).answer == YES
    assert decide("1", CASES["1"][NO], some_tasks("RTE")).answer == OPEN


@pytest.mark.parametrize(("of", "answer"), [("task", YES), ("layer", OPEN)])
def test_only_numbers_of_different_tasks_are_compared_as_independent(of, answer):
    """A difference of 4 with halves of 3 and 2.5, whose squares add up to less than 4²."""
    extreme = Extreme(of, ("A",), greatest=True)
    compared = [Estimate(("A",), 4.0, 1.0, 7.0), Estimate(("B",), 0.0, -2.5, 2.5)]
    question = Question("some_table", extreme=extreme)
    assert deciding._compare_with_others(question, extreme, compared).answer == answer


def test_a_share_over_few_seeds_has_no_interval_beyond_what_a_share_can_be():
    """Two seeds that differ: the claim on redundancy said [-0.38, 0.68] of a share of heads."""
    frames = {name: frame.copy() for name, frame in CASES["48"][OPEN].items()}
    sizes = frames["pruned_heads"]
    sizes = sizes[sizes["seed"] <= 2]
    first = sizes["seed"] == 1
    sizes = sizes.assign(largest=np.where(first, 14, 29))
    sizes = sizes.assign(ci_low=sizes["largest"] - 7, ci_high=sizes["largest"] + 7)
    run = replace(some_tasks("RTE"), seeds={"RTE": [1, 2]})
    tables = Tables({"pruned_heads": sizes[sizes["task"] == "RTE"]}, TABLES)
    papers = [replace(PAPERS["kovaleva2019"], claims=(CLAIMS["48"],))]
    row = deciding.table(papers, tables, run).iloc[0]
    assert row["verdict"] == OPEN
    assert (row["ci_low"], row["value"]) == (0, pytest.approx(21.5 / 144))
    for said in re.findall(r"\[(.*?)\]", row["estimates"]):
        low, high = map(float, said.split(", "))
        assert 0 <= low < high <= 1
    alone = replace(decide("48", tables, run).decisive, bounds=(-np.inf, np.inf))
    assert alone.ends[0] < 0, "which is what was shown"


def test_numbers_of_columns_have_their_declared_bounds():
    found = {
        claim.id: [question.possible(TABLES) for question in claim.questions]
        for claim in CLAIMS.values()
    }
    assert found["12"][0] == found["48"][0] == (0, 1)
    assert found["34"] == [(-1, 1)]
    assert found["22"] == [(-np.inf, np.inf)]


def test_a_run_without_tasks_of_the_paper_decides_nothing_about_them():
    own = replace(RUN, tasks={"CoLA": ["matthews_corrcoef"]})
    for name in ("1", "12", "22", "27", "37"):
        assert decide(name, CASES[name][YES], own).answer == OPEN


def test_with_one_seed_claims_about_fine_tuning_stay_open():
    one = replace(RUN, seeds={task: [1] for task in RUN.tasks})
    frames = {name: frame[frame["seed"] == 1] for name, frame in CASES["37"][YES].items()}
    found = decide("37", frames, one)
    assert (found.answer, found.reason) == (OPEN, "one seed; of the models at hand alone, it holds")
    assert found.decisive.value == 2


def test_fewer_seeds_than_configured_leave_a_claim_open():
    found = decide("37", without(CASES["37"][YES], seed=3))
    assert found.answer == OPEN
    assert found.reason == "survival.csv has 2 seeds of 3"


def test_a_task_without_rows_leaves_a_claim_open():
    found = decide("37", without(CASES["37"][YES], task="QQP"))
    assert found.answer == OPEN
    assert found.reason.startswith("survival.csv has no rows with state finetuned, kind head: QQP")


def test_rows_that_are_not_there_are_named():
    frames = {name: frame.assign(tasks=3) for name, frame in CASES["21"][YES].items()}
    found = decide("21", frames)
    assert found.answer == OPEN
    rows = "model finetuned, reference pretrained, tasks 7"
    assert found.reason == f"mean_differences.csv has no rows with {rows}"


def test_the_metric_is_accuracy_or_the_main_one():
    """Values of other metrics change nothing."""
    (frame,) = CASES["37"][YES].values()
    other = frame.copy()
    main = {
        task: "accuracy" if "accuracy" in metrics else metrics[0]
        for task, metrics in METRICS.items()
    }
    other.loc[
        other["metric"] != other["task"].map(main), ["unbiased_gain", "ci_low", "ci_high"]
    ] = -9
    assert decide("37", {"survival": other}).answer == YES


def draws(count: int) -> list[list[Estimate]]:
    """Seven estimates of 0 with the interval of their error."""
    rng = np.random.default_rng(3)
    return [
        [Estimate((task,), x, x - 1.96, x + 1.96) for task, x in zip(TASKS, row, strict=True)]
        for row in rng.normal(0, 1, (count, 7))
    ]


@pytest.mark.parametrize(
    ("quantifier", "threshold", "wrong"),
    [
        ("some", Threshold(above=0), YES),
        ("every", Threshold(above=0), YES),
        ("every", Threshold(above=-1e-9), NO),
        ("greatest", Threshold(above=0), YES),
        ("greatest", Threshold(above=0), NO),
    ],
)
def test_null_effects_are_seldom_taken_for_real(quantifier, threshold, wrong):
    """In at most 5% of 1,000 draws: 2.5% for each side of an interval, and 2 standard errors."""
    answers = [
        deciding._compare_with_threshold(quantifier, threshold, row, row).answer
        for row in draws(1000)
    ]
    assert np.mean([answer == wrong for answer in answers]) < 0.025 + 2 * np.sqrt(0.025 / 1000)


def test_an_interval_that_decides_nothing_has_both_sides_also_where_it_is_corrected():
    """1.0 ± 0.9 is above 0 by itself, but not as one of three; the number shown must not say so."""
    above, other, below = (
        Estimate((task,), value, value - 0.9, value + 0.9)
        for task, value in (("MRPC", 1.0), ("SST-2", 0.1), ("STS-B", -3.0))
    )
    row = [above, other, below]
    found = deciding._compare_with_threshold("some", Threshold(above=0), row, row)
    shown = found.decisive
    assert found.answer == OPEN
    assert shown is not None
    assert shown.name == ("MRPC",)
    assert shown.low < 0 < shown.high
    factor = scipy.stats.norm.isf(0.025 / 3) / scipy.stats.norm.isf(0.025)
    assert shown.high == pytest.approx(1.0 + factor * 0.9, abs=1e-12)
    assert "corrected for 3, the interval includes 0: MRPC" in found.reason
    assert "the interval includes 0: SST-2" in found.reason
    alone = deciding._compare_with_threshold("some", Threshold(above=0), [above], [above])
    assert (alone.answer, alone.decisive) == (YES, above)


def test_what_the_greatest_of_several_needs_follows_from_its_corrected_interval():
    """3.0 ± 2.8, of examples alone, excludes 0; as one of three it does not: seeds do not help."""
    greatest, *others = (
        Estimate((task,), value, value - 2.9, value + 2.9, seeds=2, of_examples=(2.8 / 1.96) ** 2)
        for task, value in (("MRPC", 3.0), ("SST-2", 0.1), ("STS-B", -3.0))
    )
    row = [*others, greatest]
    found = deciding._compare_with_threshold("greatest", Threshold(above=0), row, row)
    assert found.answer == OPEN
    assert found.needs == "would need more examples"
    assert found.reason == "corrected for 3, the interval includes 0: MRPC"
    alone = deciding._compare_with_threshold("greatest", Threshold(above=0), [greatest], [greatest])
    assert alone.answer == YES


def nothing(name: str) -> Frames:
    """The tables of a claim that holds, with effects of 0 and intervals around them."""
    frames = {table: frame.copy() for table, frame in CASES[name][YES].items()}
    for question in CLAIMS[name].questions:
        ends = [c.name for c in TABLES[question.table].columns if c.interval_of == question.value]
        frames[question.table][question.value] = 1.0 if question.test else 0.0
        frames[question.table][ends] = [-0.5, 0.5][: len(ends)]
    return frames


EFFECTS = ("1", "20", "22", "23", "24", "33", "34", "37", "40", "41")
RANKS = ("12",)
NULLS = {
    "15": framenet(0, 0),
    "19": framenet(0, 0),
    "27": beside_untrained(levels("weight", tasks(0.2), "greatest", feature="[SEP]"), 0.1),
    "28": sums_of_sep(0.5),
    "29": trends(0, 0, 1.0),
    "30": changes(0, 0),
    "31": changes(0, 0),
    "35": most("[SEP]", 0.0, 0.0, "QQP"),
    "36": most("punctuation", 0.0, 0.0, "QNLI"),
    "46": needed(0),
    "47": words(0, 0),
}


@pytest.mark.parametrize("name", [*EFFECTS, *RANKS, *NULLS])
def test_nothing_is_claimed_of_heads_and_models_without_effects(name):
    """No gain, no change, no rank and no head that stands out: such claims never hold."""
    frames = NULLS[name] if name in NULLS else nothing(name)
    assert decide(name, frames).answer != YES


def test_a_reason_is_not_one_that_shorter_texts_explain():
    """More attention to all [SEP] together, but only as much more as uniform attention has."""
    assert decide("28", sums_of_sep(0.8)).answer == YES
    assert decide("28", sums_of_sep(0.8, uniform=0.16)).answer == OPEN
    assert decide("28", sums_of_sep(0.8, uniform=0.4)).answer == NO


def test_what_is_said_of_all_is_asked_of_all():
    frames = sums_of_sep(0.8)
    table = frames["attention_levels"]
    columns = ["weight", "weight_low", "weight_high"]
    of_mrpc = (table["task"] == "MRPC") & (table["state"] == "finetuned")
    table.loc[of_mrpc, columns] = [0.3, 0.28, 0.32]
    assert decide("28", frames).answer == NO


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_trend_that_layers_in_random_order_have_has_no_direction(sign):
    """A narrow interval over examples says nothing of the six layers: the real one of SST-2."""
    assert decide("29", trends(-0.8 * sign, 0.8 * sign, 0.01)).answer == (YES if sign > 0 else NO)
    for cls in (-0.143, 0.143):
        table = trends(cls, 0.8, 0.8)["attention_trends"]
        exact = dict.fromkeys(("correlation_low", "correlation_high"), table["correlation"])
        assert decide("29", {"attention_trends": table.assign(**exact)}).answer == OPEN


def random_too(name: str, random: Frames) -> Answer | None:
    """What is said of random weights, where the claim holds of fine-tuned ones."""
    tuned = whole(CASES[name][YES])
    frames = {
        table: pd.concat([tuned[table], frame.assign(state="random")])
        for table, frame in whole(random).items()
    }
    tables = Tables(frames, TABLES)
    assert deciding.decide(CLAIMS[name], TASKS, tables, RUN).answer == YES
    return deciding.decide_on_random_weights(CLAIMS[name], TASKS, tables.take_random_weights(), RUN)


@pytest.mark.parametrize("name", ["27", "28"])
def test_what_random_weights_do_is_not_beyond_them(name):
    """Their own rows are what they are compared with: nothing is left."""
    whole_table = whole(CASES[name][YES])["attention_levels"]
    assert decide(name, {"attention_levels": whole_table}).answer == YES
    tuned = whole_table[whole_table["state"] == "finetuned"]
    untrained = pd.concat([tuned, tuned.assign(state="random")])
    tables = Tables({"attention_levels": untrained}, TABLES)
    assert decide(name, tables).answer != YES
    random = tables.take_random_weights()
    assert deciding.decide_on_random_weights(CLAIMS[name], TASKS, random, RUN) != YES


@pytest.mark.parametrize("name", ["26", "29", "32"])
@pytest.mark.parametrize("answer", [YES, NO, OPEN])
def test_a_claim_is_decided_by_the_rows_of_random_weights_alone(name, answer):
    assert random_too(name, CASES[name][answer]) == answer


@pytest.mark.parametrize("name", ["A1", "S1", "T1"])
def test_random_weights_are_one_encoder_however_many_seeds_the_run_has(name):
    frames = {
        table: pd.concat([own, own.assign(state="random", seed=1)])
        for table, frame in whole(CASES[name][YES]).items()
        if len(own := frame[frame["state"] == "pretrained"])
    }
    several = dataclasses.replace(RUN, seeds={task: [1, 2, 3] for task in RUN.tasks})
    random = Tables(frames, TABLES).take_random_weights()
    assert deciding.decide_on_random_weights(CLAIMS[name], TASKS, random, several) == YES


def test_without_rows_of_random_weights_nothing_is_said_of_them():
    for name in ("26", "22"):
        tables = Tables(whole(CASES[name][YES]), TABLES)
        assert (
            deciding.decide_on_random_weights(
                CLAIMS[name], TASKS, tables.take_random_weights(), RUN
            )
            is None
        )


def test_random_weights_never_exceed_themselves():
    """A claim that compares with random weights does not hold of them."""
    frames = whole(beside_random(6, 0))
    tables = Tables(frames, TABLES)
    assert deciding.decide(CLAIMS["19"], TASKS, tables, RUN).answer != NO
    assert (
        deciding.decide_on_random_weights(CLAIMS["19"], TASKS, tables.take_random_weights(), RUN)
        != YES
    )


def test_a_head_that_no_control_rules_out_may_stand_out():
    found = decide("15", framenet(1, 2))
    assert (found.decisive.value, found.decisive.low, found.decisive.high) == (1, 1, 4)


@pytest.fixture
def folder(tmp_path):
    """A folder of tables."""
    for name, frame in whole(CASES["37"][YES] | CASES["22"][YES]).items():
        TABLES[name].write(frame, tmp_path / f"{name}.csv")
    return tmp_path


def read(folder) -> Tables:
    return sources.read(sorted(folder.glob("*.csv")), TABLES)


def test_tables_of_the_run_are_read(folder):
    tables = read(folder)
    assert set(tables.frames) == {"survival", "score_differences"}
    assert decide("37", tables).answer == YES


def test_a_damaged_table_is_not_used(folder):
    path = folder / "survival.csv"
    path.write_text(path.read_text()[:-20])
    found = decide("37", read(folder))
    assert (found.answer, found.reason) == (OPEN, "survival.csv does not match its declaration")


@pytest.mark.parametrize(
    ("case", "said"), [(YES, "p-value below 0.05"), (OPEN, "p-value not below 0.05")]
)
def test_a_reason_says_that_a_number_is_a_p_value_and_has_no_interval(case, said):
    found = decide("S4", CASES["S4"][case])
    assert found.reason.startswith(said)
    assert [each.name[-1] for each in found.compared] == ["p-value"] * len(found.compared)
    assert np.isnan([found.decisive.low, found.decisive.high]).all()
    assert np.isnan([[each.low, each.high] for each in found.compared]).all()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (YES, "one seed; of the models at hand alone, it holds"),
        (NO, "one seed; of the models at hand alone, it does not hold"),
        (OPEN, "one seed"),
    ],
)
def test_of_the_models_at_hand_a_claim_holds_only_with_all_its_parts(case, said):
    """In the open case agreement is high, and its p-value is not below the level."""
    one = replace(RUN, seeds={task: [1] for task in RUN.tasks})
    frames = {name: frame.assign(seeds=1) for name, frame in CASES["11"][case].items()}
    found = decide("11", frames, one)
    assert (found.answer, found.reason) == (OPEN, said)


def test_a_reason_why_there_is_no_p_value_is_the_reason_alone():
    one = replace(RUN, seeds={task: [1] for task in RUN.tasks})
    frames = {name: frame[frame["seed"] == 1] for name, frame in CASES["49"][YES].items()}
    assert decide("49", frames, one).reason.startswith("one seed")


def test_without_any_table_all_claims_have_a_row(tmp_path):
    claims = decide_all(sources.read([tmp_path / "survival.csv"], TABLES))
    claim_columns.CLAIMS.write(claims, tmp_path / "claims.csv")
    found = claim_columns.CLAIMS.read(tmp_path / "claims.csv").set_index("id")
    assert len(found) == len(CLAIMS)
    assert found.loc["37", "reason"] == "survival.csv is missing"
    assert set(found["verdict"]) == {"undecided"}


@pytest.mark.parametrize(
    ("shared", "answer", "verdict"),
    [
        (["GLUE"], YES, "holds"),
        (["GLUE"], NO, "does not hold"),
        (["GLUE"], OPEN, "undecided here"),
        ([], YES, "not comparable"),
        (["FrameNet"], NO, "not comparable"),
    ],
)
def test_only_a_run_of_the_paper_gives_a_verdict(shared, answer, verdict):
    run = replace(RUN, shared=shared)
    claims = decide_all(Tables(whole(CASES["37"][answer]), TABLES), run).set_index("id")
    assert claims.loc["37", "verdict"] == answer
    assert claims.loc["37", "verdict_on_paper"] == verdict


LEARNED = {"seed": None, "metric": "accuracy", "score": 51.5, "majority": 50.2}


@pytest.mark.parametrize("name", ["22", "23", "40", "44", "45", "21", "11"])
def test_a_model_that_has_not_learned_decides_nothing(name):
    """Neither about its task nor about all tasks together, however sure the numbers are."""
    table = pd.DataFrame([{"task": "RTE", "bag_of_words": 53.8, "learned": False} | LEARNED])
    for answer in (YES, NO):
        found = decide(name, CASES[name][answer] | {"learned": table})
        assert found.answer != YES
        if answer == YES:
            said = "RTE is not learned (51.5, majority class 50.2, bag of words 53.8)"
            assert (found.answer, said in found.reason) == (OPEN, True)
    learned = table.assign(learned=True)
    assert decide(name, CASES[name][YES] | {"learned": learned}).answer == YES


@pytest.mark.parametrize("name", ["19", "54"])
def test_claims_about_pre_trained_encoders_do_not_depend_on_fine_tuning(name):
    table = pd.DataFrame([{"task": "RTE", "bag_of_words": 53.8, "learned": False} | LEARNED])
    assert decide(name, CASES[name][YES] | {"learned": table}).answer == YES


@pytest.mark.parametrize(("unlearned", "on_learned"), [("RTE", YES), ("SST-2", NO)])
def test_on_the_tasks_that_were_learned_a_claim_may_hold_or_fail(unlearned, on_learned):
    """The paper has seven tasks, the run two; the claim fails on RTE and holds on SST-2."""
    table = pd.DataFrame([LEARNED | {"task": unlearned, "bag_of_words": 53.8, "learned": False}])
    tables = Tables(CASES["22"][NO] | {"learned": table}, TABLES)
    run = some_tasks("RTE", "SST-2")
    claim, tasks = CLAIMS["22"], PAPERS["kovaleva2019"].tasks
    found = deciding.decide_on_learned_tasks(claim, tasks, tables, run)
    assert found.answer == on_learned
    (other,) = {"RTE", "SST-2"} - {unlearned}
    assert {estimate.name for estimate in found.compared} == {(other,)}
    papers = [replace(PAPERS["kovaleva2019"], claims=(claim,))]
    row = deciding.table(papers, tables, run).iloc[0]
    assert row["verdict_on_learned_tasks"] == on_learned
    assert row["verdict"] == (OPEN if on_learned == YES else NO), "five tasks are missing"


def test_heads_that_an_unlearned_task_chose_decide_nothing_on_another():
    """Of STS-B, which is learned, but by the heads that models of RTE chose, which is not."""
    table = pd.DataFrame([LEARNED | {"task": "RTE", "bag_of_words": 53.8, "learned": False}])
    tables = Tables(CASES["46"][YES] | {"learned": table}, TABLES)
    found = deciding.decide_on_learned_tasks(
        CLAIMS["46"], PAPERS["kovaleva2019"].tasks, tables, RUN
    )
    assert found.answer == OPEN
    assert "RTE is not learned" in found.reason


@pytest.mark.parametrize("only", TASKS)
@pytest.mark.parametrize("case", [NO, OPEN])
def test_with_one_learned_task_no_claim_is_decided_without_a_number(case, only):
    """What compares tasks has nothing to compare with, and must not hold of nothing."""
    rows = [LEARNED | {"task": task, "bag_of_words": 53.8, "learned": False} for task in TASKS]
    learned = pd.DataFrame(rows)
    learned["learned"] = learned["task"] == only
    paper = PAPERS["kovaleva2019"]
    for claim in paper.claims:
        frames = CASES[claim.id].get(case)
        if frames is None:
            continue
        tables = Tables(frames | {"learned": learned}, TABLES)
        found = deciding.decide_on_learned_tasks(claim, paper.tasks, tables, some_tasks(only))
        if found.answer != OPEN:
            assert any(estimate.is_known for estimate in found.compared), claim.id


def test_claims_about_no_task_do_not_depend_on_what_was_learned():
    """A treebank has no tasks."""
    assert PAPERS["clark2019"].tasks == ()
    for case in (YES, NO):
        tables = Tables(CASES["S2"][case], TABLES)
        found = deciding.decide_on_learned_tasks(CLAIMS["S2"], (), tables, RUN)
        assert found == decide("S2", tables)
        assert found.answer == case


def test_on_learned_tasks_nothing_is_decided_without_one_of_the_claims_tasks():
    """Claim 31 is about QNLI alone, which is not in the run; the other run learned no task."""
    table = pd.DataFrame([{"task": "RTE", "bag_of_words": 53.8, "learned": False} | LEARNED])
    tables = Tables(CASES["31"][YES] | {"learned": table}, TABLES)
    tasks = PAPERS["kovaleva2019"].tasks
    run = some_tasks("RTE", "SST-2")
    assert deciding.decide_on_learned_tasks(CLAIMS["31"], tasks, tables, run).answer == OPEN
    nothing = some_tasks("RTE")
    assert deciding.decide_on_learned_tasks(CLAIMS["22"], tasks, tables, nothing).answer == OPEN


def test_without_knowing_which_models_have_learned_nothing_is_decided():
    damaged = Tables(CASES["22"][YES], TABLES, {"learned": "is missing"})
    found = decide("22", damaged)
    assert (found.answer, found.reason) == (OPEN, "learned.csv is missing")


@pytest.mark.parametrize("name", ["X2", "R1", "G1"])
def test_a_task_that_is_not_measured_for_a_claim_need_not_be_learned(name):
    """It left all claims open that compare tasks of an analysis, though none is about it."""
    frames = CASES[name][YES]
    (measured, *_) = next(frame["task"].unique() for frame in frames.values() if "task" in frame)
    run = replace(RUN, tasks=RUN.tasks | {"noise": ["accuracy"]})
    run = replace(run, seeds=RUN.seeds | {"noise": RUN.seeds["RTE"]})
    for task, answer in (("noise", YES), (measured, OPEN)):
        table = pd.DataFrame([{"task": task, "bag_of_words": 53.8, "learned": False} | LEARNED])
        assert decide(name, frames | {"learned": table}, run).answer == answer
