"""Start scripts of a local run as forks of one process that has imported the libraries once.

Importing torch and transformers takes over four seconds. A run of the paper does not notice; of the
demonstration's, with tiny models and two hundred jobs, it would be the greater part. The process
holds libraries only, nothing of this project: every script reads the project's code anew.

A fork keeps the number of threads that the libraries were loaded with, must not follow a use of
CUDA, and cannot be in another environment. So jobs of several threads, jobs that request a GPU and
jobs in an environment of their own are started by Snakemake, as all are on other systems than
Linux.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import Any

import psutil

from workflow.lib import compat

ENOUGH = 12
"""Jobs from which on the imports of the one process are made up for."""
LIBRARIES = (
    *("torch", "transformers.trainer", "transformers.models.bert.modeling_bert", "accelerate"),
    *("datasets", "pandas", "scipy.stats", "sklearn.metrics", "matplotlib.figure", "seaborn"),
    *("jinja2", "snakemake.cli"),
)
"""What scripts import; one that is missing is skipped."""
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


def start_scripts_as_forks(jobs: int) -> None:
    """From now on, start the scripts of this run as forks, if that saves time.

    Args:
        jobs: Jobs that the run will start on this machine.
    """
    if not save_time(jobs):
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LIBRARIES))
    with _environment(ONE_THREAD):
        ensure_running()
    compat.replace_script_start(_start)


def save_time(jobs: int) -> bool:
    """Whether forks are possible here, and worth it for as many jobs.

    The program must be Snakemake: a fork imports it again, which another may not expect.
    """
    is_snakemake = Path(sys.argv[0]).stem in ("snakemake", "__main__")
    return jobs >= ENOUGH and sys.platform == "linux" and is_snakemake and compat.is_tested()


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _start(script: Any, file: str) -> bool:  # noqa: ANN401
    """Run a script to its end; False, having done nothing, if a fork cannot run it.

    Raises:
        subprocess.CalledProcessError: The script failed.
    """
    if script.threads != 1 or compat.has_environment(script) or script.resources.get("gpu"):
        return False
    done = Path(f"{file}.done")
    arguments = file, script.resources.get("tmpdir"), done
    process = multiprocessing.get_context("forkserver").Process(target=_run, args=arguments)
    process.start()
    with compat.measured(script, process.pid):
        process.join()
        while not done.exists() and _runs(process.pid):
            time.sleep(0.05)
    if not done.exists():
        raise subprocess.CalledProcessError(process.exitcode or 1, file)
    done.unlink()
    return True


def _runs(process: int | None) -> bool:
    """Whether a process has not ended, though `join` may have returned with code 255.

    The server of forks tells of a process's end through a file descriptor, and Snakemake has many
    threads that open and close such.
    """
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _run(file: str, temporary: str | None, done: Path) -> None:
    """Be the script, in a fork; make a file at its end, unless it fails."""
    if temporary:
        os.environ.update(dict.fromkeys(("TMPDIR", "TMP", "TEMP", "TEMPDIR"), str(temporary)))
        tempfile.tempdir = None  # what the libraries may have found
    sys.argv = [file]
    runpy.run_path(file, run_name="__main__")
    done.touch()
