import re

import pytest
import yaml
from glue import TASKS
from made_up_figures import inputs, names

from darksecrets.core.data.metrics import METRICS
from darksecrets.core.run.shown import tables_of
from darksecrets.core.run.states import STATES
from darksecrets.pages import contracts
from darksecrets.pages.atlas import measures
from darksecrets.pages.claims import beside_paper, registry
from darksecrets.pages.contracts.page import SAID, page
from darksecrets.paper.features.measures import TABLES as MEASURED
from darksecrets.paper.patterns import tables as patterns


@pytest.fixture(scope="module")
def rules(root):
    texts = [path.read_text() for path in sorted((root / "workflow" / "rules").rglob("*.smk"))]
    return "\n".join(texts)


def test_the_page_has_every_table_with_its_columns():
    sections = dict(re.findall(r"^#### (\S+)\n(.*?)(?=^#### |^### |\Z)", page(), re.M | re.S))
    for table in contracts.TABLES.values():
        for column in table.columns:
            assert f"`{column.name}`" in sections[table.file], (table.file, column.name)


def test_the_rules_make_the_declared_tables_and_no_others(rules):
    named = set(re.findall(r"<results>/tables/(\w+\.(?:csv|parquet)\b)", rules))
    declared = {table.file for table in contracts.TABLES.values()}
    assert named <= declared
    for table in contracts.TABLES.values():
        made = table.name in MEASURED or re.search(rf"\b{table.name}\b", rules)
        assert made, f"no rule makes {table.file}"


READERS = {
    "set_ablation": "whoever names sets of heads in the configuration",
    "pattern_maps": "whoever asks which maps have a pattern",
    "beside_paper": "the page of the real run, `make compare`",
    "claims_by_measure": "the page on claims, whose readers look claims up in it",
}
"""Readers of tables that no figure, claim, job or part of the atlas reads."""


def test_every_table_has_a_reader(rules, root):
    """A number that nobody reads is not computed: name the reader before a table is added."""
    by_figures = {
        file.rpartition(".")[0] for name in names(root) for file in inputs(root, name).values()
    }
    by_claims = set(registry.tables(registry.read(registry.files())))
    printed = yaml.safe_load(beside_paper.NUMBERS.read_text())
    by_numbers = {number["answer"]["table"] for number in printed}
    by_atlas = set(tables_of(measures.SHOWN))
    by_jobs = {
        name
        for job in re.findall(r"^    input:\n(.*?)^    output:", rules, re.M | re.S)
        for name in re.findall(r"tables/(\w+)\.", job)
    }
    read = by_figures | by_claims | by_numbers | by_atlas | by_jobs
    assert set(contracts.TABLES) - read == set(READERS)


def test_every_named_target_is_a_rule(rules, root):
    text = rules + (root / "Snakefile").read_text()
    known = {*re.findall(r"^rule (\w+):", text, re.MULTILINE)}
    assert {*SAID["targets"], *SAID["other_targets"]} <= known


def test_what_is_estimated_for_every_head_has_a_control_or_an_interval():
    """Else one cannot tell what a head does from what chance gives."""
    without = {
        table.name
        for table in contracts.TABLES.values()
        if "head" in table.every and not any(c.control_of or c.interval_of for c in table.columns)
    }
    # They count maps, or draw them; gates are parameters of a model.
    assert without == {"pattern_heads", "pattern_maps", "head_gates"}


def test_vocabularies_are_those_of_the_code():
    assert {name for task in TASKS.values() for name in task.metrics} <= set(METRICS)
    assert set(STATES) == {"pretrained", "finetuned", "finetuned-from-normal"}
    columns = {column.name: column for column in patterns.PATTERN_PREDICTIONS.columns}
    for pattern in columns["label"].values:
        assert f"probability_{pattern}" in columns
