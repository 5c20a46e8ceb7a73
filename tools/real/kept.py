"""Small tables of a finished run, kept with the pages that show them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pandas as pd
import yaml

from darksecrets.core.run.errors import InputError
from darksecrets.pages.contracts import TABLES as TABLES_OF_RUNS

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "real"
"""Where the tables lie: a folder for each run."""

PAPER = "paper"
"""Folder of the run of `config/real.yaml`."""

BEYOND = "beyond"
"""Folder of the run of `config/real-beyond.yaml`."""

IMPORTANCE = "importance"
"""Folder of the run of `config/real-importance.yaml`."""

MULTILINGUAL = "multilingual"
"""Folder of the run of `config/real-multilingual.yaml`."""

MOST_BYTES = 2_000_000
"""How much all kept tables may take."""

ATLAS = "atlas.html"
"""The atlas of the paper's run, which is kept, too: the site links to it."""

TABLES = {
    PAPER: (
        "table1",
        "score_means",
        "mean_differences",
        "score_differences",
        "learned",
        "baselines",
        "cosine",
        "last_layers",
        "patterns",
        "pattern_agreement",
        "framenet_heads",
        "framenet_controls",
        "framenet_random",
        "attention_levels",
        "attention_trends",
        "attention_changes",
        "attention_origins",
        "cls_attention",
        "token_pair_correlations",
        "head_ablation",
        "layer_ablation",
        "survival",
        "task_agreement",
        "claims",
        "beside_paper",
        "findings",
    ),
    BEYOND: (
        "learned",
        "claims",
        "findings",
        "syntactic_heads",
        "attention_probes",
        "norm_levels",
        "layer_probes",
        "layer_order",
        "structural_probes",
        "layer_geometry",
        "removed_properties",
        "trees",
        "changed_inputs",
    ),
    IMPORTANCE: ("learned", "claims", "pruning_curves"),
    MULTILINGUAL: (
        "learned",
        "baselines",
        "score_means",
        "cosine",
        "last_layers",
        "patterns",
        "framenet_heads",
        "cls_attention",
        "head_ablation",
        "layer_ablation",
        "survival",
        "claims",
        "beside_paper",
        "findings",
        "syntactic_heads",
    ),
}
"""Tables that are kept of each run."""

SELECTED = {"syntactic_heads": "selected"}
"""Tables of which only the rows are kept that have this column true."""


class RealRunError(Exception):
    """A run that cannot be kept or shown; the message says why and what to do."""


@dataclass(frozen=True)
class Run:
    """A run's tables and what made them.

    Attributes:
        folder: Where they are: a run's folder, or a folder of `KEPT`.
    """

    folder: Path

    @classmethod
    def kept(cls, name: str) -> Self:
        """One of the runs that the pages show."""
        return cls(KEPT / name)

    def has(self, name: str) -> bool:
        """Whether a table is there."""
        return (self._tables() / f"{name}.csv").is_file()

    def table(self, name: str) -> pd.DataFrame:
        """A table.

        Raises:
            RealRunError: It is not there, or damaged.
        """
        try:
            return TABLES_OF_RUNS[name].read(self._tables() / f"{name}.csv")
        except InputError as error:
            raise RealRunError(str(error)) from error

    def _tables(self) -> Path:
        inside = self.folder / "tables"
        return inside if inside.is_dir() else self.folder

    @property
    def encoder(self) -> str:
        """Name of the encoder."""
        file = self.folder / "config.yaml"
        return str(yaml.safe_load(file.read_text(encoding="utf-8"))["model"]["name"])

    @property
    def facts(self) -> dict[str, str]:
        """Commit, machine, versions, data and model."""
        return dict(self.summary()["facts"])

    @property
    def costs(self) -> pd.DataFrame:
        """CPU seconds, wall-clock seconds and megabytes by rule."""
        return pd.DataFrame(self.summary()["costs"])

    def summary(self) -> dict[str, Any]:
        """What made the run, and its costs, as ``run.json`` has them.

        Raises:
            RealRunError: It is not there, or damaged.
        """
        path = self.folder / "run.json"
        if not path.is_file():
            raise RealRunError(f"There is no {path}: {self.folder} is not a finished run.")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return {name: content[name] for name in ("facts", "costs")}
        except (ValueError, TypeError, KeyError) as error:
            raise RealRunError(
                f"{path} was cut off or changed ({error!r}). Remove it and run again."
            ) from error


def keep(runs: dict[str, Path]) -> None:
    """Replace the kept tables of runs by those of finished ones: of all, or of none.

    Args:
        runs: Folder of the run for a name in `KEPT`, a key of `TABLES`.

    Raises:
        RealRunError: A run is not finished, a table is damaged, or they are too large together;
            nothing is changed.
    """
    contents = {name: _read(run, name) for name, run in runs.items()}
    size = sum(
        len(content)
        for files in contents.values()
        for file, content in files.items()
        if file.endswith(".csv")
    )
    for name in TABLES.keys() - runs.keys():
        size += sum(table.stat().st_size for table in (KEPT / name).glob("*.csv"))
    if size > MOST_BYTES:
        raise RealRunError(f"The tables take {size:,} bytes; at most {MOST_BYTES:,} are kept.")
    for name, files in contents.items():
        target = KEPT / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for file, content in files.items():
            (target / file).write_bytes(content)


def _without_figures(atlas: bytes) -> bytes:
    """An atlas without links to figures of the run, which are not kept beside it."""
    page = re.sub(r'"figures":\["figures/[^\]]*\]', '"figures":[]', atlas.decode("utf-8"))
    return re.sub(r'"file":"figures/[^"]*"', '"file":""', page).encode("utf-8")


PLACES = (
    ("data", "folder"),
    ("model", "folder"),
    ("framenet", "path"),
    ("annotation", "pipeline"),
    ("syntax", "path"),
)
"""Keys of a configuration that may name a place of the machine that the run was made on."""


def _without_places(content: bytes, config: bytes) -> bytes:
    """A file that names data and models without the folders that they are in on the machine."""
    known = yaml.safe_load(config)
    places = [known.get(section, {}).get(key) for section, key in PLACES]
    parents = {str(Path(place).parent) for place in places if place and Path(place).is_absolute()}
    text = content.decode("utf-8")
    for parent in sorted(parents, key=len, reverse=True):
        text = text.replace(f"{parent}/", "")
    return text.encode("utf-8")


def _read(run: Path, name: str) -> dict[str, bytes]:
    """What is kept of a run, by the file's name."""
    tables = [run / "tables" / f"{table}.csv" for table in TABLES[name]]
    files = [run / "run.json", run / "config.yaml", *tables]
    if name == PAPER:
        files.append(run / ATLAS)
    missing = [str(file) for file in files if not file.is_file()]
    if missing:
        raise RealRunError(f"The run is not finished; it lacks {', '.join(missing)}.")
    finished = Run(run)
    finished.summary()
    for table in TABLES[name]:
        finished.table(table)
    config = (run / "config.yaml").read_bytes()
    contents = {file.name: _without_places(file.read_bytes(), config) for file in files}
    if name == PAPER:
        contents[ATLAS] = _without_figures(contents[ATLAS])
    for table, column in SELECTED.items():
        if table in TABLES[name]:
            rows = pd.read_csv(run / "tables" / f"{table}.csv")
            text = rows[rows[column]].to_csv(index=False, lineterminator="\n")
            contents[f"{table}.csv"] = text.encode("utf-8")
    return contents
