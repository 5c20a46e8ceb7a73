"""The whole programme of faults, in two processes: ``python -m tests.failures.programme``.

Makes an undisturbed run, puts every fault upon copies of it, and brings the counts into
docs/failures.md.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.failures import page

CONFIG = Path(__file__).with_name("run.yaml")
PROCESSES = "2"


def make_run(folder: Path) -> None:
    """Make the undisturbed run."""
    folder.mkdir()
    places = ("--snakefile", page.ROOT / "Snakefile", "--directory", folder)
    command = [sys.executable, "-m", "snakemake", "--cores", PROCESSES, "all", "report"]
    subprocess.run([*command, "--configfile", CONFIG, *places], check=True)


def try_faults(folder: Path, finished: Path) -> int:
    """Put every fault upon copies of a run; give the exit code of the tests."""
    command = [sys.executable, "-m", "pytest", "-m", "failures", "-n", PROCESSES, "--durations=20"]
    return subprocess.run(
        [*command, "--basetemp", folder / "pytest", "tests/failures"],
        cwd=page.ROOT,
        env=os.environ | {"DARKSECRETS_FAULTS_RUN": str(finished)},
        check=False,
    ).returncode


def main() -> int:
    """Run the programme; return its exit code."""
    start = time.monotonic()
    page.OUTCOMES.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        make_run(folder / "finished")
        code = try_faults(folder, folder / "finished")
    page.main()
    sys.stdout.write(f"The programme took {(time.monotonic() - start) / 60:.0f} minutes.\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
