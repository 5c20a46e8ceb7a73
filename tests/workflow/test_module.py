"""Another workflow uses this one: as a module with its own configuration, or by its second name."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

OUTER = """
module darksecrets:
    snakefile: {snakefile!r}
    config: {config!r}

use rule * from darksecrets as darksecrets_*

rule count_heads:
    default_target: True
    input:
        rules.darksecrets_compare_attention.output.cosine,
    output:
        "heads.txt",
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
def small(smoke_config):
    """The smoke configuration, with one task and one seed."""
    text = Path(smoke_config).read_text()
    return yaml.safe_load(text) | {"run": "inner", "tasks": ["RTE"], "seeds": [1]}


def test_rules_run_as_a_module_of_another_workflow(root, snakemake, small, tmp_path):
    project = tmp_path / "outer"
    project.mkdir()
    text = OUTER.format(snakefile=str(root / "Snakefile"), config=small)
    (project / "Snakefile").write_text(text)
    (tmp_path / "none.yaml").write_text("{}")
    snakemake(project, config=str(tmp_path / "none.yaml"), root=project)
    table = (project / "results" / "inner" / "tables" / "cosine.csv").read_text()
    assert int((project / "heads.txt").read_text()) == table.count("\n") - 1 > 0


@pytest.mark.thorough
def test_rules_run_from_a_hosted_repository_as_snakedeploy_declares_it(
    root, snakemake, planned, small, hosted, tmp_path
):
    repository, environment = hosted
    project = tmp_path / "deployed"
    (project / "config").mkdir(parents=True)
    config = project / "config" / "config.yaml"
    config.write_text(yaml.safe_dump(small))

    def call(*arguments):
        options = {"config": str(config), "root": project, "environment": environment}
        return snakemake(project, *arguments, **options).stdout

    release = commit(repository)
    (project / "Snakefile").write_text(DEPLOYED.format(commit=release))
    targets = ("results/inner/annotation/RTE.jsonl", "results/inner/figures/figure4.svg")
    call(*targets)
    record = json.loads((project / "results/inner/records/prepare_dataset/RTE.json").read_text())
    assert release.startswith(record["environment"]["darksecrets"]["commit"])
    by_default = planned(call("-n"))
    assert by_default["draw_attention"] == by_default["draw_ablation"] == 1
    assert by_default["finetune"] == 2

    figures = repository / "darksecrets" / "paper" / "framenet" / "figures"
    with (figures / "figure4.py").open("a") as module:
        module.write("\n_ANOTHER_VERSION = True\n")
    (project / "Snakefile").write_text(DEPLOYED.format(commit=commit(repository)))
    assert planned(call("-n", *targets)) == {"draw_framenet": 1}


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
