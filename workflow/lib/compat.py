"""Everything that this workflow uses of Snakemake beyond its documented interface, and why.

What stands here is read, or set on rules, and needed to build the graph.

The rule files also use attributes of ``workflow`` that Snakemake's own documentation only shows in
examples: ``current_basedir``, ``main_snakefile``, ``configfiles``, ``overwrite_configfiles``,
``is_main_process``, ``local_exec`` and ``remote_exec``. Only ``config_settings`` tells what the
command line set from what a file did. ``workflow/Snakefile``, which runs before this package can be
imported, uses the ``hosted_repo`` of a ``HostingProviderFile``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from snakemake.io import report, sourcecache_entry


def mark_in_place(path: str | Path) -> str:
    """Mark a file that scripts read in place: no storage provider copies it or removes its copy.

    Snakemake marks its own scripts and environments this way; there is no flag for other files.
    """
    marked: str = sourcecache_entry(str(path), str(path))
    return marked


def let_scripts_import_from(project: Path) -> None:
    """Put the project's folder before what is installed on the search path of scripts.

    Snakemake adds its own search path to theirs, but last: another version of the package that
    happens to be installed would be imported instead of the one whose digest the rules have.
    """
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = dict.fromkeys([str(project), *filter(None, known)])
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def rules_of(workflow: Any, folder: Path) -> Iterator[Any]:  # noqa: ANN401
    """Rules whose rule file is below ``folder``, without those of a workflow that uses this one.

    ``Rule.basedir`` is the only record of the file that a rule comes from.
    """
    return (rule for rule in workflow.rules if Path(str(rule.basedir)).is_relative_to(folder))


def add_parameter(rule: Any, name: str, value: Any) -> None:  # noqa: ANN401
    """Add a parameter to a rule after its definition, unless it has one of that name."""
    if name not in dict(rule.params.items()):
        rule.set_params(**{name: value})


def script_of(rule: Any) -> Path | None:  # noqa: ANN401
    """A rule's script, which the rule file gives relative to itself."""
    return Path(str(rule.basedir), rule.script).resolve() if rule.script else None


def parameter(rule: Any, name: str) -> Any:  # noqa: ANN401
    """A parameter of a rule as given in the rule file; None if there is none of that name."""
    return rule.params.get(name)


def describe(rule: Any, text: str) -> None:  # noqa: ANN401
    """Set the docstring that ``snakemake --list-rules`` shows; in a rule it must be a literal."""
    rule.rule.docstring = text


def show_in_report(
    output: Any,  # noqa: ANN401
    category: str,
    labels: Callable[[Any], dict[str, str]],
) -> None:
    """Flag an output as a result of the report after its rule's definition.

    Args:
        output: An output of a rule.
        category: The report's chapter.
        labels: What the chapter's list says of the result, given the wildcards of its job.
    """
    flagged = report("", category=category, labels=labels)
    output.set_flags({**output.flags, **flagged.flags})


def jobs_of(dag: Any) -> Iterator[Any]:  # noqa: ANN401
    """Jobs that Snakemake will run (or would, in a plan), without mere targets."""
    return (job for job in dag.needrun_jobs(exclude_finished=False) if job.output)
