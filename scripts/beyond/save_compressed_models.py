"""Save compressed models that PyTorch alone can run."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Save every compressed model of a task in a folder of its own; return what was left out."""
    from darksecrets.beyond.compression import methods
    from darksecrets.beyond.compression.measuring import save_all
    from darksecrets.beyond.compression.settings import Settings
    from darksecrets.beyond.importance.pruning import least_important
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.loading import Draw, load_classifier, load_tokenizer

    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    settings = Settings.of(params.settings)
    heads, mlps = least_important(job.input.all("orders"), job.input.all("mlps"))
    ways = methods.variants(model, settings, heads, mlps, Draw(params.seed, params.std))
    saved = save_all(model, load_tokenizer(job.input.model), ways, job.output.models)
    return {"bytes": saved, "left_out": methods.left_out(model, heads, mlps)}
