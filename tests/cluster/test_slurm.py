"""The shipped profile on a real Slurm: its results, and what happens when jobs end early."""

import filecmp
import logging
import subprocess
from collections import Counter
from pathlib import Path

import processes
import pytest
from waiting import wait_until

log = logging.getLogger(__name__)
pytestmark = pytest.mark.cluster


def accounting(field: str, *arguments: str) -> list[str]:
    """A field of Slurm's accounting for jobs and their steps; with `-X`, for jobs only."""
    command = ["sacct", "-nP", "-o", field, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def queued(folder: Path) -> list[str]:
    """Jobs in the queue that were submitted from a folder."""
    command = ["squeue", "-h", "-o", "%i %T %Z"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if line.endswith(f" {folder}")]


@pytest.mark.usefixtures("early_ends", "remote")
def test_an_interrupted_snakemake_cancels_its_jobs_and_a_second_call_completes(submit, tmp_path):
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(
        "rule wait:\n"
        '    output: "waited"\n'
        '    shell: "touch started; test -e go || sleep 600; touch {output}"\n'
    )
    arguments = ("--default-resources", "mem_mb=300", "runtime=10")
    run = submit(tmp_path, snakefile, *arguments)
    wait_until((tmp_path / "started").exists, 180, "the start of the job")
    assert queued(tmp_path)
    processes.interrupt(run)
    assert run.wait(180) != 0
    wait_until(lambda: not queued(tmp_path), 120, "the end of the cancelled job")
    (tmp_path / "go").touch()
    again = submit(tmp_path, snakefile, *arguments)
    assert again.wait(240) == 0, (tmp_path / "snakemake.txt").read_text()
    assert (tmp_path / "waited").exists()


def test_tables_are_those_of_a_local_run_that_asks_for_no_gpu(remote, local):
    folder, run = remote
    assert run.wait(2400) == 0, (folder / "snakemake.txt").read_text()
    names = sorted(path.name for path in (local / "tables").glob("*.csv"))
    assert "table1.csv" in names
    results = folder / "results" / "cluster"
    assert sorted(path.name for path in (results / "tables").glob("*.csv")) == names
    for name in names:
        assert filecmp.cmp(local / "tables" / name, results / "tables" / name, shallow=False), name
    assert accounting("State", "-X").count("COMPLETED") >= 12
    asked = {line for line in accounting("Partition,ReqTRES", "-X") if "gres/gpu=1" in line}
    assert asked, accounting("Partition,ReqTRES", "-X")
    assert all(line.startswith("gpu|") for line in asked)
    log.info("Partitions: %s", Counter(accounting("Partition", "-X")))
    log_of_job = results / "logs" / "finetune" / "RTE" / "finetuned" / "seed-1.log"
    log.info("A job that asked for a GPU: %s", log_of_job.read_text().splitlines()[0])
    log.info("%d tables are equal: %s", len(names), ", ".join(names))
    log.info("Jobs: %s", Counter(accounting("State", "-X")))


def test_jobs_that_end_early_are_noticed_and_sent_again_with_more(early_ends):
    folder, run = early_ends
    assert run.wait(400) == 0, (folder / "snakemake.txt").read_text()
    for way in ("fails", "cancelled", "slow", "greedy"):
        assert (folder / f"{way}.done").exists()
        assert (folder / f"{way}.attempts").read_text().split() == ["1", "2"], way
    log.info("Jobs and steps of all tests: %s", Counter(accounting("State")))
    seen = " ".join(accounting("State"))  # it is the step, not the job, that runs out of memory
    for state in ("FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY"):
        assert state in seen
