"""Another workflow uses this one: as a module with its own configuration, or by its second name."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from darksecrets.core.run.version import __version__

OUTER = """
module darksecrets:
    snakefile: {snakefile!r}
    config: {config!r}

use rule * from darksecrets as darksecrets_*

rule count_scores:
    default_target: True
    input:
        rules.darksecrets_evaluate_baselines.output.table,
    output:
        "scores.txt",
    shell:
        "tail -n +2 {{input}} | wc -l > {{output}}"
"""

# What snakedeploy writes for the command that the workflow catalogue shows.
DEPLOYED = """
configfile: "config/config.yaml"

module darksecrets:
    snakefile:
        github("somebody/darksecrets", path="workflow/Snakefile", commit="{commit}")
    config:
        config

use rule * from darksecrets
"""


def commit(repository: Path) -> str:
    """Commit all that is in a folder, and give the commit."""
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost")
    for command in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "a release"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    command = ["git", "rev-parse", "HEAD"]
    head = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    return head.stdout.strip()


@pytest.fixture
def hosted(root, tmp_path):
    """The project as a host has it, and the environment in which Git finds that host here."""
    repository = tmp_path / "host" / "darksecrets"
    ignored = shutil.ignore_patterns(".venv", ".git", "results", ".*_cache", ".snakemake", "docs")
    shutil.copytree(root, repository, ignore=ignored)
    environment = os.environ | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository.parent.as_uri()}/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/somebody/",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    return repository, environment


@pytest.fixture
def small(root, smoke_config):
    """The smoke configuration, with one task and one seed."""
    text = Path(smoke_config).read_text().replace("<project>/tests", f"{root}/tests")
    return yaml.safe_load(text) | {"run": "inner", "tasks": ["RTE"], "seeds": [1]}


def test_rules_run_as_a_module_of_another_workflow(root, snakemake, small, tmp_path):
    project = tmp_path / "outer"
    project.mkdir()
    text = OUTER.format(snakefile=str(root / "Snakefile"), config=small)
    (project / "Snakefile").write_text(text)
    (tmp_path / "none.yaml").write_text("{}")
    snakemake(project, config=str(tmp_path / "none.yaml"), root=project)
    table = (project / "results" / "inner" / "tables" / "baselines.csv").read_text()
    assert int((project / "scores.txt").read_text()) == table.count("\n") - 1 > 0


def install(repository: Path, folder: Path) -> None:
    """Install the package as pip does from a repository; what it depends on is there."""
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--quiet"]
    source = f"git+{repository.as_uri()}"
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), source]
    subprocess.run(command, check=True)


@pytest.mark.thorough
def test_a_hosted_workflow_runs_the_installed_package(planned, small, hosted, tmp_path):
    repository, environment = hosted
    project = tmp_path / "deployed"
    (project / "config").mkdir(parents=True)
    config = project / "config" / "config.yaml"
    config.write_text(yaml.safe_dump(small))
    release = commit(repository)
    (project / "Snakefile").write_text(DEPLOYED.format(commit=release))
    install(repository, tmp_path / "site")

    environment["PYTHONPATH"] = str(tmp_path / "site")

    def call(*arguments):
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)

    targets = ("results/inner/annotation/RTE.jsonl", "results/inner/figures/figure4.svg")
    made = call(*targets)
    assert made.returncode == 0, made.stderr
    record = json.loads((project / "results/inner/records/prepare_dataset/RTE.json").read_text())
    assert record["environment"]["darksecrets"]["commit"] == release[:12]
    by_default = planned(call("-n").stdout)
    assert by_default["draw_attention"] == by_default["draw_ablation"] == 1
    assert by_default["finetune"] == 2

    figures = tmp_path / "site" / "darksecrets" / "paper" / "framenet" / "figures"
    with (figures / "figure4.py").open("a") as module:
        module.write("\n_ANOTHER_VERSION = True\n")
    assert planned(call("-n", *targets).stdout) == {"draw_framenet": 1}

    (found,) = (tmp_path / "site").glob("darksecrets-*.dist-info")
    metadata = found / "METADATA"
    metadata.write_text(metadata.read_text().replace("\nVersion: ", "\nVersion: 9."))
    refused = call(*targets).stderr
    assert f"which here has version 9.{__version__}. Install it" in refused
    assert f"git+https://github.com/somebody/darksecrets@{release}" in refused


def test_the_hosted_file_names_the_version_of_the_package(root):
    assert f'VERSION = "{__version__}"' in (root / "workflow" / "Snakefile").read_text()


@pytest.mark.thorough
def test_the_catalogue_finds_the_workflow_under_its_second_name(
    root, snakemake, planned, smoke_config, tmp_path
):
    catalogue = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())
    assert catalogue["usage"]["software-stack-deployment"]["conda"] is True
    assert (root / "config" / "README.md").is_file()
    first, second = (
        planned(snakemake(tmp_path, "-n", config=smoke_config, root=folder).stdout)
        for folder in (root, root / "workflow")
    )
    assert first.pop("all") == second.pop("everything") == 1
    assert first == second
    assert first["finetune"] == 2 * 2 * 2
