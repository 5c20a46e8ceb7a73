"""Fingerprints of results: no job reads a file that is not as it was written.

A job records the size and SHA-256 of every file that it made: of the file ``tables/cosine.csv``
in ``tables/.fingerprints/cosine.csv.json``, of a folder in ``.fingerprints.json`` inside it. A job
that reads a result first compares it with its record.

Files below 1 MiB are digested by every job that reads them. For larger ones, their size, times and
inode are remembered once their digest was right; nobody can set back the time of the last change
(ctime), so they are digested again only if they were touched, changed or copied, or if everything
is to be verified. Large arrays (``.npy``) also have a digest for every chunk; code that maps parts
of them checks the chunks that it reads, with `Chunks`.

A result without a record is not checked: it was not made by a job, or somebody edited it and
removed its record.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from darksecrets.run.errors import InputError
from darksecrets.run.files import PROVENANCE, combine, remove, visible, write_json

RECORD, RECORDS = ".fingerprints.json", ".fingerprints"
"""The record in a folder; the folder of records beside files."""

ALWAYS = 2**20
"""Bytes up to which a file is digested by every job that reads it, which takes a millisecond."""

CHUNK = 2**24
"""Bytes of an array that have a digest of their own."""

# A file system may give two changes within this time (ns) the same time.
_SAME_TIME = 100_000_000


@dataclass(frozen=True)
class Fingerprint:
    """What a file contained when it was made.

    Attributes:
        size: Bytes.
        sha256: Digest of the content.
        chunks: Digest of every `CHUNK` bytes; only of arrays of several chunks.
    """

    size: int
    sha256: str
    chunks: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: Path) -> Fingerprint:
        """Digest a file, reading it once."""
        by_chunk = file.suffix == ".npy" and file.stat().st_size > CHUNK
        size, whole, chunks = 0, hashlib.sha256(), []
        with file.open("rb") as stream:
            while block := stream.read(CHUNK):
                size += len(block)
                whole.update(block)
                if by_chunk:
                    chunks.append(hashlib.sha256(block).hexdigest())
        return cls(size, whole.hexdigest(), tuple(chunks))


@dataclass(frozen=True)
class Record:
    """The fingerprints of a result, a file or a folder.

    Attributes:
        result: The result.
        rule: The rule that made it.
        files: Fingerprint of each of its files, by the path from `folder`.
        file: Where the record is kept.
    """

    result: Path
    rule: str
    files: Mapping[str, Fingerprint]
    file: Path

    @property
    def folder(self) -> Path:
        """The result if it is a folder, else the folder that it is in."""
        return self.file.parent if self.file.name == RECORD else self.file.parents[1]

    @property
    def identity(self) -> str:
        """The same as `files.fingerprint` of the result."""
        if self.folder != self.result:
            return combine({".": self.files[self.result.name].sha256})
        return combine({name: each.sha256 for name, each in self.files.items()})

    @classmethod
    def take(cls, result: Path, rule: str) -> Record:
        """Digest a result that a job of ``rule`` has just made."""
        found = visible(result) if result.is_dir() else [result]
        folder = result if result.is_dir() else result.parent
        files = {path.relative_to(folder).as_posix(): Fingerprint.of(path) for path in found}
        return cls(result, rule, files, _place(result))

    @classmethod
    def read(cls, result: Path) -> Record | None:
        """The record of a result, or the part about one file of a folder; None if there is none.

        Raises:
            InputError: The record itself is damaged.
        """
        if record := cls._read(_place(result), result):
            return record
        for folder in result.parents:
            name = result.relative_to(folder).as_posix()
            whole = cls._read(folder / RECORD, folder)
            if whole and name in whole.files:
                return replace(whole, files={name: whole.files[name]})
        return None

    @classmethod
    def _read(cls, file: Path, result: Path) -> Record | None:
        try:
            content = json.loads(file.read_bytes())
            files = {
                str(name): Fingerprint(each["size"], each["sha256"], tuple(each.get("chunks", ())))
                for name, each in content["files"].items()
            }
            return cls(result, str(content["rule"]), files, file)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise InputError(
                f"{file}: found no readable fingerprints ({error}), expected those of {result}. "
                f"{_remake(result)} Or remove this file, and {result} is used unchecked."
            ) from None

    def write(self) -> None:
        """Keep the record beside the result; the provenance written into a folder is added."""
        files = dict(self.files)
        provenance = self.result / PROVENANCE
        if provenance.is_file():
            files[PROVENANCE] = Fingerprint.of(provenance)
        content = {
            name: {key: value for key, value in asdict(each).items() if value or key == "size"}
            for name, each in files.items()
        }
        write_json({"rule": self.rule, "files": content}, self.file)


@dataclass(frozen=True)
class Damage:
    """A file that is not as it was written.

    Attributes:
        record: The record of its result.
        file: The file.
        found: What is there now.
        expected: What was written; None if the rule did not write the file.
    """

    record: Record
    file: Path
    found: str
    expected: str | None

    def __str__(self) -> str:
        if self.expected is None:
            return (
                f"{self.file}: found a file that the rule `{self.record.rule}` did not write into "
                f"{self.record.result}, expected none. Remove it: rm {_quoted(self.file)}"
            )
        return (
            f"{self.file}: found {self.found}, expected {self.expected}, as the rule "
            f"`{self.record.rule}` wrote it. The file was damaged or edited since. "
            f"{_remake(self.record.result)} To use an edited file, remove its fingerprint instead: "
            f"rm {_quoted(self.record.file)}"
        )


def is_recorded(result: Path) -> bool:
    """Whether a result has a record."""
    return _place(result).is_file()


def forget(results: Iterable[Path]) -> None:
    """Remove the records of results that a job is about to make."""
    for result in results:
        file = _place(result)
        remove(file)
        remove(_memory_of(file))


def check(results: Iterable[Path], *, verify: bool = False) -> None:
    """Compare results with their records.

    Args:
        results: Files and folders; those without a record are not checked.
        verify: Digest every file, instead of trusting the times of large ones.

    Raises:
        InputError: Names the first file that differs, what was expected, and how to make it again.
    """
    damages = [damage for result in results for damage in damages_of(result, verify=verify)]
    if damages:
        more = len(damages) - 1
        others = f" ({more} more of the files that this job reads differ.)" if more else ""
        raise InputError(f"{damages[0]}{others}")


def damages_of(result: Path, *, verify: bool = False) -> Iterator[Damage]:
    """Files of a result that differ from its record, or are not in it; see `check`."""
    record = Record.read(result)
    if record is None:
        return
    if record.folder == result:
        for file in visible(result):
            if file.relative_to(result).as_posix() not in record.files:
                yield Damage(record, file, "a file that it did not write", None)
    memory = _Memory(record)
    for name, expected in record.files.items():
        file = record.folder / name
        if difference := _difference(file, expected, memory, verify=verify):
            yield Damage(record, file, *difference)
    memory.keep()


class Chunks:
    """Checks a large array of a result, each chunk before it is first read.

    Args:
        file: The array; without a record of its chunks, nothing is checked.
    """

    def __init__(self, file: Path) -> None:
        self.file, self._before = file, file.stat()
        self._record = Record.read(file)
        self._unchecked: dict[int, str] = {}
        if self._record:
            (expected,) = self._record.files.values()
            if not _Memory(self._record).knows(file, expected, self._before):
                self._unchecked = dict(enumerate(expected.chunks))

    def check(self, start: int = 0, stop: int | None = None) -> None:
        """Check the chunks with the bytes from ``start`` to ``stop`` (exclusive), by default all.

        Raises:
            InputError: They are not as they were written.
        """
        if not self._unchecked or self._record is None:
            return
        stop = self._before.st_size if stop is None else stop
        for chunk in range(start // CHUNK, -(-stop // CHUNK)):
            if expected := self._unchecked.get(chunk):
                self._check(chunk, expected, self._record)
                del self._unchecked[chunk]
        if not self._unchecked:
            memory = _Memory(self._record)
            (whole,) = self._record.files.values()
            memory.learn(self.file, whole, self._before)
            memory.keep()

    def _check(self, chunk: int, expected: str, record: Record) -> None:
        with self.file.open("rb") as stream:
            stream.seek(chunk * CHUNK)
            found = hashlib.sha256(stream.read(CHUNK)).hexdigest()
        if found != expected:
            found = f"the SHA-256 {found[:12]}… of {CHUNK:,} bytes from byte {chunk * CHUNK:,}"
            raise InputError(str(Damage(record, self.file, found, f"{expected[:12]}…")))


class _Memory:
    """How large files were when their digest was right: size, times, inode; kept if possible."""

    def __init__(self, record: Record) -> None:
        self._file, self._folder = _memory_of(record.file), record.folder
        self._changed = False
        self._entries: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):  # it only saves time
            content = json.loads(self._file.read_bytes())
            self._entries = content if isinstance(content, dict) else {}

    def knows(self, file: Path, expected: Fingerprint, now: os.stat_result) -> bool:
        """Whether a file is as it was when its digest was right."""
        name = file.relative_to(self._folder).as_posix()
        return bool(self._entries.get(name) == [expected.sha256, *_signature(now)])

    def learn(self, file: Path, expected: Fingerprint, before: os.stat_result) -> None:
        """Remember a file whose digest is right, unless it has just changed."""
        settled = time.time_ns() - before.st_ctime_ns > _SAME_TIME
        if settled and _signature(file.stat()) == _signature(before):
            name = file.relative_to(self._folder).as_posix()
            self._entries[name] = [expected.sha256, *_signature(before)]
            self._changed = True

    def keep(self) -> None:
        """Write what was learned, if that is possible."""
        if self._changed:
            with contextlib.suppress(OSError):  # another user's results, or a full disk
                write_json(self._entries, self._file)


def _difference(
    file: Path, expected: Fingerprint, memory: _Memory, *, verify: bool
) -> tuple[str, str] | None:
    """What a file is, and what it was when it was written; None if that is the same."""
    size = f"{expected.size:,} bytes"
    try:
        now = file.stat()
        if now.st_size != expected.size:
            return f"{now.st_size:,} bytes", size
        large = now.st_size > ALWAYS
        if not verify and large and (expected.chunks or memory.knows(file, expected, now)):
            return None
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return "no such file", size
    except OSError as error:
        return f"a file that cannot be read ({error.strerror})", size
    if digest != expected.sha256:
        return f"the SHA-256 {digest[:12]}…", f"{expected.sha256[:12]}…"
    if large:
        memory.learn(file, expected, now)
    return None


def _signature(now: os.stat_result) -> list[int]:
    return [now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino]


def _place(result: Path) -> Path:
    """Where the record of a result is kept."""
    if result.is_dir():
        return result / RECORD
    return result.parent / RECORDS / f"{result.name}.json"


def _memory_of(record: Path) -> Path:
    return record.with_suffix(".seen")


def _remake(result: Path) -> str:
    return f"To make it again: rm -r {_quoted(result)}, then run the same command again."


def _quoted(path: Path) -> str:
    return shlex.quote(str(PurePosixPath(path)))
