"""Measure how much the loss of a model depends on its heads and MLPs (Michel et al. 2019)."""

from _models import read_model
from _tables import write_of_model

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the importance of all heads and MLPs, and how well it agrees with disabling them."""
    from darksecrets.beyond.importance.declared import (
        HEAD_IMPORTANCE,
        IMPORTANCE_AGREEMENT,
        MLP_IMPORTANCE,
    )
    from darksecrets.beyond.importance.measure import estimates as of
    from darksecrets.beyond.importance.measure.gradients import measure, sample
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.core.models import devices
    from darksecrets.paper.ablation.statistics import effects_of_heads

    params = job.params
    task, model, (split,) = read_model(job, "train")
    rows = sample(split, params.examples, params.seed)
    found = measure(devices.place(model), split, task, rows)
    importance = of.head_importance(found, params.seed)
    effects = effects_of_heads(SweepResult.load(job.input.sweep), task)
    draws = {"permutations": params.permutations, "seed": params.seed}
    agreement = of.importance_agreement(importance, found, effects, params.mode, draws)
    mlp_rows = of.mlp_importance(found, params.seed)
    tables = {
        HEAD_IMPORTANCE: importance,
        MLP_IMPORTANCE: mlp_rows,
        IMPORTANCE_AGREEMENT: agreement,
    }
    write_of_model(job, tables)
