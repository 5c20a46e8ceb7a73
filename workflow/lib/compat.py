"""What this workflow uses of Snakemake beyond its documented interface, and why: all in one place.

Tried with Snakemake 9.27. The rule files also use attributes of ``workflow`` that Snakemake's own
documentation shows in examples only: ``current_basedir``, ``main_snakefile``,
``overwrite_configfiles``, ``is_main_process``, ``local_exec`` and ``remote_exec``. And
``workflow/Snakefile``, which runs before this package can be imported, asks a
``HostingProviderFile`` for its ``hosted_repo``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from snakemake.io import sourcecache_entry


def in_place(path: str | Path) -> str:
    """A file that scripts read where it is: no storage provider copies it or removes its copy.

    Snakemake marks its own scripts and environments so; there is no flag for other files.
    """
    marked: str = sourcecache_entry(str(path), str(path))
    return marked


def rules_of(workflow: Any, folder: Path) -> Iterator[Any]:  # noqa: ANN401
    """Rules whose rule file is in a folder: not those of a workflow that uses this one.

    ``Rule.basedir`` is the only record of the file that a rule comes from.
    """
    return (rule for rule in workflow.rules if Path(str(rule.basedir)) == folder)


def add_input(rule: Any, **files: Sequence[str]) -> None:  # noqa: ANN401
    """Give a rule more input files after its definition, where it does not have them yet.

    ``Rule.set_input`` needs the path modifier that a rule gets with its first input only.
    """
    names = dict(rule.input.items())
    new = {name: paths for name, paths in files.items() if name not in names}
    if rule.input_modifier is None:
        rule.input_modifier = rule.ruleinfo.path_modifier
    rule.set_input(**new)


def script_of(rule: Any) -> str | None:  # noqa: ANN401
    """A rule's script as the rule file has it, relative to that file."""
    script: str | None = rule.script
    return script


def parameter(rule: Any, name: str) -> Any:  # noqa: ANN401
    """A parameter of a rule as the rule file has it, None if there is none of the name."""
    return rule.params.get(name)


def describe(rule: Any, text: str) -> None:  # noqa: ANN401
    """Set a rule's docstring, which ``snakemake --list-rules`` shows; in a rule it is a literal."""
    rule.rule.docstring = text


def resource_function(rule: Any, name: str) -> Any:  # noqa: ANN401
    """The function that a rule file gives for a resource; None if it gives none.

    Jobs know the value alone, after margins and rounding.
    """
    return rule.ruleinfo.resources[1].get(name) if rule.ruleinfo.resources else None


def jobs_of(dag: Any) -> Iterator[Any]:  # noqa: ANN401
    """Jobs that Snakemake is going to run, or would, if this is a plan; a target is none."""
    return (job for job in dag.needrun_jobs(exclude_finished=False) if job.output)


def submission_of(dag: Any, job: Any) -> object:  # noqa: ANN401
    """What jobs have in common that are submitted together."""
    return dag.get_job_group(job) or job


def workflow_behind(api: Any) -> Any:  # noqa: ANN401
    """The workflow of ``snakemake.api.WorkflowApi``, whose public interface hands out no graph."""
    return api._workflow_store
