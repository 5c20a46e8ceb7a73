"""Measure how much the loss of a model depends on its heads and MLPs (Michel et al. 2019)."""

from typing import Any

from _job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the importance of all heads and MLPs, and how well it agrees with disabling them.

    Returns:
        How far the integral over gates is from the loss that it has to add up to, at most.
    """
    import torch

    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.statistics import effects_of_heads
    from darksecrets.data.batches import load_split
    from darksecrets.data.tasks import Task
    from darksecrets.importance.gradients import measure, sample
    from darksecrets.importance.statistics import (
        head_importance,
        importance_agreement,
        mlp_importance,
    )
    from darksecrets.importance.tables import HEAD_IMPORTANCE, IMPORTANCE_AGREEMENT, MLP_IMPORTANCE
    from darksecrets.models import devices
    from darksecrets.models.loading import load_classifier, load_tokenizer
    from darksecrets.run.tables import identify

    torch.set_num_threads(job.threads)
    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    model_name = f"finetuned/seed-{job.wildcards.seed}"
    tokenizer = load_tokenizer(job.input.model)
    split = load_split(job.input.dataset, "train", tokenizer, task, params.max_length)
    model, _ = load_classifier(job.input.model, task, int(job.wildcards.seed))
    rows = sample(len(split), params.examples, params.seed)
    found = measure(devices.place(model), split, task, rows)
    importance, of_mlps = head_importance(found, params.seed), mlp_importance(found, params.seed)
    agreement = importance_agreement(
        importance,
        found,
        effects_of_heads(SweepResult.load(job.input.sweep), task),
        params.mode,
        {"permutations": params.permutations, "seed": params.seed},
    )
    tables = {HEAD_IMPORTANCE: importance, MLP_IMPORTANCE: of_mlps, IMPORTANCE_AGREEMENT: agreement}
    for declared, table in tables.items():
        declared.write(identify(table, task.name, model_name), getattr(job.output, declared.name))
    return {"incomplete": float(found.incomplete.max())}
