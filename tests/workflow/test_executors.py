"""Jobs of a scheduler other than Slurm, and jobs that share no folder with Snakemake."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

# Copies files to and from the storage of `--default-storage-provider fs`.
pytestmark = [pytest.mark.thorough, needs("rsync")]
WORDS = "results/smoke/annotation/RTE.jsonl"
# A scheduler that runs a job immediately and prints its id when the job has ended.
SUBMIT = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/requests"
sh "$3" > "$(dirname "$0")/job.log" 2>&1
echo 1
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def project(clone):
    """A clone of the project as it is, in which Snakemake runs; pods get what Git lists."""
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=clone, check=True)
    return clone


def test_another_scheduler_runs_the_jobs_on_a_disk_of_the_node(snakemake, smoke_config, tmp_path):
    submit = program(tmp_path / "scheduler" / "submit.sh", SUBMIT)
    scratch = tmp_path / "scratch"
    snakemake(
        tmp_path,
        WORDS,
        "--executor",
        "cluster-generic",
        "--jobs",
        "1",
        "--profile",
        "profiles/slurm",
        "--latency-wait",
        "5",
        *("--cluster-generic-submit-cmd", f"{submit} {{threads}} {{resources.mem_mb}}"),
        "--seconds-between-status-checks",
        "1",
        "--default-storage-provider",
        "fs",
        "--remote-job-local-storage-prefix",
        str(scratch),
        "--shared-fs-usage",
        "persistence",
        "software-deployment",
        "sources",
        "source-cache",
        config=smoke_config,
    )
    assert len((tmp_path / WORDS).read_text().splitlines()) == 6
    requests = (tmp_path / "scheduler" / "requests").read_text().splitlines()
    assert len(requests) == 1, "two rules of a group are one job"
    log = (tmp_path / "scheduler" / "job.log").read_text()
    assert f"Storing in storage: {WORDS}" in log
    assert not re.findall(r"^Retrieving .*\.py$", log, re.MULTILINE), "code stays where it is"
    results = scratch / "fs" / "results" / "smoke"
    left = [path.relative_to(results) for path in scratch.rglob("*") if path.is_file()]
    assert {path.parts[0] for path in left} <= {"logs", "benchmarks", "records"}


def test_pods_that_share_nothing_run_the_jobs(project, tmp_path):
    no_pip = program(tmp_path / "bin" / "pip", "#!/bin/sh\n").parent
    environment = os.environ | {"NO_PIP": str(no_pip), "TMPDIR": str(tmp_path)}
    volume = tmp_path / "volume"
    run = subprocess.run(
        [
            *(sys.executable, Path(__file__).parent / "pods.py", WORDS, "--jobs", "1"),
            "--executor",
            "kubernetes",
            "--configfile",
            "tests/workflow/smoke.yaml",
            "--default-storage-provider",
            "fs",
            "--default-storage-prefix",
            str(volume),
            "--container-image",
            "darksecrets",
            "--seconds-between-status-checks",
            "1",
            "--groups",
            "prepare_dataset=data",
            "annotate_examples=data",
        ],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert len((volume / WORDS).read_text().splitlines()) == 6
    assert len(list(tmp_path.glob("pod-*/darksecrets"))) == 1, "two rules of a group are one pod"
    assert not (project / WORDS).exists()
