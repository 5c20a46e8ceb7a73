"""Everything that this workflow uses of Snakemake beyond its documented interface, and why.

What stands here is read, and needed to build the graph. Each names an open issue of Snakemake
(https://github.com/snakemake/snakemake/issues): when it is closed, this may go.

The rule files also use attributes of ``workflow`` that Snakemake's own documentation only shows in
examples: ``current_basedir``, ``main_snakefile``, ``configfiles``, ``overwrite_configfiles``,
``is_main_process``, ``local_exec`` and ``remote_exec``. Only ``config_settings`` tells what the
command line set from what a file did. ``workflow/Snakefile`` uses ``repo`` and ``ref`` of a
``HostingProviderFile``.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from snakemake.io import sourcecache_entry


def mark_in_place(path: str | Path) -> str:
    """Mark a file that scripts read in place: no storage provider copies it or removes its copy.

    Snakemake marks its own scripts and environments this way. Its flag ``local()`` would say it,
    but jobs with such an input are not submitted to Slurm (issue 4233).
    """
    marked: str = sourcecache_entry(str(path), str(path))
    return marked


def let_scripts_import_from(folder: Path) -> None:
    """Put the folder of this package before what is installed on the search path of scripts.

    Snakemake adds its own search path to theirs, but last (issues 412 and 956): another version of
    the package that happens to be installed would be imported instead of the one whose digest the
    rules have.
    """
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = dict.fromkeys([str(folder), *filter(None, known)])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def tables_of_figures(workflow: Any, results: Collection[str]) -> dict[str, list[str]]:  # noqa: ANN401
    """Tables that each figure of a run shows, by its first file in the folder of results.

    They are the input that has the figure's name. Only Snakemake's own list tells which rules an
    analysis has added (issue 13).

    Args:
        workflow: The workflow.
        results: Files that the run makes.
    """
    made = {Path(file).name for file in results}
    found = {}
    for rule in workflow.rules:
        inputs = dict(rule.input.items())
        for file in map(Path, map(str, rule.output)):
            if file.parent.name == "figures" and file.name in made and file.stem in inputs:
                tables = inputs.pop(file.stem)
                several = [tables] if isinstance(tables, str) else tables
                found[f"figures/{file.name}"] = sorted(Path(table).stem for table in several)
    return found


def jobs_of(dag: Any) -> Iterator[Any]:  # noqa: ANN401
    """Jobs that Snakemake will run (or would, in a plan), without mere targets (issue 1884)."""
    return (job for job in dag.needrun_jobs(exclude_finished=False) if job.output)
