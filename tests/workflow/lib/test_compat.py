"""What is changed in Snakemake does what it is for; in an untested version, nothing is changed."""

import re
import subprocess
import sys
import tomllib

import pytest
import snakemake as installed

from workflow.lib import compat, forks

# Snakemake, as if it had another version; fails if anything of it is replaced.
OTHER = """
import sys
import snakemake
from snakemake.script import PythonScript

def known():
    return PythonScript.execute_script

snakemake.__version__ = sys.argv.pop(1)
sys.argv[0] = "snakemake"
before = known()
from snakemake.cli import main
try:
    main(sys.argv[1:])
finally:
    assert known() == before
"""


@pytest.mark.parametrize("version", ["9.18.2", "9.28.0", "10.0.0"])
def test_a_version_that_was_not_tested_is_left_as_it_is(version, monkeypatch):
    monkeypatch.setattr(installed, "__version__", version)
    monkeypatch.setattr(sys, "argv", ["snakemake"])
    assert not compat.is_tested()
    assert not forks.save_time(1000)


@pytest.mark.parametrize("version", [compat.TESTED[0], "9.20.1", f"{compat.TESTED[1]}.9"])
def test_versions_that_were_tested_and_those_between_are_not_warned_of(version, monkeypatch):
    monkeypatch.setattr(installed, "__version__", version)
    monkeypatch.setattr(sys, "argv", ["snakemake"])
    assert compat.is_tested()
    assert forks.save_time(1000) == (sys.platform == "linux")


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["10.0.0", installed.__version__])
def test_the_workflow_runs_as_snakemake_is_with_a_version_that_was_not_tested(
    version, root, smoke_config, tmp_path
):
    target = "results/smoke/data/RTE"
    places = ("--snakefile", root / "Snakefile", "--directory", tmp_path, "--cores", "1")
    run = subprocess.run(
        [sys.executable, "-c", OTHER, version, target, "--configfile", smoke_config, *places],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert list((tmp_path / target).iterdir())
    if version == installed.__version__:  # the program sees what is replaced
        assert run.stderr.endswith("AssertionError\n")
    else:
        assert run.returncode == 0, run.stderr


def test_what_is_tested_is_what_is_allowed_and_pinned(root):
    first, last = compat.TESTED
    assert f'min_version("{first}")' in (root / "Snakefile").read_text()
    needs = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"snakemake[reports]>={first}" in needs
    pinned = re.search(r"^snakemake==(\d+\.\d+)\.", (root / "requirements.lock").read_text(), re.M)
    assert pinned[1] == last
    assert f"Snakemake {first} and {last}" in (root / "docs" / "architecture.md").read_text()
