"""What all scripts share: log, GPU, record, and a typed view of Snakemake's job.

    @script
    def main(job: Job) -> None:
        '''Say what the rule makes.'''

The rest of a script reads the job and calls functions of the package.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.run import gpus, records
from darksecrets.core.run.errors import STOPPED, InputError
from darksecrets.core.run.launchers import forget_launchers

INTERRUPTED = 128 + signal.SIGINT
"""Exit code of a job that Ctrl-C ended, as of a shell."""

_log = logging.getLogger("darksecrets")


class Files:
    """Inputs or outputs of a job: ``files.table`` is the path of that name."""

    def __init__(self, named: Any) -> None:  # noqa: ANN401 - Snakemake's own container
        self._named = named

    def __getattr__(self, name: str) -> Path:
        return Path(getattr(self._named, name))

    def all(self, name: str) -> list[Path]:
        """All paths of a name; empty if the rule has no such name."""
        found = self._named.get(name, [])
        return [Path(found)] if isinstance(found, str) else [Path(path) for path in found]

    def __iter__(self) -> Any:  # noqa: ANN401 - an iterator of paths
        return map(Path, self._named)


class Job:
    """A job of a rule, as its script sees it.

    Attributes:
        input: Paths that it reads.
        output: Paths that it writes.
        params: Parameters, from the configuration.
        wildcards: Values that distinguish it from the rule's other jobs.
        threads: CPU cores that it may use.
    """

    def __init__(self, snakemake: Any) -> None:  # noqa: ANN401 - the object of Snakemake's scripts
        self.input, self.output = Files(snakemake.input), Files(snakemake.output)
        self.params: Any = snakemake.params
        self.wildcards: Any = snakemake.wildcards
        self.threads: int = snakemake.threads
        self.snakemake = snakemake


Main = Callable[[Job], Mapping[str, Any] | None]


def script(main: Main) -> Main:
    """Run a script's `main` if Snakemake started the script, but not if it is imported.

    Before, the inputs are compared with the records of the jobs that made them; after, the job is
    recorded, with what `main` returns (a resolved revision, the precision in use). An `InputError`
    or Ctrl-C ends the job with a message in the rule's log, any other error with its traceback.
    """
    if main.__module__ == "__main__":
        _run(main, main.__globals__["snakemake"])
    return main


def _run(main: Main, snakemake: Any) -> None:  # noqa: ANN401 - as above
    # Libraries make a million objects, none of them garbage. Looking for it often would take a
    # fifth of the time to import them and to end Python.
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)
    log = Path(snakemake.log[0])
    _redirect(log)
    # Jobs write files only: a notebook's backend for figures, which a job may lack, is not asked.
    os.environ["MPLBACKEND"] = "agg"
    if forgotten := forget_launchers():
        _log.info(
            "A job is a single process; these variables are not used: %s", ", ".join(forgotten)
        )
    record, start = records.place_of(log), time.perf_counter()
    record.unlink(missing_ok=True)
    try:
        # Not a parameter: it changes no result, so nothing reruns because of it.
        thorough = bool(snakemake.config.get("verify"))
        inputs = records.check(record, map(Path, snakemake.input), thorough=thorough)
        asked = snakemake.resources.get("gpu", 0)
        # Nor is this one: batches may be smaller, which changes results by rounding only.
        jobs = snakemake.config.get("jobs_per_gpu", 1)
        if gpus.take(asked, jobs=jobs) is None and asked:
            _log.warning("This job requested a GPU but found none; it runs on the CPU.")
        details = main(Job(snakemake)) or {}
        job = {
            "rule": snakemake.rule,
            "wildcards": dict(snakemake.wildcards.items()),
            "params": dict(snakemake.params.items()),
            "threads": snakemake.threads,
            "seconds": round(time.perf_counter() - start, 1),
            **details,
        }
        records.write(record, job, inputs, map(Path, snakemake.output))
    except InputError as error:
        _log.error("%s%s", STOPPED, error)
        sys.exit(1)
    except KeyboardInterrupt:
        _log.error("The job was interrupted. Rerun the same command to resume it.")
        sys.exit(INTERRUPTED)
    except Exception:
        _log.exception("The job failed")
        sys.exit(1)


def _redirect(log: Path) -> None:
    """Redirect everything printed or logged to the rule's log, at the file-descriptor level."""
    log.parent.mkdir(parents=True, exist_ok=True)
    stream = log.open("w", encoding="utf-8", buffering=1)
    for printed in (sys.stdout, sys.stderr):
        os.dup2(stream.fileno(), printed.fileno())
    logging.basicConfig(
        level=logging.INFO, stream=stream, format="%(asctime)s %(message)s", datefmt="%H:%M:%S"
    )
