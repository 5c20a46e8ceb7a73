"""A small run of every analysis, checked by its outputs; a test of its own in `.ci/run`."""

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.thorough

SEEDS = (1, 2)
MODELS = 4 + 3
"""Both seeds of RTE and one of STS-B, and of each the pre-trained and the random encoder."""


@pytest.fixture(scope="module")
def smoke_config(all_config) -> str:
    """The configuration of this file's run."""
    return all_config


def test_random_weights_follow_no_relation_and_make_no_trees(run):
    heads, trees, nouns = (
        pd.read_csv(run / "tables" / f"{name}.csv")
        for name in ("syntactic_heads", "attention_trees", "distractors")
    )
    assert set(heads.loc[heads["state"] == "random", "syntactic"]) == {"no"}
    best = trees[trees["selected"]].set_index("state")
    assert best.loc["random", "uuas"] < best.loc["pretrained", "uuas"]
    assert best.loc["random", "over_chain_high"] < 0
    shares = nouns[nouns["layer"].isna() & (nouns["distractors"] == "any")].set_index("state")
    assert abs(shares.loc["random", "over_uniform"]) < 0.1
    written = (run / "treebank" / "treebank.jsonl").read_text().splitlines()
    assert len(written) == 120


def test_types_of_heads_are_those_of_their_statistics(run):
    table = pd.read_csv(run / "tables" / "head_types.csv")
    stored = pd.read_csv(run / "tables" / "head_statistics.csv")
    keys = ["task", "state", "seed", "layer", "head"]
    assert len(table) == MODELS * 36 * 7
    for kind in ("next", "previous", "[SEP]"):
        ours = table[table["type"] == kind].set_index(keys)
        theirs = stored[stored["statistic"] == kind].set_index(keys).reindex(ours.index)
        assert np.allclose(ours["value"], theirs["value"], rtol=1e-5, atol=1e-7)
        assert (ours["of_type"] == (ours["value"] > ours["threshold"])).all()
    assert table.groupby(keys, dropna=False)["main"].sum().max() == 1
    counts = pd.read_csv(run / "tables" / "head_type_counts.csv")
    of_run = counts[counts["layer"].isna() & (counts["type"] != "broad")]
    assert (of_run["of"] == 36).all()


def test_mean_distances_are_those_of_all_pairs_of_heads(run):
    parts = (run / "redundancy").glob("*/head_distances.parquet")
    distances = pd.concat(map(pd.read_parquet, parts))
    redundancy = pd.read_csv(run / "tables" / "redundancy.csv")
    models = ["task", "state", "seed"]
    means = distances.groupby(models, dropna=False)["distance"].mean()
    every = redundancy.query("pairs == 'all'").set_index(models)["distance"]
    assert len(every) == len(means) == MODELS
    assert np.allclose(every.sort_index(), means.sort_index(), atol=1e-6)
    assert not list(run.glob("redundancy/*/.random"))


def test_weights_beside_norms_are_those_of_the_stores(run):
    """Both come from passes of their own; the stores are in half precision."""
    table = pd.read_csv(run / "tables" / "norm_statistics.csv")
    stored = pd.read_csv(run / "tables" / "head_statistics.csv")
    keys = ["task", "state", "seed", "layer", "head"]
    for kind, statistic in (("first special", "[CLS]"), ("separator", "[SEP]")):
        ours = table[table["kind"] == kind].set_index(keys)
        theirs = stored[stored["statistic"] == statistic].set_index(keys).reindex(ours.index)
        assert len(ours) == MODELS * 36
        assert np.allclose(ours["weight"], theirs["value"], rtol=0, atol=1e-4)
        assert np.allclose(ours["uniform"], theirs["uniform"], rtol=0, atol=1e-4)
    levels = pd.read_csv(run / "tables" / "norm_levels.csv").query("layer != layer")
    norms = levels.query("kind == 'separator'").groupby("state")["norm_weight_ratio"].mean()
    assert norms["pretrained"] < 0.9 < norms["random"] < 1.1


def test_alternative_measures_are_of_the_same_models_and_controls(run):
    """Uniform attention does not depend on the measure; the weights' rows are repeated."""
    by_measure = pd.read_csv(run / "tables" / "attention_levels_by_measure.csv")
    weights = pd.read_csv(run / "tables" / "attention_levels.csv")
    rows = dict(iter(by_measure.groupby("attention")))
    assert set(rows) == {"weights", "norms", "effective"}
    keys = ["task", "state", "measure", "feature", "layer"]
    repeated = rows["weights"].drop(columns="attention").reset_index(drop=True)
    pd.testing.assert_frame_equal(repeated, weights)
    for measure in ("norms", "effective"):
        found = weights.merge(rows[measure], on=keys, suffixes=("", "_other"))
        assert len(found) == len(weights)
        assert np.allclose(found["uniform"], found["uniform_other"], equal_nan=True)
        assert not np.allclose(found["weight"], found["weight_other"], atol=1e-3)
    sep = by_measure.query("feature == '[SEP]' and state == 'pretrained' and layer.isna()")
    means = sep.query("measure == 'greatest'").groupby("attention")["weight"].mean()
    assert means["norms"] < means["effective"] <= means["weights"] * 1.01
    claims = pd.read_csv(run / "tables" / "claims_by_measure.csv", dtype={"id": str})
    alone = pd.read_csv(run / "tables" / "claims.csv", dtype={"id": str})
    same = claims[claims["attention"] == "weights"].set_index("id")
    assert (same["verdict"] == alone.set_index("id")["verdict"].reindex(same.index)).all()


def test_the_run_has_the_declared_tables_and_no_others(run):
    from darksecrets.pages.contracts import TABLES

    paths = [path for suffix in ("csv", "parquet") for path in run.glob(f"tables/*.{suffix}")]
    assert {path.name for path in paths} == {table.file for table in TABLES.values()}
    for path in paths:
        TABLES[path.stem].read(path)


def test_layers_are_reset(run):
    """With all layers and the embeddings reset, nothing but the classifier is fine-tuned."""
    table = pd.read_csv(run / "tables" / "reset_layers.csv")
    assert set(table["task"]) == {"RTE"}
    whole = table.query("kind == 'up to' and last_layer == 6")
    assert set(whole["seed"]) == set(SEEDS)
    means = pd.read_csv(run / "tables" / "reset_means.csv")
    assert set(means["seeds"]) == {len(SEEDS)}


def test_heads_removed_in_the_order_of_their_importance(run):
    """With all heads removed, every order ends alike."""
    importance = pd.read_csv(run / "tables" / "head_importance.csv")
    assert set(importance["task"]) == {"RTE"}
    assert len(importance) == len(SEEDS) * 6 * 36
    agreement = pd.read_csv(run / "tables" / "importance_agreement.csv")
    references = {"leave-one-out loss", "validation score", "other examples"}
    assert set(agreement["reference"]) == references
    curves = pd.read_csv(run / "tables" / "pruning_curves.csv")
    ends = curves[curves["heads"] == 36].groupby(["seed", "metric"])["score"].nunique()
    assert set(curves["task"]) == {"RTE"}
    assert (ends == 1).all()
    pruned = pd.read_csv(run / "tables" / "pruned_heads.csv")
    assert (pruned["largest"] <= 36).all()
    left = pd.read_csv(run / "tables" / "remaining_heads.csv")
    assert left.groupby(["seed", "order"]).size().unique().tolist() == [36]
    important = pd.read_csv(run / "tables" / "important_heads.csv")
    assert set(important["task"]) == {"RTE"}
    assert important["measure"].nunique() > 50
    smaller = pd.read_csv(run / "tables" / "smaller_models.csv")
    assert set(smaller["chosen_on"]) == {16}
    gates = pd.read_csv(run / "tables" / "head_gates.csv")
    assert len(gates) == len(SEEDS) * 36
    learned = pd.read_csv(run / "tables" / "learned_gates.csv")
    kept = learned[learned["chosen_by"] == "learned"].groupby("seed")["kept"].unique()
    left = (gates.set_index("seed")["gate"] > 0).groupby("seed").sum()
    assert kept.map(list).to_dict() == {seed: [count] for seed, count in left.items()}
    needs = pd.read_csv(run / "tables" / "layer_needs.csv")
    assert needs.groupby("seed")[["layer", "kept"]].nunique().to_numpy().tolist() == [[6, 5]] * 2


def test_subnetworks_of_the_run_and_those_trained_again(run):
    kept = pd.read_csv(run / "tables" / "subnetworks.csv")
    sizes = kept.groupby(["seed", "subnetwork", "draw", "part"])["kept"].sum().unstack()
    at_random = sizes.xs("random", level="subnetwork").groupby("seed")
    good = sizes.xs(("good", 1), level=("subnetwork", "draw"))
    assert (at_random.nunique() == 1).all(axis=None)
    assert at_random.first().equals(good)
    scores = pd.read_csv(run / "tables" / "subnetwork_scores.csv")
    assert len(scores) == len(SEEDS) * 2 * 3
    assert scores.groupby("trained")["draws"].unique().map(list).to_dict() == {
        "as it is": [3],
        "re-trained": [3],
    }
    agreement = pd.read_csv(run / "tables" / "subnetwork_agreement.csv")
    assert agreement["part"].tolist() == ["head", "MLP"]
    assert (agreement["seeds"] == len(SEEDS)).all()
    assert not list((run / "retrained").rglob("*.safetensors"))


def test_compressed_models_are_smaller_and_timed(run):
    """The whole model scores what it scored after fine-tuning; the control knows nothing."""
    table = pd.read_csv(run / "tables" / "compression.csv")
    whole = table[table["method"] == "none"].set_index("seed")
    scores = pd.read_csv(run / "tables" / "table1.csv")
    tuned = scores[(scores["task"] == "RTE") & (scores["state"] == "finetuned")]
    tuned = tuned[tuned["metric"] == "accuracy"].set_index("seed")["score"]
    assert whole["score"].to_dict() == pytest.approx(tuned.to_dict())
    assert set(table["seed"]) == set(SEEDS)
    smaller = table.set_index(["method", "seed"])["smaller"]
    assert smaller["8 bits"].between(3.5, 4).all()
    assert (smaller["heads removed"] > 1.1).all()
    assert (smaller["heads and MLPs removed"] > smaller["heads removed"]).all()
    times = pd.read_csv(run / "tables" / "compression_times.csv")
    assert len(times) == len(SEEDS) * 7 * 2
    assert (times["seconds"] > 0).all()


def test_layers_of_all_models_are_probed_and_untrained_ones_know_types_alone(run):
    probes = pd.read_csv(run / "tables" / "layer_probes.csv")
    models = probes[["task", "state", "seed"]].drop_duplicates()
    assert len(models) == 2 + 4, "two encoders on the treebank; four models on RTE"
    tags = probes[(probes["property"] == "part of speech") & (probes["task"].isna())]
    best = tags.groupby("state")["accuracy"].max()
    assert best["random"] < best["pretrained"]
    trees = pd.read_csv(run / "tables" / "structural_probes.csv").groupby("state")["uuas"].max()
    assert trees["random"] < trees["pretrained"]
    removed = pd.read_csv(run / "tables" / "removed_properties.csv")
    assert set(removed["seed"]) == {*SEEDS}
    assert (removed["left"] < removed["majority"] + 0.35).all()


def test_masked_words_are_predicted_with_and_without_training(run):
    pairs = pd.read_csv(run / "tables" / "minimal_pairs.csv")
    assert set(pairs["state"]) == {"pretrained", "random"}
    pronouns = pairs[pairs["phenomenon"] == "pronoun"].set_index("state")["accuracy"]
    assert pronouns["pretrained"] == 1
    gaps = pd.read_csv(run / "tables" / "cloze.csv").groupby("state")["reciprocal_rank"].mean()
    assert gaps["random"] < 0.05 < gaps["pretrained"]
    trees = pd.read_csv(run / "tables" / "trees.csv")
    impact = trees[trees["tree"].str.startswith("impact")].groupby("state").size()
    assert impact.to_dict() == {"finetuned": 4, "pretrained": 2, "random": 2}
    others = trees[trees["state"] == "pretrained"].set_index("tree")
    best = pd.read_csv(run / "tables" / "attention_trees.csv").query("selected")
    (own,) = best[best["state"] == "pretrained"]["uuas"]
    assert others.loc["attention", "uuas"] == own
    assert {"structural probe", "structural probe of embeddings"} <= set(others.index)


def test_a_bag_of_words_notices_no_shuffled_words(run):
    changed = pd.read_csv(run / "tables" / "changed_inputs.csv").set_index("change")
    assert (changed.loc["words shuffled", "bag_of_words"] == 1).all()
    alone = changed.loc[["first sentence alone"]]
    assert set(alone["task"]) == {"RTE", "STS-B"}
    assert changed["unchanged"].between(0, 1).all()
