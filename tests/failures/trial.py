"""Runs that faults are put upon, and what came of them."""

import contextlib
import csv
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import processes
import psutil
from hub.client import ROOT

from darksecrets.run import hashes
from darksecrets.run.files import PROVENANCE, fingerprint, visible

CONFIG = Path(__file__).parent / "run.yaml"
RESULTS = Path("results/faults")
OUTCOMES = ROOT / "results" / "failures" / "outcomes.csv"
SEED = 2019
ENDS = (PROVENANCE, "report.html", "run.html", "run.json", "atlas.html")
"""Ends of the names of results that tell times or commits, beside those of measured times."""
LONGEST = 900
"""Seconds after which a call counts as one that never ends."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

Call = Callable[..., subprocess.CompletedProcess]


@dataclass
class Outcomes:
    """What a test tried, and how it ended: kind, fault, end."""

    rows: list[tuple[str, str, str]] = field(default_factory=list)
    nothing: bool = False
    """Whether nothing was tried, because the moment for it had passed."""

    def add(self, kind: str, fault: str, end: str) -> None:
        self.rows.append((kind, fault, end))


def keep_outcomes(file: Path, test: str, rows: Sequence[tuple[str, str, str]]) -> None:
    """Put a test's outcomes in place of its earlier ones, so that parts of a programme add up."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+", encoding="utf-8", newline="") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)  # two processes run the programme
        stream.seek(0)
        kept = [row for row in list(csv.reader(stream))[1:] if row[0] != test]
        stream.truncate(0)
        made = [(test, *row) for row in rows]
        csv.writer(stream).writerows([("test", "kind", "fault", "end"), *kept, *made])


EQUAL, MESSAGE, FAILED = "equal results", "a message", "failed"


@dataclass
class Trial:
    """A working directory, and the undisturbed run that its results are compared with.

    Attributes:
        folder: The directory.
        finished: Directory of the undisturbed run.
        snakemake: Calls Snakemake; from `call_snakemake`.
        environment: Variables of the calls.
    """

    folder: Path
    finished: Path
    snakemake: Call
    environment: dict[str, str] = field(default_factory=dict)

    def fill(self) -> None:
        """Copy the finished run, times kept."""
        subprocess.run(["cp", "-a", f"{self.finished}/.", str(self.folder)], check=True)

    def arguments(self, *given: object) -> list[str]:
        places = ("--snakefile", ROOT / "Snakefile", "--directory", self.folder, "--cores", 2)
        return [*map(str, given), "--configfile", str(CONFIG), *map(str, places)]

    def call(self, *given: object) -> subprocess.CompletedProcess:
        """The plain call that a user repeats."""
        return self.snakemake(self.arguments(*given), self.folder, os.environ | self.environment)

    def start(self, *given: object, log: str = "started.txt") -> subprocess.Popen[str]:
        """The same, going on in the background."""
        command = [sys.executable, "-m", "snakemake", *self.arguments(*given)]
        with (self.folder / log).open("w") as stream:
            return processes.start(
                command,
                self.folder,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=os.environ | self.environment,
            )

    def end_after(self, *given: object) -> str:
        """Make a plain call, which must end in results equal to the undisturbed run's.

        Otherwise, it must end in one message that says what to do.
        """
        said = self.call(*given)
        output = said.stdout + said.stderr
        if said.returncode == 0:
            self.compare(given)
            return EQUAL
        check_message(output)
        return MESSAGE

    def compare(self, targets: Sequence[object] = ()) -> None:
        """Compare results with the undisturbed run's; tables and figures if no files are named."""
        paths = [Path(str(name)) for name in targets if "/" in str(name)]
        for path in paths or shown(self.finished):
            if not names_times(path):
                assert (self.folder / path).exists(), path
                new, old = self.folder / path, self.finished / path
                assert fingerprint(new) == fingerprint(old), difference(new, old)


def names_times(path: Path) -> bool:
    """Whether a result tells times or commits, which differ from run to run."""
    return path.name.endswith(ENDS) or path.stem in hashes.TIMED


def shown(folder: Path) -> list[Path]:
    """All tables and figures of a run, from its working directory."""
    found = [path for name in ("tables", "figures") for path in visible(folder / RESULTS / name)]
    return [path.relative_to(folder) for path in found]


def difference(new: Path, old: Path) -> str:
    """Where two results differ first: the file, and the lines of a text."""
    for file in visible(old) if old.is_dir() else [old]:
        other = new / file.relative_to(old) if old.is_dir() else new
        pairs = zip(other.read_bytes().splitlines(), file.read_bytes().splitlines(), strict=False)
        for number, (found, expected) in enumerate(pairs, 1):
            if found != expected:
                return f"{other}, line {number}: found {found[:500]!r}, expected {expected[:500]!r}"
    return f"{new}: found other files or lengths than in {old}"


def check_message(output: str) -> None:
    """Check that a failed call says what is wrong and what to do, without a traceback."""
    assert "Traceback" not in output, output
    advice = r"make (it|them|these|this)|Remove|Free|wait until|Use |Give it more|--unlock|rm "
    advice += r"|same command|Check |Start |Run (again|once)|run again"
    assert re.search(advice, output), output


# Processes


def jobs_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Processes that run scripts of a Snakemake: forks, or of their own."""
    found = []
    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                line, parent = child.cmdline(), child.parent()
                is_script = any(".snakemake/scripts/" in word for word in line)
                forked = parent and parent.pid != process.pid and "forkserver" in " ".join(line)
                if (is_script and "bash" not in line[0]) or forked:
                    found.append(child)
    return found


def wait_for(found: Callable[[], object], seconds: float = LONGEST) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found():
            return True
        time.sleep(0.05)
    return False


def strike(
    process: subprocess.Popen[str],
    whom: str,
    number: signal.Signals,
    delay: float,
    *,
    between: bool = False,
) -> list[psutil.Process] | None:
    """Send a signal some time after the first job has started.

    Args:
        process: A Snakemake.
        whom: `job`, `snakemake`, or `all` for its process group, as a terminal does.
        number: The signal.
        delay: Seconds from the start of the job.
        between: Whether to wait although no job runs; if not, the signal comes once that is so.

    Returns:
        The jobs that were running; None if all had ended.
    """
    assert wait_for(lambda: jobs_of(process) or process.poll() is not None)
    end = time.monotonic() + delay
    goes_on = process.poll if between else lambda: None if jobs_of(process) else 0
    wait_for(lambda: time.monotonic() > end or goes_on() is not None)
    running = jobs_of(process)
    if process.poll() is not None:
        return None
    with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
        if whom == "all":
            os.killpg(process.pid, number)
        elif whom == "snakemake" or not running:
            process.send_signal(number)
        else:
            running[0].send_signal(number)
    return running


def wait_for_end(process: subprocess.Popen[str], jobs: Sequence[psutil.Process] | None) -> None:
    """Wait until a Snakemake has ended; its jobs must end with it."""
    process.wait(LONGEST)
    assert wait_for(lambda: not any(map(runs, jobs or ())), 15), "a job goes on alone"


def runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@contextlib.contextmanager
def small_disk(folder: Path, free: int) -> Iterator[Callable[[], None]]:
    """Replace a folder by a disk that has some bytes free; the function given makes it large."""
    saved = folder.with_name(f"{folder.name}.saved")
    folder.rename(saved)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", str(folder)], check=True)

    def resize(size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(folder)], check=True)

    try:
        subprocess.run(["cp", "-a", f"{saved}/.", str(folder)], check=True)
        (folder / "not-empty").touch()  # Snakemake removes folders that are
        now = os.statvfs(folder)
        resize((now.f_blocks - now.f_bfree) * now.f_frsize + free)
        yield lambda: resize(2**30)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
