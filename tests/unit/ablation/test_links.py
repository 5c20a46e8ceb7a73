"""Agreement between seeds, and effects of the heads above the 99th percentile elsewhere."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.ablation.agreement import seed_agreement
from darksecrets.ablation.links import DIRECTION, linked
from darksecrets.framenet.tables import ELEMENT_TO_PREDICATE
from darksecrets.run.errors import InputError

MODELS = [("RTE", "accuracy", 1), ("RTE", "accuracy", 2), ("STS-B", "pearson", 1)]


def ablation(layers: int = 3, heads: int = 4) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "layer": layer, "head": head}
        | {"metric": metric, "baseline": 70.0, "score": 69.0, "delta": rng.integers(-4, 4) / 4}
        | {"ci_low": -2.0, "ci_high": 1.0, "p_value": 0.5, "q_value": 0.9}
        for task, metric, seed in MODELS
        for layer in range(1, layers + 1)
        for head in range(1, heads + 1)
    ]
    return pd.DataFrame(rows)


def framenet(top: tuple[int, int] = (2, 3)) -> pd.DataFrame:
    table = ablation().query("task == 'STS-B'")[["layer", "head"]]
    for_direction = [
        table.assign(direction=name, weight=np.where(place(table, *other), 0.2, 0.01))
        for name, other in ((ELEMENT_TO_PREDICATE, top), ("text", (1, 1)))
    ]
    return pd.concat(for_direction)


def place(table: pd.DataFrame, layer: int, head: int) -> pd.Series:
    return (table["layer"] == layer) & (table["head"] == head)


def equal_words() -> pd.DataFrame:
    table = ablation().query("task == 'RTE'")[["task", "state", "seed", "layer", "head"]]
    return table.assign(weight=np.where(place(table, 3, 1) & (table["seed"] == 2), 0.5, 0.1))


def discordance(a: list[float], b: list[float]) -> float:
    """Kendall's tau-b by counting pairs."""
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in pairs]
    untied = [sum(s[side] != 0 for s in signs) for side in (0, 1)]
    return sum(x * y for x, y in signs) / np.sqrt(untied[0] * untied[1])


def test_agreement_is_the_rank_correlation_of_deltas_between_two_seeds():
    table = ablation()
    found = seed_agreement(table.sample(frac=1, random_state=0))
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["task"], row["seed"], row["other_seed"], row["heads"]) == ("RTE", 1, 2, 12)
    first, second = (table.query(f"task == 'RTE' and seed == {s}")["delta"] for s in (1, 2))
    ranks = np.corrcoef(first.rank(), second.rank())[0, 1]
    assert row["spearman"] == pytest.approx(ranks, abs=1e-12)
    assert row["kendall"] == pytest.approx(discordance(list(first), list(second)), abs=1e-12)


def test_with_one_seed_there_is_no_agreement_but_a_header():
    found = seed_agreement(ablation().query("seed == 1"))
    assert found.empty
    assert list(found.columns)[-2:] == ["spearman", "kendall"]


def test_equal_deltas_have_no_rank_correlation():
    table = ablation()
    table.loc[table["seed"] == 1, "delta"] = 0.0
    assert seed_agreement(table)[["spearman", "kendall"]].isna().to_numpy().all()


def test_the_published_direction_has_the_name_that_the_table_of_heads_gives_it():
    """It is repeated here because packages of sections do not import each other."""
    assert DIRECTION == ELEMENT_TO_PREDICATE


def test_where_all_heads_are_equal_none_is_looked_up():
    assert linked(ablation(), framenet().assign(weight=0.1)).empty


def test_heads_above_the_percentile_are_beside_all_others():
    table = ablation()
    found = linked(table, framenet(), equal_words())
    assert found[["task", "seed", "group"]].to_numpy().tolist() == [
        ["RTE", 1, "framenet"],
        ["RTE", 2, "framenet"],
        ["RTE", 2, "equal_words"],
        ["STS-B", 1, "framenet"],
    ]
    assert found.query("group == 'framenet'")[["layer", "head"]].to_numpy().tolist() == [[2, 3]] * 3
    assert found.query("group == 'equal_words'")[["layer", "head"]].to_numpy().tolist() == [[3, 1]]
    for row in found.itertuples():
        model = table[(table["task"] == row.task) & (table["seed"] == row.seed)]
        mine = place(model, row.layer, row.head)
        others = model.loc[~mine, "delta"].tolist()
        delta = model.loc[mine, "delta"].item()
        assert row.delta == delta
        assert row.others == pytest.approx(np.mean(others))
        below = sum(o < delta for o in others) + sum(o == delta for o in others) / 2
        assert row.share_below == pytest.approx(below / len(others))


def of_state(table: pd.DataFrame, state: str) -> pd.DataFrame:
    return table.assign(state=state, delta=table["delta"] + 0.125)


def test_the_pretrained_models_heads_are_those_of_every_seed():
    """Its maps do not depend on a seed, so that the table of equal words has none."""
    words = equal_words().query("seed == 2")
    both = pd.concat([words, words.assign(state="pretrained", seed=np.nan)])
    table = pd.concat([ablation(), of_state(ablation(), "pretrained")], ignore_index=True)
    found = linked(table, framenet(), both).query("group == 'equal_words'")
    assert found[["task", "state", "seed"]].to_numpy().tolist() == [
        ["RTE", "finetuned", 2],
        ["RTE", "pretrained", 1],
        ["RTE", "pretrained", 2],
    ]
    assert found[["layer", "head"]].to_numpy().tolist() == [[3, 1]] * 3


def test_models_that_did_not_begin_with_the_pretrained_heads_have_none_of_framenet():
    table = pd.concat([ablation(), of_state(ablation(), "finetuned-from-normal")])
    found = linked(table, framenet(), equal_words())
    pd.testing.assert_frame_equal(found, linked(ablation(), framenet(), equal_words()))


def test_tasks_of_one_sentence_have_no_equal_words():
    found = linked(ablation().assign(task="SST-2"), framenet())
    assert set(found["group"]) == {"framenet"}
    assert len(found) == len(MODELS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"framenet": framenet().drop(columns="weight")}, "framenet_heads.csv.*weight"),
        (
            {"framenet": framenet().query("direction == 'text'")},
            r"\['text'\].*'element_to_predicate'",
        ),
        ({"equal_words": equal_words().drop(columns="seed")}, "equal_words.csv.*seed"),
        ({"heads": ablation(layers=1)}, "'layer': 2, 'head': 3"),
    ],
)
def test_tables_that_do_not_fit_are_named(change, message):
    tables = {"heads": ablation(), "framenet": framenet(), "equal_words": equal_words(), **change}
    with pytest.raises(InputError, match=message):
        linked(**tables)
