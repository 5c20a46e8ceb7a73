"""The annotation of examples that `paper.features.annotation` wrote; no parser is needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Examples(Mapping[int, dict[str, Any]]):
    """The examples of an annotation by ``idx``; each is read from the file on access."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts: dict[int, int] = {}
        start = 0
        with path.open("rb") as stream:
            for line in stream:
                self._starts[json.loads(line)["idx"]] = start
                start += len(line)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        with self._path.open("rb") as stream:
            stream.seek(self._starts[idx])
            example: dict[str, Any] = json.loads(stream.readline())
        return example

    def __iter__(self) -> Iterator[int]:
        return iter(self._starts)

    def __len__(self) -> int:
        return len(self._starts)
