"""Compress a fine-tuned model in several ways; measure size, score and time."""

from typing import Any

from _models import read_model
from _tables import write_of_model

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write both tables of one model; return the methods that it cannot be compressed by."""
    from darksecrets.beyond.compression.declared import COMPRESSION, COMPRESSION_TIMES, Settings
    from darksecrets.beyond.compression.measure.running import measure
    from darksecrets.beyond.compression.measure.statistics import compression
    from darksecrets.beyond.compression.measure.timing import times
    from darksecrets.beyond.compression.measure.variants import left_out, variants
    from darksecrets.beyond.importance.measure.pruning import least_important
    from darksecrets.core.models.loading import Draw

    params, settings = job.params, Settings.of(job.params.settings)
    task, model, (split,) = read_model(job, "validation")
    heads, mlps = least_important(job.input.all("orders"), job.input.all("mlps"))
    ways = variants(model, settings, heads, mlps, Draw(params.seed, params.std))
    found, models = measure(model, split, ways)
    options = {"tolerance": params.tolerance, "resamples": params.bootstrap, "seed": params.seed}
    scores = compression(found, split.labels, split.units, task, **options)
    timing = {"repetitions": settings.repetitions, "threads": job.threads, "seed": params.seed}
    time_rows = times(models, ways, split, **timing)
    write_of_model(job, {COMPRESSION: scores, COMPRESSION_TIMES: time_rows})
    return {"left_out": left_out(model, heads, mlps)}
