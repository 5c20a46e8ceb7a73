"""Score majority class and bag of words; say which fine-tuned models have learned more."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Fit both on the training split; write scores and predictions, and what models learned."""
    import pandas as pd
    from datasets import load_from_disk

    from darksecrets.core.data import coverage
    from darksecrets.core.data.tasks import Task
    from darksecrets.paper.finetuning.baselines import evaluate_baselines
    from darksecrets.paper.finetuning.comparison import Resampling, learned, read
    from darksecrets.paper.finetuning.tables import (
        BASELINE_PREDICTIONS,
        BASELINES,
        LEARNED,
        scored_by,
    )

    entries, rows, outcomes, coverages = job.params.tasks, [], [], {}
    files = zip(job.input.all("datasets"), job.output.all("predictions"), strict=True)
    for (name, entry), (data, path) in zip(entries.items(), files, strict=True):
        dataset = load_from_disk(data)
        train, validation = (dataset[split].to_dict() for split in ("train", "validation"))
        task = Task.from_entry(name, entry)
        scores, predictions = evaluate_baselines(train, validation, task)
        BASELINE_PREDICTIONS.write(predictions, path)
        rows.append(scores)
        texts = [validation[column] for column in task.columns]
        coverages[name] = coverage.measure_with(job.input.model, texts, job.params.max_length)
        models = [file for file in job.input.all("finetuned") if file.parents[1].name == name]
        outcomes.append(read(task, models, path))
    keep = scored_by({name: entry["metrics"] for name, entry in entries.items()})
    BASELINES.write(keep(pd.concat(rows, ignore_index=True)), job.output.table)
    resampling = Resampling(job.params.resamples, job.params.seed)
    LEARNED.write(learned(outcomes, resampling, coverages), job.output.learned)
