"""Snakemake, imported once: every call is answered by a fork, in half the time of a new process.

Reads calls from standard input, a JSON object a line, and answers each with its exit code. Only
Snakemake and its plugins are shared between calls; the workflow and the package `darksecrets` are
read anew by each. Scripts of rules run as `script_server.py` says.
"""

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import script_server
from snakemake.cli import get_argument_parser, main

PYTHON = sys.executable


def become(call: dict) -> list[str]:
    """Take over a call's folder, environment and output; give Snakemake's arguments."""
    files = (os.devnull, os.O_RDONLY), (call["stdout"], os.O_WRONLY), (call["stderr"], os.O_WRONLY)
    opened = [os.open(path, mode) for path, mode in files]
    script_server.take_over(call["folder"], call["environment"], opened)
    sys.path[0] = call["folder"]  # as `python -m snakemake` has it
    sys.argv = ["snakemake", *call["arguments"]]
    return call["arguments"]


def write_client(folder: Path, address: str) -> Path:
    """Write the program that Snakemake takes for its Python."""
    client = folder / "python"
    command = shlex.join([PYTHON, "-IS", script_server.__file__, address])
    client.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    client.chmod(0o755)
    return client


def serve(folder: Path) -> None:
    """Answer calls until standard input is closed."""
    address = str(folder / "scripts")
    listener = script_server.listen(address)
    scripts = os.fork()
    if scripts == 0:
        script_server.serve(listener)
    listener.close()
    get_argument_parser()  # imports the plugins
    client = str(write_client(folder, address))
    for line in sys.stdin:
        call = json.loads(line)
        child = os.fork()
        if child == 0:
            if sys.platform == "linux":  # elsewhere, forks of these libraries may crash
                sys.executable = client
            main(become(call))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
    os.kill(scripts, signal.SIGTERM)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
