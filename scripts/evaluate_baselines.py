"""Score the baselines of Table 1 that need no model: majority class and bag of words."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Fit both on the training split; write their scores and predictions on the validation set."""
    from datasets import load_from_disk

    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.baselines import evaluate_baselines
    from darksecrets.finetuning.tables import BASELINE_PREDICTIONS, BASELINES

    task = Task.from_entry(job.wildcards.task, job.params.task)
    dataset = load_from_disk(job.input.dataset)
    train, validation = (dataset[name].to_dict() for name in ("train", "validation"))
    scores, predictions = evaluate_baselines(train, validation, task)
    BASELINES.write(scores, job.output.scores)
    BASELINE_PREDICTIONS.write(predictions, job.output.predictions)
