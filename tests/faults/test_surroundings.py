"""Two runs at once, folders, names, languages and rights that a machine may have."""

import os
import shutil
import subprocess
import sys

import pytest
from faults.trial import (
    EQUAL,
    LONGEST,
    MESSAGE,
    RESULTS,
    Trial,
    check_message,
    jobs_of,
    tables,
    wait_for,
)

pytestmark = pytest.mark.faults

# Rules of every kind: data, model, maps, tables with text, figures, pages.
REMADE = ("prepare_dataset", "figure5", "table1", "claims", "collect_features")
TARGETS = tuple(
    str(RESULTS / name)
    for name in ("samples/RTE.csv", "figures/figure5.svg", "figures/table1.md", "tables/claims.csv")
)


@pytest.mark.parametrize("second", [("all",), TARGETS[1:2]], ids=["all", "figure5"])
def test_of_two_runs_at_once_one_waits(trial, second, outcomes):
    first = trial.start(*second, "--forcerun", "figure5", "table1", log="first.txt")
    assert wait_for(lambda: jobs_of(first) or first.poll() is not None)
    called = trial.call(*second, "--forcerun", "figure5")
    output = called.stdout + called.stderr
    assert first.wait(600) == 0
    assert called.returncode != 0, output
    check_message(output)
    assert f"process {first.pid} on" in output
    assert trial.end_after(*second) == EQUAL
    outcomes.add("two runs at once", " ".join(second), MESSAGE)


@pytest.mark.parametrize("name", ["a b", "größe-名前", "it's $HOME & {x}", "-n"])
def test_a_folder_of_any_name(trial, finished, call_snakemake, name, outcomes):
    named = trial.folder.with_name(name)
    trial.folder.rename(named)
    moved = Trial(named, finished, call_snakemake)  # the fixture removes the first folder
    assert moved.end_after(*TARGETS, "--forcerun", *REMADE) == EQUAL
    outcomes.add("surroundings", f"the folder {name}", EQUAL)
    shutil.rmtree(named)
    trial.folder.mkdir()


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
def test_other_languages(trial, variables, outcomes):
    # A program of its own: a fork would keep the encoding that Python chose when it started.
    trial.environment |= variables
    started = trial.start(*TARGETS, "--forcerun", *REMADE)
    assert started.wait(LONGEST) == 0, (trial.folder / "started.txt").read_text("utf-8")
    trial.compare(TARGETS)
    outcomes.add("surroundings", " ".join(f"{k}={v}" for k, v in variables.items()), EQUAL)


@pytest.mark.parametrize("mask", [0o077, 0o022, 0o000])
def test_a_umask(trial, mask, outcomes):
    before = os.umask(mask)
    try:
        started = trial.start(*TARGETS, "--forcerun", *REMADE)
        assert started.wait(600) == 0
    finally:
        os.umask(before)
    trial.compare(TARGETS)
    table = trial.folder / RESULTS / "tables" / "claims.csv"
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
    assert tables(trial.folder) == tables(trial.finished)
    outcomes.add("surroundings", f"{where} is read-only", MESSAGE)
