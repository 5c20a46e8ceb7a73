"""Score models with heads removed, and count the heads that a layer needs (Michel et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every order, which heads can be removed, and what layers need."""
    from darksecrets.ablation.joint_effects import joint_effects
    from darksecrets.ablation.results import SweepResult
    from darksecrets.data.tasks import Task
    from darksecrets.importance.pruning import (
        layer_needs,
        of_layers,
        plan,
        remaining_heads,
        smaller_models,
    )
    from darksecrets.importance.tables import (
        LAYER_NEEDS,
        PRUNED_HEADS,
        PRUNING_CHOICES,
        PRUNING_CURVES,
        PRUNING_ORDERS,
        REMAINING_HEADS,
        SMALLER_MODELS,
    )
    from darksecrets.run.tables import identify

    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    result, orders = SweepResult.load(job.input.pruned), PRUNING_ORDERS.read(job.input.orders)
    options = {"tolerance": params.tolerance, "resamples": params.bootstrap, "seed": params.seed}
    curves, pruned = joint_effects(result, plan(orders, len(result.idx)), task, **options)
    needs = layer_needs(result, of_layers(orders), task, **options)
    model = f"finetuned/seed-{job.wildcards.seed}"
    smaller = smaller_models(curves, PRUNING_CHOICES.read(job.input.choices))
    left = remaining_heads(orders, pruned, task.metrics[0])
    written = {PRUNING_CURVES: curves, PRUNED_HEADS: pruned, LAYER_NEEDS: needs}
    written |= {SMALLER_MODELS: smaller, REMAINING_HEADS: left}
    for declared, rows in written.items():
        declared.write(identify(rows, task.name, model), getattr(job.output, declared.name))
