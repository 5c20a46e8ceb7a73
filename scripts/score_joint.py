"""Estimate how many heads can be disabled together, with intervals (section 4.6)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the scores of every order, and the size of the largest set that can be disabled."""
    import pandas as pd

    from darksecrets.ablation import joint_effects
    from darksecrets.ablation.joint import Joint, plan
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.tables import JOINT
    from darksecrets.data.tasks import Task
    from darksecrets.run.tables import identify

    params, output = job.params, job.output
    parts = []
    paths = zip(params.models, job.input.all("sweeps"), job.input.all("joints"), strict=True)
    for (name, state, seed), sweep, together in paths:
        task, joint = Task.from_entry(name, params.tasks[name]), Joint(**params.joint[name])
        tables = joint_effects.joint_effects(
            SweepResult.load(together),
            plan(SweepResult.load(sweep), task, joint),
            task,
            tolerance=params.tolerance,
            resamples=params.bootstrap,
            seed=joint.seed,
        )
        parts.append([identify(rows, name, f"{state}/seed-{seed}") for rows in tables])
    for declared, rows in zip(JOINT, zip(*parts, strict=True), strict=True):
        declared.write(pd.concat(rows, ignore_index=True), getattr(output, declared.name))
