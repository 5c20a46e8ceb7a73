"""Find a model's good subnetwork; predict with it and with others (Prasanna et al. 2020)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write which parts each subnetwork keeps, and the predictions; return the search's scores."""
    import torch

    from darksecrets.ablation.sweep import check_labels
    from darksecrets.data.batches import load_split
    from darksecrets.data.tasks import Task
    from darksecrets.importance.gradients import sample
    from darksecrets.models import devices
    from darksecrets.models.loading import load_classifier, load_tokenizer
    from darksecrets.run.tables import identify
    from darksecrets.subnetworks.finding import predicted, subnetworks
    from darksecrets.subnetworks.search import Examples, search
    from darksecrets.subnetworks.settings import Settings
    from darksecrets.subnetworks.tables import SUBNETWORKS

    torch.set_num_threads(job.threads)
    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    settings = Settings.of(params.settings)
    tokenizer = load_tokenizer(job.input.model)
    train, validation = (
        load_split(job.input.dataset, name, tokenizer, task, params.max_length)
        for name in ("train", "validation")
    )
    check_labels(validation.labels, task, str(job.input.dataset))
    model = devices.place(load_classifier(job.input.model, task, int(job.wildcards.seed))[0])
    examples = Examples.of(sample(len(train), settings.examples, params.seed))
    found = search(model, train, task, examples, settings.share)
    table = subnetworks(model, found, settings.draws, params.seed)
    of_model = identify(table, task.name, f"finetuned/seed-{job.wildcards.seed}")
    SUBNETWORKS.write(of_model, job.output.subnetworks)
    predicted(model, validation, task, table).save(job.output.predictions)
    heads, mlps = found.good.size
    return {"search": {"scores": found.scores, "heads": heads, "mlps": mlps}}
