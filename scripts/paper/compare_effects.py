"""Compare which heads matter, with other seeds, tasks and experiments (sections 4.6 and 5)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write rank correlations of the heads' effects, the worst heads, and those singled out."""
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.paper.ablation import agreement, tables
    from darksecrets.paper.ablation.links import Experiments, linked
    from darksecrets.paper.ablation.statistics import Resampling
    from darksecrets.paper.features.tables import EQUAL_WORDS, TOKEN_PAIRS
    from darksecrets.paper.framenet.tables import HEADS

    params = job.params
    heads = tables.HEAD_ABLATION.read(job.input.heads)
    words = next(map(EQUAL_WORDS.read, job.input.all("equal_words")), None)  # none without pairs
    framenet = HEADS.read(job.input.framenet)
    framenet = framenet[framenet["state"] == "pretrained"]
    pairs = next(map(TOKEN_PAIRS.read, job.input.all("token_pairs")), None)  # none without words
    experiments = Experiments(framenet, words, pairs)
    paths = zip(params.models, job.input.all("sweeps"), strict=True)
    sweeps = ((tuple(model), SweepResult.load(path)) for model, path in paths)
    groups = linked(heads, sweeps, experiments, Resampling(**params.resampling))
    draws = {key: params.resampling[key] for key in ("bootstrap", "permutations", "seed")}
    found = {
        tables.TASK_AGREEMENT: agreement.task_agreement(heads, params.metrics, draws),
        tables.WORST_HEADS: agreement.worst_heads(heads, params.metrics, draws),
        tables.LINKED_GROUPS: groups,
    }
    for declared, table in found.items():
        declared.write(table, getattr(job.output, declared.name))
