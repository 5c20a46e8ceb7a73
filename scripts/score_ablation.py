"""Say what every disabled set does to the scores, and how sure that is (section 4.6)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Write the effects of heads, layers and custom sets, the best ones' gains, and a summary."""
    from darksecrets.ablation.best import best, survival
    from darksecrets.ablation.results import SweepResult
    from darksecrets.ablation.statistics import Resampling, effects, of_kind
    from darksecrets.ablation.tables import EFFECTS
    from darksecrets.data.tasks import TASKS
    from darksecrets.run.tables import identify

    result = SweepResult.load(Path(snakemake.input.sweep))
    task = TASKS[snakemake.wildcards.task]
    params = snakemake.params
    resampling = Resampling(params.bootstrap, params.permutations, params.splits, params.seed)
    table, means = effects(result, task, resampling)
    gains = best(result, task, resampling)
    tables = {f"{kind}_ablation": of_kind(table, kind) for kind in ("head", "layer", "set")}
    tables |= {"best_head": gains, "survival": survival(table, means, gains, len(result.idx))}
    model = f"{snakemake.wildcards.state}/seed-{snakemake.wildcards.seed}"
    for effect in EFFECTS:
        rows = identify(tables[effect.name], task.name, model)
        effect.write(rows, Path(snakemake.output[effect.name]))


if __name__ == "__main__":
    with job(snakemake):
        main()
