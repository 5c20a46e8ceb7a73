"""Score what needs no model: the commonest label, and the bag of words (beside Table 1)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Fit both on the training split and write their scores on the validation split."""
    import pandas as pd
    from datasets import load_from_disk

    from darksecrets.data.tasks import TASKS
    from darksecrets.finetuning.baselines import bag_of_words, majority
    from darksecrets.finetuning.tables import BASELINES

    task = TASKS[snakemake.wildcards.task]
    dataset = load_from_disk(snakemake.input.dataset)
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
    BASELINES.write(pd.DataFrame(rows), Path(snakemake.output.scores))


if __name__ == "__main__":
    with job(snakemake):
        main()
