"""Every kind of file of a run, truncated, changed by a bit, emptied or deleted."""

import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from faults.trial import EQUAL, MESSAGE, NAME_TIMES, RESULTS, Trial, check_message

from darksecrets.run import verifying
from darksecrets.run.files import fingerprint, remove, visible
from darksecrets.run.integrity import RECORD, damages_of, is_recorded
from darksecrets.run.verifying import UNRECORDED

pytestmark = pytest.mark.faults

DAMAGES = ("truncated", "a bit flipped", "emptied", "deleted")
TIMES = ("times kept", "new times")
KINDS = 93
"""As many as there are kinds of files."""
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


def result_of(file: Path, consumers) -> str | None:
    """The result that a file belongs to, as rules name it, if a job reads it."""
    names = (str(path) for path in (file, *file.parents))
    return next((name for name in names if name in consumers), None)


@pytest.mark.parametrize("kind", range(KINDS))
def test_a_damaged_file_is_never_used(trial, consumers, chance, kind, outcomes):
    files = kinds(trial.folder)
    assert len(files) == KINDS
    file = chance.choice(files[kind])
    how, times = DAMAGES[kind % 4], TIMES[(kind // 4) % 2]
    damage(trial.folder / file, how, times, chance)
    targets = readers(file, consumers, chance)
    for target in targets:  # a job has to run
        remove(trial.folder / target)
    end = ends(trial, file, targets)
    outcomes.add("damage", f"{file.relative_to(RESULTS)} {how}, {times}", end)


def readers(file: Path, consumers, chance) -> list[str]:
    """What a job makes that reads a file: results, or any if it is a record of the run."""
    if file.name in UNRECORDED:
        return [str(RESULTS / "figures" / f"figure5.{suffix}") for suffix in ("pdf", "png", "svg")]
    names = (str(path) for path in (file, *file.parents))
    result = next((name for name in names if name in consumers), None)
    return chance.choice(consumers[result]) if result else []


def ends(trial: Trial, file: Path, targets: list[str]) -> str:
    """A call makes equal results, or names the file; after what it advises, results are equal."""
    called = trial.call(*(targets or [file]))
    output = called.stdout + called.stderr
    if called.returncode == 0 and is_as_before(trial, file):
        trial.compare(targets)
        return EQUAL
    if called.returncode:
        check_message(output)
        assert str(file) in output or file.name in output, output
    if file.name in UNRECORDED:
        assert called.returncode, f"{file} is damaged, and nothing was said"
        remove(trial.folder / file)
    found = verifying.verify(trial.folder / RESULTS)
    assert file.name in UNRECORDED or not found.whole
    done = trial.call(*targets, *remade_as_advised(trial, found))
    assert done.returncode == 0, done.stdout + done.stderr
    assert is_as_before(trial, file)
    trial.compare(targets)
    return MESSAGE


def remade_as_advised(trial: Trial, found: verifying.Found) -> list[str]:
    """Remove what `make verify` says to make again; name it."""
    results = {damage.record.result for damage in found.damages} | set(found.missing)
    for result in results:
        remove(result)
    return sorted(str(result.relative_to(trial.folder)) for result in results)


def is_as_before(trial: Trial, file: Path) -> bool:
    """Whether a file was made again; some name the time."""
    new, old = trial.folder / file, trial.finished / file
    if file.name.endswith(NAME_TIMES):
        return new.is_file() and new.stat().st_size > 100
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
