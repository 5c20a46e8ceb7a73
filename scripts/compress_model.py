"""Compress a fine-tuned model in several ways; measure size, score and time."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write both tables of one model; return the methods that it cannot be compressed by."""
    import torch

    from darksecrets.compression import methods
    from darksecrets.compression.measuring import measure, times
    from darksecrets.compression.settings import Settings
    from darksecrets.compression.statistics import compression
    from darksecrets.compression.tables import TABLES
    from darksecrets.data.batches import load_split
    from darksecrets.data.tasks import Task
    from darksecrets.importance.pruning import least_important
    from darksecrets.models.loading import Draw, load_classifier, load_tokenizer
    from darksecrets.run.tables import identify

    torch.set_num_threads(job.threads)
    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    tokenizer = load_tokenizer(job.input.model)
    split = load_split(job.input.dataset, "validation", tokenizer, task, params.max_length)
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    settings = Settings.of(params.settings)
    heads, mlps = least_important(job.input.all("orders"), job.input.all("mlps"))
    ways = methods.variants(model, settings, heads, mlps, Draw(params.seed, params.std))
    found, models = measure(model, split, ways)
    options = {"tolerance": params.tolerance, "resamples": params.bootstrap, "seed": params.seed}
    measured = (
        compression(found, split.labels, task, **options),
        times(
            *(models, ways, split),
            repetitions=settings.repetitions,
            threads=job.threads,
            seed=params.seed,
        ),
    )
    for declared, rows in zip(TABLES, measured, strict=True):
        rows = identify(rows, task.name, f"finetuned/seed-{job.wildcards.seed}")
        declared.write(rows, getattr(job.output, declared.name))
    return {"left_out": methods.left_out(model, heads, mlps)}
