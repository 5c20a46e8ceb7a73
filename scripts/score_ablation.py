"""Say what every disabled set does to the scores, and how sure that is (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of heads, layers and custom sets, the best ones' gains, and a summary."""
    from darksecrets.ablation.best import best, survival
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.statistics import Chances, effects, of_kind
    from darksecrets.data.tasks import TASKS
    from darksecrets.run.files import write_table
    from darksecrets.run.tables import identify

    result, task = SweepResult.load(job.input.sweep), TASKS[job.wildcards.task]
    params = job.params
    chances = Chances(params.bootstrap, params.permutations, params.splits, params.seed)
    table, means = effects(result, task, chances)
    gains = best(result, task, chances)
    tables = {f"{kind}_ablation": of_kind(table, kind) for kind in ("head", "layer", "set")}
    tables |= {"best_head": gains, "survival": survival(table, means, gains, len(result.idx))}
    model = f"{job.wildcards.state}/seed-{job.wildcards.seed}"
    for name, rows in tables.items():
        write_table(identify(rows, task.name, model), getattr(job.output, name))
