"""Put trees of impact, from attention and from states into one table."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Join the trees of impact of all models with those that other analyses of the run have."""
    import pandas as pd

    from darksecrets.beyond import analyses
    from darksecrets.beyond.predictions.declared import TREES
    from darksecrets.beyond.predictions.trees import from_attention, from_states

    parts = [TREES.read(path) for path in job.input.all("impact")]
    others = {"attention_trees": from_attention, "structural_probes": from_states}
    for name, rows_of in others.items():
        table = analyses.tables()[name]
        parts += [rows_of(table.read(path)) for path in job.input.all(name)]
    joined = pd.concat(parts, ignore_index=True)
    TREES.write(joined.reindex(columns=list(TREES.names)), job.output.trees)
