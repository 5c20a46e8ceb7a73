"""Runs that are interrupted or killed, and full disks: the same command makes equal results.

Tables and figures of a small run are compared byte by byte with those of an undisturbed one.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import processes
import pytest

from darksecrets.core.run.files import fingerprint, remove

pytestmark = pytest.mark.thorough

RESULTS = Path("results/cluster")
TARGETS = (
    "tables/table1.csv",
    "tables/head_ablation.csv",
    "figures/figure5.svg",
    "figures/figure9.png",
)
PATHS = [str(RESULTS / name) for name in TARGETS]
MODEL = RESULTS / "models/RTE/finetuned/seed-1"
LONGEST = 300


@pytest.fixture(scope="module")
def undisturbed(snakemake, one_task_config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    snakemake(folder, *PATHS, config=one_task_config)
    return folder


@pytest.fixture
def folder(tmp_path_factory):
    """Where a run is disturbed: it has nothing yet.

    It is beside the undisturbed one, since jobs know files that ship by relative paths.
    """
    return tmp_path_factory.mktemp("disturbed")


@pytest.fixture
def start(root, one_task_config, folder):
    """Start a run that goes on in the background."""

    def start():
        places = ("--snakefile", root / "Snakefile", "--directory", folder, "--cores", "2")
        command = [sys.executable, "-m", "snakemake", *PATHS, "--configfile", one_task_config]
        log = (folder / "said.txt").open("a")
        streams = {"stdout": log, "stderr": subprocess.STDOUT}
        return processes.start([*command, *map(str, places)], folder, **streams)

    return start


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a file is there."""
    end = time.monotonic() + LONGEST
    while not path.exists():
        assert process.poll() is None, "the run ended early"
        assert time.monotonic() < end, f"{path} was not made"
        time.sleep(0.05)


def compare(folder: Path, undisturbed: Path) -> None:
    for name in PATHS:
        assert fingerprint(folder / name) == fingerprint(undisturbed / name), name


@pytest.mark.parametrize(
    ("number", "during"),
    [
        (signal.SIGINT, "logs/finetune"),
        (signal.SIGTERM, "logs/sweep_heads"),
        (signal.SIGKILL, "logs/finetune"),
        (signal.SIGKILL, "logs/compare_attention.log"),
    ],
)
def test_the_same_command_makes_what_a_signal_left_undone(
    start, snakemake, one_task_config, folder, undisturbed, during, number
):
    first = start()
    wait_for(folder / RESULTS / during, first)
    time.sleep(0.5)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(first.pid, number)
    first.wait(LONGEST)
    if number == signal.SIGINT:
        logs = [log.read_text("utf-8") for log in (folder / RESULTS / "logs").rglob("*.log")]
        assert any("The job was interrupted" in log for log in logs)
        assert not any("Traceback" in log for log in logs)
    if number == signal.SIGKILL:
        refused = snakemake(folder, *PATHS, config=one_task_config, check=False)
        assert refused.returncode
        assert "--unlock" in refused.stderr
        snakemake(folder, "--unlock", config=one_task_config)
    snakemake(folder, *PATHS, config=one_task_config)
    compare(folder, undisturbed)


def test_what_launchers_left_in_the_shell_changes_nothing(
    start, one_task_config, folder, undisturbed, monkeypatch
):
    variables = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1"}
    variables |= {"MASTER_PORT": "29511", "ACCELERATE_MIXED_PRECISION": "bf16"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert start().wait(LONGEST) == 0
    compare(folder, undisturbed)
    log = folder / RESULTS / "logs/finetune/RTE/finetuned/seed-1.log"
    assert ", ".join(sorted(variables)) in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_damaged_file_is_named_and_not_used(
    snakemake, one_task_config, folder, undisturbed, file
):
    subprocess.run(["cp", "-a", f"{undisturbed}/.", str(folder)], check=True)
    damaged = folder / MODEL / file
    times = damaged.stat()
    damaged.write_bytes(damaged.read_bytes()[:-1])
    os.utime(damaged, ns=(times.st_atime_ns, times.st_mtime_ns))
    sweep = RESULTS / "ablation/RTE/finetuned/seed-1"
    remove(folder / sweep)
    said = snakemake(folder, str(sweep), config=one_task_config, check=False)
    assert said.returncode
    assert str(MODEL / file) in said.stderr
    assert not (folder / sweep).exists()
    remove(folder / MODEL)
    snakemake(folder, *PATHS, str(MODEL), str(sweep), config=one_task_config)
    compare(folder, undisturbed)
    assert fingerprint(folder / MODEL / file) == fingerprint(undisturbed / MODEL / file)


@contextlib.contextmanager
def small_disk(folder: Path, size: str):
    """A folder on a disk of its own; the function given makes it large."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        (folder / "not-empty").touch()  # Snakemake removes folders that are
        yield lambda: subprocess.run(["mount", "-o", "remount,size=1g", folder], check=True)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small disk: needs root on Linux"
)
def test_a_full_disk_ends_a_training_and_the_same_command_goes_on(
    snakemake, one_task_config, folder, undisturbed
):
    with small_disk(folder / RESULTS / "models/RTE", "6m") as enlarge:
        said = snakemake(folder, str(MODEL), config=one_task_config, check=False)
        assert said.returncode
        assert "No space left on device" in said.stderr
        assert not (folder / MODEL).exists()
        enlarge()
        snakemake(folder, *PATHS, config=one_task_config)
        compare(folder, undisturbed)
