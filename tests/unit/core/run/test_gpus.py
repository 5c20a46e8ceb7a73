"""Every job sees the GPU that it requested, and no other; a fake `nvidia-smi` lists some."""

import subprocess
import sys

import pytest

from darksecrets.core.run import gpus
from darksecrets.core.run.errors import InputError


@pytest.fixture
def listing(tmp_path):
    """An environment in which `nvidia-smi` lists two GPUs."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho GPU-aaa\necho GPU-bbb\n")
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:/bin:/usr/bin"}


def test_gpus_are_those_of_the_scheduler_or_of_the_machine(listing, tmp_path):
    assert gpus.visible(listing) == ["GPU-aaa", "GPU-bbb"]
    assert gpus.visible({gpus.VISIBLE: "3,5"}) == ["3", "5"]
    assert gpus.visible({**listing, gpus.VISIBLE: ""}) == []
    assert gpus.visible({**listing, gpus.VISIBLE: "-1"}) == []
    assert gpus.visible({"PATH": str(tmp_path / "empty")}) == []


def test_a_machine_whose_driver_fails_has_none(listing, tmp_path):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho broken >&2\nexit 9\n")
    assert gpus.visible(listing) == []


def test_a_job_that_asks_for_none_sees_none(listing, tmp_path):
    assert gpus.take(0, listing, tmp_path) is None
    assert listing[gpus.VISIBLE] == ""


def test_without_a_gpu_nothing_is_visible(tmp_path):
    environment = {"PATH": str(tmp_path / "empty")}
    assert gpus.take(1, environment, tmp_path) is None
    assert environment[gpus.VISIBLE] == ""


def test_the_only_one_is_taken_whatever_its_number_elsewhere(tmp_path):
    """Under a scheduler, every job sees its own GPU as number 0."""
    for _ in range(2):
        assert gpus.take(1, {gpus.VISIBLE: "0"}, tmp_path) == "0"


def test_jobs_on_one_machine_keep_apart(listing, tmp_path):
    taken = {gpus.take(1, dict(listing), tmp_path) for _ in range(2)}
    assert taken == {"GPU-aaa", "GPU-bbb"}
    with pytest.raises(InputError, match=r"All 2 GPUs of this machine are in use.*resources gpu=2"):
        gpus.take(1, dict(listing), tmp_path)


def test_a_gpu_is_free_again_when_its_process_has_ended(listing, tmp_path, root):
    arguments = f"1, {listing!r}, pathlib.Path({str(tmp_path)!r})"
    call = f"import pathlib; from darksecrets.core.run import gpus; print(gpus.take({arguments}))"
    first, second = (
        subprocess.run(
            [sys.executable, "-c", call], cwd=root, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    )
    assert first.stdout == second.stdout == "GPU-aaa\n"


def test_locks_are_in_a_folder_of_the_users_own(listing, tmp_path, monkeypatch):
    monkeypatch.setattr(gpus.tempfile, "gettempdir", lambda: str(tmp_path))
    own = tmp_path / f"darksecrets-{gpus.os.getuid()}"
    target = tmp_path / "precious"
    target.write_text("kept")
    assert gpus.take(1, dict(listing)) == "GPU-aaa"
    assert own.stat().st_mode & 0o777 == 0o700
    (own / "gpu-GPU-bbb.lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic link"):
        gpus.take(1, dict(listing))
    assert target.read_text() == "kept"


@pytest.mark.parametrize("kind", ["link", "open to all", "a file"])
def test_a_folder_of_locks_that_others_may_have_made_is_refused(
    listing, tmp_path, monkeypatch, kind
):
    monkeypatch.setattr(gpus.tempfile, "gettempdir", lambda: str(tmp_path))
    own = tmp_path / f"darksecrets-{gpus.os.getuid()}"
    if kind == "link":
        (tmp_path / "elsewhere").mkdir()
        own.symlink_to(tmp_path / "elsewhere")
    elif kind == "a file":
        own.write_text("")
    else:
        own.mkdir()
        own.chmod(0o777)
    with pytest.raises(InputError, match="only you can write to"):
        gpus.take(1, dict(listing))


def test_jobs_share_gpus_evenly_if_they_may(listing, tmp_path):
    taken = [gpus.take(1, dict(listing), tmp_path, jobs=2) for _ in range(4)]
    assert taken == ["GPU-aaa", "GPU-bbb", "GPU-aaa", "GPU-bbb"]
    assert gpus.sharing() == 2
    with pytest.raises(InputError, match="resources gpu=4"):
        gpus.take(1, dict(listing), tmp_path, jobs=2)
    gpus.take(0, dict(listing), tmp_path)
    assert gpus.sharing() == 1


def test_memory_is_that_of_the_smallest_gpu(listing, tmp_path):
    program = tmp_path / "nvidia-smi"
    asked = '[ "$1" = --id=GPU-aaa,GPU-bbb ]'
    program.write_text(f"#!/bin/sh\n{asked} && echo '81559 40960' || echo 'GPU-aaa GPU-bbb'\n")
    assert gpus.memory(listing) == 40960 * 2**20
    program.write_text("#!/bin/sh\necho '[N/A]'\n")
    assert gpus.memory({**listing, gpus.VISIBLE: "0"}) == 0
    assert gpus.memory({"PATH": str(tmp_path / "empty")}) == 0
