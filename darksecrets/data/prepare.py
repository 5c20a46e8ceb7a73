"""Write data from any source in the form of the data contract (section 3, `docs/contracts.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from darksecrets.data import checks, sources
from darksecrets.data.builtin.tasks import generate, rows
from darksecrets.data.sampling import ANNOTATION
from darksecrets.data.tasks import Files, HubData, Task
from darksecrets.run.files import atomic, write_json

SUMMARY = "summary.json"


def prepare(task: Task, builtin: Mapping[str, int], output: Path) -> None:
    """Check the data set of a task and write it with a summary of the checks.

    The built-in corpus also has a gold annotation of every validation example, one JSON object per
    line, in the order of the split: ``idx``, ``sentence1`` and ``sentence2``, each with its tokens
    and links (see `darksecrets.data.builtin`).

    Args:
        task: The task.
        builtin: For the built-in corpus: numbers of examples, ``train`` and ``validation``, and
            ``seed``.
        output: Folder to write to.

    Raises:
        InputError: The source is not available, or its data do not belong to the task.
    """
    import pandas as pd

    annotation: list[dict[str, Any]] = []
    if isinstance(task.data, HubData):
        dataset = sources.from_hub(task)
    elif isinstance(task.data, Files):
        dataset = sources.from_files(task)
    else:
        sizes = {split: builtin[split] for split in sources.SPLITS}
        examples = generate(task.name, sizes, builtin["seed"])
        tables = {split: pd.DataFrame(rows(examples[split])) for split in sizes}
        origin = f"built-in corpus, seed {builtin['seed']}"
        dataset = sources.to_dataset(task, tables, origin)
        annotation = [
            {"idx": idx, **{name: getattr(example, name).to_dict() for name in task.columns}}
            for idx, example in enumerate(examples[sources.VALIDATION])
        ]
    summary = checks.check(dataset, task, duplicates=task.data is not None)
    with atomic(output) as temporary:
        dataset.save_to_disk(str(temporary))
        write_json(summary, temporary / SUMMARY)
        if annotation:
            _write_lines(annotation, temporary / ANNOTATION)


def _write_lines(objects: Iterable[Mapping[str, Any]], path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for item in objects:
            stream.write(json.dumps(item, ensure_ascii=False) + "\n")
