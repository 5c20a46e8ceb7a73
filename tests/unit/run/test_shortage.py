"""Errors as libraries raise them on a device that is always full, and with too little memory."""

import resource
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

from darksecrets.run.shortage import shortage


def explained(action, folder):
    try:
        action()
    except Exception as error:
        return shortage(error, traceback.format_exc(), folder)
    pytest.fail("no error")


def fill():
    with Path("/dev/full").open("wb", buffering=0) as stream:
        stream.write(b"x")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")
def test_a_full_disk_is_named(tmp_path):
    assert explained(fill, tmp_path).startswith(f"{tmp_path}: the disk is full; found ")


def test_too_little_memory_is_named_with_what_was_used(tmp_path):
    message = explained(lambda: np.zeros(10**15), tmp_path)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    assert f"Memory ran out; this job had used {used:.1f} GB. " in message
    import torch

    assert "Memory ran out" in explained(lambda: torch.zeros(10**15), tmp_path)


@pytest.mark.parametrize(
    "said",
    [
        "libtorch_cpu.so: failed to map segment from shared object",
        "can't start new thread",
        "[Errno 12] Cannot allocate memory",
    ],
)
def test_what_libraries_say_without_memory_is_understood(tmp_path, said):
    def fail():
        raise RuntimeError(said)

    assert "Memory ran out" in explained(fail, tmp_path)


def test_other_errors_are_not_explained_away(tmp_path):
    assert explained(lambda: 1 / 0, tmp_path) is None
    assert explained((tmp_path / "none").read_text, tmp_path) is None


# A job that runs out of memory, as do the libraries that it used, at its end.
JOB = """
import atexit, sys
from pathlib import Path
from types import SimpleNamespace

folder = Path(sys.argv[1])
sys.path.insert(0, "scripts")
import _job

def run_out(*_, **__):
    raise MemoryError

atexit.register(run_out)
given = {"log": [folder / "job.log"], "input": [], "output": [folder / "result"], "config": {}}
_job.integrity.check = run_out
_job._run_to_its_end(run_out, SimpleNamespace(**given))
"""


def test_a_log_ends_with_what_was_lacking(tmp_path, root):
    done = subprocess.run([sys.executable, "-c", JOB, tmp_path], cwd=root, check=False)
    assert done.returncode == 1
    log = (tmp_path / "job.log").read_text()
    assert "Memory ran out" in log
    assert "Traceback" not in log
