"""Disable every head and every layer of a classifier that is fine-tuned already (section 4.6).

Nothing is trained, and no workflow is needed: predictions, intervals and tests are those of a run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.core.data import files, metrics, sources
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.plotting.drawing import Given
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.libraries import require
from darksecrets.core.run.numbers import written
from darksecrets.core.run.states import FINETUNED
from darksecrets.core.run.tables import identify
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.permutation import mcnemar
from darksecrets.paper.ablation.findings import describe_needed_heads

if TYPE_CHECKING:
    from datasets import DatasetDict
    from matplotlib.figure import Figure
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

SEED = 2019
"""Of resamples, permutations and random halves."""
_MODEL = f"{FINETUNED}/seed-1"
"""What the tables of a run would call the model; its seed is not known, and not shown."""


@dataclass(frozen=True, repr=False)
class Ablation:
    """What a classifier loses without each head, and without each layer.

    Attributes:
        heads: A row per metric and head, see `darksecrets.paper.ablation.tables.HEAD_ABLATION`.
        layers: A row per metric and layer.
        best: A row per metric and kind (head, layer): the best one to lose, and what that gains on
            held-out examples, see `SURVIVAL` there.
        predictions: The predictions behind them.
        metrics: Names of the metrics, the main one first.
        model: What the model is called.
        data: What the examples are called.
        learned: Whether the model is better than one that always gives the most frequent label.
    """

    heads: pd.DataFrame
    layers: pd.DataFrame
    best: pd.DataFrame
    predictions: SweepResult
    metrics: tuple[str, ...]
    model: str
    data: str
    learned: bool

    @property
    def label(self) -> str:
        """The model and its data, for figures."""
        return f"{self.model} · {self.data}"

    @property
    def baseline(self) -> float:
        """Score of the intact model on the main metric, × 100."""
        return float(self.heads["baseline"].iloc[0])

    def __repr__(self) -> str:
        count = len(self.heads[["layer", "head"]].drop_duplicates())
        return (
            f"Ablation({self.label}: {self.metrics[0]} {self.baseline:.1f} on "
            f"{len(self.predictions.idx)} examples, {count} heads)"
        )

    def figure(self) -> Figure:
        """Draw Figure 8 for this model: the score without each head."""
        from darksecrets.paper.ablation.figures import figure8

        rows = identify(self.heads, self.data, _MODEL)
        outcome = {"task": self.data, "seed": pd.NA, "learned": self.learned}
        unknown = {"score": self.baseline, "majority": np.nan, "bag_of_words": np.nan}
        judged = pd.DataFrame([outcome | unknown])
        sources = Given({self.data: self.metrics}, self.label, head_ablation=rows, learned=judged)
        return figure8.draw(sources)

    def summary(self) -> str:
        """The main numbers, in a few lines."""
        main, examples = self.metrics[0], len(self.predictions.idx)
        score = written(self.baseline, ".1f")
        lines = [f"Intact model: {main} {score} on {examples} examples."]
        if not self.learned:
            lines.append(
                "That is not better than always the most frequent label (paired test, p < .05), so "
                "nothing is said of its heads. Are the labels in the model's order (--labels)?"
            )
            return "\n".join(lines)
        rows = identify(self.heads, self.data, _MODEL)
        lines.append(f"{describe_needed_heads(rows, {self.data: main})}.")
        for row in self.best[self.best["metric"] == main].to_dict("records"):
            place = f"layer {row['layer']}"
            place += f", head {row['head']}" if row["kind"] == "head" else ""
            ends = ", ".join(written(row[end], "+.1f") for end in ("ci_low", "ci_high"))
            lines.append(
                f"Best {row['kind']} to lose: {place}; {written(row['naive_gain'], '+.1f')} points "
                f"on these examples, {written(row['unbiased_gain'], '+.1f')} [{ends}] on held-out "
                "examples."
            )
        return "\n".join(lines)


def ablate(
    model: str | Path | PreTrainedModel,
    data: str | Path | pd.DataFrame,
    *,
    text: str | Sequence[str] = "text",
    label: str = "label",
    labels: Sequence[str] = (),
    metric: str | Sequence[str] = (),
    tokenizer: PreTrainedTokenizerBase | None = None,
    mode: str = "uniform",
    max_length: int = 128,
    folder: str | Path | None = None,
    seed: int = SEED,
) -> Ablation:
    """Score a classifier with each head, and each layer, disabled.

    Predictions are exactly those of running the model once for every disabled part, in float32.

    Args:
        model: A fine-tuned classifier: a Hugging Face folder, a name on the Hub, or a loaded model
            with its tokenizer.
        data: Labelled examples: a file (.csv, .tsv or .jsonl), or a table.
        text: Column with the text; two for pairs of sentences.
        label: Column with the label: the model's names of classes, or their numbers from 0.
        labels: The data's own names of the classes, in the model's order.
        metric: Names of metrics, the main one first; accuracy, or Pearson's correlation for a
            regression, if omitted.
        tokenizer: Of a loaded model.
        mode: `uniform`: a disabled head attends to all tokens equally; `zero`: its output is 0.
        max_length: Longest example, in tokens; what is longer is cut.
        folder: Where predictions are kept, so that an interrupted call goes on; nowhere if omitted.
        seed: Of resamples, permutations and random halves.

    Raises:
        InputError: The model is no classifier, or the data do not fit it; says what to do.
    """
    import torch

    from darksecrets.core.interventions import sweep
    from darksecrets.core.models.given import model_folder, name_of
    from darksecrets.paper.ablation.scoring import scored
    from darksecrets.paper.ablation.statistics import Resampling

    require("datasets", "data", "Disabling heads on labelled examples")
    columns = (text,) if isinstance(text, str) else tuple(text)
    with model_folder(model, tokenizer, max_length) as checked, _file_of(data) as file:
        task = _task_of(checked, file, columns, label, labels, metric)
        table = _read(file, task)
        sweep.check_labels(table["label"].to_numpy(), task, str(file))
        _require_classifier(checked, task)
        with tempfile.TemporaryDirectory() as temporary:
            prepared = Path(temporary) / "data"
            _write(sources.build_dataset(task, {"validation": table}, str(file)), prepared)
            kept = Path(temporary if folder is None else folder) / "predictions"
            settings = sweep.Settings(replace(task, data=None), 0, max_length, mode)
            sweep.sweep(checked, prepared, kept, settings, threads=torch.get_num_threads())
            result = SweepResult.load(kept)
    found = scored(result, task, Resampling(10_000, 10_000, 1_000, seed))
    return Ablation(
        found["head_ablation"],
        found["layer_ablation"],
        found["survival"],
        result,
        task.metrics,
        name_of(model),
        task.name,
        _is_better_than_constant(result, task),
    )


@contextmanager
def _file_of(data: str | Path | pd.DataFrame) -> Iterator[Path]:
    """The file of the examples; a table is written to one that is removed again."""
    if not isinstance(data, pd.DataFrame):
        path = Path(data).expanduser()
        if not path.is_file():
            raise InputError(f"There is no file {data} with labelled examples.")
        if path.suffix not in files.SUFFIXES:
            raise InputError(f"{path}: expected a file that ends in {', '.join(files.SUFFIXES)}.")
        yield path
        return
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "table.csv"
        data.to_csv(path, index=False)
        yield path


def _task_of(
    folder: Path,
    file: Path,
    text: Sequence[str],
    label: str,
    labels: Sequence[str],
    metric: str | Sequence[str],
) -> Task:
    """The task that a model was fine-tuned on, as far as its configuration and the data say it.

    Raises:
        InputError: The model gives an example several labels, the numbers of columns or of classes
            do not fit, or there is no such metric.
    """
    from transformers import AutoConfig

    if len(text) not in (1, 2):
        raise InputError(f"text names {len(text)} columns; give one, or two for pairs.")
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    if config.problem_type == "multi_label_classification":
        raise InputError(
            f"{folder / 'config.json'}: problem_type is {config.problem_type}: this model gives an "
            "example any number of labels. Give one that chooses one class, or a regression."
        )
    classes = _classes_of(config)
    if labels and len(labels) != len(classes):
        found = f"{len(classes)} classes ({', '.join(classes)})" if classes else "a regression"
        raise InputError(f"labels names {len(labels)} classes, but the model is of {found}.")
    named = dict(zip(labels, classes, strict=True)) if labels else list(classes)
    wanted = [metric] if isinstance(metric, str) else list(metric)
    possible = metrics.fitting(len(classes))
    if unknown := [name for name in wanted if name not in possible]:
        raise InputError(f"There is no metric {unknown[0]} for this model: {', '.join(possible)}.")
    ends: Mapping[str, Any] = {"labels": named} if classes else {"range": (-1e300, 1e300)}
    main = "accuracy" if classes else "pearson"
    entry = {"text": text, "label": label, "metrics": wanted or [main], **ends}
    return Task.from_entry(file.stem, entry | {"files": {"train": file, "validation": file}})


def _classes_of(config: PreTrainedConfig) -> tuple[str, ...]:
    """Names of the classes of a model; empty for a regression."""
    if config.problem_type == "regression" or config.num_labels == 1:
        return ()
    names = {int(code): str(name) for code, name in (config.id2label or {}).items()}
    return tuple(names[code] for code in sorted(names))


def _read(file: Path, task: Task) -> pd.DataFrame:
    """The examples of a file.

    Raises:
        InputError: A column is missing, or a label is not one of the model's.
    """
    try:
        return sources.read_file(file, task)
    except InputError as error:
        if "label" not in str(error) or task.is_regression:
            raise
        named = " ".join(task.labels)
        raise InputError(
            f"{error}. If the data have other names for them, give these in the order of the "
            f"model's classes, {named} (--labels)."
        ) from None


def _write(dataset: DatasetDict, folder: Path) -> None:
    """Write a data set without the bars of its library."""
    from datasets import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    shown = not are_progress_bars_disabled()
    disable_progress_bars()
    dataset.save_to_disk(folder)
    if shown:
        enable_progress_bars()


def _require_classifier(folder: Path, task: Task) -> None:
    """Check that a checkpoint has a trained classifier.

    Raises:
        InputError: It is a mere encoder.
    """
    from darksecrets.core.models.loading import load_classifier

    _, new = load_classifier(folder, task, seed=0)
    if new:
        raise InputError(
            f"{folder} has no trained classifier ({new[0]} is missing). Give a model that was "
            "fine-tuned on a task, saved with save_pretrained; `darksecrets inspect` needs none."
        )


def _is_better_than_constant(result: SweepResult, task: Task) -> bool:
    """Whether a model is better than one that always gives the most frequent label.

    Classes: McNemar's exact test, one-sided, equal texts as one example. A regression: Pearson's
    correlation is significantly above 0.
    """
    from scipy.stats import pearsonr

    once = result.once()
    predicted, gold = once.predictions[0], once.labels
    if task.is_regression:
        if np.ptp(predicted) == 0:
            return False
        return bool(pearsonr(predicted, gold, alternative="greater").pvalue < LEVEL)
    constant = np.bincount(gold.astype(int)).argmax()
    right = np.stack([gold == constant, predicted == gold])
    one_sided = mcnemar(right)[1] / 2
    return bool(right[1].sum() > right[0].sum() and one_sided < LEVEL)
