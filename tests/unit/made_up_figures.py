"""Made-up tables for every figure of the workflow, with awkward names of tasks, tokens and models.

What a figure reads is taken from its rule, and the columns, values and bounds of a table from its
declaration.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.plotting.drawing import Sources
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import Column, Table
from darksecrets.pages.contracts import TABLES
from darksecrets.paper.framenet.example import Example
from darksecrets.paper.patterns.classes import PATTERNS

HEBREW = "\u05e9\u05dc\u05d5\u05dd"
EMOJI = "\U0001f469\u200d\U0001f680"
METRICS: Mapping[str, Sequence[str]] = {
    "$x^{2$": ["f1", "accuracy"],
    "<script>&": ["accuracy"],
    f"=cmd()|{HEBREW}": ["pearson", "spearman"],
}
TOKENS = ["[CLS]", "$x^{2$", "<script>", "=cmd()", HEBREW, EMOJI, "_{", "[SEP]"]
LABEL = f"run $x^{{2$ · <script> =cmd() {HEBREW}"
OPTIONS = {"scale": "data"}
"""Settings of figures."""
SHAPE = (3, 4)
SEEDS = (1, 2)
_STEPS = (1, 2, 3)
_TABLE = re.compile(r'"<results>/tables/(\w+)\.(csv|parquet|npz)"')
_RULE = re.compile(r"^rule draw_\w+:\n.*?^    output:", re.MULTILINE | re.DOTALL)
_INPUT = re.compile(
    r"^        (\w+)=(.*?),$(?=\n        \w+=|\n    output:)", re.MULTILINE | re.DOTALL
)
_SHIPPED = re.compile(r'shipped\("([\w/.]+)"\)')


def names(root: Path) -> list[str]:
    """Every figure of the workflow's rules, but those of a look at text, which needs a store."""
    return [name for name, _ in _rules(root)]


def drawing(root: Path, name: str) -> Callable[[Sources], Any]:
    """The function that draws a figure."""
    module = import_module(dotted_name(root, name))
    return getattr(module, "draw", None) or getattr(module, f"draw_{name}")


def dotted_name(root: Path, name: str) -> str:
    """The module that draws a figure: of its own, or the one of its analysis."""
    shown = root.glob("darksecrets/beyond/*/shown.py")
    (path,) = [
        *root.glob(f"darksecrets/paper/*/figures/{name}.py"),
        *root.glob(f"darksecrets/pages/*/{name}.py"),
        *(path for path in shown if f"def draw_{name}(" in path.read_text(encoding="utf-8")),
    ]
    return ".".join(path.relative_to(root).with_suffix("").parts)


def inputs(root: Path, name: str) -> dict[str, str]:
    """The tables and arrays that a figure reads, by their names."""
    given = dict(_rules(root))[name]
    shared = {key: given[key] for key in ("learned", "maps") if key in given}
    found = {stem: f"{stem}.{suffix}" for stem, suffix in _TABLE.findall(given[name])}
    return found | {key: "{}.{}".format(*_TABLE.findall(text)[0]) for key, text in shared.items()}


def _rules(root: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Every figure, and the inputs of its rule by name, as they are written."""
    for path in sorted((root / "workflow" / "rules").rglob("*.smk")):
        text = path.read_text(encoding="utf-8")
        for rule in _RULE.findall(text):
            given = dict(_INPUT.findall(rule))
            for name in given:
                if name != "table1" and f'"<results>/figures/{name}.svg"' in text:
                    yield name, given


def sources(root: Path, name: str, folder: Path) -> Sources:
    """What the rule of a figure would give to its module."""
    paths = {
        key: [RESOURCES / found[1]]
        for key, text in dict(_rules(root))[name].items()
        if (found := _SHIPPED.fullmatch(text))  # in every run, not only the paper's
    }
    for key, file in inputs(root, name).items():
        paths[key] = [folder / file]
        if file.endswith(".npz"):
            _write_arrays(folder / file)
        else:
            declared = TABLES[Path(file).stem]
            declared.write(table(declared), folder / file)
    return Sources(lambda key: paths.get(key, []), METRICS, LABEL, OPTIONS)


def table(declared: Table) -> pd.DataFrame:
    """A row for every combination of the keys, with random values within their bounds."""
    rng = np.random.default_rng(len(declared.name))
    rows = [row for row in _keys(declared) if not _left_out(declared.name, row)]
    frame = pd.DataFrame(rows).drop_duplicates()
    for column in declared.columns:
        if column.name not in frame:
            frame[column.name] = _values(column, len(frame), rng)
        elif column.kind == "integer":
            frame = frame.astype({column.name: column.dtype})
    if declared.name == "patterns":
        one = ["task", "state", "seed", "definition"]
        frame["share"] /= frame.groupby(one, dropna=False)["share"].transform("sum")
    if declared.name == "head_types":  # a head has one main type, or none
        mains = dict(enumerate(("none", "next", "broad for its length", "[SEP]", "none")))
        frame["main"] = frame["type"] == frame["head"].map(mains)
    for of in {column.interval_of for column in declared.columns if column.interval_of}:
        low, high = (column for column in declared.columns if column.interval_of == of)
        for end, shift in ((low, -0.1), (high, 0.1)):
            frame[end.name] = (frame[of] + shift).clip(end.low, end.high)
    if declared.name == "framenet_links":
        frame = _links(frame)
    return frame[list(declared.names)].reset_index(drop=True)


def _keys(declared: Table) -> Iterator[dict[str, object]]:
    columns = {column.name: column for column in declared.columns}
    key = declared.key or ("idx",)
    models: list[tuple[str, int | None]] = [("pretrained", None), ("random", 1)]
    models += [(state, seed) for state in ("finetuned-from-normal", "finetuned") for seed in SEEDS]
    if "state" in key:
        models = [model for model in models if model[0] in columns["state"].values]
    if "seed" in key and not columns["seed"].optional:
        models = [(state, seed or 1) for state, seed in models]
    scored = ("metric", "quantity") if "task" in key else ()
    others = [name for name in key if name not in ("task", "state", "seed", *scored)]
    for task, model in itertools.product(METRICS if "task" in key else [""], models):
        metrics = METRICS.get(task, [""])
        quantities = ["loss", *metrics] if "quantity" in key else metrics
        domains = [_domain(columns[name], task) for name in others]
        for values in itertools.product(quantities, *domains):
            known = {"task": task, "metric": values[0], "quantity": values[0]}
            known |= {"state": model[0], "seed": model[1]}
            row = {name: known[name] for name in key if name in known}
            yield row | dict(zip(others, values[1:], strict=True))


def _domain(column: Column, task: str) -> Sequence[object]:
    """The values of a key."""
    if column.optional:  # of all patterns; of all layers, and of each
        return (None, *range(1, SHAPE[0] + 1)) if column.name == "layer" else (None,)
    if column.values:
        return column.values
    tasks = list(METRICS)
    models = ("$x^{2$", f"<script> {HEBREW}", "=cmd(), random")
    return {
        "layer": range(1, SHAPE[0] + 1),
        "head": range(1, SHAPE[1] + 1),
        "heads": (1, 2, 4, 8),
        "step": _STEPS,
        "row": _STEPS,
        "column": _STEPS,
        "other_task": tasks[tasks.index(task) if task in tasks else 0 :],
        "maps_of": ("all", *models, *(f"unseen {model}" for model in models)),
        "map": [f"m{n}" for n in range(12)],
        "idx": (0, 1),
        "paper": ("kovaleva2019",),
        "id": ("1", "$x^{2$"),
        "label": ("all", "$x^{2$", "<script>"),
        "set": ("facts", "$x^{2$", "<script>"),
        "heuristic": ("lexical_overlap", "$x^{2$", "<script>"),
        "phenomenon": ("agreement", "$x^{2$", "<script>"),
    }.get(column.name, (1,))


def _left_out(name: str, row: Mapping[str, object]) -> bool:
    """Rows that a run never has: losses of no training, scores of every step."""
    if name == "learning_curves":
        return (row["split"] == "train") != (row["quantity"] == "loss")
    if name == "task_agreement":
        return row["state"] != "finetuned"
    return False


def _values(column: Column, size: int, rng: np.random.Generator) -> Any:
    tokens = " ".join(TOKENS)
    texts = {"tokens": tokens, "model": "$x^{2$", "task": "<script>&", "confusions_of": "$x^{2$"}
    texts |= {"segments": "00000111", "special": "10000001", "encoder": "=cmd()", "map": "m0"}
    if column.values:
        return rng.choice(column.values, size)
    if column.kind == "text":
        return texts.get(column.name, "$x^{2$")
    if column.kind == "flag":
        return rng.random(size) < 0.5
    if column.kind == "integer":
        return rng.integers(max(1, int(max(column.low, 0))), 9, size)
    if column.name.startswith("q_"):
        return rng.choice([0.001, 0.5], size)
    return rng.uniform(max(column.low, -5), min(column.high, 5), size)


def _links(frame: pd.DataFrame) -> pd.DataFrame:
    """A sentence of awkward words."""
    sentence = " ".join(TOKENS[1:-1])
    word = sentence.index("=cmd()")
    return frame.assign(
        sentence=sentence, predicate_start=0, predicate_end=6, role="$x^{2$", frame="<b>_{$"
    ).assign(element_start=word, element_end=word + 6)


def _write_arrays(path: Path) -> None:
    """The maps of Figure 1 (by the names of patterns), or those of Figure 3."""
    size, rng = len(TOKENS), np.random.default_rng(1)
    maps = rng.dirichlet(np.full(size, 0.3), (2, size)).astype(np.float16)
    if path.stem == "typical_maps":
        np.savez_compressed(path, **dict.fromkeys(PATTERNS, maps[0]))
        return
    places = np.array([1, 2])
    Example(0, np.array(TOKENS), places, places, maps, places, places + 3).save(path)
