"""Everything that this workflow uses of Snakemake beyond its documented interface, and why.

What is replaced in Snakemake makes a run faster or easier to follow: `replace_script_start`,
`replace_lock`, `lift_rate_limit` and `exchange_handler`. It is left alone in versions outside of
`TESTED`; the run works, and one warning says what it lacks. Everything else that stands here is
read, or set on rules, and needed to build the graph.

The rule files also use attributes of ``workflow`` that Snakemake's own documentation only shows in
examples: ``current_basedir``, ``main_snakefile``, ``configfiles``, ``overwrite_configfiles``,
``is_main_process``, ``local_exec`` and ``remote_exec``. ``workflow/Snakefile``, which runs before
this package can be imported, uses the ``hosted_repo`` of a ``HostingProviderFile``.
"""

from __future__ import annotations

import logging
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import snakemake
from packaging.version import Version
from snakemake.exceptions import WorkflowError
from snakemake.io import report, sourcecache_entry
from snakemake.logging import logger
from snakemake.settings.enums import Quietness

from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from snakemake.persistence import PersistenceBase
    from snakemake.script import PythonScript

TESTED = ("9.19", "9.27")
"""The first and the last version of Snakemake that this was tested with. The first is the oldest
that is allowed: earlier ones do not read ``profile.yaml``."""


def is_tested() -> bool:
    """Whether the installed version of Snakemake is one of, or between, those of `TESTED`."""
    first, last = map(Version, TESTED)
    return first.release <= Version(snakemake.__version__).release[:2] <= last.release


def untested() -> str:
    """What a run lacks with a version that was not tested; empty if this one was."""
    if is_tested():
        return ""
    first, last = TESTED
    return (
        f"Found Snakemake {snakemake.__version__}; this workflow was tested with {first} to "
        f"{last}. Results are the same. But every step starts its own Python, which takes seconds "
        "more; what is shown is Snakemake's own output; and if this run is killed, `snakemake "
        f"--unlock` must release its lock. Install snakemake=={last}.* to have the rest."
    )


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


def keeps_only_outputs(workflow: Any) -> bool:  # noqa: ANN401
    """Whether results are kept by a storage provider, which takes only what rules declare."""
    settings = workflow.storage_settings
    return bool(settings and settings.default_storage_provider)


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


def resource_function(rule: Any, name: str) -> Any:  # noqa: ANN401
    """The function that a rule file gives for a resource; None if it gives none.

    Jobs only have its value, after margins and rounding.
    """
    return rule.ruleinfo.resources[1].get(name) if rule.ruleinfo.resources else None


def lift_rate_limit(workflow: Any) -> None:  # noqa: ANN401
    """Let Snakemake start jobs at any rate, from `onstart` on; there is no option for that.

    With a limit, which by default is 100 jobs per second, the scheduler of Snakemake 9.27 wakes up
    every second once more for every job that has finished. On one machine, where a second process
    would use that core, this took a tenth of the demonstration's CPU time.
    """
    if is_tested():
        workflow.scheduler.job_rate_limiter = None


def let_signals_wait() -> None:
    """Let SIGTERM end a run at any moment, from `onstart` on.

    Snakemake's handler runs in the main thread and takes the scheduler's lock. If this thread holds
    it already, as it does while it looks after finished jobs, Snakemake 9.27 waits for itself for
    ever. Here another thread waits.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if callable(handler) and threading.current_thread() is threading.main_thread():

        def handle(*arguments: object) -> None:
            threading.Thread(target=handler, args=arguments).start()

        signal.signal(signal.SIGTERM, handle)


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


class Lock:
    """Snakemake's lock of the files of a run; it has no interface beyond ``--unlock``."""

    def __init__(self, persistence: PersistenceBase, take: Callable[[Any], Any]) -> None:
        self._persistence, self._take = persistence, take
        self.folder = Path(persistence.path)

    def is_taken(self) -> bool:
        """Whether another run locks a file that this run reads or makes."""
        return bool(self._persistence.locked)

    def exists(self) -> bool:
        """Whether any run locks any file."""
        return any(True for _ in self._persistence._read_locks())

    def release(self) -> None:
        """Release the locks of all runs."""
        self._persistence.cleanup_locks()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Lock the files of this run.

        Snakemake's own lock takes those of all other runs, and their folder, with it when it ends.
        """
        folder = self.folder / "locks"
        folder.mkdir(exist_ok=True)
        others: dict[Path, str] = {}
        try:
            with self._take(self._persistence):
                own = set(self._persistence._lockfile.values())
                try:
                    yield
                finally:
                    files = [file for file in folder.glob("*.lock") if str(file) not in own]
                    others = {file: file.read_text(encoding="utf-8") for file in files}
        finally:
            folder.mkdir(exist_ok=True)
            for file, locked in others.items():
                file.write_text(locked, encoding="utf-8")


def replace_lock(holding: Callable[[Lock], AbstractContextManager[None]]) -> None:
    """Let a function take the lock of a run; an `InputError` stops the run with its message.

    Only in a version that was tested.
    """
    if not is_tested():
        return
    from snakemake.persistence import PersistenceBase

    snakemakes_own = PersistenceBase.lock

    @contextmanager
    def lock(persistence: PersistenceBase) -> Iterator[None]:
        with ExitStack() as held:
            try:
                held.enter_context(holding(Lock(persistence, snakemakes_own)))
            except InputError as error:
                raise WorkflowError(str(error)) from None
            yield

    PersistenceBase.lock = lock


def is_dry_run(workflow: Any) -> bool:  # noqa: ANN401
    """Whether a call only shows what it would do."""
    dry: bool = workflow.output_settings.dryrun
    return dry


def jobs_of(dag: Any) -> Iterator[Any]:  # noqa: ANN401
    """Jobs that Snakemake will run (or would, in a plan), without mere targets."""
    return (job for job in dag.needrun_jobs(exclude_finished=False) if job.output)


def submission_of(dag: Any, job: Any) -> object:  # noqa: ANN401
    """An object shared by all jobs that are submitted together."""
    return dag.get_job_group(job) or job


def workflow_behind(api: Any) -> Any:  # noqa: ANN401
    """The workflow of a ``snakemake.api.WorkflowApi``, which does not expose its graph publicly."""
    return api._workflow_store


def own_handler() -> logging.StreamHandler[Any] | None:
    """The handler that writes Snakemake's output; None if a logger plugin does.

    None, too, in a version that was not tested.
    """
    if not is_tested():
        return None
    named = (h for h in logger.handlers if h.name == "DefaultStreamHandler")
    return next((h for h in named if isinstance(h, logging.StreamHandler)), None)


def exchange_handler(old: logging.Handler, new: logging.Handler) -> None:
    """Write Snakemake's output with another handler."""
    logger.removeHandler(old)
    logger.addHandler(new)


def shows_steps(workflow: Any) -> bool:  # noqa: ANN401
    """Whether a user who runs jobs asked for nothing else than the usual output."""
    asked = workflow.output_settings
    special = asked.dryrun or asked.verbose or asked.debug_dag or asked.printshellcmds
    return not special and set(asked.quiet or ()) <= {Quietness.HOST, Quietness.REASON}


def cores_of(workflow: Any) -> int:  # noqa: ANN401
    """CPU cores given to a run."""
    cores: int = workflow.cores
    return cores


def gpus_of(workflow: Any) -> int:  # noqa: ANN401
    """GPUs given to a run, as ``--resources gpu=`` or by a profile; 1 if nothing says."""
    given = workflow.global_resources.get("gpu")
    return max(1, int(given.value or 0)) if given else 1


# Where a `WorkflowError` was raised, around its message.
_PLACE = re.compile(r'\AWorkflowError[^\n]*:\n|\n {2}File ".*\Z', re.DOTALL)
# An `InputError` that an input function raised, in all that Snakemake tells of that function.
_OF_INPUT = re.compile(r"Error:\n {2}InputError: (.*?)\nWildcards:\n", re.DOTALL)
# Results that exist and cannot be replaced; Snakemake checks this before the first job.
_PROTECTED = re.compile(r"\AProtectedOutputException.*affected files:\n(.*)", re.DOTALL)


def plain(message: str) -> str:
    """The message of an exception, without the place where it was raised in the workflow."""
    if protected := _PROTECTED.match(message):
        first, *others = protected[1].split()
        more = f" and {len(others)} more" if others else ""
        return (
            f"{first}{more}: cannot write, they are write-protected or on a read-only disk; "
            "expected results that may be replaced. Use a folder that you may write to."
        )
    if of_input := _OF_INPUT.search(message):
        return of_input[1]
    return _PLACE.sub("", message).strip() if message.startswith("WorkflowError") else message


def targets_of(dag: Any) -> list[str]:  # noqa: ANN401
    """Files that were asked for, by name or by way of a rule."""
    files: dict[str, None] = {}
    for job in dag.targetjobs:
        named = [path for path in job.output if path in dag.targetfiles]
        files |= dict.fromkeys(map(str, named or job.output or job.input))
    return list(files)


def results_of(dag: Any) -> dict[str, str]:  # noqa: ANN401
    """Rule of every file and folder that a run makes and keeps, whether or not it is made again."""
    return {
        str(path): job.rule.name
        for job in dag.jobs
        for path in job.output
        if "temp" not in getattr(path, "flags", {})
    }
