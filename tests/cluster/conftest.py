"""A real Slurm for the tests in this folder; `make test-cluster` runs them."""

import logging
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import processes
import pytest
from waiting import wait_until

log = logging.getLogger(__name__)
HERE = Path(__file__).parent
START = HERE / "one_node_slurm.sh"
CONFIG = HERE / "smoke.yaml"
# The shipped profile checks after 40 seconds, which suits jobs of hours; these take seconds.
IMPATIENT = ("--slurm-init-seconds-before-status-checks", "1", "--latency-wait", "10")


@pytest.fixture(scope="session")
def slurm() -> Iterator[None]:
    """A Slurm cluster of one node, started only for these tests."""
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists():
        pytest.skip(f"starting Slurm needs root on Debian, this is {platform.platform()}")
    folder = Path(tempfile.mkdtemp(prefix="one-node-slurm-"))
    folder.chmod(0o755)
    started = subprocess.run(["bash", START, "start", folder], capture_output=True, text=True)
    if "left alone" in started.stderr:
        pytest.skip(started.stderr.strip())
    try:
        assert started.returncode == 0, started.stdout + started.stderr
        log.info("%s", started.stdout)
        yield
    finally:
        subprocess.run(["bash", START, "stop", folder], check=True)


@pytest.fixture(scope="session")
def submit(root, slurm) -> Iterator[Callable[..., subprocess.Popen]]:
    """Start Snakemake with the shipped profile; what is still running at the end is stopped."""
    running = []

    def start(folder: Path, snakefile: Path, *arguments: str) -> subprocess.Popen:
        command = [
            *(sys.executable, "-m", "snakemake", *arguments, *IMPATIENT),
            *("--profile", str(root / "profiles" / "slurm"), "--cores", "2"),
            "--snakefile",
            str(snakefile),
            "--directory",
            str(folder),
        ]
        log = (folder / "snakemake.txt").open("a")
        process = processes.start(command, root, stdout=log, stderr=subprocess.STDOUT)
        running.append(process)
        return process

    yield start
    for process in running:
        processes.stop(process, grace=60)


@pytest.fixture(scope="session")
def early_ends(submit, tmp_path_factory) -> tuple[Path, subprocess.Popen]:
    """Jobs that fail, are cancelled, run over time or memory; they run beside the other tests."""
    folder = tmp_path_factory.mktemp("early")
    run = submit(folder, HERE / "attempts.smk", "--default-resources", "mem_mb=300", "runtime=10")
    marker = folder / "cancelled.id"
    wait_until(lambda: marker.exists() and marker.read_text().strip(), 240, "the first attempt")
    subprocess.run(["scancel", marker.read_text().strip()], check=True)
    return folder, run


@pytest.fixture(scope="session")
def remote(submit, root, tmp_path_factory) -> tuple[Path, subprocess.Popen]:
    """The small workflow, submitted; it runs beside the other tests.

    The node has GPUs in name only: jobs request them, find none, and run on the CPU.
    """
    folder = tmp_path_factory.mktemp("remote")
    otherwise = ("attention={batch_size: 2}", "gpu=1")
    partitions = ("--slurm-partition-config", str(HERE / "partitions.yaml"))
    configured = ("--configfile", str(CONFIG), "--config", *otherwise)
    return folder, submit(folder, root / "Snakefile", "all", *partitions, *configured)


@pytest.fixture(scope="session")
def local(snakemake, tmp_path_factory) -> Path:
    """Results of the small workflow on this machine."""
    folder = tmp_path_factory.mktemp("local")
    snakemake(folder, "all", config=str(CONFIG))
    return folder / "results" / "cluster"
