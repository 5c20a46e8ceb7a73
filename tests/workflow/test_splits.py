"""Splitting jobs by configuration changes the plan, but no byte of the tables."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.thorough

TABLES = ("cosine", "head_ablation")
SPLIT = "attention={batch_size: 2}", "chunks=3"


@pytest.fixture(scope="module")
def call(root, snakemake, tmp_path_factory) -> Callable:
    """Call Snakemake for two tables of one task, with three batches and three blocks to split."""
    folder = tmp_path_factory.mktemp("splits")
    small = yaml.safe_load((root / "tests" / "cluster" / "smoke.yaml").read_text())
    small |= {"run": "splits", "attention": {"batch_size": 2}}
    small["data"]["size"][1] = 150
    config = folder / "config.yaml"
    config.write_text(yaml.safe_dump(small))
    targets = [f"results/splits/tables/{name}.csv" for name in TABLES]

    def call(*arguments):
        return folder, snakemake(folder, *targets, *arguments, config=str(config)).stdout

    return call


def bytes_of(results: Path) -> dict[Path, bytes]:
    """Content of what a split run computes again: tables and gathered files."""
    patterns = ("tables/[!p]*.csv", "attention/RTE/finetuned/seed-1/maps.npy", "ablation/**/*.npz")
    return {path: path.read_bytes() for pattern in patterns for path in results.glob(pattern)}


def test_tables_of_a_split_run_are_those_of_a_whole_one(call, planned):
    folder, _ = call()
    results = folder / "results" / "splits"
    whole = bytes_of(results)
    assert len(whole) > 20
    for name in ("attention/RTE", "similarity", "features", "redundancy", "ablation"):
        shutil.rmtree(results / name)
    for path in results.glob("tables/[!p]*.csv"):  # the classifier stays
        path.unlink()
    split = ("--rerun-triggers", "mtime", "--config", *SPLIT)
    jobs = planned(call("-n", *split)[1])
    assert (jobs["extract_attention_chunk"], jobs["extract_attention"]) == (3, 1)
    assert (jobs["sweep_heads_chunk"], jobs["sweep_heads"]) == (3, 1)
    assert "finetune" not in jobs
    call(*split)
    assert bytes_of(results) == whole
    record = json.loads((results / "attention/RTE/provenance.json").read_text())
    assert sum("attention_chunks" in path for path in record["inputs"]) == 3
    assert not {"attention_chunks", "ablation_chunks"} & {path.name for path in results.iterdir()}
    assert planned(call("-n", *split)[1]) == {}
