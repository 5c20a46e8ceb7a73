"""Another workflow uses this one: as a module with its own configuration, or by its second name."""

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
        rules.darksecrets_collect_similarity.output.table,
    output:
        "heads.txt",
    shell:
        "tail -n +2 {{input}} | wc -l > {{output}}"
"""


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


def test_the_catalogue_finds_the_workflow_under_its_second_name(
    root, snakemake, planned, smoke_config, tmp_path
):
    catalogue = yaml.safe_load((root / ".snakemake-workflow-catalog.yml").read_text())
    assert catalogue["usage"]["software-stack-deployment"]["conda"] is True
    assert (root / "config" / "README.md").is_file()
    plans = [
        planned(snakemake(tmp_path, "-n", "figure5", *arguments, config=smoke_config).stdout)
        for arguments in ((), ("--snakefile", str(root / "workflow" / "Snakefile")))
    ]
    assert plans[0] == plans[1]
    assert plans[0]["finetune"] == 6
