"""Misspelled targets are said, before Snakemake takes them for files."""

import pytest

from workflow.lib.targets import explain_unknown

RULES = ("all", "figure7", "figure8", "token_pairs", "inspect")


def explained(*words, command="/usr/bin/snakemake"):
    return explain_unknown([command, *words], RULES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["figur7", "--cores", "2"], "no target 'figur7'. Did you mean 'figure7' or 'figure8'?"),
        (["-n", "all", "tokenpairs"], "no target 'tokenpairs'. Did you mean 'token_pairs'?"),
        (["zebra"], "no target 'zebra'. snakemake --list-rules"),
    ],
)
def test_a_name_that_no_rule_has_is_explained(words, said):
    assert said in explained(*words)
    assert said in explained(*words, command="/lib/snakemake/__main__.py")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["figure7", "all", "--cores", "2"],
        ["results/demo/figures/figur7.svg", "figur7.svg", "--cores", "2"],
        ["--logger", "rich", "--profile", "profiles/slurm", "--config", "run=mine", "-n"],
        ["all", "--configfile", "mine.yaml", "--until", "figur7"],
        ["all", "--config", "run=mine", "tasks=[RTE]", "--rerun-triggers", "mtime", "--", "all"],
    ],
)
def test_what_may_be_right_is_not(words):
    assert explained(*words) == ""


def test_a_file_and_another_program_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "no target" in explained("licence")
    (tmp_path / "licence").touch()
    assert explained("licence") == ""
    assert explained("figur7", command="/usr/bin/pytest") == ""


def test_a_call_of_the_workflow_ends_with_the_hint(snakemake, smoke_config, tmp_path):
    found = snakemake(tmp_path, "-n", "figur7", config=smoke_config, check=False)
    assert found.returncode != 0
    assert "There is no target 'figur7'. Did you mean 'figure7'" in found.stdout + found.stderr
