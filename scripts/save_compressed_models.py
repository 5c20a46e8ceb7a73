"""Save compressed models that PyTorch alone can run."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Save every compressed model of a task in a folder of its own; return what was left out."""
    from darksecrets.compression import methods
    from darksecrets.compression.saving import save_all
    from darksecrets.data.tasks import Task
    from darksecrets.importance.pruning import least_important_first, least_important_mlps
    from darksecrets.importance.tables import MLP_IMPORTANCE, PRUNING_ORDERS
    from darksecrets.models.loading import Draw, load_classifier, load_tokenizer

    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    orders = job.input.all("orders")
    heads = least_important_first(PRUNING_ORDERS.read(orders[0])).first if orders else None
    tables = job.input.all("mlps")
    mlps = least_important_mlps(MLP_IMPORTANCE.read(tables[0])) if tables else []
    ways = methods.variants(model, params.amounts, heads, mlps, Draw(params.seed, params.std))
    saved = save_all(model, load_tokenizer(job.input.model), ways, job.output.models)
    return {"bytes": saved, "left_out": methods.left_out(model, heads, mlps)}
