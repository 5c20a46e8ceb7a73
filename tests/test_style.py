"""Linters and type checks: their findings are failures."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["snakefmt", "--check", "Snakefile", "workflow"],
        ["mypy"],
        ["snakemake", "--lint", "--profile", "none"],
    ],
    ids=["ruff-check", "ruff-format", "snakefmt", "mypy", "snakemake-lint"],
)
def test_linter_is_clean(command, root):
    run = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=root, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def _lock(root):
    lines = (root / "requirements.lock").read_text().splitlines()
    return dict(line.split("==") for line in lines)


def test_the_lock_pins_every_package_and_names_no_host_and_no_path(root):
    text = (root / "requirements.lock").read_text()
    for line in text.splitlines():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line), line
    assert "torch==2.13.0\n" in text


@pytest.mark.parametrize("name", ["model", "figures", "workflow", "annotation"])
def test_conda_environments_have_the_versions_of_the_lock(name, root):
    lock = _lock(root)
    environment = yaml.safe_load((root / "envs" / f"{name}.yaml").read_text())
    packages = environment["dependencies"][-1]["pip"]
    assert packages
    for requirement in packages:
        package, version = requirement.split("==")
        assert lock[package.split("[")[0]] == version, requirement


def test_every_rule_names_an_environment_that_exists(root):
    for rules in (root / "workflow" / "rules").glob("*.smk"):
        for environment in re.findall(r'"../../(envs/.*?)"', rules.read_text()):
            assert (root / environment).is_file(), f"{rules}: {environment}"


def test_every_script_belongs_to_a_rule_and_every_script_of_a_rule_exists(root):
    text = "".join(path.read_text() for path in (root / "workflow" / "rules").glob("*.smk"))
    used = set(re.findall(r'"../../scripts/(\w+\.py)"', text))
    shipped = {path.name for path in (root / "scripts").glob("*.py")} - {"_job.py"}
    assert used == shipped


def test_markdown_links_lead_somewhere(root):
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in listed:
        page = root / name
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if not target.startswith(("http:", "https:", "mailto:")):
                assert (page.parent / target).exists(), f"{name}: {target}"
