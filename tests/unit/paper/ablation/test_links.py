"""Effects of heads that stand out elsewhere, against plain loops, and on heads without effects."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from sweeps import sweep

from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.tables import identify
from darksecrets.core.stats.resampling import bootstrap_weights
from darksecrets.paper.ablation.links import Experiments, linked
from darksecrets.paper.ablation.statistics import Resampling, effects, kind_rows
from darksecrets.paper.ablation.tables import LINKED_GROUPS
from darksecrets.paper.framenet.tables import ELEMENT_TO_PREDICATE

LAYERS, HEADS = 3, 4
RESAMPLING = Resampling(bootstrap=300, permutations=2000, splits=10, seed=7)
MODELS = [("RTE", "finetuned", 1), ("RTE", "finetuned", 2), ("STS-B", "finetuned", 1)]
PLACES = [*product(range(1, LAYERS + 1), range(1, HEADS + 1))]


def sweeps(models=MODELS, examples=40, **settings) -> dict[tuple[str, str, int], SweepResult]:
    """Random sweeps, with layers and a custom set, which `linked` does not use."""
    return {
        model: sweep(model[0], examples, LAYERS, HEADS, seed=number, custom=1, **settings)
        for number, model in enumerate(models)
    }


def ablation(results) -> pd.DataFrame:
    """`head_ablation.csv` of the sweeps."""
    tables = [
        identify(
            kind_rows(effects(result, TASKS[task], RESAMPLING)[0], "head"),
            task,
            f"{state}/seed-{seed}",
        )
        for (task, state, seed), result in results.items()
    ]
    return pd.concat(tables, ignore_index=True)


def framenet(top=((2, 3),)) -> pd.DataFrame:
    rows = [
        {"direction": direction, "layer": layer, "head": head, "weight": 0.1}
        | {"exceeds_controls": (layer, head) in heads}
        for direction, heads in ((ELEMENT_TO_PREDICATE, top), ("text", [(1, 1)]))
        for layer, head in PLACES
    ]
    return pd.DataFrame(rows)


def measured(chosen, task="RTE", state="finetuned", seed=2, **more) -> pd.DataFrame:
    """A measure's table for one model, with q < 0.05 for chosen heads."""
    rows = [
        {"task": task, "state": state, "seed": seed, "layer": layer, "head": head}
        | {"weight": 0.3, "q_value": 0.01 if (layer, head) in chosen else 0.5, **more}
        for layer, head in PLACES
    ]
    return pd.DataFrame(rows)


def link(results, experiments):
    found = linked(ablation(results), results.items(), experiments, RESAMPLING)
    return LINKED_GROUPS.check(found, "made", "correct")


def test_heads_that_exceed_controls_are_looked_up_in_the_models_they_belong_to():
    relations = [
        measured([(1, 1)], relation="verb to subject"),
        measured([], relation="subject to verb"),
    ]
    experiments = Experiments(framenet(), measured([(3, 1), (3, 2)]), pd.concat(relations))
    groups = link(sweeps(), experiments)
    named = groups.query("metric in ('accuracy', 'pearson') and heads > 0")
    sizes = named.set_index(["task", "seed", "group", "relation"])["heads"]
    assert sizes.to_dict() == {
        ("RTE", 1, "framenet", ""): 1,
        ("RTE", 2, "framenet", ""): 1,
        ("RTE", 2, "equal_words", ""): 2,
        ("RTE", 2, "token_pairs", "verb to subject"): 1,
        ("STS-B", 1, "framenet", ""): 1,
    }
    none = groups[(groups["seed"] == 2) & (groups["relation"] == "subject to verb")]
    assert (none["heads"] == 0).all()
    assert len(none)


def test_a_group_is_beside_random_heads_of_its_layers_and_has_a_limit():
    chosen = [(1, 1), (1, 2), (2, 4)]
    results = sweeps([("RTE", "finetuned", 1)], examples=50, changed=0.4)
    (result,) = results.values()
    groups = link(results, Experiments(framenet(chosen)))
    row = groups.iloc[0]
    right = 100 * (result.predictions[: 1 + len(PLACES)] == result.labels)
    deltas = dict(zip(PLACES, right.mean(axis=1)[1:] - right[0].mean(), strict=True))
    every = [
        np.mean([deltas[1, a], deltas[1, b], deltas[2, c]])
        for (a, b), c in product(combinations(range(1, HEADS + 1), 2), range(1, HEADS + 1))
    ]
    mean = np.mean([deltas[place] for place in chosen])
    assert (row["heads"], row["mean_effect"]) == (3, pytest.approx(mean))
    assert row["control"] == pytest.approx(np.mean(every))
    assert row["over_control"] == pytest.approx(mean - np.mean(every))
    extreme = np.abs(np.array(every) - np.mean(every)) >= abs(mean - np.mean(every)) - 1e-9
    assert row["p_value"] == pytest.approx(extreme.mean(), abs=0.04)
    rng, loop = np.random.default_rng(RESAMPLING.seed), []
    for weights in bootstrap_weights(RESAMPLING.bootstrap, 50, rng):
        for w in weights:
            scores = right @ w / 50
            loop.append(scores[1:] - scores[0])
    loop = np.array(loop)
    columns = [PLACES.index(place) for place in chosen]
    ends = np.percentile(loop[:, columns].mean(axis=1), [2.5, 97.5])
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(ends))
    weights = np.repeat([2 / 12, 1 / 12, 0], HEADS)
    ends = np.percentile(loop[:, columns].mean(axis=1) - loop @ weights, [2.5, 97.5])
    assert (row["over_control_low"], row["over_control_high"]) == pytest.approx(tuple(ends))


def test_where_no_head_stands_out_the_group_has_none():
    groups = link(sweeps(), Experiments(framenet([]), measured([])))
    assert (groups["heads"] == 0).all()
    numbers = ["mean_effect", "ci_low", "control", "p_value", "q_value"]
    assert groups[numbers].isna().to_numpy().all()
    assert set(groups["group"]) == {"framenet", "equal_words"}


def test_a_group_of_all_heads_has_no_random_heads_to_differ_from():
    groups = link(sweeps(), Experiments(framenet(PLACES)))
    assert groups["p_value"].isna().all()
    assert groups["over_control"].to_numpy() == pytest.approx(0)


def test_the_pretrained_models_heads_are_those_of_every_seed():
    """Its maps do not depend on a seed, so that the table of equal words has none."""
    words = [measured([(3, 1)]), measured([(3, 1)], state="pretrained", seed=np.nan)]
    models = [*MODELS, ("RTE", "pretrained", 1), ("RTE", "pretrained", 2)]
    groups = link(sweeps(models), Experiments(framenet(), pd.concat(words)))
    found = groups.query("group == 'equal_words' and heads > 0")
    assert found[["task", "state", "seed"]].to_numpy().tolist() == [
        ["RTE", "finetuned", 2],
        ["RTE", "pretrained", 1],
        ["RTE", "pretrained", 2],
    ]


def test_models_that_did_not_begin_with_the_pretrained_heads_have_none_of_framenet():
    models = [("RTE", "finetuned", 1), ("RTE", "finetuned-from-normal", 1)]
    groups = link(sweeps(models), Experiments(framenet()))
    assert set(groups["state"]) == {"finetuned"}
