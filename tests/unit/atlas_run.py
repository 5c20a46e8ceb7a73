"""A made-up run for the atlas: tables with random numbers, and stores with awkward tokens."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_models import judged

from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.shown import tables_of
from darksecrets.core.run.tables import Table
from darksecrets.pages.atlas import building, html, maps, measures
from darksecrets.pages.claims import registry
from darksecrets.pages.claims.tables import CLAIMS
from darksecrets.paper.ablation.tables import HEAD_ABLATION, SEED_EFFECTS

AWKWARD = (
    "<script>alert(1)</script>",
    "$x^{2$",
    "=cmd()",
    "שלום",
    "👩‍🚀",
    "</script>",
    "{{style}}",
)
LABELS = ("no", "<i>yes</i>")
_KEYS = {"integer": (1, 2), "number": (0.03, 0.01), "text": ("det", "nsubj", "<i>")}
PLACES = ("task", "seed", "layer", "head")
METRICS: Mapping[str, Sequence[str]] = {"one": ["f1", "accuracy"], "<b>two</b>": ["accuracy"]}


def table(
    declared: Table,
    tasks: Mapping[str, Sequence[str]],
    seeds: Sequence[int],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """A table with a row for every combination of its keys, and random values."""
    names = declared.key
    models = [("pretrained", None), *(("finetuned", seed) for seed in seeds), ("random", 1)]
    if "metric" in names or "state" not in names:
        models = models[1:-1]
    if "task" not in names:
        models = [models[0], models[-1]]
    by_name = {c.name: c for c in declared.columns}
    if "seed" in names and not by_name["seed"].optional:
        models = [model for model in models if model[0] == "finetuned"]
    of_others = {"state", "metric", *(["kind"] if declared is SEED_EFFECTS else [])}
    kinds = {
        c.name: c.values or _KEYS[c.kind]
        for c in declared.columns
        if c.name in names and c.name not in (*of_others, *PLACES)
    }
    heads = [*itertools.product(range(1, shape[0] + 1), range(1, shape[1] + 1))]
    if "layer" in names and by_name["layer"].optional:
        heads += [(1, None), (None, None)]
    rows = []
    for task, (state, seed), values, (layer, head) in itertools.product(
        tasks if "task" in names else [""], models, itertools.product(*kinds.values()), heads
    ):
        row = {"task": task, "state": state, "seed": seed, "layer": layer, "head": head}
        row |= dict(zip(kinds, values, strict=True))
        scored = [{"metric": metric} for metric in tasks[task]] if "metric" in names else [{}]
        rows += [row | metric for metric in scored]
    frame = pd.DataFrame(rows)
    if "layer" not in names:
        frame = frame[frame["layer"] == shape[0]]
    if declared.name == "seed_effects":
        frame = frame.drop_duplicates(["task", "state", "metric", "layer", "head"])
        frame["kind"] = "head"
    for column in declared.columns:
        if column.name not in frame:
            frame[column.name] = _values(column, len(frame), rng)
        elif column.name == "seed":
            frame["seed"] = frame["seed"].astype("Int64")
    for of in {c.interval_of for c in declared.columns if c.interval_of}:
        low, high = (c.name for c in declared.columns if c.interval_of == of)
        frame[low], frame[high] = frame[of] - 0.1, frame[of] + 0.1
        bounds = declared.columns[declared.names.index(low)]
        frame[[low, high]] = frame[[low, high]].clip(bounds.low, bounds.high)
    return declared.check(frame[list(declared.names)].reset_index(drop=True), declared.name, "")


def _values(column, size, rng):
    if column.kind == "flag":
        return rng.random(size) < 0.5
    if column.kind == "text":
        return rng.choice(column.values or ["made up"], size)
    if column.kind == "integer":
        return rng.integers(max(2, int(max(column.low, 0))), min(50, column.high + 1), size)
    low, high = max(column.low, -5), min(column.high, 5)
    return rng.uniform(low, high, size)


def tables(
    metrics: Mapping[str, Sequence[str]] = METRICS,
    seeds: Sequence[int] = (1, 2),
    shape: tuple[int, int] = (3, 4),
) -> dict[str, pd.DataFrame]:
    """All tables of the atlas's measures; they are shared, so tests change copies only."""
    return dict(_tables(tuple((task, *own) for task, own in metrics.items()), tuple(seeds), shape))


@functools.cache
def _tables(
    metrics: tuple[tuple[str, ...], ...], seeds: tuple[int, ...], shape: tuple[int, int]
) -> Mapping[str, pd.DataFrame]:
    rng, tasks = np.random.default_rng(1), {task: own for task, *own in metrics}
    found = {
        name: table(declared, tasks, seeds, shape, rng)
        for name, declared in tables_of(measures.SHOWN).items()
        if declared is not SEED_EFFECTS or len(seeds) > 1
    }
    ablation = found[HEAD_ABLATION.name]
    found[HEAD_ABLATION.name] = ablation.assign(q_value=rng.choice([0.001, 0.5], len(ablation)))
    return found


def tables_of_layers(
    metrics: Mapping[str, Sequence[str]] = METRICS,
    seeds: Sequence[int] = (1, 2),
    layers: int = 3,
) -> dict[str, pd.DataFrame]:
    """Effects of whole layers, −layer − seed / 2; and a probe, 0.9 − layer / 10, of the encoder."""
    effects = [
        {"task": task, "state": "finetuned", "seed": seed, "layer": layer, "metric": metric}
        | {"delta": -layer - seed / 2, "ci_low": -layer - 1.5, "ci_high": 0.25}
        for task, own in metrics.items()
        for seed in seeds
        for layer in range(1, layers + 1)
        for metric in own
    ]
    probes = [
        {"task": None, "state": "pretrained", "seed": None, "property": "tense", "layer": layer}
        | {"accuracy": 0.9 - layer / 10, "accuracy_low": 0.1, "accuracy_high": 0.95}
        | {"majority": 0.25}
        for layer in range(layers + 1)
    ]
    return {"layer_ablation": pd.DataFrame(effects), "layer_probes": pd.DataFrame(probes)}


def findings() -> pd.DataFrame:
    """Two sentences, with text that a page must not take for markup."""
    rows = [(1, "Heads give <b>up to 45%</b> to [SEP]", "figure6"), (2, "The run is made up", "")]
    return pd.DataFrame(rows, columns=["number", "sentence", "shown_by"])


def claims() -> pd.DataFrame:
    """The table of claims: each undecided."""
    papers = registry.read(registry.files())
    empty = {c.name: "" if c.kind == "text" else None for c in CLAIMS.columns}
    rows = [
        empty
        | {"paper": paper.name, "id": claim.id, "section": claim.section, "claim": claim.claim}
        | {
            "verdict": "undecided",
            "verdict_on_learned_tasks": "undecided",
            "verdict_on_random_weights": "undecided",
            "verdict_on_paper": "not comparable",
            "reason": "made up",
        }
        for paper in papers
        for claim in paper.claims
    ]
    frame = pd.DataFrame(rows)
    numbers = [c.name for c in CLAIMS.columns if c.kind == "number"]
    return CLAIMS.check(frame.astype(dict.fromkeys(numbers, "float64")), "claims", "")


def store(folder: Path, shape: tuple[int, int], seed: int, examples: int = 6) -> AttentionStore:
    """A store of examples of two sentences, with awkward tokens."""
    rng, layers, heads = np.random.default_rng(seed), *shape
    rows = []
    for idx in range(examples):
        first, second = 8 - idx // 2, 5
        tokens = ["[CLS]", *AWKWARD, "a"][: first + 1]
        tokens = [*tokens, "[SEP]", *["b"] * second, "[SEP]"]
        segments = [0] * (first + 2) + [1] * (len(tokens) - first - 2)
        special = [token in ("[CLS]", "[SEP]") for token in tokens]
        rows.append([10 * idx, tokens, segments, special, [0] * len(tokens), [1] * len(tokens)])
    frame = pd.DataFrame(rows, columns=["idx", "tokens", "segments", "special", "starts", "ends"])
    with write_store(folder, frame, layers, heads) as writer:
        for tokens in frame["tokens"]:
            length = len(tokens)
            writer.append(rng.dirichlet(np.full(length, 0.3), (layers, heads, length)))
    return AttentionStore.open(folder)


def stores(folder: Path, seeds: Sequence[int], shape: tuple[int, int]) -> dict[str, AttentionStore]:
    """Stores of the pre-trained and the fine-tuned models."""
    names = ["pretrained", *(f"finetuned/seed-{seed}" for seed in seeds)]
    return {name: store(folder / name, shape, n) for n, name in enumerate(names)}


def sweep(shape: tuple[int, int], examples: int = 6) -> SweepResult:
    """A sweep in which head h of layer l flips example (l + h) only."""
    layers, heads = shape
    places = [(layer, head) for layer in range(1, layers + 1) for head in range(1, heads + 1)]
    sets = pd.DataFrame(
        [("baseline", None, None, "")] + [("head", *place, "") for place in places],
        columns=["kind", "layer", "head", "name"],
    ).astype({"layer": "Int64", "head": "Int64"})
    predictions = np.zeros((len(sets), examples), dtype=np.int64)
    for row, (layer, head) in enumerate(places, start=1):
        predictions[row, (layer + head) % examples] = 1
    idx = 10 * np.arange(examples)[::-1]
    return SweepResult(sets, predictions, np.zeros(examples, np.int64), idx, idx)


def predictions(examples: int = 6) -> pd.DataFrame:
    """Predictions of the fine-tuned model: always the first class."""
    return pd.DataFrame({"idx": 10 * np.arange(examples), "label": 1, "prediction": 0})


def page(
    folder: Path,
    *,
    metrics: Mapping[str, Sequence[str]] = METRICS,
    seeds: Sequence[int] = (1, 2),
    shape: tuple[int, int] = (3, 4),
    without: Sequence[str] = (),
    unlearned: Sequence[str] = (),
) -> str:
    """The page of a made-up run, as text."""
    settings = maps.Settings(LABELS, examples=4, tokens=48, seed=1)
    swept = None if "head_ablation" in without else sweep(shape)
    own = maps.content(stores(folder, seeds, shape), predictions(), swept, settings)
    made_up = tables(metrics, seeds, shape)
    found = {name: frame for name, frame in made_up.items() if name not in without}
    found["learned"] = judged(metrics, unlearned, seeds)
    of_layers = tables_of_layers(metrics, seeds, shape[0])
    found |= {name: frame for name, frame in of_layers.items() if name not in without}
    made = {"Commit": "0123abcd", "Data": "files in <b>data</b>"}
    run = building.Run("made-up", "a <model> & data", metrics, seeds, False, {}, made=made)
    papers = registry.read(registry.files())
    content, numbers = building.content(
        run, found, findings(), claims(), papers, dict.fromkeys(metrics, own)
    )
    return html.page(content, numbers)
