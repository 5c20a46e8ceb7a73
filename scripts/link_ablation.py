"""Look up the effects of the heads that the other experiments single out (section 5)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the effects of these heads and, for comparison, of all others."""
    from darksecrets.ablation.links import linked
    from darksecrets.ablation.tables import HEAD_ABLATION, LINKED_ABLATION
    from darksecrets.features.tables import EQUAL_WORDS
    from darksecrets.framenet.tables import HEADS

    heads, framenet = HEAD_ABLATION.read(job.input.heads), HEADS.read(job.input.framenet)
    pairs = [EQUAL_WORDS.read(path) for path in job.input.all("equal_words")]  # none without pairs
    framenet = framenet[framenet["state"] == "pretrained"]
    linked_heads = linked(heads, framenet, pairs[0] if pairs else None)
    LINKED_ABLATION.write(linked_heads, job.output.table)
