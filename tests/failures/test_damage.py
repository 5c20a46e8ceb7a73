"""Every kind of file of a run, truncated, changed by a bit, emptied or deleted."""

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from failures.trial import EQUAL, MESSAGE, RESULTS, Trial, check_message, names_times

from darksecrets.run import verifying
from darksecrets.run.files import fingerprint, remove, visible
from darksecrets.run.integrity import RECORD, damages_of, is_recorded
from darksecrets.run.verifying import UNRECORDED

pytestmark = pytest.mark.failures

DAMAGES = ("truncated", "a bit flipped", "emptied", "deleted")
TIMES = ("times kept", "new times")
GROUPS = 15
"""Kinds of a group are damaged at the same time; one after the other would take an hour."""
_OF_RUN = re.compile(r"RTE|STS-B|FrameNet|finetuned-from-normal|finetuned|pretrained|random|frozen")
NOT_RESULTS = {"logs", "benchmarks"}  # what no job reads


def kinds(folder: Path) -> list[list[Path]]:
    """Files of a run by kind: what differs between tasks, models and seeds is left out."""
    found = defaultdict(list)
    for path in visible(folder / RESULTS):
        name = path.relative_to(folder / RESULTS)
        if (top := name.parts[0]) not in NOT_RESULTS:
            kind = re.sub(r"/seed-\d+|\d+", "", _OF_RUN.sub("", str(name)))
            kind = f"{top} {path.suffix}" if top in ("figures", "tables") else kind
            found[kind].append(path.relative_to(folder))
    return list(found.values())


def damage(file: Path, how: str, times: str, chance) -> None:
    """Damage a file, or delete it."""
    before, content = file.stat(), bytearray(file.read_bytes())
    if how == "deleted":
        file.unlink()
        return
    if how == "a bit flipped" and content:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    else:
        content = content[: len(content) // 2] if how == "truncated" else b""
    file.write_bytes(content)
    if times == "times kept":
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def result_of(trial: Trial, file: Path) -> Path | None:
    """The result that a file belongs to, as rules name it; None if no job made it."""
    return next(
        (path for path in (file, *file.parents) if is_recorded(trial.finished / path)), None
    )


@pytest.mark.parametrize("group", range(GROUPS))
def test_damaged_files_are_never_used(trial, consumers, chance, group, outcomes):
    files = kinds(trial.folder)
    damaged = {}
    for kind in range(group * len(files) // GROUPS, (group + 1) * len(files) // GROUPS):
        file = chance.choice(files[kind])
        how, times = DAMAGES[kind % 4], TIMES[(kind // 4) % 2]
        damage(trial.folder / file, how, times, chance)
        damaged[file] = f"{file.relative_to(RESULTS)} {how}, {times}"
    read = {file: readers(file, consumers) - {str(each) for each in damaged} for file in damaged}
    for target in set().union(*read.values()):  # jobs have to run
        remove(trial.folder / target)
    said = call_until_equal(trial, read)
    for file, what in damaged.items():
        outcomes.add("damage", what, MESSAGE if file in said else EQUAL)


def readers(file: Path, consumers) -> set[str]:
    """What a job makes that reads a file: results, or any if it is a record of the run."""
    if file.name in UNRECORDED:
        return {str(RESULTS / "figures" / f"figure5.{suffix}") for suffix in ("pdf", "png", "svg")}
    names = (str(path) for path in (file, *file.parents))
    result = next((name for name in names if name in consumers), None)
    return set(min(consumers[result])) if result else set()


def call_until_equal(trial: Trial, read: dict[Path, set[str]]) -> set[Path]:
    """A call makes equal results, or names files; after what it advises, results are equal.

    Args:
        trial: A run with damaged files.
        read: Of each such file, what a job makes that reads it; it is gone.

    Returns:
        The damaged files that were not made again by the first call.
    """
    results = {str(result_of(trial, file)) for file in read if file.name not in UNRECORDED}
    targets = sorted(results.union(*read.values()))
    called = trial.call(*targets)
    output = called.stdout + called.stderr
    said = {file for file in read if not is_as_before(trial, file)}
    for target in set().union(*read.values()):
        if (trial.folder / target).exists():
            trial.compare([target])
    if called.returncode:
        check_message(output)
    found = verifying.verify(trial.folder / RESULTS)
    for file in said:
        made = [target for target in read[file] if (trial.folder / target).exists()]
        assert not made, f"{file} was used"
        if file.name in UNRECORDED:
            assert f"{file}: found" in output, output
            remove(trial.folder / file)
        else:
            assert trial.folder / file in {each.file for each in found.damages}
    done = trial.call(*targets, *remade_as_advised(trial, found))
    assert done.returncode == 0, done.stdout + done.stderr
    assert verifying.verify(trial.folder / RESULTS).whole
    trial.compare(targets)
    return said


def remade_as_advised(trial: Trial, found: verifying.Found) -> list[str]:
    """Remove what `make verify` says to make again; name it."""
    results = {damage.record.result for damage in found.damages} | set(found.missing)
    for result in results:
        remove(result)
    return sorted(str(result.relative_to(trial.folder)) for result in results)


def is_as_before(trial: Trial, file: Path) -> bool:
    """Whether a file was made again; one that names the time need only be as it was written."""
    new, old = trial.folder / file, trial.finished / file
    if names_times(file):
        result = trial.folder / (result_of(trial, file) or file)
        return new not in {each.file for each in damages_of(result, verify=True)}
    return new.is_file() and fingerprint(new) == fingerprint(old)


def test_every_damage_of_every_kind_of_file_is_found(trial, chance, outcomes):
    """What jobs and `make verify` compare files with, for all damages and times."""
    for files in kinds(trial.folder):
        file = trial.folder / chance.choice(files)
        if file.name in UNRECORDED:
            continue
        (result,) = (path for path in (file, *file.parents) if is_recorded(path))
        whole, times = file.read_bytes(), file.stat()
        for how in DAMAGES:
            for kept in TIMES if whole or how == "deleted" else ():
                damage(file, how, kept, chance)
                for verify in (False, True):
                    found = [each.file for each in damages_of(result, verify=verify)]
                    assert found == [file], (file, how, kept)
                file.write_bytes(whole)
                os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
                name = file.relative_to(trial.folder / RESULTS)
                outcomes.add("damage, checked only", f"{name} {how}, {kept}", MESSAGE)
    assert len(outcomes.rows) > 400
    assert verifying.verify(trial.folder / RESULTS).whole


def test_folders_that_are_deleted_are_missed_and_made_again(trial, chance, outcomes):
    folders = sorted(path.parent for path in (trial.folder / RESULTS).rglob(RECORD))
    gone = chance.sample(folders, 4)
    for folder in gone:
        remove(folder)
    found = verifying.verify(trial.folder / RESULTS)
    assert set(found.missing) == set(gone)
    assert not found.damages
    again = remade_as_advised(trial, found)
    assert trial.call("all", "report", *again).returncode == 0
    trial.compare(again)
    trial.compare()
    assert verifying.verify(trial.folder / RESULTS).whole
    for folder in gone:
        outcomes.add("damage", f"{folder.relative_to(trial.folder)} deleted whole", MESSAGE)


def test_a_file_added_to_a_folder_is_found_and_stops_the_jobs_that_read_it(
    trial, consumers, chance, outcomes
):
    folders = {path.parent for path in (trial.folder / RESULTS).rglob(RECORD)}
    names = [name for name in sorted(consumers) if trial.folder / name in folders]
    result = chance.choice(names)
    added = trial.folder / result / "added.json"
    added.write_text("{}")
    found = verifying.verify(trial.folder / RESULTS)
    assert [each.file for each in found.damages] == [added]
    targets = chance.choice(consumers[result])
    for target in targets:
        remove(trial.folder / target)
    called = trial.call(*targets)
    output = called.stdout + called.stderr
    assert called.returncode
    check_message(output)
    assert f"{result}/added.json: found a file that" in output
    added.unlink()
    assert trial.end_after(*targets) == EQUAL
    outcomes.add("damage", f"{result}: a file added", MESSAGE)
