"""Every kind of file of a run, truncated, changed by a bit, emptied or deleted."""

import os
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from faults.trial import EQUAL, MESSAGE, RESULTS, Trial, check_message

from darksecrets.run import verifying
from darksecrets.run.files import PROVENANCE, fingerprint, visible

pytestmark = pytest.mark.faults

DAMAGES = ("truncated", "a bit flipped", "emptied", "deleted")
TIMES = ("times kept", "new times")
KINDS = 93
"""As many as there are kinds of files."""
_OF_RUN = re.compile(r"RTE|STS-B|FrameNet|finetuned-from-normal|finetuned|pretrained|random|frozen")
NOT_RESULTS = {"logs", "benchmarks"}


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
    result = result_of(file, consumers)
    targets = chance.choice(consumers[result]) if result else [str(file)]
    if result:  # a job has to read it
        for target in targets:
            shutil.move(trial.folder / target, trial.folder / "moved")
            shutil.rmtree(trial.folder / "moved", ignore_errors=True)
            (trial.folder / "moved").unlink(missing_ok=True)
    end = ends(trial, file, targets)
    outcomes.add("damage", f"{file.relative_to(RESULTS)} {how}, {times}", end)


def ends(trial: Trial, file: Path, targets: list[str]) -> str:
    """A call makes equal results, or names the file; after what it advises, results are equal."""
    called = trial.call(*targets)
    output = called.stdout + called.stderr
    if called.returncode == 0 and is_as_before(trial, file):
        trial.compare(targets)
        return EQUAL
    if called.returncode:
        check_message(output)
        assert str(file) in output or file.name in output, output
    if file.parent == RESULTS:  # the run's own records: the message is all
        assert called.returncode, f"{file} is damaged, and nothing was said"
        return MESSAGE
    found = verifying.verify(trial.folder / RESULTS)
    assert trial.folder / file in {each.file for each in found.damages}
    for each in {each.record.result for each in found.damages}:
        shutil.rmtree(each) if each.is_dir() else each.unlink(missing_ok=True)
    remade = {str(each.record.result.relative_to(trial.folder)) for each in found.damages}
    done = trial.call(*targets, *remade)
    assert done.returncode == 0, done.stdout + done.stderr
    trial.compare([*targets, *remade])
    return MESSAGE


def is_as_before(trial: Trial, file: Path) -> bool:
    """Whether a file was made again; its provenance differs by the time."""
    new, old = trial.folder / file, trial.finished / file
    if PROVENANCE in file.name or file.name == "report.html":
        return new.is_file() and new.stat().st_size > 100
    return new.is_file() and fingerprint(new) == fingerprint(old)


def test_every_damage_of_every_kind_of_file_is_found(trial, chance, outcomes):
    """What jobs and `make verify` compare files with, for all damages and times."""
    checked = 0
    for files in kinds(trial.folder):
        file = trial.folder / chance.choice(files)
        if file.parent == trial.folder / RESULTS and file.suffix in (".yaml", ".json"):
            continue
        whole, times = file.read_bytes(), file.stat()
        for how in DAMAGES:
            for kept in TIMES:
                if not whole and how != "deleted":
                    continue
                damage(file, how, kept, chance)
                found = verifying.verify(trial.folder / RESULTS)
                assert [each.file for each in found.damages] == [file], (file, how, kept)
                file.write_bytes(whole)
                os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
                outcomes.add("damage, verified", f"{file.name} {how}, {kept}", MESSAGE)
                checked += 1
    assert checked > 400
    assert verifying.verify(trial.folder / RESULTS).whole
