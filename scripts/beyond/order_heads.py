"""Order heads for removal, and choose how many are removed (Michel et al. 2019)."""

from _models import read_model

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write all orders of one model's heads, and how many are removed in each."""
    from darksecrets.beyond.importance.declared import (
        HEAD_IMPORTANCE,
        PRUNING_CHOICES,
        PRUNING_ORDERS,
        Settings,
    )
    from darksecrets.beyond.importance.measure.gradients import greedy_order, held_out, sample
    from darksecrets.beyond.importance.measure.pruning import choices, orders
    from darksecrets.core.models import devices

    params, settings = job.params, Settings.of(job.params.settings)
    task, loaded, (split,) = read_model(job, "train")
    loaded.train(False)
    model = devices.place(loaded)
    drawing = split, settings.examples, params.seed
    greedy = greedy_order(model, split, task, sample(*drawing))
    importance, pruning = HEAD_IMPORTANCE.read(job.input.importance), settings.pruning
    found = orders(importance, greedy, pruning.draws, params.seed)
    PRUNING_ORDERS.write(found, job.output.orders)
    chosen = choices(found, model, split, task, held_out(*drawing), pruning.tolerance)
    PRUNING_CHOICES.write(chosen, job.output.choices)
