"""The whole programme of faults, in two processes: ``python -m tests.faults.programme``.

Makes an undisturbed run, puts every fault upon copies of it, and brings the counts into
docs/faults.md. Each process has its log in results/faults.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.faults import page

LOGS = page.OUTCOMES.parent
CONFIG = Path(__file__).with_name("run.yaml")
PROCESSES = 2


def make_run(folder: Path) -> None:
    """Make the undisturbed run."""
    folder.mkdir()
    places = ("--snakefile", page.ROOT / "Snakefile", "--directory", folder)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "all", "report"]
    subprocess.run([*command, "--configfile", CONFIG, *places], check=True)


def start(number: int, tests: Sequence[str], finished: Path) -> subprocess.Popen[bytes]:
    """Start some of the tests."""
    command = [sys.executable, "-m", "pytest", "-m", "faults", "-v", "--durations=0"]
    with (LOGS / f"part-{number + 1}.log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--basetemp", finished.with_name(f"part-{number + 1}"), *tests],
            cwd=page.ROOT,
            env=os.environ | {"DARKSECRETS_FAULTS_RUN": str(finished)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def main() -> int:
    """Run the programme; return 1 if a test fails."""
    start_time = time.monotonic()
    LOGS.mkdir(parents=True, exist_ok=True)
    page.OUTCOMES.unlink(missing_ok=True)
    tests = page.programme()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        finished = Path(folder) / "finished"
        make_run(finished)
        parts = [start(n, tests[n::PROCESSES], finished) for n in range(PROCESSES)]
        codes = [part.wait() for part in parts]
    page.main()
    minutes = (time.monotonic() - start_time) / 60
    sys.stdout.write(f"{len(tests)} tests in {minutes:.0f} min; {LOGS}/part-*.log has them.\n")
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
