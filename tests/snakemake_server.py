"""Snakemake, imported once: every call is answered by a fork, in half the time of a new process.

Reads calls from standard input, a JSON object a line, and answers each with its exit code. Only
Snakemake and its plugins are shared between calls; the workflow and the package `darksecrets` are
read anew by each. If a call asks for it, its scripts are forks, too, of a process that has imported
the libraries that take seconds: most of the time of a test whose models are tiny.
"""

import contextlib
import json
import multiprocessing
import os
import runpy
import subprocess
import sys

from snakemake.benchmark import benchmarked
from snakemake.cli import get_argument_parser, main
from snakemake.script import PythonScript

LIBRARIES = (
    *("torch", "transformers.trainer", "transformers.models.bert.modeling_bert", "accelerate"),
    *("datasets", "pandas", "scipy.stats", "sklearn.metrics", "matplotlib.figure", "spacy"),
    "snakemake.cli",
)
"""What scripts import; nothing of this project, whose code and state belong to each script."""


def become(call: dict) -> list[str]:
    """Take over a call's folder, environment and output; give Snakemake's arguments."""
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    files = (os.devnull, os.O_RDONLY), (call["stdout"], os.O_WRONLY), (call["stderr"], os.O_WRONLY)
    for number, (path, mode) in enumerate(files):
        opened = os.open(path, mode)
        os.dup2(opened, number)
        os.close(opened)
    sys.path[0] = call["folder"]  # as `python -m snakemake` has it
    sys.argv = ["snakemake", *call["arguments"]]
    return call["arguments"]


def fork_scripts() -> None:
    """Run scripts in forks of one process, which starts in the environment of the call."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LIBRARIES))

    def execute(script: PythonScript, name: str, edit: bool = False) -> None:
        process = context.Process(target=runpy.run_path, args=(name, None, "__main__"))
        process.start()
        record = script.bench_record
        with benchmarked(process.pid, record) if record else contextlib.nullcontext():
            process.join()
        if process.exitcode:
            raise subprocess.CalledProcessError(process.exitcode, name)

    PythonScript.execute_script = execute


def serve() -> None:
    """Answer calls until standard input is closed."""
    get_argument_parser()  # imports the plugins
    for line in sys.stdin:
        call = json.loads(line)
        child = os.fork()
        if child == 0:
            if call["fork_scripts"]:
                fork_scripts()
            main(become(call))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
