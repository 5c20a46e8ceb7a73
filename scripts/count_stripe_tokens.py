"""Count which tokens the stripes of maps with columns are (section 4.1)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Write the kinds of the strongest columns of every model."""
    import pandas as pd

    from darksecrets.features.strongest import StrongestColumns
    from darksecrets.patterns.columns import stripe_tokens
    from darksecrets.patterns.tables import PATTERN_MAPS, STRIPE_TOKENS

    parts = []
    paths = zip(job.input.all("maps"), job.input.all("strongest"), strict=True)
    for path, columns in paths:  # one at a time: together they may be millions of rows
        maps = PATTERN_MAPS.read(path, [*PATTERN_MAPS.key, "pattern"])
        strongest = StrongestColumns.load(columns)
        table = stripe_tokens(maps, strongest.idx, strongest.tokens, strongest.columns)
        parts.append(maps[["task", "state", "seed"]].iloc[:1].merge(table, how="cross"))
    STRIPE_TOKENS.write(pd.concat(parts, ignore_index=True), job.output.table)
