"""The sentences that say what a run found, against tables whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.pages.claims.findings import FINDINGS, SYNTHETIC, Run, describe_verdicts, find
from darksecrets.paper.ablation.findings import describe_needed_layers, significant
from darksecrets.paper.patterns.classes import PATTERNS

TASKS = ["RTE", "SST-2"]
RUN = Run(dict.fromkeys(TASKS, "accuracy"), {"RTE": "accuracy"}, synthetic=False)


def patterns():
    """Heterogeneous shares by state and task; seeds are averaged."""
    shares = {
        ("finetuned", "RTE", 1): 0.3,
        ("finetuned", "RTE", 2): 0.5,
        ("finetuned", "SST-2", 1): 0.6,
        ("pretrained", "RTE", None): 0.2,
        ("pretrained", "SST-2", None): 0.1,
    }
    rows = [
        (*key, definition, pattern, share if definition == "strict" else 0.99)
        for key, share in shares.items()
        for definition in ("strict", "lenient")
        for pattern in PATTERNS
    ]
    names = ["state", "task", "seed", "definition", "pattern", "share"]
    frame = pd.DataFrame(rows, columns=names)
    other = frame["pattern"] != "heterogeneous"
    frame.loc[other, "share"] = 0.0
    return frame


def cosine(last_on):
    """The last two of four layers change most on some tasks, the first on the others."""
    rows = [
        (task, layer, head, 0.1 if (layer > 2) == (task in last_on) else 0.9)
        for task in TASKS
        for layer in range(1, 5)
        for head in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["task", "layer", "head", "similarity"])


def stripes():
    rows = [
        (state, feature, task, 1, head, weight)
        for task in TASKS
        for head, weight in ((1, 0.2), (2, 0.45))
        for feature, state in (("[SEP]", "finetuned"), ("[CLS]", "pretrained"))
    ]
    rows += [("finetuned", "[CLS]", "RTE", 1, 1, 0.31), ("finetuned", "[SEP]", "other", 1, 1, 0.99)]
    names = ["state", "feature", "task", "layer", "head", "weight"]
    return pd.DataFrame(rows, columns=names)


def effects(kind="head"):
    """Two of four heads are needed by both seeds, one by one of two, one helps when disabled."""
    signs = {(1, 1): (-1, -1), (1, 2): (-1, -1), (2, 1): (-1, 0), (2, 2): (1, 1)}
    rows = [
        (task, "finetuned", seed, metric, layer, head, 5.0 * (sign or -1), 0.01 if sign else 0.9)
        for task in ("RTE", "other")
        for metric in ("accuracy", "f1")
        for (layer, head), both in signs.items()
        for seed, sign in enumerate(both, 1)
    ]
    names = ["task", "state", "seed", "metric", "layer", "head", "delta", "q_value"]
    frame = pd.DataFrame(rows, columns=names)
    return frame if kind == "head" else frame[frame["head"] == 1].drop(columns="head")


def claims(**counts):
    answers = {"holds": "holds", "fails": "does not hold", "undecided": "undecided"}
    rows = [
        (answers[name], "would need more seeds" if name == "undecided" else "")
        for name, count in counts.items()
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["verdict", "needs"])
    on_learned = frame["verdict"].replace("undecided", "holds")
    return frame.assign(verdict_on_learned_tasks=on_learned, verdict_on_random_weights="")


def judged(*unlearned):
    """Whether tasks are learned, together and, of one, with a seed."""
    rows = [("RTE", np.nan), ("RTE", 1), ("SST-2", np.nan)]
    table = pd.DataFrame(rows, columns=["task", "seed"])
    table["learned"] = ~table["task"].isin(unlearned)
    return table.assign(score=51.0, majority=50.0, bag_of_words=60.0)


def tables(*unlearned):
    scores = {"RTE": (70.0, 60.0, 50.0), "SST-2": (90.0, 95.0, 50.0)}
    states = ("finetuned", "finetuned-from-normal", "pretrained")
    rows = [
        (task, model, metric, score + (metric == "f1"))
        for task, own in scores.items()
        for metric in ("f1", "accuracy")
        for model, score in zip(states, own, strict=True)
    ]
    return {
        "learned": judged(*unlearned),
        "score_means": pd.DataFrame(rows, columns=["task", "model", "metric", "score"]),
        "cosine": cosine(["SST-2"]),
        "patterns": patterns(),
        "stripes": stripes(),
        "head_ablation": effects(),
    }


def said(found):
    FINDINGS.check(found, "findings", "")
    return dict(zip(found["shown_by"], found["sentence"], strict=True))


def test_every_sentence_has_the_numbers_of_its_table():
    found = said(find(tables(), claims(holds=2, fails=1, undecided=4), RUN))
    assert found == {
        "table1": "Fine-tuned models have learned 2 of 2 tasks; there, they score on average 2.5 "
        "points above models trained from random weights",
        "figure5": "Fine-tuning changes the last two layers most on 1 of 2 tasks",
        "figure2": "40 to 60% of a task's maps are heterogeneous after fine-tuning, 10 to 20% "
        "before",
        "figure6": "Heads give up to 45% of their attention to [SEP], up to 31% to [CLS]",
        "figure8": "Without one head the score falls significantly for 2 of 4 heads, and rises "
        "for 1",
        "claims": "Of 7 claims, 2 hold in this run, 1 does not, and 4 are undecided; most of these "
        "would need more seeds. On the tasks that were learned, 6 hold, 1 does not, and 0 are "
        "undecided",
    }


def test_nothing_of_a_task_that_was_not_learned_is_in_a_sentence():
    found = said(find(tables("SST-2"), claims(), RUN))
    assert found == {
        "table1": "Fine-tuned models have learned 1 of 2 tasks; there, they score 10.0 points "
        "above models trained from random weights",
        "figure5": "Learned tasks: fine-tuning on RTE changes layer 1 most",
        "figure2": "Learned tasks: 40% of the maps are heterogeneous after fine-tuning, 20% before",
        "figure6": "Learned tasks: heads give up to 45% of their attention to [SEP], up to 31% to "
        "[CLS]",
        "figure8": "Without one head the score falls significantly for 2 of 4 heads, and rises "
        "for 1",
    }
    some = {name: table for name, table in tables("RTE").items() if name != "stripes"}
    without = said(find(some, claims(), RUN))
    assert "score 5.0 points below models" in without["table1"]
    assert without["figure8"].startswith("No task was learned"), "no other task was ablated"


def test_a_run_that_learned_nothing_says_so_and_nothing_else():
    found = said(find(tables("RTE", "SST-2"), claims(), RUN))
    assert found.pop("table1") == "Fine-tuned models have learned 0 of 2 tasks"
    nothing = "No task was learned, so nothing is said of the fine-tuned models"
    assert set(found.values()) == {nothing}


def test_generated_sentences_are_said_first_and_no_verdict_is_shown():
    run = Run(RUN.metrics, RUN.ablated, synthetic=True)
    found = find(tables(), claims(holds=2, undecided=1), run)
    assert found["sentence"].iloc[0] == SYNTHETIC
    assert "claims" not in set(found["shown_by"])


@pytest.mark.parametrize("missing", ["patterns", "score_means", "head_ablation"])
def test_without_a_table_its_sentence_is_left_out(missing):
    some = {name: table for name, table in tables().items() if name != missing}
    found = find(some, claims(holds=1), RUN)
    assert len(found) == 5
    assert found["number"].tolist() == [1, 2, 3, 4, 5]
    empty = find({**tables(), missing: tables()[missing].iloc[:0]}, claims(holds=1), RUN)
    assert len(empty) == 5


def test_a_run_that_made_nothing_has_found_nothing():
    assert find({}, claims(), RUN).empty


def test_the_most_needed_layer_is_named():
    layers = effects("layer")
    layers.loc[(layers["layer"] == 1) & (layers["task"] == "RTE"), "delta"] = -8.0
    said_of = describe_needed_layers(layers, {"RTE": "accuracy", "other": "accuracy"})
    assert (
        said_of
        == "2 of 4 layers are needed significantly; the most, layer 1 on RTE, costs 8 points"
    )
    harmless = layers.assign(delta=1.0)
    assert "no score falls" in describe_needed_layers(harmless, {"RTE": "accuracy"})


def test_significant_is_the_share_of_the_seeds():
    rows = effects()
    rows = rows[(rows["task"] == "RTE") & (rows["metric"] == "f1")]
    assert significant(rows, -1).to_dict() == {(1, 1): 1, (1, 2): 1, (2, 1): 0.5, (2, 2): 0}
    assert significant(rows, 1)[2, 2] == 1


def test_claims_that_hold_of_random_weights_are_counted():
    known = claims(holds=3, fails=1)
    assert "random" not in describe_verdicts(known)
    known.loc[[0, 1, 3], "verdict_on_random_weights"] = "holds"
    said = "; 2 of those that hold are not about training: random weights do, too"
    assert said in describe_verdicts(known)
