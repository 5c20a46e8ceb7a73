"""Check all results of a run: ``python -m darksecrets.run.verifying results/demo``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from darksecrets.run.errors import InputError
from darksecrets.run.files import visible
from darksecrets.run.integrity import RECORD, RECORDS, Damage, Record, damages_of

UNRECORDED = {"logs", "benchmarks", "config.yaml", "origin.json", "left_out.txt"}
"""What no job makes, in the folder of a run."""
SHOWN = 5
"""Files without a fingerprint that are named."""


@dataclass(frozen=True)
class Found:
    """What a check of all results finds.

    Attributes:
        files: Number of files that were checked.
        damages: Those that are not as they were written.
        unreadable: Messages about damaged records.
        unrecorded: Files without a fingerprint.
    """

    files: int
    damages: Sequence[Damage]
    unreadable: Sequence[str]
    unrecorded: Sequence[Path]

    @property
    def whole(self) -> bool:
        """Whether every file with a fingerprint is as it was written."""
        return not self.damages and not self.unreadable


def verify(run: Path) -> Found:
    """Digest every file of a run that has a fingerprint.

    Args:
        run: Folder of the run, ``results/<run>``.

    Raises:
        InputError: There is no result.
    """
    results = sorted(
        [path.parent for path in run.rglob(RECORD)]
        + [path.parents[1] / path.stem for path in run.rglob(f"{RECORDS}/*.json")]
    )
    if not results:
        raise InputError(
            f"{run}: found no fingerprints, expected those of a run's results. Name the folder of "
            "a run; runs of earlier versions have none."
        )
    recorded: set[Path] = set()
    damages: list[Damage] = []
    unreadable: list[str] = []
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # digests are computed in parallel
        for checked in threads.map(_check, results):
            if isinstance(checked, InputError):
                unreadable.append(str(checked))
            else:
                recorded |= checked[0]
                damages += checked[1]
    others = [path for path in visible(run) if path.relative_to(run).parts[0] not in UNRECORDED]
    unrecorded = [path for path in others if path not in recorded]
    return Found(len(recorded), damages, unreadable, unrecorded)


def _check(result: Path) -> tuple[set[Path], list[Damage]] | InputError:
    try:
        record = Record.read(result)
        files = {record.folder / name for name in record.files} if record else set()
        return files, list(damages_of(result, verify=True))
    except InputError as error:
        return error


def report(run: Path, found: Found) -> str:
    """What a check found, and the commands that make damaged results again."""
    lines = [f"{run}: checked {found.files} files."]
    if count := len(found.unrecorded):
        named = ", ".join(map(str, found.unrecorded[:SHOWN])) + (", …" if count > SHOWN else "")
        lines.append(f"Without a fingerprint, so not checked: {count} ({named}).")
    if found.whole:
        return "\n".join([*lines, "All are as they were written."])
    lines += ["", f"Damaged, or edited: {len(found.damages) + len(found.unreadable)}"]
    lines += [
        f"  {damage.file} (rule {damage.record.rule}): found {damage.found}, expected "
        f"{damage.expected}"
        for damage in found.damages
    ]
    lines += [f"  {message}" for message in found.unreadable]
    results = sorted({str(damage.record.result) for damage in found.damages})
    if results:
        named = " ".join(map(shlex.quote, results))
        lines += [
            "",
            "To make these results again, and what depends on them:",
            f"  rm -rf {named}",
            f"  snakemake --cores {os.cpu_count()} --configfile "
            f"{shlex.quote(str(run / 'config.yaml'))} all report {named}",
        ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a run, print what was found; return 1 if a file is damaged, 2 if there is no run."""
    parser = argparse.ArgumentParser(
        prog="python -m darksecrets.run.verifying", description="Check all results of a run."
    )
    parser.add_argument("run", type=Path, help="folder of the run: results/<run>")
    run: Path = parser.parse_args(arguments).run
    try:
        found = verify(run)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{report(run, found)}\n")
    return int(not found.whole)


if __name__ == "__main__":
    sys.exit(main())
