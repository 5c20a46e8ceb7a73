"""Write Table 1 as Markdown, HTML and LaTeX from tables of scores (section 4.3)."""

from pathlib import Path
from typing import TYPE_CHECKING

from _job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake


def main() -> None:
    """Read the tables, add the paper's numbers if the run is the paper's, write every format."""
    from darksecrets.finetuning.table1 import Table1, html, latex, markdown, read_paper, read_sizes
    from darksecrets.finetuning.tables import BASELINES, SCORES
    from darksecrets.run.files import write_text

    tasks = snakemake.params.tasks
    table = Table1(
        scores=SCORES.read(Path(snakemake.input.scores)),
        tasks=tasks,
        label=snakemake.params.label,
        baselines=BASELINES.read(Path(snakemake.input.baselines)),
        sizes=read_sizes(dict(zip(tasks, map(Path, snakemake.input.data), strict=True))),
        paper=read_paper(Path(snakemake.input.published)) if snakemake.params.paper else None,
    )
    write_text(markdown(table), Path(snakemake.output.markdown))
    write_text(html(table), Path(snakemake.output.html))
    write_text(latex(table), Path(snakemake.output.latex))


if __name__ == "__main__":
    with job(snakemake):
        main()
