"""The lock of a run: released if the run that holds it is gone, explained otherwise.

Snakemake locks the files of a run in ``.snakemake/locks`` until the run ends. A run that is killed,
or whose machine stops, leaves its lock, and every later call stops until somebody calls
``--unlock``. Here every run records itself in ``.snakemake/owners`` before it locks anything. It
and its jobs hold that record with a lock of the operating system (`darksecrets.run.parent`), which
no process outlives. A record on this machine that nobody holds is thus the record of a run that is
gone, all its jobs included.

Nothing is released where this cannot be known: for a run on another machine, a run whose jobs a
scheduler started elsewhere, a disk without such locks, or a lock without a record.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from snakemake.logging import logger

from darksecrets.run import parent
from darksecrets.run.errors import InputError
from darksecrets.run.files import remove
from workflow.lib import compat

PATIENCE = 5.0
"""Seconds given to the jobs of a killed run to end."""

_UNLOCK = "If it no longer runs, `snakemake --unlock` releases the lock; then repeat the command."


@dataclass(frozen=True)
class Owner:
    """A run that locks files.

    Attributes:
        process: Number of Snakemake's process.
        host: Name of its machine.
        machine: Identity of the machine's installation; empty if there is none.
        boot: Identity of the running system.
        started: Local time.
        elsewhere: Whether its jobs run elsewhere, as on a cluster.
        held: Whether it could lock its record.
    """

    process: int
    host: str
    machine: str
    boot: str
    started: str
    elsewhere: bool
    held: bool

    @property
    def here(self) -> bool:
        """Whether it ran on this machine."""
        same = (self.host, self.machine) == (platform.node(), _machine()) and bool(self.machine)
        return same or self.boot == parent.boot()

    @property
    def is_known(self) -> bool:
        """Whether this machine can tell if the run and its jobs have ended."""
        return self.here and self.held and not self.elsewhere

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}, started {self.started}"


@contextlib.contextmanager
def holding(lock: compat.Lock, results: Path, *, elsewhere: bool) -> Iterator[None]:
    """Hold the lock of a run, after releasing that of a run that is gone.

    Args:
        lock: Snakemake's lock.
        results: Folder of the run; what the writers of a run that is gone left in it is removed.
        elsewhere: Whether the jobs of this run run elsewhere.

    Raises:
        InputError: Another run holds the lock, or may; says which and what to do.
    """
    folder = lock.folder / "owners"
    folder.mkdir(exist_ok=True)
    with contextlib.ExitStack() as recorded:
        with _alone(folder), contextlib.ExitStack() as taking:
            _release_if_gone(lock, folder, results)
            recorded.enter_context(_recorded(folder, elsewhere=elsewhere))
            taking.enter_context(lock.take())
            taken = taking.pop_all()
        try:
            yield
        finally:
            with _alone(folder):
                taken.close()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other run take or give back its lock for the moment."""
    with (folder / "starting").open("wb") as starting:
        _locked(starting, fcntl.LOCK_EX)
        yield


def _release_if_gone(lock: compat.Lock, folder: Path, results: Path) -> None:
    """Release the lock if it is certain that the runs that hold it are gone."""
    if not lock.is_taken():
        for record in folder.glob("*.json"):
            if _is_gone(record) or not lock.exists():
                remove(record)
        return
    gone = list(folder.glob("*.json"))
    if going_on := _after_a_moment(folder):
        raise InputError(_explain([_read(record) for record in going_on]))
    if not gone:
        raise InputError(
            f"{Path.cwd()}: found a lock of files that this run makes, but no record of who holds "
            f"it; expected none. {_UNLOCK}"
        )
    whose = " and ".join(str(_read(record)) for record in gone)
    lock.release()
    for left in (*gone, *list(results.rglob(".*.tmp*"))):
        remove(left)
    logger.info(f"Released the lock of a run that was killed ({whose}).")


def _after_a_moment(folder: Path) -> list[Path]:
    """Records of runs that may go on, once the jobs of killed ones had time to end."""
    end = time.monotonic() + PATIENCE
    while going_on := [record for record in folder.glob("*.json") if not _is_gone(record)]:
        if time.monotonic() > end or any(not _read(record).is_known for record in going_on):
            return going_on
        time.sleep(0.1)
    return []


def _explain(owners: list[Owner]) -> str:
    """What to do about runs that may go on."""
    whose = " and ".join(map(str, owners))
    found = f"{Path.cwd()}: found the lock of another run that makes the same files ({whose})"
    if not all(owner.here for owner in owners):
        return f"{found}. Whether it still runs cannot be seen from this machine. {_UNLOCK}"
    if any(owner.elsewhere for owner in owners):
        return f"{found}, whose jobs may run elsewhere: cancel them (docs/cluster.md). {_UNLOCK}"
    if not all(owner.held for owner in owners):
        return f"{found}. Whether it still runs cannot be seen on this disk. {_UNLOCK}"
    return f"{found}; expected none. It still runs: wait until it has ended, or stop it."


def _is_gone(record: Path) -> bool:
    """Whether a run and all its jobs have certainly ended."""
    if not _read(record).is_known:
        return False
    with record.open("rb") as stream:
        return _locked(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def _recorded(folder: Path, *, elsewhere: bool) -> Iterator[None]:
    """Record this run, and hold the record as its jobs do."""
    record = folder / f"{platform.node()}-{os.getpid()}.json"
    with record.open("w+b") as stream:
        owner = Owner(
            process=os.getpid(),
            host=platform.node(),
            machine=_machine(),
            boot=parent.boot(),
            started=time.strftime("%Y-%m-%d %H:%M"),
            elsewhere=elsewhere,
            held=_locked(stream, fcntl.LOCK_SH | fcntl.LOCK_NB),
        )
        stream.write(json.dumps(asdict(owner)).encode())
        stream.flush()
        os.environ[parent.RUN] = str(record.absolute())
        try:
            yield
        finally:
            remove(record)


def _read(record: Path) -> Owner:
    try:
        return Owner(**json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, TypeError):  # the machine stopped while it was written
        return Owner(
            0, "an unknown machine", "", "", "at an unknown time", elsewhere=False, held=False
        )


def _locked(stream: IO[bytes], how: int) -> bool:
    """Try to lock a file until it is closed."""
    try:
        fcntl.flock(stream, how)
    except OSError:
        return False
    return True


def _machine() -> str:
    """Identity of the machine's installation; empty if there is none."""
    file = Path("/etc/machine-id")
    return file.read_text(encoding="ascii").strip() if file.is_file() else ""
