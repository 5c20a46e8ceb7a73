"""What a plan says of the jobs that a cluster would be given."""

from pathlib import Path

import pytest

from workflow.lib.plan import Request, describe, table_of

PROFILE = Path(__file__).parents[3] / "profiles" / "slurm"


def test_jobs_of_a_kind_are_one_row_with_what_the_largest_requests():
    requests = [
        Request("finetune", 1, 8, 3000, 80, 1, "gpu"),
        Request("finetune", 1, 4, 17700, 220, 1, "gpu"),
        Request("data", 2, 1, 900, 10, 0, ""),
    ]
    assert table_of(requests).splitlines() == [
        "job         jobs    steps    cores    memory    time    GPUs  partition",
        "finetune       2        2        8   17.7 GB    3:40       1  gpu",
        "data           1        2        1    0.9 GB    0:10       0  default",
    ]


@pytest.mark.slow
def test_a_plan_with_the_profile_of_slurm_ends_with_what_is_submitted(
    snakemake, smoke_config, tmp_path
):
    partitions = str(PROFILE / "partitions.yaml")
    command = ["--profile", str(PROFILE), "--slurm-partition-config", partitions]
    quiet = ["-n", "--quiet", "rules", "host", "reason"]
    said = snakemake(tmp_path, *command, *quiet, "--config", "gpu=1", config=smoke_config).stdout
    rows = [line.split() for line in said.partition("would be submitted:")[2].splitlines() if line]
    assert rows[0] == ["job", "jobs", "steps", "cores", "memory", "time", "GPUs", "partition"]
    trained, data = ({row[0]: row for row in rows}[name] for name in ("finetune", "data"))
    assert trained[-2:] == ["1", "gpu"]
    assert data[-2:] == ["0", "batch"]
    assert int(data[1]) < int(data[2]), "a job of several steps"
    assert "\n    Job " not in said, "single jobs are not listed"


def test_a_program_that_calls_snakemake_submits_nothing():
    assert describe(None, ["/usr/bin/pytest", "-q", "--no-such-option"]) == ""


@pytest.mark.slow
def test_a_plan_for_this_machine_submits_nothing(snakemake, smoke_config, tmp_path):
    said = snakemake(tmp_path, "-n", config=smoke_config).stdout
    assert "This was a dry-run" in said
    assert "would be submitted" not in said
