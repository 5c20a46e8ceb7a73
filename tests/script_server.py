"""Scripts of rules, run by forks of a process that has imported the heavy libraries already.

A job on little data spends most of its time importing them. Here, Snakemake's Python is a client
that hands a script's path, folder, environment and output to the server and ends with its exit
code. What is not a script, and what changes a variable that libraries read when they are imported,
gets a process of its own. The package `darksecrets` is imported by each script anew.
"""

import gc
import json
import os
import re
import runpy
import signal
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    *("numpy", "pandas", "pyarrow.dataset", "pyarrow.parquet", "datasets"),
    *("torch", "transformers.models.auto", "transformers.models.bert.modeling_bert"),
    *("scipy.stats", "scipy.optimize", "sklearn.linear_model", "spacy"),
    *("seaborn", "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg"),
    "fontTools.subset",
)
READ_AT_IMPORT = re.compile(r"HF_|HUGGINGFACE|TRANSFORMERS_|TORCH|PYTORCH|CUDA|MPL|PYTHON(?!PATH)")
"""Names of variables that these libraries, or Python, read only once."""
OWN_PROCESS = -256
"""The answer to a script that needs a process of its own."""
INHERITED = dict(os.environ)


def ask(address: str, arguments: list[str]) -> int:
    """Hand a call of Python to the server; give the exit code, or `OWN_PROCESS`."""
    if len(arguments) != 1 or not arguments[0].endswith(".py"):
        return OWN_PROCESS
    request = {"script": arguments[0], "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"\n"], [0, 1, 2])
        with connection.makefile("rw") as stream:
            print(json.dumps(request), file=stream, flush=True)
            return int(stream.readline())


def listen(address: str) -> socket.socket:
    """Open the server's address."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    return listener


def serve(listener: socket.socket) -> None:
    """Answer scripts until the process is killed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who answer
    os.environ["MPLBACKEND"] = "agg"  # as `darksecrets.core.run.job` sets it
    while True:
        connection, _ = listener.accept()
        for library in LIBRARIES:  # at the first script: most calls of Snakemake only plan
            import_module(library)
        gc.freeze()  # collecting garbage would copy these libraries to every fork
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            answer(connection)
            os._exit(0)  # at once: unlike the script, it has nothing to close
        connection.close()


def answer(connection: socket.socket) -> None:
    """Run the script that a client asks for in another fork, and send its exit code."""
    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rw") as stream:
        request = json.loads(stream.readline())
        code = OWN_PROCESS
        if not differs(request["environment"]):
            child = os.fork()
            if child == 0:
                run(request, files)
                sys.exit()
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(code, file=stream, flush=True)


def differs(environment: dict[str, str]) -> bool:
    """Tell whether a variable that is read at import has a value that it has not had here.

    Some libraries set variables when they are imported, in the process of the tests, too.
    """
    names = filter(READ_AT_IMPORT.match, {*environment, *INHERITED})
    return any(
        environment.get(name) not in (INHERITED.get(name), os.environ.get(name)) for name in names
    )


def take_over(folder: str, environment: dict[str, str], files: Sequence[int]) -> None:
    """Take over a caller's folder and environment, and its standard input, output and error."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)


def run(request: dict, files: Sequence[int]) -> None:
    """Become a process that runs a script as Python does."""
    environment = request["environment"]
    take_over(request["folder"], environment, files)
    added = environment.get("PYTHONPATH", "").split(os.pathsep)
    ours = {*INHERITED.get("PYTHONPATH", "").split(os.pathsep), sys.path[0]}
    others = [path for path in sys.path if path not in ours]
    sys.path[:] = [str(Path(request["script"]).parent), *filter(None, added), *others]
    sys.argv = [request["script"]]
    import numpy as np
    import torch

    # A fork has its parent's state: what is not seeded has to differ from job to job.
    np.random.seed()
    torch.seed()
    torch.set_num_threads(int(environment.get("OMP_NUM_THREADS", "1")))
    runpy.run_path(request["script"], run_name="__main__")


def main() -> None:
    """Be Snakemake's Python: ask the server first."""
    address, *arguments = sys.argv[1:]
    code = ask(address, arguments)
    if code == OWN_PROCESS:
        os.execv(sys.executable, [sys.executable, *arguments])
    sys.exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
