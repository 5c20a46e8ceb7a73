"""Write files atomically and fingerprint their content."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

PACKAGE = Path(__file__).parents[2]
"""Folder of this package."""
RESOURCES = PACKAGE / "resources"
"""Data shipped with the package: word lists, labelled maps, the paper's numbers, the tiny BERT."""
PROJECT = PACKAGE / "project" if (PACKAGE / "project").is_dir() else PACKAGE.parent
"""Folder of the workflow: inside an installed package, around that of a checkout."""


def is_shipped(path: Path) -> bool:
    """Whether a file ships with the package."""
    return path.resolve().is_relative_to(RESOURCES.resolve())


def spoken_file(path: Path) -> str:
    """A file of texts in a few words, for figures: its name, and whether it was generated."""
    return f"generated sentences ({path.name})" if is_shipped(path) else path.name


def remove(path: Path) -> None:
    """Remove a file or folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` for a file or folder; rename it on success.

    The temporary name keeps the suffix, because writers choose a format by it. After an error
    nothing is left behind; old content at ``path`` stays until the new content is complete. What a
    process that was killed left of its own is removed: a result is made by one job at a time.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    earlier = re.compile(rf"\.{re.escape(path.stem)}\.\d+\.tmp{re.escape(path.suffix)}")
    for other in path.parent.iterdir():
        if earlier.fullmatch(other.name):
            remove(other)
    try:
        yield temporary
        if path.is_dir():  # os.replace cannot overwrite a non-empty folder
            remove(path)
        temporary.replace(path)
    finally:
        remove(temporary)


def write_text(text: str, path: Path) -> None:
    """Write a text file, atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(content: Any, path: Path) -> None:  # noqa: ANN401 - anything that JSON can represent
    """Write ``content`` as indented JSON with sorted keys, atomically."""
    write_text(json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n", path)


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - anything that YAML can represent
    """Read a YAML file, by libyaml if PyYAML was built with it, in a tenth of the time."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(path.read_bytes(), Loader=loader)


def fingerprint(path: Path) -> str:
    """SHA-256 of a file, or of a folder's relative paths and contents.

    Hidden files, such as Snakemake's, do not count.
    """
    digests = {}
    for file in [path] if path.is_file() else visible(path):
        digests[file.relative_to(path).as_posix()] = digest(file)
    return combine(digests)


def digest(file: Path) -> str:
    """SHA-256 of the content of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def combine(digests: Mapping[str, str]) -> str:
    """Fingerprint of a folder from the SHA-256 of its files, by relative path.

    The path of a single file is ``.``.
    """
    combined = hashlib.sha256()
    for name in sorted(digests, key=PurePosixPath):
        combined.update(name.encode())
        combined.update(bytes.fromhex(digests[name]))
    return combined.hexdigest()


def visible(folder: Path) -> list[Path]:
    """Files of a folder and its subfolders, sorted, without hidden ones."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
