import re
import shutil
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Plan in a folder where nothing was ever run, not in the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        yield


@pytest.fixture(scope="session")
def planned() -> Callable[[str], dict[str, int]]:
    """Read how many jobs of every rule a dry run would run."""

    def read(output: str) -> dict[str, int]:
        counts = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
        return {rule: int(jobs) for rule, jobs in counts if rule != "total"}

    return read


@pytest.fixture(scope="session")
def smoke_config(root) -> str:
    """A configuration of the paper on two tasks, as small as can be."""
    return str(root / "tests" / "workflow" / "smoke.yaml")


@pytest.fixture(scope="session")
def one_task_config(root) -> str:
    """A configuration of the paper on one task and seed."""
    return str(root / "tests" / "cluster" / "smoke.yaml")


@pytest.fixture(scope="session")
def all_config(root) -> str:
    """A small configuration with every analysis."""
    return str(root / "tests" / "workflow" / "all_analyses.yaml")


@pytest.fixture(scope="module")
def project(root, tmp_path_factory):
    """A copy of the project, so that a test can edit it."""
    copy = tmp_path_factory.mktemp("smoke") / "project"
    ignored = shutil.ignore_patterns(".*", "results", "__pycache__")
    shutil.copytree(root, copy, ignore=ignored)
    return copy


@pytest.fixture(scope="module")
def call(project, snakemake, smoke_config):
    """Call Snakemake in the copy, on the cut-down configuration."""

    def call(*arguments, **options):
        return snakemake(project, *arguments, config=smoke_config, root=project, **options)

    return call


@pytest.fixture(scope="module")
def said(call):
    """What the run shows where its output goes to a file."""
    return call("all", "report").stderr


@pytest.fixture(scope="module")
def run(project, said):
    return project / "results" / "smoke"


@pytest.fixture(scope="module")
def rerun(call, planned, run):
    """Plan the run again with other arguments; return the rules that would run."""

    def plan(*arguments):
        return set(planned(call("-n", *arguments).stdout))

    return plan
