"""A part of the programme that takes less than a minute: kills, two runs at once, surroundings."""

import os
import signal

import pandas as pd
import pytest
from failures import page
from failures.trial import (
    EQUAL,
    FAILED,
    MESSAGE,
    RESULTS,
    Trial,
    jobs_of,
    keep_outcomes,
    strike,
    wait_for,
    wait_for_end,
)

pytestmark = pytest.mark.thorough

WORDS = str(RESULTS / "annotation/RTE.jsonl")


@pytest.fixture(scope="module")
def undisturbed(call_snakemake, tmp_path_factory):
    """A directory with the data of a task and the words of its sampled examples."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = Trial(folder, folder, call_snakemake).call(WORDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def fresh(undisturbed, call_snakemake, tmp_path):
    """Nothing made yet."""
    return Trial(tmp_path, undisturbed, call_snakemake)


@pytest.mark.parametrize(
    ("whom", "number"),
    [("snakemake", signal.SIGKILL), ("job", signal.SIGTERM)],
    ids=["kill-snakemake", "end-job"],
)
def test_the_next_call_makes_what_a_signal_left_undone(fresh, whom, number):
    started = fresh.start(WORDS)
    running = strike(started, whom, number, delay=0.2)
    wait_for_end(started, running)
    assert fresh.end_after(WORDS) == EQUAL


def test_of_two_runs_at_once_the_second_says_who_runs(fresh):
    first = fresh.start(WORDS)
    assert wait_for(lambda: jobs_of(first) or first.poll() is not None)
    jobs = jobs_of(first)
    first.send_signal(signal.SIGSTOP)  # it stays as long as this takes
    for job in jobs:
        job.suspend()
    called = fresh.call(WORDS)
    said = called.stdout + called.stderr
    for process in (first, *jobs):
        process.send_signal(signal.SIGCONT)
    assert first.wait(60) == 0
    assert called.returncode != 0
    assert f"process {first.pid} on" in said
    assert "Traceback" not in said
    fresh.compare([WORDS])


def test_a_folder_and_a_machine_of_another_language(undisturbed, call_snakemake, tmp_path):
    folder = tmp_path / "größe & 名前"
    folder.mkdir()
    odd = {"LC_ALL": "tr_TR.UTF-8"}
    before = os.umask(0o077)
    try:
        assert Trial(folder, undisturbed, call_snakemake, odd).end_after(WORDS) == EQUAL
    finally:
        os.umask(before)


def test_the_page_counts_the_faults_of_all_calls(tmp_path):
    file = tmp_path / "outcomes.csv"
    keep_outcomes(file, "a", [("signal", "1", FAILED)])
    keep_outcomes(file, "b", [("signal", "2", EQUAL), ("disk", "3", MESSAGE)])
    keep_outcomes(file, "gone", [("disk", "4", EQUAL)])
    keep_outcomes(file, "a", [("signal", "1", EQUAL)])  # repeated
    text = f"before {page.START} old {page.END} after"
    made = page.page(text, pd.read_csv(file, dtype=str), ["a", "b", "c"])
    lines = (line.split("|")[1:-1] for line in made.splitlines() if line.startswith("|"))
    rows = [[cell.strip() for cell in line] for line in lines]
    assert rows[0] == ["fault", "tried", *page.ENDS]
    assert rows[2:] == [["disk", "1", "0", "1", "0"], ["signal", "2", "2", "0", "0"]]
    assert "These are 3 faults of 2 tests; the programme has 3 tests." in made
    assert "old" not in made
