"""Two runs at once, folders, names, languages and rights that a machine may have."""

import os
import signal
import subprocess
import sys

import pytest
from failures.trial import EQUAL, LONGEST, MESSAGE, RESULTS, Trial, check_message, jobs_of, wait_for

pytestmark = pytest.mark.failures

# From nothing: links, data, an encoder, scores.
FIRST = tuple(
    str(RESULTS / name) for name in ("tables/framenet_links.csv", "scores/RTE/pretrained")
)
# Of a finished run: a figure, and tables with text.
LAST = {
    "figure5": "figures/figure5.svg",
    "table1": "figures/table1.md",
    "claims": "tables/claims.csv",
}
TARGETS = tuple(str(RESULTS / name) for name in LAST.values())


def remake(trial: Trial) -> None:
    """Make the first results of a run, and some of the last ones of a finished run: all are equal.

    Each by a program of its own: a fork would keep the encoding that Python chose at its start.
    """
    for targets, forced in ((FIRST, ()), (TARGETS, ("--forcerun", *LAST))):
        if forced:
            trial.fill()
        started = trial.start(*targets, *forced)
        said = trial.folder / "started.txt"
        assert started.wait(LONGEST) == 0, said.read_text(encoding="utf-8", errors="replace")
        trial.compare(targets)


@pytest.mark.parametrize("second", [("all",), TARGETS[:1]], ids=["all", "figure5"])
def test_of_two_runs_at_once_one_waits(trial, second, outcomes):
    first = trial.start(*second, "--forcerun", "figure5", "table1", log="first.txt")
    assert wait_for(lambda: jobs_of(first) or first.poll() is not None)
    os.killpg(first.pid, signal.SIGSTOP)  # it goes on for longer than the other takes
    called = trial.call(*second, "--forcerun", "figure5")
    os.killpg(first.pid, signal.SIGCONT)
    output = called.stdout + called.stderr
    assert first.wait(600) == 0
    assert called.returncode != 0, output
    check_message(output)
    assert f"process {first.pid} on" in output
    assert trial.end_after(*second) == EQUAL
    outcomes.add("two runs at once", " ".join(second), MESSAGE)


@pytest.mark.parametrize("name", ["a b", "größe-名前", "it's $HOME & {x}", "-n"])
def test_a_folder_of_any_name(empty, name, outcomes):
    empty.folder = empty.folder.rename(empty.folder.with_name(name))
    remake(empty)
    outcomes.add("surroundings", f"the folder {name}", EQUAL)


@pytest.mark.parametrize(
    "variables",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"TZ": "Pacific/Kiritimati"},
        {"COLUMNS": "20", "TERM": "dumb"},
    ],
    ids=["C", "C-not-utf8", "tr_TR", "time-zone", "narrow"],
)
def test_other_languages(empty, variables, outcomes):
    empty.environment |= variables
    remake(empty)
    outcomes.add("surroundings", " ".join(f"{k}={v}" for k, v in variables.items()), EQUAL)


@pytest.mark.parametrize("mask", [0o077, 0o022, 0o000])
def test_a_umask(empty, mask, outcomes):
    before = os.umask(mask)
    try:
        remake(empty)
    finally:
        os.umask(before)
    table = empty.folder / RESULTS / "tables" / "claims.csv"
    assert table.stat().st_mode & 0o777 == 0o666 & ~mask
    outcomes.add("surroundings", f"umask {mask:03o}", EQUAL)


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounts a folder: needs root on Linux"
)
@pytest.mark.parametrize("where", [".", "results/faults", "results/faults/figures"])
def test_a_folder_that_is_read_only(trial, where, outcomes):
    folder = str(trial.folder / where)
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        called = trial.call("all", "--forcerun", "figure5")
        output = called.stdout + called.stderr
        assert called.returncode != 0, output
        assert "Read-only" in output or "cannot write" in output, output
        check_message(output)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
    assert trial.end_after("all") == EQUAL
    outcomes.add("surroundings", f"{where} is read-only", MESSAGE)
