"""Tables whose columns are declared once; writing and reading check every value.

A section declares its tables in `<section>/tables.py`, each as a `Table` of `Column`s. All code
reads and writes a table through its declaration: ``COSINE.write(frame, path)``,
``COSINE.read(path)``. The site's reference shows all tables.

Declarations belong to their section instead of one common file, because a rule reruns when a module
that its script imports changes: a new column of Figure 7 must not rerun fine-tuning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic

if TYPE_CHECKING:
    import pyarrow

Kind = Literal["text", "integer", "number", "flag"]

ROUNDING = 2e-3
"""Tolerance of bounds: sums of half-precision attention may exceed 1."""

DIGITS = 7
"""Significant digits of numbers in CSV files: those of single precision, in which models compute.
Further digits would change with the CPU and the number of threads (docs/failures.md)."""

EXACT = 9
"""Significant digits that a number in single precision can be read back from exactly."""

_NOT_WRITTEN = "Nothing was written: correct the code that makes this table, or its declaration."


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: Name in the file's header.
        kind: Type of the values.
        meaning: Meaning of the values, in a line.
        unit: Unit of a quantity.
        values: Allowed values, if there are few; empty for any.
        low: Smallest allowed value, up to `ROUNDING`.
        high: Largest allowed value, up to `ROUNDING`.
        optional: Whether values may be missing (an empty field).
        decimals: Number of decimals to write; None for all.
        control_of: The column that this one is a control for: the same estimate where no effect is
            expected.
        interval_of: The column whose 95% interval this one is an end of.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    values: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    optional: bool = False
    decimals: int | None = None
    control_of: str = ""
    interval_of: str = ""

    @property
    def dtype(self) -> str:
        """The pandas dtype of the values in memory."""
        if self.kind == "integer":
            return "Int64" if self.optional else "int64"
        return {"text": "str", "number": "float64", "flag": "bool"}[self.kind]

    @property
    def range(self) -> str:
        """Description of the allowed values; empty if there is no limit."""
        if self.values:
            return ", ".join(f"`{value}`" for value in self.values)
        match math.isfinite(self.low), math.isfinite(self.high):
            case True, True:
                return f"{self.low:g} to {self.high:g}"
            case True, False:
                return f"≥ {self.low:g}"
            case False, True:
                return f"≤ {self.high:g}"
        return ""


class _Limits(TypedDict, total=False):
    """Attributes of a `Column` that most do not need."""

    values: tuple[str, ...]
    low: float
    high: float
    optional: bool
    decimals: int
    control_of: str


class _Changes(_Limits, total=False):
    name: str
    unit: str


def text(name: str, meaning: str, **limits: Unpack[_Limits]) -> Column:
    """Declare a column of words."""
    return Column(name, "text", meaning, **limits)


def flag(name: str, meaning: str) -> Column:
    """Declare a column of True and False."""
    return Column(name, "flag", meaning)


def integer(name: str, meaning: str, unit: str = "", **limits: Unpack[_Limits]) -> Column:
    """Declare a column of whole numbers, from 0."""
    return Column(name, "integer", meaning, unit, **(_Limits(low=0) | limits))


def number(name: str, meaning: str, unit: str = "", **limits: Unpack[_Limits]) -> Column:
    """Declare a column of numbers."""
    return Column(name, "number", meaning, unit, **limits)


def share(name: str, meaning: str, unit: str = "", **limits: Unpack[_Limits]) -> Column:
    """Declare a column of numbers from 0 to 1."""
    return Column(name, "number", meaning, unit, **(_Limits(low=0, high=1) | limits))


def like(column: Column, meaning: str = "", **changes: Unpack[_Changes]) -> Column:
    """Declare a column like another; without a meaning, it has the other's."""
    return replace(column, meaning=meaning or column.meaning, **changes)


def interval(
    of: str,
    prefix: str = "ci",
    *,
    unit: str = "",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    optional: bool = False,
) -> tuple[Column, Column]:
    """The two columns of a 95% interval, ``<prefix>_low`` and ``<prefix>_high``.

    Args:
        of: The column that the interval is about.
        prefix: What the names begin with.
        unit: Unit of both ends.
        bounds: Smallest and largest allowed value of both ends.
        optional: Whether both ends may be missing.
    """
    meaning = f"lower end of the 95% interval of `{of}`"
    end = Column(f"{prefix}_low", "number", meaning, unit, (), *bounds, optional, interval_of=of)
    return end, replace(end, name=f"{prefix}_high", meaning="its upper end")


def add_ends(column: Column) -> tuple[Column, Column, Column]:
    """A column and the ends of its interval, named after it, which needs some examples."""
    name, bounds = column.name, (column.low, column.high)
    return column, *interval(name, name, unit=column.unit, bounds=bounds, optional=True)


@dataclass(frozen=True)
class Table:
    """A table of the project, with one observation per row.

    Attributes:
        name: Name of its file in ``tables/``, without the suffix.
        meaning: Meaning of the table, in a line.
        columns: Columns, in the order of the file.
        key: Names of the columns that identify a row; empty if rows may repeat.
        every: Columns of the key that count from 1. Every combination of them must have a row for
            each value of the other key columns, such as all heads of all layers.
        may_be_empty: Whether a table without rows is a valid result.
        by_hand: Whether it is written by people: runs never write it, and its last line may lack a
            line break.
        row_group: For tables of millions of rows, which are Parquet: columns of the key that
            identify a part, a model or a task, which becomes a row group of the gathered table.
        digits: Significant digits of its numbers in CSV files.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    every: tuple[str, ...] = ()
    may_be_empty: bool = False
    by_hand: bool = False
    row_group: tuple[str, ...] = ()
    digits: int = DIGITS

    def __post_init__(self) -> None:
        named = {name for c in self.columns for name in (c.control_of, c.interval_of) if name}
        unknown = ({*self.key} | named) - {*self.names} | {*self.every, *self.row_group} - {
            *self.key
        }
        if unknown or len(set(self.names)) < len(self.names):
            raise ValueError(f"{self.name}: repeated columns, or undeclared ones: {unknown}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def select(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Those of its columns that a frame has, in the order of the table."""
        return frame[[name for name in self.names if name in frame]]

    @property
    def file(self) -> str:
        """Name of the file."""
        return self.name + self.suffix

    @property
    def suffix(self) -> str:
        """Suffix of the file: `.parquet` for a table of row groups, else `.csv`."""
        return ".parquet" if self.row_group else ".csv"

    def write(self, frame: pd.DataFrame, path: Path) -> None:
        """Check a table and write it atomically; the same table gives the same bytes.

        CSV files have `digits` significant digits, and text as it is; Parquet files have one row
        group.

        Raises:
            InputError: See `check`; an old file at ``path`` is kept.
        """
        table = self.check(frame, str(path), _NOT_WRITTEN)
        table = table.round({c.name: c.decimals for c in self.columns if c.decimals is not None})
        with atomic(path) as temporary:
            if self.row_group:
                self._model(table, path)
                _write_parquet(self, [table], temporary)
            else:
                table.to_csv(temporary, index=False, float_format=f"%.{self.digits}g")

    def read(self, path: str | Path, columns: Collection[str] | None = None) -> pd.DataFrame:
        """Read a table and check it.

        Args:
            path: The file.
            columns: Columns to read and check, returned in the table's order; None for all.

        Raises:
            InputError: The file is missing, truncated or damaged; or see `check`.
        """
        path = Path(path)
        if not path.is_file():
            raise InputError(f"{path} is missing; expected {self._what()}. Run again to make it.")
        read = _read_parquet if self.row_group else _read_csv
        frame = read(self, path, columns)
        return self._part(columns).check(frame, str(path), self._remedy)

    def gather(
        self,
        paths: Sequence[Path],
        target: Path,
        keep: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
    ) -> None:
        """Concatenate several files, each a part of the table, in this order.

        CSV is gathered in memory. Parquet is read one part at a time, and each part becomes a row
        group.

        Args:
            paths: The parts.
            target: File to write.
            keep: Returns the rows of a CSV table to keep; None for all.

        Raises:
            InputError: See `read`; or two parts have the same rows.
        """
        if self.row_group:
            with atomic(target) as temporary:
                _write_parquet(self, self._distinct(paths), temporary)
        else:
            frame = pd.concat([self.read(path) for path in paths], ignore_index=True)
            self.write(keep(frame) if keep else frame, target)

    def check(self, frame: pd.DataFrame, where: str, remedy: str) -> pd.DataFrame:
        """Check columns, types, missing values, bounds, allowed values, and completeness of rows.

        Args:
            frame: The table.
            where: Name of the table in the message: its file.
            remedy: What the message tells people to do.

        Returns:
            The table with the declared types.

        Raises:
            InputError: Says what is there and what must be.
        """
        try:
            if list(frame.columns) != list(self.names):
                raise _Wrong(
                    f"the columns {', '.join(map(str, frame.columns))}",
                    f"{', '.join(self.names)}, in this order",
                )
            table = pd.DataFrame({c.name: _convert(frame[c.name], c) for c in self.columns})
            _check_rows(self, table)
        except _Wrong as wrong:
            found, expected = wrong.args
            raise InputError(
                f"{where}: {found} instead of {expected} ({self._what()}). {remedy}"
            ) from None
        return table

    def _distinct(self, paths: Sequence[Path]) -> Iterator[pd.DataFrame]:
        """Read the parts one after the other; each must have a different model."""
        seen: dict[tuple[object, ...], Path] = {}
        for path in paths:
            part = self.read(path)
            model = self._model(part, path)
            if model in seen:
                raise InputError(
                    f"{path}: its rows of {' '.join(map(str, model))} are in {seen[model]}, too; "
                    f"each {', '.join(self.row_group)} belongs in one part ({self._what()}). "
                    "Gather each part once."
                )
            seen[model] = path
            yield part

    def _model(self, part: pd.DataFrame, path: Path) -> tuple[object, ...]:
        """The values of the columns that identify the model of a part, without missing ones."""
        models = part[list(self.row_group)].drop_duplicates()
        if len(models) > 1:
            raise InputError(
                f"{path} has rows of {len(models)} different {', '.join(self.row_group)}; a part "
                f"has those of one ({self._what()}). {_NOT_WRITTEN}"
            )
        return tuple(value for value in models.iloc[0] if not pd.isna(value))

    @property
    def _remedy(self) -> str:
        """What to do about a file that does not match its declaration."""
        return "Correct or restore the file." if self.by_hand else "Remove the file and run again."

    def _what(self) -> str:
        return f"table `{self.name}` of the reference"

    def _part(self, columns: Collection[str] | None) -> Table:
        """The declaration of some columns, without checks that need the others."""
        if columns is None:
            return self
        if unknown := set(columns) - set(self.names):
            raise ValueError(f"{self.name} has no columns {unknown}")
        key = self.key if set(self.key) <= set(columns) else ()
        kept = tuple(
            replace(c, control_of="", interval_of="") for c in self.columns if c.name in columns
        )
        if key:
            return replace(self, columns=kept)
        return replace(self, columns=kept, key=(), every=(), row_group=())


class _Wrong(Exception):  # noqa: N818 - becomes an InputError
    """What is there, and what must be."""


def _convert(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    """Convert a column to its declared type and check its values."""
    name = f"column `{column.name}`"
    typed = _typed(values.reset_index(drop=True), column)
    missing = typed == "" if column.kind == "text" else typed.isna()
    if missing.any() and not column.optional:
        raise _Wrong(f"no value in {name}, {_row(missing)}", "one in every row")
    known = typed[~missing]
    wrong, expected = _outside(known, column)
    if wrong.any():
        raise _Wrong(f"`{known[wrong].iloc[0]}` in {name}, {_row(wrong)}", expected)
    dtype: Any = column.dtype
    return typed.astype(dtype)


def _outside(values: pd.Series[Any], column: Column) -> tuple[pd.Series[bool], str]:
    """Which values a column may not have, and a description of those it may."""
    if column.values:
        return ~values.isin(column.values), f"one of {', '.join(column.values)}"
    if column.kind in ("text", "flag"):
        return pd.Series(data=False, index=values.index), ""
    numbers = values.astype("float64")
    inside = numbers.between(column.low - ROUNDING, column.high + ROUNDING)
    inside &= ~numbers.isin([-math.inf, math.inf])
    return ~inside, f"a number {column.range}" if column.range else "a finite number"


def _typed(values: pd.Series[Any], column: Column) -> pd.Series[Any]:
    """Convert to the declared kind; missing values become pandas' own, or empty text."""
    name = f"column `{column.name}`"
    if column.kind == "flag":
        wrong = ~values.isin([True, False])
        if wrong.any():
            raise _Wrong(f"`{values[wrong].iloc[0]}` in {name}, {_row(wrong)}", "True or False")
        return values
    if column.kind == "text":
        words = values.fillna("")
        if len(words) and not pd.api.types.is_string_dtype(words):
            raise _Wrong(f"values of the type {values.dtype} in {name}", "text")
        return words.astype("str")
    if pd.api.types.is_integer_dtype(values):
        return values
    if pd.api.types.is_bool_dtype(values):
        raise _Wrong(f"True or False in {name}", f"{column.kind}s")
    numbers = pd.to_numeric(values, errors="coerce").astype("Float64")
    wrong = numbers.isna() & values.notna()
    if column.kind == "integer":
        wrong |= (numbers % 1 != 0).fillna(value=False)
    if wrong.any():
        raise _Wrong(f"`{values[wrong].iloc[0]}` in {name}, {_row(wrong)}", f"{column.kind}s")
    return numbers.astype("Int64") if column.kind == "integer" else numbers.astype("float64")


def _row(wrong: pd.Series[bool]) -> str:
    """The first marked row, counted from 1 without the header."""
    return f"row {int(wrong.index[wrong.to_numpy(dtype=bool)][0]) + 1}"


def _check_rows(table: Table, frame: pd.DataFrame) -> None:
    """Check that rows exist, are unique and complete, and that interval ends are in order."""
    if frame.empty:
        if not table.may_be_empty:
            raise _Wrong("no rows", "at least one")
        return
    keys = list(table.key)
    if keys and (repeated := frame.duplicated(keys)).any():
        raise _Wrong(f"two rows of {_say(frame, keys, repeated)}", "one")
    if table.every:
        _check_complete(table, frame)
    ends: dict[str, list[str]] = {}
    for column in table.columns:
        if column.interval_of:
            ends.setdefault(column.interval_of, []).append(column.name)
    for low, high in ends.values():
        wrong = frame[low] > frame[high]
        if wrong.any():
            raise _Wrong(f"`{low}` above `{high}`, {_row(wrong)}", f"`{low}` at most `{high}`")


def _check_complete(table: Table, frame: pd.DataFrame) -> None:
    """Check that every number up to the largest has a row, for each value of the other keys."""
    every = list(table.every)
    expected = math.prod(frame[every].max())
    rest = [name for name in table.key if name not in every]
    # Keys are unique, so counting is enough.
    groups = frame.groupby(rest, dropna=False) if rest else frame.groupby(lambda _: 0)
    sizes = groups[every[0]].transform("size")
    missing = sizes != expected
    if missing.any():
        whose = f" of {_say(frame, rest, missing)}" if rest else ""
        raise _Wrong(
            f"{sizes[missing].iloc[0]} rows{whose}",
            f"{expected}, one for every {' and '.join(every)}",
        )


def _say(frame: pd.DataFrame, names: list[str], which: pd.Series[bool]) -> str:
    """Description of the first marked row by its key."""
    first = frame.loc[which, names].iloc[0]
    return ", ".join(f"{name} {value}" for name, value in first.items() if not pd.isna(value))


def _read_csv(table: Table, path: Path, columns: Collection[str] | None) -> pd.DataFrame:
    """Read a CSV file and check its header; words such as `null` stay text."""
    with path.open("rb") as stream:
        header = stream.readline().decode("utf-8-sig", errors="replace").rstrip("\r\n")
        stream.seek(-min(1, path.stat().st_size), 2)
        ended = stream.read() == b"\n"
    if header.split(",") != list(table.names):
        raise InputError(
            f"{path}: the columns are {header or '(none)'} instead of {','.join(table.names)}, in "
            f"this order ({table._what()}). {table._remedy}"
        )
    if not ended and not table.by_hand:
        raise InputError(
            f"{path} was cut off: there is no line break at its end "
            f"({table._what()}). {table._remedy}"
        )
    wanted = None if columns is None else [name for name in table.names if name in columns]
    options: dict[str, Any] = {"keep_default_na": False, "usecols": wanted, "encoding": "utf-8-sig"}
    # An empty field is a missing number, but empty text.
    numbers = {c.name: [""] for c in table.columns if c.kind != "text"}
    types = {c.name: c.dtype for c in table.columns}
    try:
        frame: pd.DataFrame = pd.read_csv(path, dtype=types, na_values=numbers, **options)
    except (ValueError, TypeError):
        # A value has the wrong type. Read as text, so that `check` finds which.
        frame = _as_text(table, path, options)
    return frame


def _as_text(table: Table, path: Path, options: dict[str, Any]) -> pd.DataFrame:
    """Read all values as text, except flags."""
    try:
        frame: pd.DataFrame = pd.read_csv(path, dtype=str, **options)
    except ValueError as error:
        raise InputError(
            f"{path}: cannot be read as CSV: {str(error).strip()}. {table._remedy}"
        ) from None
    flags = [c.name for c in table.columns if c.kind == "flag" and c.name in frame]
    frame[flags] = frame[flags].replace({"True": True, "False": False})
    return frame.replace("", None)


def _schema(table: Table) -> pyarrow.Schema:
    import pyarrow as pa

    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
    return pa.schema([pa.field(c.name, types[c.kind], c.optional) for c in table.columns])


def _write_parquet(table: Table, parts: Iterable[pd.DataFrame], path: Path) -> None:
    """Write every part as a row group, with dictionary-encoded text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema(table)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for part in parts:
            rows = pa.Table.from_pandas(part, schema, preserve_index=False)
            rows = rows.replace_schema_metadata(None)  # it contains library versions
            writer.write_table(rows, row_group_size=max(1, len(part)))


def _read_parquet(table: Table, path: Path, columns: Collection[str] | None) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            found, expected = file.schema_arrow.remove_metadata(), _schema(table)
            if not found.equals(expected):
                raise InputError(
                    f"{path}: the columns are {_listed(found)} instead of {_listed(expected)} "
                    f"({table._what()}). {table._remedy}"
                )
            wanted = None if columns is None else [name for name in table.names if name in columns]
            frame: pd.DataFrame = file.read(wanted).to_pandas()
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet: {error}. {table._remedy}") from None
    return frame


def _listed(schema: pyarrow.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def identify(table: pd.DataFrame, task: str | None, model: str) -> pd.DataFrame:
    """Prepend the columns that identify the model of the maps: ``task``, ``state``, ``seed``.

    Args:
        table: A table of one model on one task.
        task: The task; None for no such column.
        model: Folder of the maps: ``pretrained`` (without a seed) or, say, ``finetuned/seed-1``.
    """
    state, _, seed = model.partition("/seed-")
    names = {"task": task, "state": state, "seed": int(seed) if seed else pd.NA}
    if task is None:
        del names["task"]
    return pd.concat([pd.DataFrame(names, index=table.index), table], axis=1)
