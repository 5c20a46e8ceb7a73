"""Check all results of a run: ``python -m darksecrets.run.verifying results/demo``."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from darksecrets.run.errors import InputError
from darksecrets.run.files import visible, write_json
from darksecrets.run.integrity import RECORD, RECORDS, Damage, Record, damages_of

UNRECORDED = {"logs", "benchmarks", "config.yaml", "origin.json", "left_out.json"}
"""What no job makes, in the folder of a run."""
LIST = ".results.json"
"""The rule of every result that a run has made, by its path in the folder of the run."""
SHOWN = 5
"""Files without a fingerprint that are named."""


@dataclass(frozen=True)
class Found:
    """What a check of all results finds.

    Attributes:
        files: Number of files that were checked.
        damages: Those that are not as they were written.
        missing: Results that are gone, and their rules.
        unreadable: Messages about damaged records.
        unrecorded: Files without a fingerprint.
    """

    files: int
    damages: Sequence[Damage]
    missing: Mapping[Path, str]
    unreadable: Sequence[str]
    unrecorded: Sequence[Path]

    @property
    def whole(self) -> bool:
        """Whether every result is there, and every file with a fingerprint as it was written."""
        return not self.damages and not self.unreadable and not self.missing


def list_results(run: Path, made: Mapping[str, str], *, all_of_run: bool) -> None:
    """List the results of a run that has ended, so that one which is removed later is missed.

    Args:
        run: Folder of the run.
        made: Rule of each result, by its path in the folder.
        all_of_run: Whether the run has made everything; of results that were listed earlier, only
            those that still exist are kept then.
    """
    before = _listed(run)
    kept = {name: rule for name, rule in before.items() if not all_of_run or (run / name).exists()}
    if before != (now := kept | dict(made)):
        write_json(now, run / LIST)


def _listed(run: Path) -> dict[str, str]:
    """The results that are listed; none if there is no list, as of earlier versions.

    Raises:
        InputError: The list is damaged.
    """
    file = run / LIST
    try:
        return {str(name): str(rule) for name, rule in json.loads(file.read_bytes()).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise InputError(
            f"{file}: found no list of results ({error}), expected that of the run. Remove it, and "
            "repeat the run's command."
        ) from None


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
    try:
        missing = {run / name: rule for name, rule in _listed(run).items()}
    except InputError as error:
        missing, unreadable = {}, [*unreadable, str(error)]
    missing = {path: rule for path, rule in missing.items() if not path.exists()}
    known = recorded | {damage.file for damage in damages}
    others = [path for path in visible(run) if path.relative_to(run).parts[0] not in UNRECORDED]
    unrecorded = [path for path in others if path not in known]
    return Found(len(recorded), damages, missing, unreadable, unrecorded)


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
    lines += ["", f"Damaged, edited or missing: {_count(found)}"]
    lines += [
        f"  {damage.file} (rule {damage.record.rule}): found {damage.found}, expected "
        f"{damage.expected or 'none'}"
        for damage in found.damages
    ]
    lines += [f"  {path} (rule {rule}): found nothing" for path, rule in found.missing.items()]
    lines += [f"  {message}" for message in found.unreadable]
    return "\n".join([*lines, *_advice(run, found)])


def _count(found: Found) -> int:
    return len(found.damages) + len(found.missing) + len(found.unreadable)


def _advice(run: Path, found: Found) -> list[str]:
    """The commands that make damaged and missing results again, and remove what is too much."""
    lines = []
    extra = [str(damage.file) for damage in found.damages if damage.expected is None]
    damaged = [damage.record.result for damage in found.damages if damage.expected is not None]
    if extra:
        lines += ["", "To remove what no rule has written:", f"  rm {_named(extra)}"]
    if results := _named({str(result) for result in (*damaged, *found.missing)}):
        config = shlex.quote(str(run / "config.yaml"))
        lines += [
            "",
            "To make these results again, and what depends on them:",
            f"  rm -rf {results}",
            f"  snakemake --cores {os.cpu_count()} --configfile {config} all report {results}",
        ]
    return lines


def _named(paths: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, sorted(paths)))


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
