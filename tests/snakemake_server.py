"""Snakemake, imported once: every call is answered by a fork, in half the time of a new process.

Reads calls from standard input, a JSON object a line, and answers each with its exit code. Only
Snakemake and its plugins are shared between calls; the workflow and the package `darksecrets` are
read anew by each.
"""

import json
import os
import sys

from snakemake.cli import get_argument_parser, main


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


def serve() -> None:
    """Answer calls until standard input is closed."""
    get_argument_parser()  # imports the plugins
    for line in sys.stdin:
        call = json.loads(line)
        child = os.fork()
        if child == 0:
            main(become(call))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
