"""A small run of the whole workflow, from the corpus to the report, checked from the outside."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

TASKS, SEEDS = ("RTE", "SST-2", "STS-B"), (1, 2)


@pytest.fixture(scope="module")
def project(root, tmp_path_factory):
    """A copy of the project, so that a test can edit it."""
    copy = tmp_path_factory.mktemp("smoke") / "project"
    ignored = shutil.ignore_patterns(".*", "results", "__pycache__")
    shutil.copytree(root, copy, ignore=ignored)
    return copy


@pytest.fixture(scope="module")
def call(project, snakemake, smoke_config):
    """Call Snakemake in the copy, on the cut-down configuration."""

    def call(*arguments, **options):
        return snakemake(project, *arguments, config=smoke_config, root=project, **options)

    return call


@pytest.fixture(scope="module")
def run(project, call):
    call("all", "report")
    return project / "results" / "smoke"


@pytest.fixture(scope="module")
def rerun(call, planned, run):
    """Plan the run again, with other arguments, and give the rules that would run."""

    def plan(*arguments):
        return set(planned(call("-n", *arguments).stdout))

    return plan


def test_table1_has_every_state_task_and_seed_and_agrees_with_the_predictions(run):
    table = pd.read_csv(run / "tables" / "table1.csv")
    assert list(table.columns) == ["task", "state", "seed", "metric", "score"]
    rows = table.groupby(["task", "state", "seed"]).size()
    assert len(rows) == len(TASKS) * 3 * len(SEEDS)
    for row in table[table.task == "RTE"].itertuples():
        name = f"{row.task}/{row.state}/seed-{row.seed}.csv"
        predictions = pd.read_csv(run / "predictions" / name)
        logits = predictions.filter(like="logit_").to_numpy()
        accuracy = np.mean(logits.argmax(axis=1) == predictions["label"])
        assert row.score == pytest.approx(100 * accuracy, abs=1e-6)


def test_cosine_table_has_every_head_and_agrees_with_the_stores(run):
    from darksecrets.store import AttentionStore

    table = pd.read_csv(run / "tables" / "cosine.csv").set_index(["task", "seed", "layer", "head"])
    assert table["similarity"].between(0, 1).all()
    before = AttentionStore.open(run / "attention" / "RTE" / "pretrained")
    after = AttentionStore.open(run / "attention" / "RTE" / "finetuned" / "seed-2")
    assert len(table) == len(TASKS) * len(SEEDS) * before.layers * before.heads
    total = 0.0
    for i in range(before.examples):
        a, b = (np.asarray(s.maps(i)[2, 1], dtype=np.float64).ravel() for s in (before, after))
        total += a @ b / np.sqrt((a @ a) * (b @ b))
    expected = total / before.examples
    assert table.loc[("RTE", 2, 3, 2), "similarity"] == pytest.approx(expected, abs=1e-7)


def test_patterns_have_every_map_and_agree_with_the_stores(run):
    from darksecrets.store import AttentionStore

    maps = pd.read_csv(run / "tables" / "pattern_maps.csv.gz")
    place = ["task", "state", "seed", "idx", "layer", "head"]
    assert list(maps.columns) == [*place, "pattern", "probability"]
    assert not maps.duplicated(place).any()
    store = AttentionStore.open(run / "attention" / "RTE" / "finetuned" / "seed-2")
    of_store = maps[(maps.task == "RTE") & (maps.seed == 2)]
    assert len(of_store) == store.examples * store.layers * store.heads
    assert set(of_store.idx) == set(store.idx)
    table = pd.read_csv(run / "tables" / "patterns.csv")
    assert len(table) == len(TASKS) * (1 + len(SEEDS)) * 5
    shares = table[(table.task == "RTE") & (table.seed == 2)].set_index("pattern")["share"]
    counted = of_store["pattern"].value_counts(normalize=True).reindex(shares.index).fillna(0)
    assert np.allclose(shares, counted, atol=1e-8)
    assert np.allclose(table.groupby(["task", "state"])["corrected"].sum() % 1, 0, atol=1e-6)


def test_every_figure_is_there_in_every_format(run):
    for name in ("figure1", "figure2", "figure5", "learning_curves", "pattern_quality"):
        for suffix in ("pdf", "svg", "png"):
            assert (run / "figures" / f"{name}.{suffix}").stat().st_size > 5000
    assert "built-in corpus" in (run / "figures" / "figure5.svg").read_text()
    assert "built-in corpus" in (run / "figures" / "table1.md").read_text()


def test_report_holds_figures_and_captions(run):
    page = (run / "report.html").read_text()
    for text in ("figure5.svg", "table1.md", "Section 4.3"):
        assert text in page


def test_results_can_be_traced_to_seeds_versions_and_data(run):
    model = json.loads((run / "models/RTE/finetuned/seed-2/provenance.json").read_text())
    assert model["wildcards"]["seed"] == "2"
    assert model["environment"]["libraries"]["transformers"]
    data = "results/smoke/data/RTE"
    table = json.loads((run / "tables" / "cosine.provenance.json").read_text())
    store = json.loads((run / "attention/RTE/finetuned/seed-2/provenance.json").read_text())
    assert data in model["inputs"]
    assert model["inputs"][data] == store["inputs"][data]
    assert "results/smoke/similarity/RTE/seed-2.csv" in table["inputs"]


def test_no_temporary_file_is_left(run):
    assert not [path for path in run.rglob("*") if ".tmp" in path.name]
    assert not list(run.rglob("checkpoint-*"))


def test_a_second_call_has_nothing_to_do(rerun):
    assert rerun("all", "report") == set()


def test_editing_a_key_reruns_what_depends_on_it_and_nothing_else(rerun):
    rules = rerun("all", "--config", "samples={size: 5}")
    assert {"sample_examples", "extract_attention", "compute_similarity", "figure5"} <= rules
    assert not {"prepare_dataset", "finetune", "table1"} & rules


def test_editing_a_module_reruns_what_uses_it_and_nothing_else(rerun, project):
    module = project / "darksecrets" / "similarity.py"
    original = module.read_text()
    module.write_text(original + "\n_EDITED = True\n")
    try:
        rules = rerun("all")
    finally:
        module.write_text(original)
    assert {"compute_similarity", "collect_similarity", "figure5"} <= rules
    assert not {"prepare_dataset", "finetune", "extract_attention", "table1"} & rules


def test_a_run_whose_data_has_another_origin_is_refused(call, run):
    refused = call("-n", "--config", "data={source: hub}", check=False)
    assert refused.returncode != 0
    for words in ("another configuration", "another name"):
        assert words in refused.stdout + refused.stderr
