"""The small workflow on Slurm, through the shipped profile, gives what one machine gives."""

import filecmp
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster
CONFIG = Path(__file__).parent / "smoke.yaml"


@pytest.fixture(scope="module")
def local(snakemake, tmp_path_factory):
    """The same run on this machine."""
    folder = tmp_path_factory.mktemp("local")
    snakemake(folder, "all", config=str(CONFIG))
    return folder / "results" / "cluster"


def test_tables_are_those_of_a_local_run(root, submit, local, tmp_path):
    run = submit(tmp_path, root / "Snakefile", "all", "--configfile", str(CONFIG))
    assert run.wait(900) == 0, (tmp_path / "snakemake.txt").read_text()
    names = sorted(path.name for path in (local / "tables").glob("*.csv"))
    assert "table1.csv" in names
    remote = tmp_path / "results" / "cluster"
    assert sorted(path.name for path in (remote / "tables").glob("*.csv")) == names
    for name in names:
        assert filecmp.cmp(local / "tables" / name, remote / "tables" / name, shallow=False), name
    states = subprocess.run(
        ["sacct", "-nXP", "-o", "State"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert states.count("COMPLETED") >= 5
