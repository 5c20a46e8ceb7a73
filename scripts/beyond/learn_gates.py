"""Close heads by gates that learn (Voita et al. 2019), and compare with as many other heads."""

from _tables import write_of_model

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Train on with gates; write the scores of the heads they keep, and what each gate became."""
    import torch

    from darksecrets.beyond.importance.declared import (
        HEAD_GATES,
        HEAD_IMPORTANCE,
        LEARNED_GATES,
        LearnedGates,
    )
    from darksecrets.beyond.importance.measure.learned import (
        Controls,
        learn_resuming,
        learned_gates,
    )
    from darksecrets.beyond.importance.measure.learning import Start
    from darksecrets.core.data.batches import load_split
    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.tokenizing import load_tokenizer
    from darksecrets.paper.finetuning.training import Settings

    torch.set_num_threads(job.threads)
    task, params = Task.from_entry(job.wildcards.task, job.params.task), job.params
    gates = LearnedGates.of(params.gates)
    settings = Settings(**{**params.fine_tuning, "epochs": gates.epochs})
    tokenizer, seed = load_tokenizer(job.input.model), int(job.wildcards.seed)
    train, validation = (
        load_split(job.input.dataset, name, tokenizer, task, settings.max_length)
        for name in ("train", "validation")
    )
    start = Start(job.input.model, task, seed, train, validation, settings)
    importance = HEAD_IMPORTANCE.read(job.input.importance)
    controls = Controls(importance, gates, params.seed)
    found = learn_resuming(start, controls, job.output.learned_gates)
    options = {"resamples": params.bootstrap, "seed": params.seed}
    examples = validation.labels, validation.units
    scores = learned_gates(found, *examples, task, **options)
    write_of_model(job, {LEARNED_GATES: scores, HEAD_GATES: found.gates})
