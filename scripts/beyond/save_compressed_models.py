"""Save compressed models that PyTorch alone can run."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Save every compressed model of a task in a folder of its own; return what was left out."""
    from darksecrets.beyond.compression import measure
    from darksecrets.beyond.compression.declared import Settings
    from darksecrets.beyond.compression.measure import save_all
    from darksecrets.beyond.importance.measure.pruning import least_important
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.loading import Draw, load_classifier, load_tokenizer

    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    settings = Settings.of(params.settings)
    heads, mlps = least_important(job.input.all("orders"), job.input.all("mlps"))
    ways = measure.variants(model, settings, heads, mlps, Draw(params.seed, params.std))
    saved = save_all(model, load_tokenizer(job.input.model), ways, job.output.models)
    return {"bytes": saved, "left_out": measure.left_out(model, heads, mlps)}
