"""What jobs record of their results, and what readers notice of them."""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from darksecrets.core.run import records
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import fingerprint

RECORD = Path("results/demo/records/finetune/RTE/seed-1.json")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with a job that made a table and a model with a large file."""
    monkeypatch.chdir(tmp_path)
    run = Path("results/demo")
    (run / "tables").mkdir(parents=True)
    (run / "tables" / "a.csv").write_text("x\n1\n")
    (run / "models" / "b").mkdir(parents=True)
    (run / "models" / "b" / "config.json").write_text("{}")
    (run / "models" / "b" / "weights").write_bytes(os.urandom(records.LARGE + 1))
    outputs = [run / "tables" / "a.csv", run / "models" / "b"]
    records.write(RECORD, {"rule": "finetune", "seconds": 1.5}, {"data": "ab"}, outputs)
    return run


def check(*paths):
    return records.check(Path("results/demo/records/other.json"), paths)


def test_a_record_is_named_like_the_log_of_its_job():
    log = Path("/x/results/demo/logs/finetune/RTE/seed-1.log")
    assert records.place_of(log) == Path("/x") / RECORD
    assert records.run_of(Path("/x") / RECORD) == Path("/x/results/demo")


@pytest.mark.parametrize("run", ["demo", "logs", "records", "results"])
@pytest.mark.parametrize("task", ["RTE", "logs", "records", "results", "a.b"])
def test_runs_and_tasks_may_be_named_as_folders_are(run, task):
    log = Path(f"results/{run}/logs/finetune/{task}/seed-1.log")
    record = Path(f"results/{run}/records/finetune/{task}/seed-1.json")
    assert records.place_of(log) == record
    assert records.run_of(record) == Path("results", run)


def test_a_record_says_what_made_the_results_and_what_they_are(run):
    import torch

    found = json.loads(RECORD.read_text())
    assert found["rule"] == "finetune"
    assert found["inputs"] == {"data": "ab"}
    assert set(found["outputs"]) == {"tables/a.csv", "models/b"}
    assert found["outputs"]["tables/a.csv"]["."]["size"] == 4
    assert set(found["outputs"]["models/b"]) == {"config.json", "weights"}
    assert torch.__version__.startswith(found["environment"]["libraries"]["torch"].split("+")[0])
    paths = run / "tables" / "a.csv", run / "models" / "b"
    assert check(*paths) == {str(path): fingerprint(path) for path in paths}


def test_what_no_job_made_is_identified_and_not_checked(run):
    own = Path("own.csv")
    own.write_text("y\n")
    assert check(own) == {"own.csv": fingerprint(own)}


def keep_times(file: Path, content: bytes) -> None:
    before = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", ["tables/a.csv", "models/b/config.json", "models/b/weights"])
@pytest.mark.parametrize("how", ["bit", "truncated", "emptied", "deleted"])
def test_every_damage_is_noticed_even_if_times_are_kept(run, name, how):
    file = run / name
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    if how == "deleted":
        file.unlink()
    else:
        keep_times(file, {"bit": content, "truncated": content[:-1], "emptied": b""}[how])
    result = run / "models" / "b" if "models" in name else file
    if how == "deleted" and result == file:
        return  # Snakemake makes it again
    with pytest.raises(InputError, match=rf"{name} .*rm -r '{result}'.*rm '{RECORD}'"):
        check(result)


def test_a_file_too_many_is_noticed(run):
    (run / "models" / "b" / "more.json").write_text("{}")
    with pytest.raises(InputError, match=r"b/more\.json was not written"):
        check(run / "models" / "b")
    (run / "models" / "b" / "more.json").rename(run / "models" / "b" / ".hidden")
    check(run / "models" / "b")


def test_a_file_of_a_result_is_checked_with_the_whole(run):
    (run / "models" / "b" / "config.json").write_text("[]")
    with pytest.raises(InputError, match=r"config\.json"):
        check(run / "models" / "b" / "weights")


def test_swapped_results_are_noticed(run):
    other = run / "models" / "c"
    other.mkdir()
    (other / "config.json").write_text("{}")
    (other / "weights").write_bytes(os.urandom(records.LARGE + 1))
    records.write(RECORD.with_name("seed-2.json"), {"rule": "finetune"}, {}, [other])
    check(run / "models" / "b", other)
    for old, new in (("b", "x"), ("c", "b"), ("x", "c")):
        (run / "models" / old).rename(run / "models" / new)
    with pytest.raises(InputError, match="models/b/weights"):
        check(run / "models" / "b")


def test_a_copy_of_a_run_is_checked_in_its_own_folder(run):
    shutil.copytree("results/demo", "results/copy")
    copy = Path("results/copy/models/b")
    there = Path("results/copy/records/other.json")
    records.check(there, [copy])
    keep_times(copy / "weights", bytes(records.LARGE + 1))
    with pytest.raises(InputError, match="copy/models/b/weights"):
        records.check(there, [copy])
    check(run / "models" / "b")


def test_the_later_of_two_records_of_a_result_counts(run):
    """As after a rule was renamed: the earlier record stays, with what it wrote."""
    table = run / "tables" / "a.csv"
    table.write_text("x\n2\n")
    records.write(RECORD.with_name("renamed.json"), {"rule": "other"}, {}, [table])
    check(table)
    table.write_text("x\n1\n")
    with pytest.raises(InputError, match=r"a\.csv"):
        check(table)


CONTENT = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "an object": lambda _: "{}",
    "a list": lambda _: "[]",
    "null": lambda _: "null",
    "a number": lambda _: "7",
    "deep": lambda _: "[" * 10**5,
    "no outputs": lambda text: text.replace('"outputs"', '"puts"'),
    "no digest": lambda text: text.replace('"sha256"', '"sha"'),
    "a size in letters": lambda text: text.replace('"size": 4', '"size": "4"'),
    "no environment": lambda text: text.replace('"environment"', '"env"'),
    "no time": lambda text: text.replace('"created"', '"creation"'),
}


@pytest.mark.parametrize("how", CONTENT)
def test_a_damaged_record_is_named(run, how):
    changed = CONTENT[how](RECORD.read_text())
    RECORD.write_text(changed)
    table = run / "tables" / "a.csv"
    with pytest.raises(InputError, match=f"{RECORD} is no record of a job .* Remove it"):
        check(table)
    with pytest.raises(InputError, match=str(RECORD)):
        list(records.read_all(run))
    RECORD.unlink()
    assert check(table) == {str(table): fingerprint(table)}


@pytest.mark.parametrize("content", ["", "{}", "[]", "null", '{"record"'])
def test_a_damaged_name_of_a_record_is_named(run, content):
    pointer = run / "records" / "made" / "tables" / "a.csv.json"
    pointer.write_text(content)
    with pytest.raises(InputError, match=f"{pointer} names no record of a job"):
        check(run / "tables" / "a.csv")
    check(run / "models" / "b")
    pointer.unlink()
    check(run / "tables" / "a.csv")


def test_a_job_reads_the_records_of_its_inputs_only(run, monkeypatch):
    """A run of 40 tasks has a thousand records; a damaged one of another result is not read."""
    for seed in range(2, 30):
        RECORD.with_name(f"seed-{seed}.json").write_text("{")
    read = []
    monkeypatch.setattr(
        records, "_read", lambda file, known=records._read: read.append(file) or known(file)
    )
    check(run / "tables" / "a.csv", run / "models" / "b", run / "models" / "b" / "weights")
    assert read == [RECORD]


def test_bits_that_storage_lost_are_noticed_if_everything_is_verified(run):
    """They change no time; here the record is given that of the damaged file."""
    file = run / "models" / "b" / "weights"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    known = json.loads(RECORD.read_text())
    known["outputs"]["models/b"]["weights"]["changed"] = file.stat().st_ctime_ns
    RECORD.write_text(json.dumps(known))
    check(run / "models" / "b")
    there = Path("results/demo/records/other.json")
    with pytest.raises(InputError, match=r"weights has the SHA-256"):
        records.check(there, [run / "models" / "b"], thorough=True)
    assert list(records.check(there, [run / "tables" / "a.csv"], thorough=True))


def test_other_jobs_may_write_and_remove_their_records_meanwhile(run, monkeypatch):
    RECORD.with_name(".seed-2.4711.tmp.json").write_text("{")
    assert [file for file, _ in records.read_all(run)] == [RECORD]
    gone = RECORD.with_name("seed-3.json")
    monkeypatch.setattr(records, "visible", lambda _: [gone, RECORD])
    assert [file for file, _ in records.read_all(run)] == [RECORD]


@pytest.mark.parametrize(
    ("noted", "commit"),
    [
        (
            '{"url": "u", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}}',
            "0123456789ab",
        ),
        ('{"url": "u", "dir_info": {}}', None),
        ("{", None),
        (None, None),
    ],
)
def test_the_commit_of_an_installed_package_is_what_pip_noted(noted, commit, monkeypatch):
    installed = SimpleNamespace(read_text=lambda _: noted)
    monkeypatch.setattr(records.importlib.metadata, "distribution", lambda _: installed)
    assert records._find_installed_commit() == commit
