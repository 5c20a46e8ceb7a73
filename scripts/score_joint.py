"""Estimate how many heads can be disabled together, with intervals (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every order of heads, and how many heads are tolerated."""
    from darksecrets.ablation.joint import Joint, plan
    from darksecrets.ablation.joint_effects import joint_effects
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.tables import JOINT
    from darksecrets.data.tasks import Task
    from darksecrets.run.tables import identify

    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    planned = plan(SweepResult.load(job.input.sweep), task, Joint(**params.joint))
    tables = joint_effects(
        SweepResult.load(job.input.joint),
        planned,
        task,
        tolerance=params.tolerance,
        resamples=params.bootstrap,
        seed=params.joint["seed"],
    )
    model = f"{job.wildcards.state}/seed-{job.wildcards.seed}"
    for declared, rows in zip(JOINT, tables, strict=True):
        declared.write(identify(rows, task.name, model), getattr(job.output, declared.name))
