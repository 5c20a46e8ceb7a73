"""Score the baselines of Table 1 that need no model: majority class and bag of words."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Fit both on the training split; write their scores and predictions on the validation set."""
    import pandas as pd
    from datasets import load_from_disk

    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.baselines import evaluate_baselines
    from darksecrets.finetuning.tables import BASELINE_PREDICTIONS, BASELINES, scored_by

    entries, rows = job.params.tasks, []
    files = zip(job.input.all("datasets"), job.output.all("predictions"), strict=True)
    for (name, entry), (data, path) in zip(entries.items(), files, strict=True):
        dataset = load_from_disk(data)
        train, validation = (dataset[split].to_dict() for split in ("train", "validation"))
        scores, predictions = evaluate_baselines(train, validation, Task.from_entry(name, entry))
        BASELINE_PREDICTIONS.write(predictions, path)
        rows.append(scores)
    keep = scored_by({name: entry["metrics"] for name, entry in entries.items()})
    BASELINES.write(keep(pd.concat(rows, ignore_index=True)), job.output.table)
