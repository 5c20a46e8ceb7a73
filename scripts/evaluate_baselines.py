"""Score the baselines of Table 1 that need no model: majority class and bag of words."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Fit both on the training split and write their scores on the validation set."""
    import pandas as pd
    from datasets import load_from_disk

    from darksecrets.data.tasks import Task
    from darksecrets.finetuning.baselines import bag_of_words, majority
    from darksecrets.finetuning.tables import BASELINES

    task = Task.from_entry(job.wildcards.task, job.params.task)
    dataset = load_from_disk(job.input.dataset)
    train, validation = (dataset[name].to_dict() for name in ("train", "validation"))
    scores = {
        "majority": majority(train, validation, task),
        "bag of words": bag_of_words(train, validation, task),
    }
    rows = [
        {"task": task.name, "baseline": name, "metric": metric, "score": 100 * value}
        for name, values in scores.items()
        for metric, value in values.items()
    ]
    BASELINES.write(pd.DataFrame(rows), job.output.scores)
