"""Whether two runs have the same numbers, value by value, as Markdown.

python benchmarks/compare_runs.py results/old results/new

For changes of the code that must change no number. `renames.yaml` beside this file says what both
versions call differently. Rows are paired by the key of their table, so that their order may
change. Exits with 1 if a value differs, or one of the old run is missing in the new one.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.run.files import visible
from darksecrets.pages.contracts import TABLES

RENAMES = Path(__file__).with_name("renames.yaml")
LEFT_OUT = {
    "logs": "what jobs print",
    "benchmarks": "time and memory of jobs",
    "figures": "drawn from tables",
    "compression_times": "measured times",
    "run": "commits, machines and times of jobs",
    "records": "commits, machines and dates",
    "provenance": "commits, machines and dates, in earlier versions",
    "dataset_info": "written by the library datasets",
    "state": "written by the library datasets",
}
"""Folders and files, as in `Renames.files`, whose content is no result, and what it is."""
EQUAL, CLOSE, DIFFERENT, MISSING, GONE, NEW = (
    "equal",
    "within the tolerance",
    "different",
    "missing",
    "gone, as expected",
    "new",
)
FAILING = (CLOSE, DIFFERENT, MISSING)
_NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")

Values = dict[str, np.ndarray[Any, Any]]
"""Columns of a table, arrays of an archive, or leaves of a JSON file, by name."""


@dataclass(frozen=True)
class Renames:
    """What the new version calls differently; see `renames.yaml`."""

    files: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gone: Mapping[str, str] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()

    def path(self, old: Path) -> str:
        """The new path of a file, relative to the run's folder."""
        parts = (part.partition(".") for part in old.parts)
        return "/".join(self.files.get(stem, stem) + dot + rest for stem, dot, rest in parts)

    def apply(self, old: Values, stem: str = "") -> Values:
        """Values of an old file, whose new name without suffix is given, with the new names."""

        def new(name: str) -> str:
            return self.columns.get(f"{stem}.{name}", self.columns.get(name, name))

        named = {new(name): array for name, array in old.items()}
        if len(named) < len(old):
            sys.exit(f"Found several of {sorted(old)} renamed to one name. Correct the renames.")
        for name in named.keys() & self.values.keys():
            if named[name].dtype.kind not in "fiub":
                mapping = self.values[name]
                named[name] = np.array([mapping.get(value, value) for value in named[name]], object)
        return named


@dataclass(frozen=True)
class Finding:
    """How a file compares.

    Attributes:
        file: Its new path, or the old one if it is missing.
        state: One of `EQUAL` to `NEW`.
        values: Number of values compared.
        what: Columns that differ, and by how much.
    """

    file: str
    state: str
    values: int = 0
    what: str = ""


def _csv(path: Path) -> Values:
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return {str(name): frame[name].to_numpy(object) for name in frame}


def _parquet(path: Path) -> Values:
    frame = pd.read_parquet(path)
    return {str(name): frame[name].to_numpy() for name in frame}


def _npz(path: Path) -> Values:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _json(path: Path) -> Values:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines() if path.suffix == ".jsonl" else [text]
    found: dict[str, list[str]] = {}
    for line in lines:
        for name, leaf in _leaves(json.loads(line)):
            found.setdefault(name, []).append(leaf)
    return {name: np.array(leaves, object) for name, leaves in found.items()}


def _leaves(content: Any, name: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _leaves(value, key)
    elif isinstance(content, list):
        for value in content:
            yield from _leaves(value, name)
    else:
        yield name, content if isinstance(content, str) else json.dumps(content)


READ: Mapping[str, Callable[[Path], Values]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
    ".npy": lambda path: {"array": np.load(path, allow_pickle=False)},
    ".json": _json,
    ".jsonl": _json,
    ".safetensors": lambda path: {"bytes": np.fromfile(path, np.uint8)},
}
"""How files are read, by suffix; weights are compared byte by byte. Others are left out."""


def left_out(path: str) -> str:
    """Why a file is not compared; empty if it is."""
    parts = path.split("/")
    names = {*parts, *(part.partition(".")[0] for part in parts)}
    if parts[-1].endswith("provenance.json"):
        names.add("provenance")
    reasons = [f"`{name}`: {why}" for name, why in LEFT_OUT.items() if name in names]
    suffix = Path(path).suffix
    return next(iter(reasons), "" if suffix in READ else f"`{suffix}`: no table")


def differences(
    old: np.ndarray[Any, Any], new: np.ndarray[Any, Any], sentences: bool = False
) -> np.ndarray[Any, Any]:
    """Relative differences of all values whose bits differ; infinite where one is no number.

    Args:
        old: Numbers or text, of any shape.
        new: The same; of the same shape.
        sentences: Whether only the numbers within a text count.
    """
    numeric = all(each.dtype.kind in "fiub" for each in (old, new))
    old, new = np.ascontiguousarray(old).ravel(), np.ascontiguousarray(new).ravel()
    if numeric and old.dtype == new.dtype:
        bits = [each.view(np.uint8).reshape(len(each), each.itemsize) for each in (old, new)]
        unlike = (bits[0] != bits[1]).any(axis=1)
    elif numeric:
        unlike = (old != new) & ~(np.isnan(old) & np.isnan(new))
    else:
        texts = [pd.Series(each, dtype=object).astype(str) for each in (old, new)]
        if sentences:
            texts = [each.str.findall(_NUMBER).str.join(" ") for each in texts]
        unlike = (texts[0] != texts[1]).to_numpy()
        if sentences:
            return np.full(unlike.sum(), np.inf)
        old, new = (pd.to_numeric(e[unlike], errors="coerce").to_numpy(float) for e in texts)
        unlike = (old != new) | (np.signbit(old) != np.signbit(new))  # 1 and 1.0 are the same
    before, after = old[unlike].astype(float), new[unlike].astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.abs(before - after) / np.maximum(np.abs(before), np.abs(after))
    return np.where((before == 0) & (after == 0), 0.0, np.nan_to_num(relative, nan=np.inf))


def paired(old: Values, new: Values, table: str) -> tuple[Values, Values, str]:
    """Both files with the same rows in the same order, by the key of their table.

    Returns:
        Both, and which rows only one of them has; files as they are if their rows need not be
        paired, or have no key.
    """
    key = list(TABLES[table].key) if table in TABLES else []
    known = bool(key) and {*key} <= old.keys() & new.keys()
    if not known or all(np.array_equal(old[name], new[name]) for name in key):
        return old, new, ""
    frames = [pd.DataFrame(each).set_index(key) for each in (old, new)]
    if not all(frame.index.is_unique for frame in frames):
        return old, new, ""
    both = frames[0].index.intersection(frames[1].index)
    alone = [f"{len(f) - len(both)} rows {n}" for f, n in zip(frames, (MISSING, NEW), strict=True)]
    first, second = ({str(c): f[c].reindex(both).to_numpy() for c in f} for f in frames)
    return first, second, ", ".join(text for text in alone if not text.startswith("0 "))


def compare(old: Path, new: Path, name: str, renames: Renames, tolerance: float) -> Finding:
    """Compare two files that both runs have.

    Args:
        old: File of the old run.
        new: File of the new run.
        name: What to call it.
        renames: What the new version calls differently.
        tolerance: Relative difference up to which numbers are `CLOSE`.
    """
    first, second = renames.apply(READ[old.suffix](old), new.stem), READ[new.suffix](new)
    table = new.stem if new.suffix in (".csv", ".parquet") else ""
    first, second, rows = paired(first, second, table)
    what = [rows] if rows else []
    largest = np.inf if MISSING in rows else 0.0
    for column in sorted(first.keys() | second.keys()):
        if column not in second or column not in first:
            largest = largest if column in second else np.inf
            what.append(f"`{column}` {NEW if column in second else MISSING}")
            continue
        before, after = first[column], second[column]
        if before.shape != after.shape:
            largest = np.inf
            what.append(f"`{column}` has the shape {after.shape}, not {before.shape}")
            continue
        found = differences(before, after, column in renames.sentences)
        if len(found):
            largest = max(largest, found.max(), np.finfo(float).tiny)
            what.append(f"`{column}`: {len(found)} of {before.size} (up to {found.max():.1g})")
    state = DIFFERENT if largest > tolerance else CLOSE if largest else EQUAL
    return Finding(name, state, sum(each.size for each in first.values()), "; ".join(what))


def compare_runs(
    old: Path, new: Path, renames: Renames, tolerance: float
) -> tuple[list[Finding], Counter[str]]:
    """Compare all files of two runs.

    Returns:
        A finding per file, and how many files were left out for which reason.
    """
    before = {renames.path(path.relative_to(old)): path for path in visible(old)}
    after = {path.relative_to(new).as_posix(): path for path in visible(new)}
    findings, skipped = [], Counter[str]()
    for name in sorted(before.keys() | after.keys()):
        if why := left_out(name):
            skipped[why] += 1
        elif name not in before:
            findings.append(Finding(name, NEW))
        elif name not in after:
            why = next((why for p, why in renames.gone.items() if fnmatch.fnmatch(name, p)), "")
            findings.append(Finding(name, GONE if why else MISSING, what=why))
        else:
            findings.append(compare(before[name], after[name], name, renames, tolerance))
    return findings, skipped


def page(findings: list[Finding], skipped: Mapping[str, int], tolerance: float) -> str:
    """The findings as Markdown: counts by folder, files that are not equal, what is left out."""
    table = pd.DataFrame(
        [(f.file.split("/")[0], f.state, f.values) for f in findings], columns=["in", "state", "n"]
    )
    states = (EQUAL, CLOSE, DIFFERENT, MISSING, GONE, NEW)
    counts = pd.crosstab(table["in"], table["state"]).reindex(columns=[*states], fill_value=0)
    counts["values"] = table.groupby("in")["n"].sum()
    counts.loc["all"] = counts.sum()
    listed = [f for f in findings if f.what or f.state in FAILING]
    parts = [
        f"Files by folder; values compared bit for bit; tolerance (relative): {tolerance:g}.",
        counts.rename_axis(None, axis=1).reset_index().to_markdown(index=False),
        "\n".join(f"- {f.state}: `{f.file}` {f.what}".rstrip() for f in listed),
        "Left out:" if skipped else "",
        "\n".join(f"- {why} ({number} files)" for why, number in sorted(skipped.items())),
    ]
    return "\n\n".join(filter(None, parts))


def main() -> int:
    """Print the comparison; return 1 if a value differs or is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="folder of the run of the old version")
    parser.add_argument("new", type=Path, help="folder of the run of the new version")
    parser.add_argument("--renames", type=Path, default=RENAMES, help="renames.yaml by default")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="1e-6 by default")
    given = parser.parse_args()
    for run in (given.old, given.new):
        if not (run / "tables").is_dir():
            sys.exit(f"{run}: found no tables, expected the folder of a run, such as results/demo.")
    renames = Renames(**yaml.safe_load(given.renames.read_text(encoding="utf-8")))
    findings, skipped = compare_runs(given.old, given.new, renames, given.tolerance)
    print(page(findings, skipped, given.tolerance))
    return int(any(finding.state in FAILING for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
