import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def snakemake(root) -> Callable[..., subprocess.CompletedProcess]:
    """Call Snakemake on the project's workflow, with results in another folder."""

    def call(
        folder: Path,
        *arguments: str,
        config: str,
        check: bool = True,
        root: Path = root,
        environment: dict[str, str] | None = None,
    ):
        command = [
            *(sys.executable, "-m", "snakemake", *arguments, "--configfile", config),
            *("--snakefile", str(root / "Snakefile"), "--directory", str(folder), "--cores", "2"),
        ]
        run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        assert not check or run.returncode == 0, run.stdout + run.stderr
        return run

    return call


@pytest.fixture(scope="session")
def planned() -> Callable[[str], dict[str, int]]:
    """Read how many jobs of every rule a dry run would run."""

    def read(output: str) -> dict[str, int]:
        counts = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
        return {rule: int(jobs) for rule, jobs in counts if rule != "total"}

    return read


@pytest.fixture(scope="session")
def smoke_config(root) -> str:
    return str(root / "tests" / "workflow" / "smoke.yaml")
