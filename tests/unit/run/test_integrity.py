"""Results that are not as they were written, whatever their times say, and those that are."""

import hashlib
import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from darksecrets.run import integrity
from darksecrets.run.errors import InputError
from darksecrets.run.files import PROVENANCE, fingerprint, write_json
from darksecrets.run.integrity import Chunks, Record, check, forget

LARGE = integrity.ALWAYS + 5_000
CHUNK = 2**19


def recorded(path: Path, rule: str = "make_it") -> Path:
    """Record a result as a job does."""
    Record.take(path, rule).write()
    return path


def settle(path: Path) -> None:
    """Wait until a file's times are old enough to be trusted."""
    while time.time_ns() - path.stat().st_ctime_ns < 2 * integrity._SAME_TIME:
        time.sleep(0.01)


def edit(file: Path, change) -> None:
    """Change a file's content in place and set its modification time back."""
    before = file.stat()
    file.write_bytes(change(file.read_bytes()))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def bit(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def digit(content: bytes) -> bytes:
    return content.replace(b"7", b"8", 1)


def empty(_: bytes) -> bytes:
    return b""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tables" / "cosine.csv"
    path.parent.mkdir()
    path.write_text("task,similarity\nRTE,0.97\n")
    return recorded(path, "collect_similarity")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "models" / "seed-1"
    (folder / "nested").mkdir(parents=True)
    (folder / "config.json").write_text('{"layers": 7}')
    (folder / "nested" / "vocab.txt").write_text("a\nb\n")
    (folder / "model.safetensors").write_bytes(np.random.default_rng(7).bytes(LARGE))
    write_json({"rule": "finetune"}, folder / PROVENANCE)
    return recorded(folder, "finetune")


@pytest.fixture
def array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An array of three chunks, smaller than usual, the last one short; in a folder of a result."""
    monkeypatch.setattr(integrity, "CHUNK", CHUNK)
    store = tmp_path / "stores" / "seed-1"
    store.mkdir(parents=True)
    values = np.random.default_rng(3).integers(0, 255, 2 * CHUNK + 9000, dtype=np.uint8)
    np.save(store / "maps.npy", values)
    recorded(store.parent, "extract_attention")
    return store / "maps.npy"


def test_results_that_are_as_written_pass(table, model, array, tmp_path):
    unknown = tmp_path / "own.csv"
    unknown.write_text("mine")
    for verify in (False, True):
        check([table, model, array.parent, unknown, tmp_path / "missing"], verify=verify)


@pytest.mark.parametrize("change", [half, bit, digit, empty])
def test_a_changed_table_is_named_with_what_was_expected_and_what_to_do(table, change):
    digest = hashlib.sha256(table.read_bytes()).hexdigest()
    edit(table, change)
    with pytest.raises(InputError) as raised:
        check([table])
    message = str(raised.value)
    now = table.stat().st_size
    expected = (f"{now} bytes", "25 bytes") if now < 25 else ("the SHA-256 ", f"{digest[:12]}…")
    assert message.startswith(f"{table}: found {expected[0]}")
    for words in (
        f"expected {expected[1]}, as the rule",
        "`collect_similarity`",
        f"rm -r {table}, then run the same command again",
        f"rm {table.parent}/.fingerprints/cosine.csv.json",
    ):
        assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["config.json", "nested/vocab.txt", "model.safetensors"])
@pytest.mark.parametrize("change", [half, bit, empty])
def test_a_changed_file_of_a_folder_is_named_and_the_folder_is_to_be_removed(model, name, change):
    settle(model / "model.safetensors")
    check([model])  # its large file is remembered
    edit(model / name, change)
    with pytest.raises(InputError, match=f"{name}: found .* rm -r {model},"):
        check([model])


def test_a_file_inside_a_folder_is_checked_alone(model):
    edit(model / "config.json", bit)
    check([model / "model.safetensors"])
    with pytest.raises(InputError, match=r"config\.json"):
        check([model / "config.json"])


def test_a_large_file_is_digested_once_until_it_changes(model, monkeypatch):
    weights = model / "model.safetensors"
    settle(weights)
    digested = []
    digest = hashlib.file_digest
    monkeypatch.setattr(
        hashlib,
        "file_digest",
        lambda stream, name: digested.append(Path(stream.name).name) or digest(stream, name),
    )

    def count(**options):
        digested.clear()
        check([model], **options)
        return digested.count("model.safetensors")

    assert [count(), count(), count(verify=True)] == [1, 0, 1]
    os.utime(weights)  # as Snakemake does after a job
    settle(weights)
    assert [count(), count()] == [1, 0]


def test_what_changed_a_moment_ago_is_not_remembered(model):
    """A change within the resolution of times would leave them the same."""
    os.utime(model / "model.safetensors")
    check([model])
    assert not (model / ".fingerprints.seen").exists()


def test_a_copy_is_checked_by_content(model, tmp_path):
    settle(model / "model.safetensors")
    check([model])
    copy = tmp_path / "elsewhere" / "seed-1"
    shutil.copytree(model, copy)
    check([copy])
    edit(copy / "model.safetensors", bit)
    with pytest.raises(InputError, match="elsewhere"):
        check([copy])
    check([model])


def test_results_that_a_job_may_not_write_are_checked(model, monkeypatch):
    settle(model / "model.safetensors")

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(integrity, "write_json", refuse)
    check([model])
    assert not (model / ".fingerprints.seen").exists()
    edit(model / "model.safetensors", bit)
    with pytest.raises(InputError, match="safetensors"):
        check([model])


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a.npy": 3}', "\xff"])
def test_a_damaged_memory_is_ignored(model, content):
    (model / ".fingerprints.seen").write_text(content, encoding="latin-1")
    check([model])
    edit(model / "model.safetensors", bit)
    with pytest.raises(InputError, match="safetensors"):
        check([model])


def test_an_edited_file_is_used_once_its_fingerprint_is_removed(table):
    edit(table, digit)
    (table.parent / ".fingerprints" / "cosine.csv.json").unlink()
    check([table], verify=True)


def test_a_job_that_begins_forgets_what_was_there(table, model):
    forget([table, model, table.with_name("none.csv")])
    assert Record.read(table) is None
    assert Record.read(model) is None
    assert not list(table.parent.rglob("*.seen"))


@pytest.mark.parametrize("chunk", [0, 1, 2])
def test_only_the_chunks_that_are_read_are_checked(array, chunk):
    check([array.parents[1]])
    edit(array, lambda content: _flip(content, chunk * CHUNK + 900))
    check([array.parents[1]])  # left to the reader
    chunks = Chunks(array)
    for other in {0, 1, 2} - {chunk}:
        chunks.check(other * CHUNK, other * CHUNK + 10)
    with pytest.raises(InputError, match=rf"maps.npy: found .* from byte {chunk * CHUNK:,}"):
        chunks.check(chunk * CHUNK + 500, chunk * CHUNK + 501)
    with pytest.raises(InputError, match=r"maps\.npy"):
        Chunks(array).check()
    with pytest.raises(InputError, match=r"maps\.npy"):
        check([array.parents[1]], verify=True)


def _flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


def test_a_reading_across_chunks_checks_both(array):
    edit(array, lambda content: _flip(content, CHUNK + 3))
    with pytest.raises(InputError, match=f"from byte {CHUNK:,}"):
        Chunks(array).check(CHUNK - 1, CHUNK + 1)
    Chunks(array).check(CHUNK - 1, CHUNK)


def test_a_record_identifies_a_result_as_its_provenance_does(table, model, array):
    for result in (table, model, array.parents[1]):
        assert Record.take(result, "").identity == fingerprint(result)
        assert Record.read(result).identity == fingerprint(result)


def test_digests_are_those_of_common_tools(array):
    record = json.loads((array.parents[1] / ".fingerprints.json").read_text())
    entry = record["files"]["seed-1/maps.npy"]
    content = array.read_bytes()
    assert entry["size"] == len(content)
    assert entry["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry["chunks"] == [
        hashlib.sha256(content[start : start + CHUNK]).hexdigest()
        for start in range(0, len(content), CHUNK)
    ]
