"""Cost of the sections beyond the paper: syntax, opinions, faithfulness, importance.

    python benchmarks/sections.py results/demo [results/real …] [--task RTE] [--threads 1]

Each step of a section runs on the models and texts of a finished run, with the package's own
functions, once on some examples and once on twice as many. Every measurement is a process of its
own, for its memory. CPU time starts once libraries are imported; loading models is part of it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.data.tasks import Task
from darksecrets.models.loading import Draw
from workflow.lib import configuration

BATCH, LONGEST, SEED = 16, 128, 2019
RANDOM = "random/seed-1"


@dataclass(frozen=True)
class Run:
    """A finished run, and the task whose models are measured.

    Attributes:
        folder: Folder of the run.
        task: The task.
    """

    folder: Path
    task: Task

    @classmethod
    def of(cls, folder: Path, task: str) -> Run:
        """The run of a folder."""
        entry = configured(folder)["tasks"][task]
        return cls(folder, Task.from_entry(task, entry))

    @property
    def pretrained(self) -> Path:
        """Folder of the pre-trained encoder."""
        return self.folder / "models" / "pretrained"

    @property
    def finetuned(self) -> Path:
        """Folder of the model fine-tuned with the first seed."""
        return self.folder / "models" / self.task.name / "finetuned" / "seed-1"

    @property
    def dataset(self) -> Path:
        """Folder of the task's data."""
        return self.folder / "data" / self.task.name

    @property
    def draw(self) -> Draw:
        """How random weights are drawn."""
        return Draw(1, 0.02)

    def sentences(self, count: int) -> list[Any]:
        """The first sentences of the run's annotated texts."""
        from darksecrets.syntax.sources import annotated

        return annotated(sorted((self.folder / "annotation").glob("*.jsonl")), SEED)[:count]

    def sample(self, count: int, folder: Path) -> Path:
        """A file with the first examples of the task's sample."""
        rows = pd.read_csv(self.folder / "samples" / f"{self.task.name}.csv").head(count)
        rows.to_csv(folder / "sample.csv", index=False)
        return folder / "sample.csv"


def configured(folder: Path) -> dict[str, Any]:
    """The configuration of a run."""
    found: dict[str, Any] = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    return found


def syntax(run: Run, count: int) -> int:
    """Heads beside dependency relations, trees, attention to subjects: two models."""
    from darksecrets.syntax.measuring import measure, tables

    sentences = run.sentences(count)
    models = {
        name: measure(run.pretrained, sentences, max_length=LONGEST, batch_size=BATCH, draw=draw)
        for name, draw in {"pretrained": None, RANDOM: run.draw}.items()
    }
    tables(models, RANDOM, SEED)
    return len(sentences)


def changes(run: Run, count: int) -> int:
    """What fine-tuning changes for syntactic heads: two models."""
    from darksecrets.syntax.changes import table
    from darksecrets.syntax.measuring import guess

    sentences = run.sentences(count)
    (read, before), (_, after) = (
        guess(folder, sentences, max_length=LONGEST, batch_size=BATCH)
        for folder in (run.pretrained, run.finetuned)
    )
    table(read, before, after, SEED)
    return len(sentences)


def probes(run: Run, count: int) -> int:
    """Probes over all heads, with their controls."""
    from darksecrets.syntax.probing import Reading, probe_table

    sentences = run.sentences(count)
    probe_table(sentences, Reading(run.pretrained, LONGEST, BATCH), run.draw, SEED)
    return len(sentences)


def coreference(run: Run, count: int) -> int:
    """Antecedents by heads, on texts of the built-in grammar: two models."""
    from darksecrets.syntax.antecedents import resolve_all
    from darksecrets.syntax.coreference import builtin
    from darksecrets.syntax.coreference_statistics import tables

    texts = builtin(count, SEED)
    for draw in (None, run.draw):
        resolved = resolve_all(
            texts, run.pretrained, max_length=LONGEST, batch_size=BATCH, draw=draw
        )
        tables(resolved, SEED)
    return len(texts)


def opinions(run: Run, count: int) -> int:
    """All measures of heads by norms and effective attention: three models."""
    from darksecrets.attention.extraction import read_sample
    from darksecrets.opinions.attended import attended
    from darksecrets.opinions.running import run as load

    folders = {"pretrained": (run.pretrained, None), "finetuned/seed-1": (run.finetuned, None)}
    with tempfile.TemporaryDirectory() as folder:
        examples = read_sample(run.dataset, run.sample(count, Path(folder)))
        maps = load(
            {**folders, RANDOM: (run.pretrained, run.draw)},
            examples,
            ["norms", "effective"],
            max_length=LONGEST,
            batch_size=BATCH,
        )
        annotation = run.folder / "annotation" / f"{run.task.name}.jsonl"
        attended(maps, annotation, run.task.name, SEED)
    return len(examples["idx"])


def faithfulness(run: Run, count: int) -> int:
    """Gradients and rankings; a third of the examples has tokens erased: two models."""
    from darksecrets.faithfulness import running

    with tempfile.TemporaryDirectory() as folder:
        running.tables(
            run.task,
            {"finetuned/seed-1": run.finetuned},
            run.pretrained,
            (RANDOM, run.draw),
            dataset=run.dataset,
            sample=run.sample(count, Path(folder)),
            examples=count,
            erased=count // 3,
            batch_size=BATCH,
            max_length=LONGEST,
            seed=SEED,
        )
    return count


def importance(run: Run, count: int) -> int:
    """Importance of every head by all definitions: one model."""
    from darksecrets.data.batches import load_split
    from darksecrets.importance.gradients import measure, sample
    from darksecrets.importance.statistics import head_importance
    from darksecrets.models import devices
    from darksecrets.models.loading import load_classifier, load_tokenizer

    tokenizer = load_tokenizer(run.finetuned)
    split = load_split(run.dataset, "train", tokenizer, run.task, LONGEST)
    model, _ = load_classifier(run.finetuned, run.task, 1)
    rows = sample(len(split), count, SEED)
    nodes = 16  # the default of `importance.nodes`
    paths = max(1, 2 * len(rows) // nodes)
    found = measure(devices.place(model), split, run.task, rows, nodes=nodes, paths=paths)
    head_importance(found, SEED)
    return len(rows)


@dataclass(frozen=True)
class Step:
    """A step of a section.

    Attributes:
        section: The section's package.
        what: What it computes.
        unit: What is counted.
        counts: On how many of these it is measured.
        work: Does it, and returns on how many.
    """

    section: str
    what: str
    unit: str
    counts: tuple[int, int]
    work: Callable[[Run, int], int]


STEPS = {
    step.work.__name__: step
    for step in (
        Step("syntax", "heads, trees, subjects", "sentence", (100, 200), syntax),
        Step("syntax", "changes by fine-tuning", "sentence", (100, 200), changes),
        Step("syntax", "probes", "sentence", (40, 80), probes),
        Step("syntax", "coreference", "text", (40, 80), coreference),
        Step("opinions", "norms, effective attention", "example", (12, 24), opinions),
        Step("faithfulness", "gradients, erased tokens", "example", (6, 12), faithfulness),
        Step("importance", "all definitions", "example", (20, 40), importance),
    )
}


def measure_step(name: str, run: Run, count: int) -> dict[str, float]:
    """CPU time and memory of one step, in this process."""
    import transformers.modeling_utils  # noqa: F401 - imported before the clock starts

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    done = STEPS[name].work(run, count)
    taken = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"done": done, "seconds": taken, "peak": memory, "imports": before}


def child(name: str, run: Path, task: str, count: int, threads: int) -> dict[str, float]:
    """Run this program for one measurement."""
    command = [sys.executable, __file__, str(run), "--task", task, "--threads", str(threads)]
    command += ["--step", name, str(count)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows_of(folder: Path, task: str, threads: int) -> list[dict[str, Any]]:
    """All steps of one run."""
    rows = []
    for name, step in STEPS.items():
        few, many = (child(name, folder, task, count, threads) for count in step.counts)
        more = many["done"] - few["done"]
        each = (many["seconds"] - few["seconds"]) / more if more else float("nan")
        rows.append(
            {
                "run": configured(folder)["run"],
                "section": step.section,
                "step": step.what,
                "on": f"{many['done']:.0f} {step.unit}s",
                "CPU seconds": round(many["seconds"], 1),
                "ms per further one": round(1000 * each),
                "peak MiB": round(many["peak"]),
                "peak MiB on half of them": round(few["peak"]),
                "of which imports": round(many["imports"]),
            }
        )
    return rows


def main() -> None:
    """Read the command line, measure everything, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of finished runs")
    parser.add_argument("--task", default="RTE", help="whose models and examples are used")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        name, count = options.step
        run = Run.of(options.runs[0], options.task)
        print(json.dumps(measure_step(name, run, int(count))))
        return
    rows = [row for run in options.runs for row in rows_of(run, options.task, options.threads)]
    described = "; ".join(
        f"*{configured(run)['run']}*: {configuration.describe(configured(run))}"
        for run in options.runs
    )
    notes = (
        f"Each step on the models of a finished run and on its texts ({described}; task "
        f"{options.task}), {options.threads} thread(s). *ms per further one* is the difference "
        "between this many and half as many, so that loading models does not count. Peak memory is "
        "that of the whole process; *imports* are torch and transformers alone. Syntax and "
        "coreference run the pre-trained encoder and one with random weights, "
        "changes the pre-trained and one fine-tuned, opinions all three, faithfulness the "
        "fine-tuned one and random weights, importance the fine-tuned one. A run has as many "
        "fine-tuned models as seeds.\n\n"
        "Word maps of syntax are reduced as they are made; those of probes are kept, so only their "
        "memory grows with the number of sentences."
    )
    machine = describe("torch", "transformers", "numpy")
    write_results("sections", "Sections beyond the paper", pd.DataFrame(rows), machine, notes)


if __name__ == "__main__":
    main()
