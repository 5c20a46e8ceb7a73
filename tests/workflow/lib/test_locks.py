"""Locks are released only if no process of the run that holds them is left."""

import contextlib
import fcntl
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from darksecrets.run.errors import InputError
from workflow.lib import compat, locks

# A run that holds its lock, and with an argument one of its jobs, which outlives it.
RUN = """
import subprocess, sys, time
from pathlib import Path
from test_locks import Files
from workflow.lib import locks
folder = Path(sys.argv[1])
JOB = '''
import time
from darksecrets.run import parent
with parent.run_of():
    print(1, flush=True)
    time.sleep(60)
'''
with locks.holding(Files(folder), folder / "results", elsewhere=False):
    if sys.argv[2:]:
        job = subprocess.Popen([sys.executable, "-c", JOB], stdout=subprocess.PIPE)
        job.stdout.readline()
        print(job.pid, flush=True)
    else:
        print(0, flush=True)
    time.sleep(60)
"""


class Files:
    """Snakemake's lock, as a file."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "taken"

    def is_taken(self):
        return self.file.exists()

    exists = is_taken

    def release(self):
        self.file.unlink()

    @contextlib.contextmanager
    def take(self):
        self.file.touch()
        yield
        self.file.unlink()


@pytest.fixture
def start(root, tmp_path):
    """Start a run in the folder; give its process, and the number of its job if it has one."""
    with contextlib.ExitStack() as stack:

        def call(*arguments):
            command = [sys.executable, "-c", RUN, str(tmp_path), *arguments]
            paths = {"PYTHONPATH": f"{root}:{root / 'tests' / 'workflow' / 'lib'}"}
            process = stack.enter_context(
                subprocess.Popen(command, env=paths, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process, int(process.stdout.readline())

        yield call


def hold(folder, elsewhere=False):
    with locks.holding(Files(folder), folder / "results", elsewhere=elsewhere):
        return [json.loads(path.read_text()) for path in (folder / "owners").glob("*.json")]


def refusal(folder):
    with pytest.raises(InputError) as refused:
        hold(folder)
    assert (folder / "taken").exists()
    return str(refused.value)


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def leave_lock(folder, **changes):
    """Leave what a killed run leaves."""
    (record,) = hold(folder)
    (folder / "taken").touch()
    (folder / "owners" / "left.json").write_text(json.dumps(record | changes))


def test_a_run_is_recorded_while_it_holds_its_lock(tmp_path):
    (record,) = hold(tmp_path)
    assert record["held"]
    assert not list((tmp_path / "owners").glob("*.json"))
    assert not (tmp_path / "taken").exists()


class Persistence:
    """What Snakemake keeps its locks with: the end of a lock removes the folder of all of them."""

    def __init__(self, path, name):
        self.path = path
        self._lockfile = {"output": str(path / "locks" / f"{name}.lock")}

    @contextlib.contextmanager
    def lock(self):
        (file,) = map(Path, self._lockfile.values())
        file.write_text(f"files of {file.name}")
        yield
        shutil.rmtree(file.parent)


def test_the_end_of_a_run_leaves_the_locks_of_others(tmp_path):
    one, two = (compat.Lock(Persistence(tmp_path, name), Persistence.lock) for name in ("1", "2"))
    with two.take():
        with one.take():
            pass
        assert (tmp_path / "locks" / "2.lock").read_text() == "files of 2.lock"
    assert not list((tmp_path / "locks").iterdir())
    with one.take():  # the folder is there again
        assert [path.name for path in (tmp_path / "locks").iterdir()] == ["1.lock"]


def test_a_run_neither_takes_nor_gives_back_its_lock_while_another_does(tmp_path):
    moments = []

    class Watched(Files):
        @contextlib.contextmanager
        def take(self):
            with super().take():
                moments.append(may_take(self.folder / "owners"))
                yield
                moments.append(may_take(self.folder / "owners"))

    def may_take(folder):
        with (folder / "starting").open("wb") as stream:
            return locks._locked(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)

    with locks.holding(Watched(tmp_path), tmp_path / "results", elsewhere=False):
        moments.append(may_take(tmp_path / "owners"))
    assert moments == [False, True, False]


def test_the_lock_of_a_killed_run_is_released_with_what_its_writers_left(start, tmp_path):
    process, _ = start()
    left = tmp_path / "results" / "attention" / ".store.77.tmp"
    left.mkdir(parents=True)
    (left / "maps.npy").touch()
    finished = tmp_path / "results" / "attention" / "store"
    finished.mkdir()
    kill(process)
    assert (tmp_path / "taken").exists()
    (record,) = hold(tmp_path)
    assert record["process"] != process.pid
    assert not left.exists()
    assert finished.exists()


def test_the_lock_of_a_run_stays_while_one_of_its_jobs_runs(start, tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.3)
    process, job = start("with a job")
    assert f"process {process.pid} on" in refusal(tmp_path)
    kill(process)
    assert f"process {process.pid} on" in refusal(tmp_path)
    subprocess.run(["kill", "-9", str(job)], check=True)
    monkeypatch.setattr(locks, "PATIENCE", 10)
    assert hold(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"host": "node7", "machine": "other", "boot": "other"},
            "cannot be seen from this machine",
        ),
        ({"elsewhere": True}, "docs/cluster.md"),
        ({"held": False}, "on this disk"),
        (None, "cannot be seen from this machine"),
    ],
    ids=["another-machine", "cluster", "disk", "damaged"],
)
def test_a_lock_that_may_be_in_use_stays(tmp_path, change, words):
    leave_lock(tmp_path, **(change or {"unknown": "key"}))
    message = refusal(tmp_path)
    assert words in message
    assert "`snakemake --unlock`" in message
    (tmp_path / "taken").unlink()  # what --unlock does
    assert len(hold(tmp_path)) == 1


def test_after_a_restart_of_the_machine_the_lock_is_released(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_machine", lambda: "installed once")
    leave_lock(tmp_path, boot="before")
    assert hold(tmp_path)


def test_a_lock_without_a_record_stays(tmp_path):
    (tmp_path / "taken").touch()
    assert "no record" in refusal(tmp_path)
