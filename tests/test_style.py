"""Linters and type checks: their findings are failures."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from darksecrets import __version__

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["snakefmt", "--check", "Snakefile", "workflow"],
        ["mypy"],
        ["lint-imports", "--no-cache"],
        ["snakemake", "--lint", "--profile", "none"],
    ],
    ids=["ruff-check", "ruff-format", "snakefmt", "mypy", "lint-imports", "snakemake-lint"],
)
def test_linter_is_clean(command, root):
    run = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=root, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_hooks_are_the_linters_and_hosted_tests_are_targets_of_make(root):
    hooks = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    linters = {hook["entry"].partition(" --")[0] for hook in hooks}
    names = ("ruff check", "ruff format", "snakefmt", "mypy", "lint-imports")
    assert linters == {f".venv/bin/{name}" for name in names}
    jobs = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    wanted = set(re.findall(r"^make ([a-z-]+)", "\n".join(commands), re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert {"setup", "quick", "demo", "docs"} == wanted <= targets


PIN = r"([a-z0-9-]+)==([0-9][0-9a-z.]*)"
MARKER = r"( ; [\w .'<>=!()]+)?"
HASHES = r"( +--hash=sha256:[0-9a-f]{64})+"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_has_version_and_hashes_of_every_package_and_no_host_and_no_path(root, name):
    entries = (root / name).read_text().replace("\\\n", "").splitlines()
    assert [entry for entry in entries if not re.fullmatch(PIN + MARKER + HASHES, entry)] == []
    names = [entry.partition("==")[0] for entry in entries]
    assert len(set(names)) == len(names) > 120
    assert "torch" not in names, "its build depends on the machine"


def test_the_citation_and_the_changelog_are_of_this_version(root):
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    released = f"## {__version__} ({citation['date-released']})"
    if "repository-code" in citation:
        assert re.fullmatch(r"https://[\w.-]+\.\w+(/[\w.-]+)*/?", str(citation["repository-code"]))
    assert released in (root / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    pages = [page.read_text(encoding="utf-8") for page in (root / "docs").rglob("*.md")]
    images = {tag for page in pages for tag in re.findall(r"darksecrets:(\d[\d.]*\d)", page)}
    assert images == {__version__}


def test_torch_has_the_version_of_the_project_without_a_hash(root):
    pin = (root / "requirements-torch.txt").read_text().rstrip()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert re.fullmatch(PIN, pin)
    assert pin in project["dependencies"]


def test_every_rule_names_an_environment_that_exists(root):
    for rules in (root / "workflow" / "rules").rglob("*.smk"):
        for environment in re.findall(r'"../../../(envs/.*?)"', rules.read_text()):
            assert (root / environment).is_file(), f"{rules}: {environment}"


def test_every_script_belongs_to_a_rule_and_every_script_of_a_rule_exists(root):
    text = "".join(path.read_text() for path in (root / "workflow" / "rules").rglob("*.smk"))
    used = set(re.findall(r'"../../../scripts/(\w+/\w+\.py)"', text))
    scripts = root / "scripts"
    shipped = {str(path.relative_to(scripts)) for path in scripts.glob("*/[!_]*.py")}
    assert used == shipped


PREPOSITION = re.compile(
    r"_*(of|by|at|in|on|from|to|with|without|over|under|above|below|behind|among|between)(_|$)"
)
CONVENTIONAL = re.compile(r"of|from_\w+|on_(step|epoch|train|save)\w*|at|over_control")
"""Other constructors, callbacks of `transformers`, and a property named like its column."""


def test_no_function_or_class_is_named_with_a_preposition_first(root):
    """A function is a verb, or the noun that it returns."""
    found = []
    for folder in ("darksecrets", "scripts", "workflow"):
        for path in sorted((root / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    name = node.name
                    if PREPOSITION.match(name) and not CONVENTIONAL.fullmatch(name):
                        found.append(f"{path.relative_to(root)}: {name}")
    assert not found


REFERENCE = ("claims", "configuration", "figures", "python", "tables")
GENERATED = {"docs/notebook.md", *(f"docs/reference/{name}.md" for name in REFERENCE)}
"""Pages that are written when the site is built."""


def test_markdown_links_lead_somewhere(root):
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    for name in listed:
        page = root / name
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if not target.startswith(("http:", "https:", "mailto:")):
                path = os.path.normpath(page.parent / target)
                written = os.path.relpath(path, root) in GENERATED
                assert written or Path(path).exists(), f"{name}: {target}"
