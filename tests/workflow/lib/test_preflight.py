import errno
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import yaml
from shipped import DATA, MODEL

from darksecrets.core.run import gpus
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from workflow.lib import preflight, resources
from workflow.lib.configuration import resolve


def _config(**keys):
    return resolve({"run": "r", "data": DATA, "model": MODEL, **keys})


def test_a_working_directory_that_is_read_only_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(InputError, match=rf"^{tmp_path}: cannot write here.*--directory"):
        preflight.check(_config())


@pytest.mark.parametrize(("epochs", "warned"), [(4, True), (5, False)])
def test_short_trainings_are_named_with_the_epochs_that_would_do(tmp_path, epochs, warned):
    """Of 220 rows in batches of 16: 14 updates an epoch."""
    folder = tmp_path / "SST-2"
    folder.mkdir()
    for name, rows in (("train", 220), ("dev", 40)):
        (folder / f"{name}.tsv").write_text("sentence\tlabel\n" + "a film\t1\n" * rows)
    data = {"source": "tsv", "folder": str(tmp_path)}
    config = resolve(
        {"run": "r", "model": MODEL, "data": data, "tasks": ["SST-2"]}
        | {"fine_tuning": {"batch_size": 16, "epochs": epochs}}
    )
    said = preflight.short_trainings(config)
    assert len(said) == warned
    if warned:
        assert "220 training examples in batches of 16, 4 times, are 56 updates" in said[0]
        assert said[0].endswith("Set tasks.SST-2.epochs to 5 or more.")


def test_the_demonstration_is_no_short_training(monkeypatch, root):
    monkeypatch.chdir(root)
    given = yaml.safe_load((root / "config" / "config.yaml").read_text(encoding="utf-8"))
    assert preflight.short_trainings(resolve(given)) == []


def test_space_that_is_missing_is_named(tmp_path, monkeypatch):
    free = shutil.disk_usage(tmp_path).free
    preflight.check_disk(tmp_path / "results" / "r", free // 2)
    with pytest.raises(InputError, match=r"GB of disk space are free, and the run needs about"):
        preflight.check_disk(tmp_path / "results" / "r", 2 * free + 10**9)
    assert not list(tmp_path.iterdir())


def test_files_that_are_left_are_counted(tmp_path, monkeypatch):
    found = os.statvfs(tmp_path)
    values = {name: getattr(found, name) for name in dir(found) if name.startswith("f_")}
    for files, available, message in ((100, 9, "room for 9 more files"), (0, 0, "")):
        given = SimpleNamespace(**(values | {"f_files": files, "f_favail": available}))
        monkeypatch.setattr("os.statvfs", lambda _, given=given: given)
        if message:
            with pytest.raises(InputError, match=message):
                preflight.check_disk(tmp_path, 10)
        else:
            preflight.check_disk(tmp_path, 10)


def test_a_full_folder_of_temporary_files_is_named(tmp_path, monkeypatch):
    preflight.check_temporary_folder()
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(preflight.tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(InputError, match=rf"{tmp_path}: .*No space left on device.*TMPDIR"):
        preflight.check_temporary_folder()


@pytest.mark.parametrize("folder", ["a b", "user's", 'a"b', "a$b", "a;b"])
def test_a_path_of_python_that_a_shell_reads_is_refused(folder, monkeypatch):
    preflight.check_interpreter()
    monkeypatch.setattr(sys, "executable", f"/home/{folder}/.venv/bin/python")
    with pytest.raises(InputError, match="Snakemake cannot start scripts with it"):
        preflight.check_interpreter()


def test_what_is_there_already_needs_no_space(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    (tmp_path / "made").write_bytes(bytes(10**6))
    with pytest.raises(InputError):
        preflight.check_disk(tmp_path / "empty", free + 10**12)
    preflight.check_disk(tmp_path, 10**6)


def test_without_the_libraries_the_check_is_left_to_the_first_job(
    monkeypatch, caplog, tmp_path, root
):
    shutil.copytree(RESOURCES / "tiny-bert", tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").unlink()
    model = {"source": "folder", "folder": str(tmp_path / "model")}
    with pytest.raises(InputError, match="tokenizer"):
        preflight.check(_config(model=model, run="other"))
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "torch" else found(name)
    )
    preflight.check(_config(model=model, run="other"))
    assert "torch is not installed" in caplog.text


def test_results_of_the_future_are_named_before_the_first_job(tmp_path):
    """Snakemake would end the first job that reads one, after it has done its work."""
    file = tmp_path / "results" / "data" / ".snakemake_timestamp"
    file.parent.mkdir(parents=True)
    file.touch()
    preflight.check_disk(tmp_path / "results", 0)
    later = time.time() + 3600
    os.utime(file, (later, later))
    with pytest.raises(InputError, match=rf"{file} was changed at .* in the future.*touch"):
        preflight.check_disk(tmp_path / "results", 0)
    command = str(_message(tmp_path)).rpartition("now: ")[2]
    subprocess.run(["bash", "-c", command], check=True)
    preflight.check_disk(tmp_path / "results", 0)


def _message(folder):
    with pytest.raises(InputError) as found:
        preflight.check_disk(folder / "results", 0)
    return found.value


def test_jobs_share_a_gpu_only_as_configured_and_if_they_fit(monkeypatch):
    config = resolve({"run": "r", "data": DATA, "model": MODEL, "jobs_per_gpu": 8})
    needed = resources.gpu_memory_needed(config)
    monkeypatch.setattr(gpus, "memory", lambda: 8 * needed)
    preflight.check_shared_gpus(config, 1, 8)
    with pytest.raises(InputError, match=r"gpu=9 would run 9 .* on 1 GPU, 8 on each\. Set .* to 9"):
        preflight.check_shared_gpus(config, 1, 9)
    monkeypatch.setattr(gpus, "memory", lambda: 8 * needed - 1)
    with pytest.raises(InputError, match=r"jobs_per_gpu is 8, .* Set it to 7\."):
        preflight.check_shared_gpus(config, 1, 8)
    monkeypatch.setattr(gpus, "memory", lambda: 0)  # not known
    preflight.check_shared_gpus(config, 2, 16)
    preflight.check_shared_gpus({**config, "jobs_per_gpu": 1}, 1, 1)
