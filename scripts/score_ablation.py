"""Estimate how every disabled set changes the scores, with intervals and tests (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of heads, layers and custom sets, the best ones' gains, and summaries."""
    from darksecrets.ablation.best import best, survival
    from darksecrets.ablation.modes import compare_modes
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.statistics import Resampling, effects, of_kind
    from darksecrets.ablation.tables import EFFECTS
    from darksecrets.data.tasks import Task
    from darksecrets.run.tables import identify

    result = SweepResult.load(job.input.sweep)
    task = Task.from_entry(job.wildcards.task, job.params.task)
    params = job.params
    resampling = Resampling(params.bootstrap, params.permutations, params.splits, params.seed)
    table, means = effects(result, task, resampling)
    gains = best(result, task, resampling)
    tables = {f"{kind}_ablation": of_kind(table, kind) for kind in ("head", "layer", "set")}
    tables |= {"best_head": gains, "survival": survival(table, means, gains, len(result.idx))}
    others = {mode: SweepResult.load(job.input.sweep / mode) for mode in params.compare_modes}
    tables["mode_comparison"] = compare_modes(result, others, task, resampling)
    model = f"{job.wildcards.state}/seed-{job.wildcards.seed}"
    for effect in EFFECTS:
        rows = identify(tables[effect.name], task.name, model)
        effect.write(rows, getattr(job.output, effect.name))
