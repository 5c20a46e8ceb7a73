"""Scripts started as forks of one process, and which jobs are not."""

import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest
from snakemake.benchmark import BenchmarkRecord

from workflow.lib import compat, forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux only")


def script(**attributes):
    """What Snakemake knows of a script: by default, one that a fork can run."""
    usual = {
        **{"threads": 1, "resources": {}, "bench_record": None},
        **{"conda_env": None, "container_img": None, "env_modules": None},
    }
    return SimpleNamespace(**usual | attributes)


@pytest.fixture
def start(monkeypatch):
    """Start a script as the run of many jobs would; nothing stays replaced."""
    given = []
    monkeypatch.setattr(compat, "replace_script_start", given.append)
    monkeypatch.setattr(sys, "argv", ["snakemake"])
    monkeypatch.setattr(forks, "LIBRARIES", ())
    forks.start_scripts_as_forks(forks.ENOUGH)
    return given.pop()


def test_a_script_runs_with_one_thread_and_its_folder_for_temporary_files(start, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(
        "import os, pathlib, sys, tempfile\n"
        "said = os.environ['OMP_NUM_THREADS'], tempfile.gettempdir(), sys.argv[0], __name__\n"
        "pathlib.Path(__file__).with_suffix('.txt').write_text(' '.join(said))\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    assert start(script(resources={"tmpdir": str(temporary)}), str(file))
    assert (tmp_path / "script.txt").read_text() == f"1 {temporary} {file} __main__"
    assert tempfile.gettempdir() != str(temporary)


@pytest.mark.parametrize(
    ("text", "code"), [("import sys; sys.exit(3)", 3), ("raise KeyError", 1), ("1 / 0", 1)]
)
def test_a_failing_script_fails_its_job(start, tmp_path, text, code):
    file = tmp_path / "script.py"
    file.write_text(text)
    with pytest.raises(subprocess.CalledProcessError) as failure:
        start(script(), str(file))
    assert failure.value.returncode == code


def test_the_benchmark_is_of_the_script(start, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(
        "import time\nzeros = bytearray(200_000_000)\n"
        "end = time.time() + 1\nwhile time.time() < end: pass\n"
    )
    record = BenchmarkRecord()
    start(script(bench_record=record), str(file))
    assert record.running_time >= 1
    assert record.max_rss > 190


@pytest.mark.parametrize(
    "attributes",
    [
        {"threads": 2},
        {"conda_env": "envs/model.yaml"},
        {"container_img": "image.sif"},
        {"env_modules": ["torch"]},
        {"resources": {"gpu": 1}},
    ],
)
def test_jobs_that_a_fork_cannot_run_are_left_to_snakemake(start, tmp_path, attributes):
    assert not start(script(**attributes), str(tmp_path / "not-there.py"))


@pytest.mark.parametrize(
    ("jobs", "program", "system"),
    [(11, "snakemake", "linux"), (99, "notebook.py", "linux"), (99, "snakemake", "darwin")],
)
def test_nothing_is_replaced_for_few_jobs_in_other_programs_and_on_other_systems(
    monkeypatch, jobs, program, system
):
    monkeypatch.setattr(compat, "replace_script_start", lambda _: pytest.fail("replaced"))
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "platform", system)
    forks.start_scripts_as_forks(jobs)
