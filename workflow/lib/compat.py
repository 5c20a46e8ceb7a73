"""Everything that this workflow uses of Snakemake beyond its documented interface, and why.

`replace_script_start` makes a run faster; Snakemake is left alone in versions outside of `TESTED`.
Everything else that stands here is read, or set on rules, and needed to build the graph.

The rule files also use attributes of ``workflow`` that Snakemake's own documentation only shows in
examples: ``current_basedir``, ``main_snakefile``, ``configfiles``, ``overwrite_configfiles``,
``is_main_process``, ``local_exec`` and ``remote_exec``. ``workflow/Snakefile``, which runs before
this package can be imported, uses the ``hosted_repo`` of a ``HostingProviderFile``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import snakemake
from packaging.version import Version
from snakemake.io import report, sourcecache_entry

if TYPE_CHECKING:
    from snakemake.script import PythonScript

TESTED = ("9.19", "9.27")
"""The first and the last version of Snakemake that this was tested with. The first is the oldest
that is allowed: earlier ones do not read ``profile.yaml``."""


def is_tested() -> bool:
    """Whether the installed version of Snakemake is one of, or between, those of `TESTED`."""
    first, last = map(Version, TESTED)
    return first.release <= Version(snakemake.__version__).release[:2] <= last.release


def in_place(path: str | Path) -> str:
    """Mark a file that scripts read in place: no storage provider copies it or removes its copy.

    Snakemake marks its own scripts and environments this way; there is no flag for other files.
    """
    marked: str = sourcecache_entry(str(path), str(path))
    return marked


def rules_of(workflow: Any, folder: Path) -> Iterator[Any]:  # noqa: ANN401
    """Rules whose rule file is in ``folder``, without those of a workflow that uses this one.

    ``Rule.basedir`` is the only record of the file that a rule comes from.
    """
    return (rule for rule in workflow.rules if Path(str(rule.basedir)) == folder)


def add_parameter(rule: Any, name: str, value: Any) -> None:  # noqa: ANN401
    """Add a parameter to a rule after its definition, unless it has one of that name."""
    if name not in dict(rule.params.items()):
        rule.set_params(**{name: value})


def script_of(rule: Any) -> str | None:  # noqa: ANN401
    """A rule's script as given in the rule file, relative to that file."""
    script: str | None = rule.script
    return script


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


def replace_script_start(start: Callable[[Any, str], bool]) -> None:
    """Let a function start Python scripts; those for which it returns False, Snakemake starts.

    Only in a version that was tested.
    """
    if not is_tested():
        return
    from snakemake.script import PythonScript

    snakemakes_own = PythonScript.execute_script

    def execute_script(script: PythonScript, file: str, edit: bool = False) -> None:
        if not start(script, file):
            snakemakes_own(script, file, edit)

    PythonScript.execute_script = execute_script


def has_environment(script: PythonScript) -> bool:
    """Whether a script runs in a conda environment, a container or with environment modules."""
    return any((script.conda_env, script.container_img, script.env_modules))


def measured(script: PythonScript, process: int | None) -> AbstractContextManager[Any]:
    """Measure a process for the `benchmark:` file of a script, if it has one."""
    from snakemake.benchmark import benchmarked

    record = script.bench_record
    return benchmarked(process, record) if record else nullcontext()


def jobs_of(dag: Any) -> Iterator[Any]:  # noqa: ANN401
    """Jobs that Snakemake will run (or would, in a plan), without mere targets."""
    return (job for job in dag.needrun_jobs(exclude_finished=False) if job.output)
