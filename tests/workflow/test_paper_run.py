"""A small run of the paper, from the corpus to the report, checked by its outputs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from darksecrets.core.run.files import RESOURCES
from darksecrets.pages.claims import registry
from darksecrets.pages.claims.tables import BESIDE_PAPER, CLAIMS
from darksecrets.paper.patterns.classes import PATTERNS

TASKS, SEEDS = ("RTE", "STS-B"), (1, 2)


def test_table1_has_every_state_task_and_seed_and_agrees_with_the_predictions(run):
    table = pd.read_csv(run / "tables" / "table1.csv")
    assert list(table.columns) == ["task", "state", "seed", "metric", "score", "constant"]
    rows = table.groupby(["task", "state", "seed"]).size()
    assert len(rows) == len(TASKS) * 4 * len(SEEDS)
    for row in table[table.task == "RTE"].itertuples():
        name = f"{row.task}/{row.state}/seed-{row.seed}.csv"
        predictions = pd.read_csv(run / "predictions" / name)
        logits = predictions.filter(like="logit_").to_numpy()
        accuracy = np.mean(logits.argmax(axis=1) == predictions["label"])
        assert row.score == pytest.approx(100 * accuracy, abs=1e-6)
        assert row.constant == (predictions["prediction"].nunique() == 1)


def test_scores_are_compared_over_the_seeds(run):
    table = pd.read_csv(run / "tables" / "table1.csv")
    of_state = table.groupby(["task", "metric", "state"])["score"].mean()
    means = pd.read_csv(run / "tables" / "score_means.csv").set_index(["task", "metric", "model"])
    assert set(means.index.unique("model")) == {
        *table["state"].unique(),
        "majority",
        "bag of words",
    }
    for key, score in of_state.items():
        assert means.loc[key, "score"] == pytest.approx(score, abs=1e-5)  # both are rounded
    differences = pd.read_csv(run / "tables" / "score_differences.csv")
    assert set(differences["seeds"]) == {len(SEEDS)}
    for row in differences.itertuples():
        first, second = (
            means.loc[(row.task, row.metric, name), "score"] for name in (row.model, row.reference)
        )
        assert row.difference == pytest.approx(first - second, abs=2e-5)
    averaged = pd.read_csv(run / "tables" / "mean_differences.csv")
    assert set(averaged["tasks"]) == {len(TASKS)}


def test_cosine_table_has_every_head_and_agrees_with_the_stores(run):
    from darksecrets.core.attention.store import AttentionStore

    table = pd.read_csv(run / "tables" / "cosine.csv").set_index(["task", "seed", "layer", "head"])
    assert table["similarity"].between(0, 1).all()
    before = AttentionStore.open(run / "attention" / "RTE" / "pretrained")
    after = AttentionStore.open(run / "attention" / "RTE" / "finetuned" / "seed-2")
    assert len(table) == len(TASKS) * len(SEEDS) * before.layers * before.heads
    other = AttentionStore.open(run / "attention" / "RTE" / "finetuned" / "seed-1")
    totals = np.zeros(2)
    for i in range(before.examples):
        a, b, c = (s.maps(i)[2, 1].astype(np.float64).ravel() for s in (before, after, other))
        totals += [x @ y / np.sqrt((x @ x) * (y @ y)) for x, y in ((a, b), (b, c))]
    for name, total in zip(("similarity", "other_seed"), totals, strict=True):
        expected = total / before.examples
        assert table.loc[("RTE", 2, 3, 2), name] == pytest.approx(expected, abs=1e-7)


def test_layers_and_heads_are_compared_on_every_task(run):
    tables = {
        name: pd.read_csv(run / "tables" / f"{name}.csv") for name in ("cosine", "last_layers")
    }
    cosine = tables["cosine"].groupby(["task", "layer"])["similarity"].mean()
    changes = tables["last_layers"].query("scale == 'change'").set_index("task")
    for task in TASKS:
        last = 1 - cosine[task].iloc[-2:].mean()
        assert changes.loc[task, "last"] == pytest.approx(last, abs=1e-7), "cosines have 7 digits"
    assert (changes["seeds"] == len(SEEDS)).all()
    assert len(tables["last_layers"]) == 2 * len(TASKS)


def test_random_weights_are_measured_on_every_task(run):
    table = pd.read_csv(run / "tables" / "head_statistics.csv")
    assert set(table.loc[table["state"] == "random", "task"]) == set(TASKS)
    levels = pd.read_csv(run / "tables" / "attention_levels.csv")
    assert set(levels["state"]) == {"pretrained", "finetuned", "random"}
    seeds = levels.groupby("state")["seeds"].unique()
    assert (seeds["finetuned"].tolist(), seeds["random"].tolist()) == ([len(SEEDS)], [1])
    keys = ["task", "state", "layer", "feature"]
    stripes = pd.read_csv(run / "tables" / "stripes.csv").groupby(keys)["weight"].mean()
    own = levels[levels["measure"] == "greatest"].dropna(subset="layer").set_index(keys)["weight"]
    assert np.allclose(own, stripes.reindex(own.index), rtol=1e-5)


def test_stripes_agree_with_the_stores(run):
    from darksecrets.core.attention.store import AttentionStore

    store = AttentionStore.open(run / "attention" / "RTE" / "finetuned" / "seed-2")
    values = []
    for i in range(store.examples):
        a = np.asarray(store.maps(i)[4, 1], dtype=np.float64)
        ends = [j for j, token in enumerate(store.tokens(i)) if token == "[SEP]"]
        values.append(max(a[:, j].mean() for j in ends))
    table = pd.read_csv(run / "tables" / "stripes.csv")
    keys = ["task", "state", "seed", "feature", "layer", "head"]
    weight = table.set_index(keys).loc[("RTE", "finetuned", 2, "[SEP]", 5, 2), "weight"]
    assert weight == pytest.approx(np.mean(values), abs=1e-7)


def test_framenet_table_agrees_with_links_and_store(run):
    from darksecrets.core.attention.store import AttentionStore

    links = pd.read_csv(run / "tables" / "framenet_links.csv")
    heads = pd.read_csv(run / "tables" / "framenet_heads.csv")
    store = AttentionStore.open(run / "attention" / "FrameNet" / "pretrained")
    assert (heads["sentences"] == store.examples).all()
    assert heads["state"].value_counts().to_dict() == dict.fromkeys(
        ("pretrained", "random"), 2 * store.layers * store.heads
    )
    heads = heads[heads["state"] == "pretrained"]
    total = 0.0
    for example, idx in enumerate(store.idx):
        starts, ends = store.offsets(example).T
        best = 0.0
        for row in links[links["idx"] == idx].itertuples():
            elements = (starts < row.element_end) & (ends > row.element_start)
            predicate = (starts < row.predicate_end) & (ends > row.predicate_start)
            best = max(best, store.maps(example)[1, 2][np.ix_(elements, predicate)].max())
        total += float(best)
    key = ("element_to_predicate", 2, 3)
    weight = heads.set_index(["direction", "layer", "head"]).loc[key, "weight"]
    assert weight == pytest.approx(total / store.examples, abs=1e-7)


def test_sweeps_agree_with_table1_and_the_disabled_model(run, root):
    import torch

    from darksecrets.core.data.batches import load_split
    from darksecrets.core.interventions.disable import disable
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.core.models.loading import load_classifier
    from darksecrets.core.models.tokenizing import load_tokenizer
    from darksecrets.paper.finetuning.evaluation import evaluate
    from workflow.lib.tasks import shipped_tasks

    for task in TASKS:
        for seed in SEEDS:
            sweep = SweepResult.load(run / "ablation" / task / "finetuned" / f"seed-{seed}")
            stored = pd.read_csv(run / "predictions" / task / "finetuned" / f"seed-{seed}.csv")
            assert sweep.idx.tolist() == stored["idx"].tolist()
            assert sweep.predictions[0] == pytest.approx(stored["prediction"].to_numpy(), abs=1e-5)
            counts = sweep.sets["kind"].value_counts().to_dict()
            assert counts == {"baseline": 1, "head": 36, "layer": 6, "set": 2}
    folder = run / "models" / "RTE" / "finetuned" / "seed-2"
    task = shipped_tasks()["RTE"]
    split = load_split(run / "data" / "RTE", "validation", load_tokenizer(folder), task, 128)
    model, _ = load_classifier(folder, task, seed=2)
    sweep = SweepResult.load(run / "ablation" / "RTE" / "finetuned" / "seed-2")
    for number in (8, 40, 43, 44):
        with torch.inference_mode(), disable(model, sweep.sets["name"][number]):
            logits = evaluate(model, split)
        assert np.array_equal(sweep.predictions[number], logits.argmax(axis=1))
    record = json.loads((run / "records/sweep_heads/RTE/finetuned/seed-2.json").read_text())
    assert record["sweep"]["backend"] == "shared"
    assert not list(run.rglob(".seed-*.partial"))


def test_patterns_have_every_map_and_agree_with_the_stores(run):
    from darksecrets.core.attention.store import AttentionStore

    maps = pd.read_parquet(run / "tables" / "pattern_maps.parquet")
    place = ["task", "state", "seed", "idx", "layer", "head"]
    assert list(maps.columns) == [*place, "pattern", "probability", "lenient"]
    assert not maps.duplicated(place).any()
    store = AttentionStore.open(run / "attention" / "RTE" / "finetuned" / "seed-2")
    of_store = maps[(maps.task == "RTE") & (maps.seed == 2)]
    assert len(of_store) == store.examples * store.layers * store.heads
    assert set(of_store.idx) == set(store.idx)
    table = pd.read_csv(run / "tables" / "patterns.csv")
    assert len(table) == len(TASKS) * (2 + len(SEEDS)) * 2 * 6
    of_seed = table[(table.task == "RTE") & (table.seed == 2)]
    for definition, column in (("lenient", "lenient"), ("strict", "pattern")):
        shares = of_seed[of_seed.definition == definition].set_index("pattern")["share"]
        counted = of_store[column].value_counts(normalize=True).reindex(PATTERNS).fillna(0)
        assert np.allclose(shares[[*PATTERNS]], counted, atol=1e-8)
        first_three = counted[["vertical", "diagonal", "vertical+diagonal"]].sum()
        assert np.isclose(shares["vertical or diagonal"], first_three, atol=1e-8)


def test_heads_that_exceed_controls_in_other_measures_are_looked_up(run):
    groups = pd.read_csv(run / "tables" / "linked_groups.csv")
    assert set(groups["group"]) == {"framenet", "equal_words", "token_pairs"}
    assert set(groups.loc[groups["group"] == "equal_words", "task"]) == set(TASKS)
    heads = pd.read_csv(run / "tables" / "framenet_heads.csv")
    heads = heads[heads["exceeds_controls"] & (heads["state"] == "pretrained")]
    count = (heads["direction"] == "element_to_predicate").sum()
    assert (groups.loc[groups["group"] == "framenet", "heads"] == count).all()


def test_a_figure_is_drawn_from_a_notebook_whose_backend_is_not_installed(call, project, run):
    backend = {"MPLBACKEND": "module://a_backend_that_is_not_installed"}
    drawn = run / "figures" / "figure5.svg"
    before = drawn.read_bytes()
    call(drawn.relative_to(project), "--force", environment={**os.environ, **backend})
    assert drawn.read_bytes() == before


def test_every_figure_is_there_in_every_format(run):
    drawn = {path.stem for path in (run / "figures").glob("*.svg")}
    assert {f"figure{number}" for number in range(1, 10)} <= drawn
    for name in drawn:
        for suffix in ("pdf", "svg", "png"):
            assert (run / "figures" / f"{name}.{suffix}").stat().st_size > 5000
    assert "few_rows (TSV)" in (run / "figures" / "figure5.svg").read_text()
    assert "few_rows (TSV)" in (run / "figures" / "table1.md").read_text()


def test_claims_are_decided_from_the_tables_of_the_run(run):
    claims = CLAIMS.read(run / "tables" / "claims.csv")
    (reproduced, *_) = registry.read(registry.files())
    beyond = {"48"}
    # Its curve belongs to the analysis `importance`.
    assert set(claims["id"]) == {claim.id for claim in reproduced.claims} - beyond
    assert set(claims["verdict_on_paper"]) == {"not comparable"}
    lost = "is missing|does not match|not the table that|has no column|not made by"
    assert not claims["reason"].str.contains(lost).any()
    assert claims["value"].notna().sum() >= 3, "these need no more than two tasks"
    assert "<td>49</td>" in (run / "figures" / "claims.html").read_text()


def test_printed_numbers_stand_beside_those_of_the_run(run):
    beside = BESIDE_PAPER.read(run / "tables" / "beside_paper.csv").set_index(["quantity", "task"])
    first = beside.loc["effect of disabling the first layer"]
    layers = pd.read_csv(run / "tables" / "layer_ablation.csv").set_index(
        ["task", "state", "metric", "layer"]
    )
    found = layers.loc["RTE", "finetuned", "accuracy", 1]["delta"].mean()
    assert first.loc["RTE", "value"] == pytest.approx(found)
    assert first.loc["RTE", "comparable"] != "yes"
    assert first.loc["QNLI", "comparable"] == "not in this run"


def test_results_can_be_traced_to_seeds_versions_and_data(run):
    model = json.loads((run / "records/finetune/RTE/finetuned/seed-2.json").read_text())
    assert model["wildcards"]["seed"] == "2"
    assert model["environment"]["libraries"]["transformers"]
    data = "results/smoke/data/RTE"
    tables = json.loads((run / "records/compare_attention.json").read_text())
    stores = json.loads((run / "records/extract_attention/RTE.json").read_text())
    assert data in model["inputs"]
    assert model["inputs"][data] == stores["inputs"][data]
    assert stores["extraction"]["finetuned/seed-2"]["device"]
    assert "results/smoke/similarity/RTE/cosine.csv" in tables["inputs"]


def test_maps_to_label_come_from_every_task_layer_and_head(run, call):
    from darksecrets.paper.patterns.maps.mapset import MapSet

    call("sample_maps", "--config", "patterns={label_maps: {size: 120}}")
    table = MapSet.load(run / "patterns" / "maps").table
    assert len(table) == 120
    assert set(table["state"]) == {"finetuned"}
    assert set(table["seed"]) == {SEEDS[0]}
    assert set(table["model"]) == {"resources/tiny-bert"}
    counts = table.groupby(["task", "layer", "head"]).size()
    assert len(counts) == len(TASKS) * 6 * 6
    assert counts.max() == 2


def test_no_temporary_file_is_left(run):
    assert not [path for path in run.rglob("*") if ".tmp" in path.name]
    assert not list(run.rglob("checkpoint-*"))


def test_a_second_call_has_nothing_to_do(rerun):
    assert rerun("all", "report") == set()


def test_editing_a_key_reruns_what_depends_on_it_and_nothing_else(rerun):
    rules = rerun("all", "--config", "samples={size: 5}")
    changed = {"extract_attention", "measure_attention", "compare_attention", "draw_attention"}
    assert changed <= rules
    assert not {"prepare_dataset", "finetune", "draw_scores"} & rules


def test_effects_of_disabling_agree_with_the_sweep(run):
    from darksecrets.core.interventions.results import SweepResult

    heads = pd.read_csv(run / "tables" / "head_ablation.csv")
    rows = heads[(heads["task"] == "RTE") & (heads["seed"] == 2)]
    sweep = SweepResult.load(run / "ablation" / "RTE" / "finetuned" / "seed-2")
    score = 100 * (sweep.predictions == sweep.labels).mean(axis=1)
    disabled = (sweep.sets["kind"] == "head").to_numpy()
    assert rows["score"].to_numpy() == pytest.approx(score[disabled])
    assert rows["delta"].to_numpy() == pytest.approx(score[disabled] - score[0])
    assert len(heads) == len(SEEDS) * (len(TASKS) + 1) * disabled.sum()  # STS-B has two metrics
    over_seeds = pd.read_csv(run / "tables" / "seed_effects.csv").query("kind == 'head'")
    deltas = heads.groupby(["task", "metric", "layer", "head"])["delta"].mean()
    names = deltas.index.names
    assert over_seeds.set_index(names)["delta"].to_dict() == pytest.approx(
        deltas.to_dict(), rel=1e-5
    )
    tasks = pd.read_csv(run / "tables" / "task_agreement.csv")
    assert len(tasks) == 1 + len(TASKS)
    survival = pd.read_csv(run / "tables" / "survival.csv")
    assert set(survival["kind"]) == {"head", "layer"}


def test_a_look_at_text_trains_nothing_and_gives_what_the_function_gives(run, call, planned):
    import darksecrets
    from darksecrets.pages.contracts import TABLES
    from darksecrets.pages.inspect.tables import EXAMPLES

    recorded = (run / "config.yaml").read_text()
    text = ["The teacher {saw} $5 and $6. ||| It slept " + "and slept " * 20, "a ||| b"]
    keys = (
        "text=" + json.dumps(text),
        "inspect={name: mine}",
        "fine_tuning={max_length: 32}",
    )
    jobs = planned(call("-n", "inspect", "--config", *keys).stdout)
    assert jobs == {"inspect_text": 1, "inspect": 1}
    said = call("inspect", "--config", *keys)
    assert "example 1: " in said.stderr
    assert "tokens are cut off" in said.stderr
    assert (run / "config.yaml").read_text() == recorded

    folder = run / "inspect" / "mine"
    seen = darksecrets.inspect(
        text,
        run / "models" / "pretrained",
        classifier=RESOURCES / "patterns" / "classifier",
        max_length=32,
    )
    assert EXAMPLES.read(folder / "examples.csv")["cut"].tolist() == seen.examples["cut"].tolist()
    assert (seen.examples["cut"] > 0).tolist() == [True, False]
    patterns = TABLES["pattern_maps"].read(folder / "pattern_maps.parquet")
    pd.testing.assert_frame_equal(
        patterns, TABLES["pattern_maps"].check(seen.patterns, "", ""), atol=1e-4
    )
    for name, table in seen.measures.items():
        found = TABLES[name].read(folder / "features" / f"{name}.csv")
        pd.testing.assert_frame_equal(found, TABLES[name].check(table, "", ""), rtol=5e-7)
    page = (folder / "heads.html").read_text(encoding="utf-8")
    assert "run smoke" in page
    assert json.dumps(seen.tokens[1], separators=(",", ":")) in page
    records = folder.parents[1] / "records"
    record = json.loads((records / "inspect_text" / f"{folder.name}.json").read_text())
    assert record["left_out"]["framenet_heads, framenet_controls"]
    assert record["params"]["text"] == text


def test_the_notebook_runs_from_top_to_bottom(run, project, root):
    """Its code as it stands, in the folder of a run; of the demonstration's run, this one's."""
    notebook = json.loads((root / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert len(cells) >= 10
    checks = [
        "assert seen.maps[3].shape == seen.maps.stack()[:, 2].shape",
        "assert gates.grad.abs().min() > 0",
        "assert found.maps[1].shape[:2] == (6, 6) and len(found.patterns) == 2 * 36",
        "assert store.examples == 2 and len(store.head(3, 2)) == 2",
        "assert len(figure.axes) > 2",
    ]
    code = "\n".join([*cells, *checks]).replace("results/demo", "results/smoke")
    code = code.replace('"SST-2"', '"STS-B"')
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (project / "figure5.pdf").is_file()


def edit(file, change):
    """Change a file in place, and set its modification time back."""
    before = file.stat()
    file.write_bytes(change(file.read_bytes()))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def half(content):
    return content[: len(content) // 2]


def digit(content):
    """Change the last digit of a table's first number with decimals."""
    return re.sub(
        rb"(\d\.\d*)(\d)", lambda m: m[1] + (b"%d" % ((int(m[2]) + 1) % 10)), content, count=1
    )


def zeros(content):
    return content[:3000] + bytes(64) + content[3064:]


def bit(content):
    place = len(content) // 2
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def header(content):
    return content.partition(b"\n")[0] + b"\n"


# A damaged file, and what a job makes of it; no target depends on another.
DAMAGED = {
    "scores/RTE/finetuned/seed-1.csv": (half, "tables/table1.csv"),
    "tables/pattern_cv.csv": (digit, "figures/pattern_quality.svg"),
    "tables/framenet_heads.csv": (header, "figures/figure3.svg"),
    "models/RTE/finetuned/seed-1/model.safetensors": (bit, "ablation/RTE/finetuned/seed-1"),
    "models/RTE/finetuned/seed-2/model.safetensors": (half, "ablation/RTE/finetuned/seed-2"),
    "attention/RTE/pretrained/maps.npy": (zeros, "features/RTE/stripes.csv"),
    "data/STS-B/validation/data-00000-of-00001.arrow": (half, "annotation/STS-B.jsonl"),
}


@pytest.fixture(scope="module")
def damaged(run, project, tmp_path_factory):
    """A copy of the run in which files of every kind are damaged, their times kept."""
    copy = tmp_path_factory.mktemp("damaged") / "project"
    shutil.copytree(project, copy, symlinks=True)
    for name, (change, _) in DAMAGED.items():
        edit(copy / "results" / "smoke" / name, change)
    return copy


def test_a_job_that_reads_a_damaged_file_names_it_and_what_to_do(damaged, snakemake, smoke_config):
    targets = [f"results/smoke/{target}" for _, target in DAMAGED.values()]
    done = snakemake(
        *(damaged, "--force", "--keep-going", *targets),
        config=smoke_config,
        root=damaged,
        check=False,
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    for name in DAMAGED:
        folder = name if name.endswith((".csv", ".jsonl")) else str(Path(name).parent)
        folder = folder.removesuffix("/validation").removesuffix("/pretrained")
        message = rf"results/smoke/{name} .* To make it again: rm -r '"
        assert re.search(f"{message}results/smoke/{folder}', then run the same", done.stderr), name
    twice = 2 * len(DAMAGED)  # Snakemake 9.19 repeats all errors at the end
    assert done.stderr.count("Error in rule ") in (len(DAMAGED), twice)
