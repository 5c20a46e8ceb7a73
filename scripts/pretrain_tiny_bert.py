"""Pre-train the tiny BERT of the built-in corpus: masked language model, next sentence."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Train from the parameters' configuration; go on where a killed run stopped."""
    from pathlib import Path

    from darksecrets.pretraining.tiny_bert import Configuration, pretrain

    pretrain(
        job.output.model,
        checkpoints=Path(job.params.checkpoints),
        configuration=Configuration(**job.params.configuration),
        seed=job.params.seed,
        threads=job.threads,
    )
