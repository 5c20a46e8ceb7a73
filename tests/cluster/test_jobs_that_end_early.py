"""Jobs that fail, are cancelled, run over their time or their memory; an interrupted Snakemake."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster
WAYS = ("fails", "cancelled", "slow", "greedy")


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {seconds} s"
        time.sleep(0.5)


def queued() -> list[str]:
    return subprocess.run(
        ["squeue", "-h", "-o", "%i %T"], capture_output=True, text=True, check=True
    ).stdout.split("\n")[:-1]


def test_jobs_that_end_early_are_noticed_and_sent_again_with_more(submit, tmp_path):
    snakefile = Path(__file__).parent / "attempts.smk"
    run = submit(tmp_path, snakefile, "--default-resources", "mem_mb=300", "runtime=10")
    marker = tmp_path / "cancelled.id"
    wait_until(lambda: marker.exists() and marker.read_text().strip(), 120, "the first attempt")
    subprocess.run(["scancel", marker.read_text().strip()], check=True)
    assert run.wait(400) == 0, (tmp_path / "snakemake.txt").read_text()
    for way in WAYS:
        assert (tmp_path / f"{way}.done").exists()
        assert (tmp_path / f"{way}.attempts").read_text().split() == ["1", "2"], way
    states = subprocess.run(
        ["sacct", "-nP", "-o", "State"], capture_output=True, text=True, check=True
    ).stdout  # of jobs and their steps: it is the step that runs out of memory
    for state in ("FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY"):
        assert state in states


def test_an_interrupted_snakemake_cancels_its_jobs_and_a_second_call_completes(submit, tmp_path):
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(
        "rule wait:\n"
        '    output: "waited"\n'
        '    shell: "touch started; test -e go || sleep 600; touch {output}"\n'
    )
    arguments = ("--default-resources", "mem_mb=300", "runtime=10")
    run = submit(tmp_path, snakefile, *arguments)
    wait_until((tmp_path / "started").exists, 90, "the start of the job")
    run.send_signal(signal.SIGINT)
    assert run.wait(60) != 0
    wait_until(lambda: not queued(), 30, "the end of the cancelled job")
    (tmp_path / "go").touch()
    again = submit(tmp_path, snakefile, *arguments)
    assert again.wait(120) == 0, (tmp_path / "snakemake.txt").read_text()
    assert (tmp_path / "waited").exists()
