"""The demonstration's data are what the grammar makes."""

import gzip
from pathlib import Path

import pytest

from darksecrets.core.run.files import RESOURCES
from tools.corpus.files import write

SHIPPED = RESOURCES / "corpus"
MOST = 3_000_000
"""Bytes."""


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def files(folder: Path) -> dict[str, Path]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path for name, path in found.items() if path.is_file() and name != "README.md"}


@pytest.mark.thorough
def test_the_files_are_made_again_byte_by_byte(tmp_path):
    write(tmp_path)
    shipped, made = files(SHIPPED), files(tmp_path)
    assert shipped.keys() == made.keys()
    for name, path in shipped.items():
        assert content(path) == content(made[name]), name


def test_the_files_are_small():
    assert 500_000 < sum(path.stat().st_size for path in files(SHIPPED).values()) < MOST
