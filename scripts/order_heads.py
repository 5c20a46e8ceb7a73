"""Order heads for removal, and choose how many are removed (Michel et al. 2019)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write all orders of one model's heads, and how many are removed in each."""
    import torch

    from darksecrets.data.batches import load_split
    from darksecrets.data.tasks import Task
    from darksecrets.importance.gradients import held_out, sample
    from darksecrets.importance.pruning import choices, orders
    from darksecrets.importance.settings import Settings
    from darksecrets.importance.tables import HEAD_IMPORTANCE, PRUNING_CHOICES, PRUNING_ORDERS
    from darksecrets.importance.without import greedy_order
    from darksecrets.models import devices
    from darksecrets.models.loading import load_classifier, load_tokenizer

    torch.set_num_threads(job.threads)
    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    settings = Settings.of(params.settings)
    tokenizer = load_tokenizer(job.input.model)
    split = load_split(job.input.dataset, "train", tokenizer, task, params.max_length)
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    model.train(False)
    model, of_sample = devices.place(model), (len(split), settings.examples, params.seed)
    greedy = greedy_order(model, split, task, sample(*of_sample))
    importance, pruning = HEAD_IMPORTANCE.read(job.input.importance), settings.pruning
    found = orders(importance, greedy, pruning.draws, params.seed)
    PRUNING_ORDERS.write(found, job.output.orders)
    chosen = choices(found, model, split, task, held_out(*of_sample), pruning.tolerance)
    PRUNING_CHOICES.write(chosen, job.output.choices)
