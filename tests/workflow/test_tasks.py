"""The examples of docs/tasks.md, as they stand there, through the workflow."""

import csv
import io
import json
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from datasets import load_from_disk
from hub import content
from hub.client import Client
from hub.standin import Repository, serving
from toy_pipeline import save_pipeline

from darksecrets.core.data.preflight import check
from workflow.lib.configuration import resolve

SIZES = {"train": 10, "validation": 10}
TARGETS = ("table1", "figure5", "figure6", "figure8")
SENTENCES = (
    "the dog barked .",
    'a "cat", they say, slept',
    "two\nlines, here",
    "it is so , is n't it",
)


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "tasks.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def entries(page):
    """The entries of tasks that do not ship, from all examples of the page."""
    blocks = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    found = [block["tasks"] for block in blocks if isinstance(block["tasks"], dict)]
    return {
        name: entry
        for tasks in found
        for name, entry in tasks.items()
        if name not in ("MRPC", "RTE")
    }


def examples(size, labels):
    """Texts and labels, every class equally often."""
    return [(f"{SENTENCES[i % 4]} {i}", labels[i % len(labels)]) for i in range(size)]


def write_glue(folder):
    """CoLA and WNLI in the layout of the classic download."""
    for name in ("CoLA", "WNLI"):
        (folder / name).mkdir(parents=True)
    for split, file in (("train", "train.tsv"), ("validation", "dev.tsv")):
        rows = [(text.replace("\n", " "), code) for text, code in examples(SIZES[split], (0, 1))]
        cola = [f"gj04\t{code}\t{'' if code else '*'}\t{text}" for text, code in rows]
        wnli = [f"{i}\t{text}\tit is {i}\t{code}" for i, (text, code) in enumerate(rows)]
        (folder / "CoLA" / file).write_text("\n".join(cola) + "\n")
        header = "index\tsentence1\tsentence2\tlabel"
        (folder / "WNLI" / file).write_text("\n".join([header, *wnli]) + "\n")


def write_csv(folder, entry):
    """Five classes in CSV files with commas, quotes and line breaks inside fields."""
    for split, path in entry["files"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        stream = io.StringIO(newline="")
        writer = csv.writer(stream)
        writer.writerow(["topic", "text"])
        writer.writerows((label, text) for text, label in examples(SIZES[split], entry["labels"]))
        (folder / path).write_text(stream.getvalue(), newline="")


def topics_repository(entry):
    """The same five classes on the Hub, with a `ClassLabel` and without `idx`."""
    files = {}
    names = {"names": entry["labels"], "_type": "ClassLabel"}
    features = {"text": {"dtype": "string", "_type": "Value"}, "topic": names}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    for split, size in SIZES.items():
        rows = examples(size, entry["labels"])
        columns = [[text for text, _ in rows], [entry["labels"].index(label) for _, label in rows]]
        schema = pa.schema([("text", pa.string()), ("topic", pa.int64())], metadata)
        stream = io.BytesIO()
        pq.write_table(pa.table(columns, schema=schema), stream)
        files[f"data/{split}-00000-of-00001.parquet"] = stream.getvalue()
    hub = entry["hub"]
    return Repository("datasets", hub["repository"], hub["revision"], files)


@pytest.fixture(scope="module")
def config(entries, tmp_path_factory):
    """A configuration of all examples, and the folder with their data."""
    folder = tmp_path_factory.mktemp("examples")
    write_glue(folder / "glue")
    write_csv(folder, entries["topics"])
    save_pipeline(folder / "pipeline")
    content.bert(folder / "bert")
    return folder, {
        "run": "examples",
        "tasks": entries,
        "data": {"source": "tsv", "folder": "glue"},
        "model": {"source": "folder", "folder": "bert"},
        "fine_tuning": {"epochs": 1, "max_length": 24},
        "samples": {"size": 4},
        "annotation": {"pipeline": "pipeline"},
    }


@pytest.fixture(scope="module")
def run(config, entries, snakemake):
    """The results of all examples at once."""
    folder, keys = config
    (folder / "config.yaml").write_text(yaml.safe_dump(keys, sort_keys=False))
    with serving([topics_repository(entries["topics-hub"])]) as hub:
        environment = Client(folder / "huggingface", hub.endpoint).environment
        arguments = {"config": str(folder / "config.yaml"), "environment": environment}
        snakemake(folder, *TARGETS, **arguments)
    return folder / "results" / "examples"


def test_the_entries_are_those_of_the_configuration(config, entries, monkeypatch):
    """What `make test` asks of the page: every example is read, and its files are found."""
    folder, keys = config
    monkeypatch.chdir(folder)
    offline = {name: entry for name, entry in entries.items() if "hub" not in entry}
    resolved = resolve({**keys, "tasks": offline})
    assert resolved["tasks"].keys() == offline.keys() == {"CoLA", "WNLI", "topics"}
    check(resolved)


@pytest.mark.thorough
def test_table_1_has_every_example_with_its_metrics(run, entries):
    table = pd.read_csv(run / "tables" / "table1.csv")
    found = table.groupby("task")["metric"].unique()
    for name, entry in entries.items():
        metrics = entry["metrics"] if isinstance(entry["metrics"], list) else [entry["metrics"]]
        assert set(found[name]) == set(metrics)
    written = (run / "figures" / "table1.md").read_text()
    assert "| CoLA " in written
    assert "| Matthews " in written
    assert "| Macro F1 " in written


@pytest.mark.thorough
def test_the_same_data_from_a_file_and_from_the_hub_give_the_same_results(run):
    summaries = [
        json.loads((run / "data" / name / "summary.json").read_text())
        for name in ("topics", "topics-hub")
    ]
    assert summaries[0] == summaries[1]
    table = pd.read_csv(run / "tables" / "table1.csv").drop(columns=["seed"])
    one, other = (
        table[table["task"] == name].drop(columns="task").reset_index(drop=True)
        for name in ("topics", "topics-hub")
    )
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.thorough
def test_quoted_fields_of_a_csv_file_are_whole(run, entries):
    train = load_from_disk(str(run / "data" / "topics"))["train"]
    expected = examples(SIZES["train"], entries["topics"]["labels"])
    assert train["sentence1"] == [text for text, _ in expected]
    assert train.features["label"].int2str(train["label"]) == [label for _, label in expected]


@pytest.mark.thorough
def test_another_task_runs_only_its_own_jobs_and_those_that_gather_and_draw(
    run, config, snakemake, entries, planned
):
    folder, keys = config
    file = folder / "more.yaml"
    more = {**keys, "tasks": {**entries, "extra": entries["topics"]}}
    file.write_text(yaml.safe_dump(more, sort_keys=False))
    output = snakemake(folder, "-n", *TARGETS, config=str(file)).stdout
    jobs = planned(output)
    assert jobs["finetune"] == 2
    assert jobs["prepare_dataset"] == jobs["extract_attention"] == jobs["measure_attention"] == 1
    assert jobs["sweep_heads"] == jobs["score_ablation"] == 1
    assert "get_pretrained_model" not in jobs
    messages = re.findall(r"Job \d+: (.+)", output)
    assert len(messages) == sum(jobs.values())
    assert not [
        text for text in messages if any(re.search(rf"\b{name}\b", text) for name in entries)
    ]


@pytest.mark.thorough
def test_other_metrics_train_nothing(run, config, snakemake, entries, planned):
    folder, keys = config
    changed = {**entries, "CoLA": {**entries["CoLA"], "metrics": ["accuracy", "f1_macro"]}}
    file = folder / "metrics.yaml"
    file.write_text(yaml.safe_dump({**keys, "tasks": changed}, sort_keys=False))
    plan = planned(snakemake(folder, "-n", *TARGETS, config=str(file)).stdout)
    assert set(plan) <= {
        "evaluate_baselines",
        "compare_scores",
        "score_ablation",
        "draw_scores",
        "draw_attention",
        "draw_ablation",
        *TARGETS,
    }
    assert plan["score_ablation"] == plan["compare_scores"] == plan["draw_scores"] == 1
