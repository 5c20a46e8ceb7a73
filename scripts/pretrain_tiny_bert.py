"""Pre-train the tiny BERT on the built-in corpus with both tasks of Devlin et al. (2018)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Train from the parameters' configuration; resume where an interrupted run stopped."""
    from darksecrets.pretraining.tiny_bert import Configuration, pretrain

    pretrain(
        job.output.model,
        configuration=Configuration(**job.params.configuration),
        seed=job.params.seed,
        threads=job.threads,
    )
