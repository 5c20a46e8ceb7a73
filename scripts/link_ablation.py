"""Look up the effects of the heads that the other experiments single out (section 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of these heads, one by one and on average, beside random heads."""
    from darksecrets.ablation.links import Experiments, linked
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.statistics import Resampling
    from darksecrets.ablation.tables import HEAD_ABLATION, LINKED_ABLATION, LINKED_GROUPS
    from darksecrets.features.tables import EQUAL_WORDS, TOKEN_PAIRS
    from darksecrets.framenet.tables import HEADS

    pairs = [EQUAL_WORDS.read(path) for path in job.input.all("equal_words")]  # none without pairs
    token_pairs = TOKEN_PAIRS.read(job.input.token_pairs)
    framenet = HEADS.read(job.input.framenet)
    framenet = framenet[framenet["state"] == "pretrained"]
    experiments = Experiments(framenet, pairs[0] if pairs else None, token_pairs)
    paths = zip(job.params.models, job.input.all("sweeps"), strict=True)
    sweeps = ((tuple(model), SweepResult.load(path)) for model, path in paths)
    heads = HEAD_ABLATION.read(job.input.heads)
    each, groups = linked(heads, sweeps, experiments, Resampling(**job.params.resampling))
    LINKED_ABLATION.write(each, job.output.table)
    LINKED_GROUPS.write(groups, job.output.groups)
