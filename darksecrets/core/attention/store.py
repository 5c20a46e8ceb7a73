"""The attention store: the self-attention maps of many examples, read a batch at a time.

A store is a folder of three files:

- ``maps.npy``: all maps one after the other in half precision, as one long array. An example has
  ``layers * heads * L * L`` numbers, ``[layer, head, query, key]``, where L is its number of real
  tokens, including [CLS] and [SEP], without padding.
- ``examples.parquet``: a row per example in the order of the maps: ``idx`` of the data set, and for
  every token its text, segment, whether it is special, and its start and end (exclusive) in
  characters.
- ``store.json``: numbers of layers, heads and examples; and, if a layer has local attention, the
  window of every layer: the largest distance between a query and its keys, or null.

Plain memory-mapped NumPy reads any part of a file. Examples of equal length are adjacent, so a
batch of them is one array without padding: a view of the file, not a copy. This module does not
need torch.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Halves, Integers, Reals, Singles
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, write_json

MAPS, EXAMPLES, METADATA = "maps.npy", "examples.parquet", "store.json"
COLUMNS = ("idx", "tokens", "segments", "special", "starts", "ends")
DTYPE = np.dtype("<f2")

#: Rounding a row of weights to half precision moves its sum by at most half a unit in the last
#: place of 1 (2**-11); the doubled tolerance leaves room for the model's own float32 arithmetic.
ROW_SUM_TOLERANCE = 2.0**-10

Reach = Flags
Windows = tuple[int | None, ...]


class AttentionWriter:
    """Appends maps to a store, one example at a time; created by :func:`write_store`."""

    def __init__(
        self,
        stream: BinaryIO,
        examples: pd.DataFrame,
        layers: int,
        heads: int,
        windows: Windows = (),
    ) -> None:
        self._stream, self._windows = stream, windows
        self._examples = [
            (idx, (layers, heads, len(tokens), len(tokens)))
            for idx, tokens in zip(examples["idx"], examples["tokens"], strict=True)
        ]
        self.written = 0

    def append(self, maps: Reals) -> None:
        """Write the next example's maps, [layer, head, query, key], cropped to real tokens.

        Raises:
            InputError: The shape is not the expected one, or a row does not sum to 1 within
                ``ROW_SUM_TOLERANCE``.
        """
        idx, shape = self._examples[self.written]
        if maps.shape != shape:
            raise InputError(
                f"Example idx {idx}: the maps have shape {maps.shape}, but {shape} (layers, heads, "
                "tokens, tokens) was expected."
            )
        half = np.ascontiguousarray(maps, dtype=DTYPE)
        reach = reach_of(self._windows, shape[-1])
        if reach is not None and np.moveaxis(half, 1, -1)[~reach].any():
            raise InputError(
                f"Example idx {idx} has attention beyond the layers' windows "
                f"{list(self._windows)}. Extract the maps again."
            )
        errors = np.abs(half.sum(axis=-1, dtype=np.float64) - 1)
        if not errors.max() <= ROW_SUM_TOLERANCE:  # written so that NaN fails, too
            layer, head, query = np.unravel_index(np.argmax(errors), errors.shape)
            raise InputError(
                f"Example idx {idx}, layer {layer + 1}, head {head + 1}: the attention of token "
                f"{query + 1} sums to {half[layer, head, query].sum(dtype=np.float64):.4f}, not 1. "
                "The model gives weight to padding, or does not return softmaxed attention."
            )
        self._stream.write(half.data)
        self.written += 1


@contextlib.contextmanager
def write_store(
    folder: Path, examples: pd.DataFrame, layers: int, heads: int, windows: Windows = ()
) -> Iterator[AttentionWriter]:
    """Write a store; it appears at ``folder`` only once all examples are written.

    Args:
        folder: Where the store will be.
        examples: A row per example in the order in which maps will be appended: ``idx`` and the
            lists ``tokens``, ``segments``, ``special``, ``starts``, ``ends``, one entry per token.
            Longest examples first.
        layers: Number of layers.
        heads: Number of heads per layer.
        windows: For each layer, the largest distance between a query and its keys, None for no
            limit; empty if no layer has one.

    Raises:
        InputError: The disk has too little space.
        ValueError: Fewer maps were appended than there are examples, or these are not sorted.
    """
    lengths = examples["tokens"].map(len)
    if not lengths.is_monotonic_decreasing:
        raise ValueError("examples must be sorted by length, longest first")
    numbers = layers * heads * int((lengths**2).sum())
    with atomic(folder) as temporary:
        _require_space(temporary.parent, numbers * DTYPE.itemsize)
        temporary.mkdir()
        examples[list(COLUMNS)].to_parquet(temporary / EXAMPLES, index=False)
        with (temporary / MAPS).open("wb") as stream:
            header = {"descr": DTYPE.str, "fortran_order": False, "shape": (numbers,)}
            np.lib.format.write_array_header_1_0(stream, header)
            writer = AttentionWriter(stream, examples, layers, heads, windows)
            yield writer
        if writer.written != len(examples):
            raise ValueError(f"{writer.written} of {len(examples)} examples were written")
        counts = {"layers": layers, "heads": heads, "examples": len(examples)}
        limits = {"windows": list(windows)} if any_window(windows) else {}
        write_json(counts | limits, temporary / METADATA)


def any_window(windows: Windows) -> bool:
    """Whether a layer has local attention."""
    return any(window is not None for window in windows)


def reach_of(windows: Windows, tokens: int) -> Reach | None:
    """Which keys the queries of an example may attend to.

    Args:
        windows: See `write_store`.
        tokens: Length of the example.

    Returns:
        [layer, query, key]; None if all queries of all layers may attend to all keys.
    """
    if all(window is None or window >= tokens - 1 for window in windows):
        return None
    places = np.arange(tokens)
    limits = [tokens if window is None else window for window in windows]
    return np.abs(places[:, None] - places) <= np.array(limits)[:, None, None]


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"The attention maps need {needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB "
            "are free. Make room, or lower the number of examples in the configuration."
        )


@dataclass(frozen=True)
class Maps(ABC):
    """Maps of many examples, longest first, whether they are stored or computed on demand.

    Methods that take a layer or head number count from 1. Arrays over layers or heads are indexed
    from 0 like any array. Examples, too, are indexed from 0, in this order; ``idx`` gives their
    numbers in the data set.

    Attributes:
        layers: Number of layers.
        heads: Number of heads per layer.
        table: A row per example, see the module's docstring.
        windows: For each layer, the largest distance between a query and its keys, None for no
            limit; empty if no layer has one, as far as shows in the examples.
    """

    layers: int
    heads: int
    table: pd.DataFrame
    windows: Windows

    @cached_property
    def lengths(self) -> Integers:
        """[examples] tokens of each example, longest first."""
        return self.table["tokens"].map(len).to_numpy(np.int64)

    @cached_property
    def starts(self) -> Integers:
        """[examples + 1] offset of each example's maps among all numbers, and their count."""
        return np.concatenate([[0], np.cumsum(self.layers * self.heads * self.lengths**2)])

    @property
    @abstractmethod
    def origin(self) -> str:
        """Where the maps are from, for messages."""

    @abstractmethod
    def batch(self, examples: range) -> Halves:
        """Maps of consecutive examples of equal length, [example, layer, head, query, key]."""

    @property
    def examples(self) -> int:
        """Number of examples."""
        return len(self.table)

    @property
    def idx(self) -> Integers:
        """[examples] ``idx`` of each example in the data set, in this order."""
        return self.table["idx"].to_numpy(np.int64)

    def tokens(self, example: int) -> list[str]:
        """Word pieces of an example, special tokens included."""
        return list(self.table["tokens"].iloc[example])

    def spaced_tokens(self, example: int) -> str:
        """Its tokens with spaces between them; a space within one that was added becomes ␣."""
        return " ".join(token.replace(" ", "␣") for token in self.tokens(example))

    def segments(self, example: int) -> Integers:
        """[L] the sentence, 0 or 1, that each token belongs to."""
        return np.asarray(self.table["segments"].iloc[example], dtype=np.int64)

    def special(self, example: int) -> Flags:
        """[L] whether a token is special, such as [CLS] and [SEP]."""
        return np.asarray(self.table["special"].iloc[example], dtype=np.bool_)

    def offsets(self, example: int) -> Integers:
        """[L, 2] start and end (exclusive) of each token's characters in its sentence."""
        row = self.table.iloc[example]
        return np.stack([row["starts"], row["ends"]], axis=1).astype(np.int64)

    def reach(self, tokens: int) -> Reach | None:
        """Which keys the queries of an example of this length may attend to, see `reach_of`."""
        return reach_of(self.windows, tokens)

    def uniform(self, tokens: int) -> Singles:
        """[layer, query, key] attention with the same weight for all keys in a query's reach."""
        reach = self.reach(tokens)
        if reach is None:
            reach = np.ones((self.layers, tokens, tokens), dtype=np.bool_)
        return reach / reach.sum(-1, keepdims=True, dtype=np.float32)

    def maps(self, example: int) -> Halves:
        """[layer, head, query, key] all maps of an example."""
        return self.batch(range(example, example + 1))[0]

    def batches(self, max_bytes: int = 2**26) -> Iterator[tuple[range, Halves]]:
        """Iterate over the examples in batches of equal length, without padding.

        Args:
            max_bytes: Largest size of a batch; a single example may be larger.

        Yields:
            The indices of the examples and their maps, [example, layer, head, query, key].
        """
        first = 0
        while first < self.examples:
            length = int(self.lengths[first])
            end = int(np.searchsorted(-self.lengths, -length, side="right"))
            size = self.layers * self.heads * length**2 * DTYPE.itemsize
            batch = range(first, min(end, first + max(1, max_bytes // size)))
            yield batch, self.batch(batch)
            first = batch.stop


@dataclass(frozen=True)
class AttentionStore(Maps):
    """Maps of many examples on disk, see `Maps`; they are read as views of the file.

    Attributes:
        folder: Where the store is.
        header: Bytes before the first number.
    """

    folder: Path
    header: int

    @classmethod
    def open(cls, folder: str | Path) -> AttentionStore:
        """Open a store; maps are read on demand.

        Raises:
            InputError: There is no complete store at ``folder``.
        """
        folder = Path(folder)
        missing = [name for name in (METADATA, EXAMPLES, MAPS) if not (folder / name).is_file()]
        if missing:
            raise InputError(f"{folder} is no attention store: {', '.join(missing)} is missing.")
        counts, table, (shape, dtype, header) = (
            _read(folder / name, how)
            for name, how in ((METADATA, _counts), (EXAMPLES, pd.read_parquet), (MAPS, _header))
        )
        windows = tuple(counts.get("windows", ()))
        layers, heads = counts["layers"], counts["heads"]
        found = cls(layers, heads, table, windows, folder, header)
        size, numbers = (folder / MAPS).stat().st_size, int(found.starts[-1])
        expected = header + numbers * DTYPE.itemsize
        if (len(table), shape, dtype, size) != (counts["examples"], (numbers,), DTYPE, expected):
            raise InputError(
                f"{folder} is damaged: {MAPS} has {size} bytes ({dtype}), but {expected} were "
                f"expected for {counts['examples']} examples. Remove the folder and run again."
            )
        return found

    @property
    def origin(self) -> str:
        """Where the maps are from, for messages."""
        return str(self.folder)

    def head(self, layer: int, head: int) -> list[Halves]:
        """One head's maps: [query, key] for every example, in the order of the store.

        Args:
            layer: From 1.
            head: From 1.

        Raises:
            InputError: The store has no such head.
        """
        for name, number, count in (("layer", layer, self.layers), ("head", head, self.heads)):
            if not 1 <= number <= count:
                raise InputError(
                    f"{self.folder}: there is no {name} {number}; it has {name}s from 1 to {count}."
                )
        return [own for _, maps in self.batches() for own in maps[:, layer - 1, head - 1].copy()]

    def batch(self, examples: range) -> Halves:
        """Map consecutive examples of equal length, [example, layer, head, query, key].

        Each view maps its own part of the file, so its memory is released with the view, however
        large the store.
        """
        length = int(self.lengths[examples.start])
        first = self.header + int(self.starts[examples.start]) * DTYPE.itemsize
        view = np.memmap(
            self.folder / MAPS,
            dtype=DTYPE,
            mode="r",
            offset=first,
            shape=(len(examples), self.layers, self.heads, length, length),
        )
        return view.view(np.ndarray)


def _read(file: Path, how: Callable[[Path], Any]) -> Any:  # noqa: ANN401 - what `how` returns
    """Read a file of a store.

    Raises:
        InputError: It is damaged.
    """
    try:
        return how(file)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{file}: this part of an attention store is damaged ({error}). Remove "
            f"{file.parent} and run again."
        ) from None


def _counts(file: Path) -> dict[str, Any]:
    return json.loads(file.read_bytes())


def _header(file: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape and type of the array, and the bytes before its first number."""
    with file.open("rb") as stream:
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        return shape, dtype, stream.tell()
