"""Whether data, labelled maps and the model that ship with the project are as they were shipped.

Their digests stand in `SUMS`, in the form of the program ``sha256sum``. After a file was changed on
purpose, ``python -m darksecrets.core.run.shipped`` writes the digests again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES, digest, write_text

SUMS = "SHA256SUMS"
DATA = ("corpus", "patterns", "tiny-bert")
"""Folders whose files are data; the others are read by people and checked as they are parsed."""
_WORDS = (".md", ".png")  # suffixes of what nothing is computed from


def check(folder: Path = RESOURCES) -> None:
    """Check all files that ship.

    Args:
        folder: Where they are, with their digests.

    Raises:
        InputError: One is missing, or differs from what was shipped.
    """
    found = digests(folder)
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        expected, name = line.split("  ", 1)
        if found.get(name) != expected:
            state = "is not as it was shipped" if name in found else "is missing"
            raise InputError(
                f"{folder / name} {state}: its SHA-256 must be {expected[:12]}…. Restore it with "
                f"`git checkout -- {folder / name}`, or install the project again."
            )


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file with data, by its path within the folder, in order."""
    return {file.relative_to(folder).as_posix(): digest(file) for file in _files(folder)}


def write(folder: Path = RESOURCES) -> None:
    """Write the digests of the files as they are."""
    lines = [f"{value}  {name}\n" for name, value in digests(folder).items()]
    write_text("".join(lines), folder / SUMS)


def _files(folder: Path) -> Iterator[Path]:
    for name in DATA:
        for file in sorted((folder / name).rglob("*")):
            if file.is_file() and file.suffix not in _WORDS and not file.name.startswith("."):
                yield file


if __name__ == "__main__":
    write()
