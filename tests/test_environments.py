"""Every environment has all libraries that are imported in it.

A job may run any file that its script reaches through imports, anywhere in a file. So its
environment must have the distribution of every third-party import in all of those files: listed in
`envs/`, or required by a listed one according to the installed packages. This can be more than a
job needs, but never less. Imports under `TYPE_CHECKING` do not count; a few libraries that pandas
imports for certain formats do.

Snakemake runs in the main environment, that of the lock, or in `envs/workflow.yaml`. There it is
started with every other library hidden.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from needs import PACKAGES
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import darksecrets
from darksecrets import _MODULES, ablate
from darksecrets.core.run import libraries
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features.parser import load_pipeline
from tools import environments
from workflow.lib.imports import files_of

ROOT = Path(__file__).parents[1]
FORMATS = {
    "read_parquet": "pyarrow",
    "to_parquet": "pyarrow",
    "to_markdown": "tabulate",
    "to_latex": "jinja2",
}
#: Libraries for GPUs, which only some builds of torch require.
GPU = re.compile("nvidia-|cuda-|triton$")
HIDE = """
import pkgutil, sys
from importlib.machinery import PathFinder

class Rest(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in {hidden!r} else super().find_spec(name, path, target)

sys.meta_path = [Rest if finder is PathFinder else finder for finder in sys.meta_path]
modules = list(pkgutil.iter_modules())  # how Snakemake finds plugins
pkgutil.iter_modules = lambda *_: [module for module in modules if module.name not in {hidden!r}]
from snakemake.cli import main
main(sys.argv[1:])
"""


@cache
def rules() -> dict[str, tuple[str, Path]]:
    """Environment and script of every rule."""
    found = {}
    for file in sorted((ROOT / "workflow" / "rules").rglob("*.smk")):
        text = file.read_text()
        for block in re.split(r"^ *rule (?=\w)", text, flags=re.MULTILINE)[1:]:
            if "    script:" not in block:  # a target
                continue
            (environment,) = re.findall(r'"../../../envs/(\w+)\.yaml"', block)
            script = re.findall(r'"../../../scripts/(\w+/\w+)\.py"', block)[0]
            found[block.partition(":")[0]] = (environment, ROOT / "scripts" / f"{script}.py")
    return found


def imports(node: ast.AST) -> Iterator[str]:
    """Modules and names imported anywhere below a node, except for type checkers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield str(child.module)
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        elif isinstance(child, ast.Attribute) and child.attr in FORMATS:
            yield FORMATS[child.attr]
        yield from imports(child)


@cache
def imported(file: Path) -> frozenset[str]:
    """Modules and names that a file imports."""
    return frozenset(imports(ast.parse(file.read_text())))


@cache
def reached(script: Path) -> set[str]:
    """Top-level names of the libraries that a script, or a file it can reach, imports."""
    names = set().union(*map(imported, files_of(script)))
    own = {"darksecrets", *(path.stem for path in (ROOT / "scripts").rglob("*.py"))}
    return {name.partition(".")[0] for name in names} - own - set(sys.stdlib_module_names)


def listed(environment: Path) -> list[str]:
    """Requirements of a conda environment's pip part."""
    return yaml.safe_load(environment.read_text())["dependencies"][-1]["pip"]


@cache
def installed_by(*requirements: str) -> set[str]:
    """Distributions that pip installs for requirements, on this platform."""
    found: set[tuple[str, str]] = set()
    queue = [Requirement(text) for text in requirements]
    while queue:
        wanted = queue.pop()
        for extra in {"", *wanted.extras}:
            key = (canonicalize_name(wanted.name), extra)
            if key not in found:
                found.add(key)
                parts = [Requirement(text) for text in metadata.requires(wanted.name) or []]
                queue += [p for p in parts if not p.marker or p.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


@cache
def owners() -> dict[str, set[str]]:
    """Distributions that provide each importable name."""
    table = metadata.packages_distributions()
    return {top: {canonicalize_name(name) for name in names} for top, names in table.items()}


def missing(script: Path, requirements: list[str]) -> set[str]:
    """Libraries that a script reaches and an environment lacks."""
    there = installed_by(*requirements)
    return {top for top in reached(script) if not owners().get(top, set()) & there}


def test_every_rule_is_checked():
    text = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").rglob("*.smk"))
    assert len(rules()) == len(re.findall(r"^ +script:$", text, re.MULTILINE)) > 50


@pytest.mark.parametrize("rule", rules())
def test_environment_of_every_rule_has_what_its_script_reaches(rule):
    environment, script = rules()[rule]
    assert not missing(script, listed(ROOT / "envs" / f"{environment}.yaml"))


def test_what_an_environment_lacks_is_found():
    finetune = ROOT / "scripts" / "paper" / "finetune.py"
    figure = ROOT / "scripts" / "paper" / "draw_ablation.py"
    assert {"torch", "transformers"} <= reached(finetune)
    assert "torch" not in reached(figure), "a figure must not load torch"
    assert {"torch", "transformers"} <= missing(finetune, listed(ROOT / "envs" / "figures.yaml"))
    drawing = {"matplotlib", "scipy", "seaborn"}
    assert missing(figure, ["pandas", "pyarrow", "pyyaml"]) == drawing
    assert not missing(figure, ["seaborn", "scipy", "pyarrow", "pyyaml"]), "with pandas"
    assert "pyarrow" in missing(
        ROOT / "scripts" / "core" / "extract_attention.py", ["torch", "pandas"]
    )


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LATER = {"datasets": "data", "spacy": "words"}
"""Libraries that public functions import only when they need them, and the extras with them."""


def test_the_library_alone_needs_its_own_dependencies_and_no_workflow():
    files = {ROOT / "darksecrets" / f"{name.replace('.', '/')}.py" for name in _MODULES.values()}
    files |= {ROOT / "darksecrets" / "__main__.py"}
    lacking = set().union(*(missing(file, PROJECT["dependencies"]) for file in files))
    assert lacking == set(LATER)
    for library, extra in LATER.items():
        assert PROJECT["optional-dependencies"][extra] == [library]


@pytest.mark.parametrize("library", LATER)
def test_what_is_not_installed_is_named_with_its_extra(library, monkeypatch):
    find = libraries.importlib.util.find_spec

    def find_others(name: str, *rest: object) -> object:
        return None if name == library else find(name, *rest)

    monkeypatch.setattr(libraries.importlib.util, "find_spec", find_others)
    ask = {
        "datasets": lambda: ablate("model", "data.csv"),
        "spacy": lambda: load_pipeline("en_core_web_sm"),
    }
    with pytest.raises(InputError, match=rf"{library}.*darksecrets\[{LATER[library]}\]"):
        ask[library]()


def plan(tmp_path: Path, requirements: list[str], *arguments: str) -> subprocess.CompletedProcess:
    """A dry run where only the libraries of an environment can be imported."""
    there = installed_by(*requirements)
    hidden = {top for top, names in owners().items() if not names & there}
    assert "torch" in hidden
    command = [sys.executable, "-c", HIDE.format(hidden=hidden), "-n", "--directory", str(tmp_path)]
    places = ["--snakefile", str(ROOT / "Snakefile"), *arguments]
    return subprocess.run([*command, *places], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["config", "paper"])
def test_snakemake_needs_its_own_environment_alone(name, tmp_path):
    requirements = listed(ROOT / "envs" / "workflow.yaml")
    run = plan(tmp_path, requirements, "--configfile", str(ROOT / "config" / f"{name}.yaml"))
    assert run.returncode == 0, run.stdout + run.stderr
    assert "figure5" in run.stdout


def test_what_snakemake_lacks_is_found(tmp_path):
    run = plan(tmp_path, ["snakemake"], "--configfile", str(ROOT / "config" / "config.yaml"))
    assert re.search("No module named '(pandas|numpy)'", run.stdout + run.stderr)


def test_environments_have_the_versions_of_the_locks_and_others_are_written(tmp_path):
    for file in (ROOT / "envs").glob("*.yaml"):
        text = file.read_text()
        assert environments.pinned(text, environments.locked()) == text, "make lock"
        assert len(yaml.safe_load(text)["dependencies"][-1]["pip"]) == text.count("==")
    written = environments.pinned("  - pip:\n      - a[x]==1\n      - b==2\n", {"a": "3", "b": "2"})
    assert written == "  - pip:\n      - a[x]==3\n      - b==2\n"


CONDA = """#!/bin/sh
case "$*" in
  *--version*) echo "conda 24.9.2" ;;
  *info*) echo '{"platform": "linux-64", "conda_prefix": "/conda", "root_prefix": "/conda"}' ;;
  *config*) echo '{"get": {"channel_priority": "strict"}}' ;;
esac
"""
"""What Snakemake asks conda before it plans; where there is one, it is asked."""


def test_conda_would_make_the_environments_of_a_run(call_snakemake, tmp_path):
    environment = dict(os.environ)
    if not shutil.which("conda"):
        (tmp_path / "conda").write_text(CONDA)
        (tmp_path / "conda").chmod(0o755)
        environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    places = ["--directory", tmp_path, "--configfile", ROOT / "config" / "config.yaml"]
    run = call_snakemake(["-n", "--sdm", "conda", *places], ROOT, environment)
    assert run.returncode == 0, run.stderr
    made = re.findall(r"environment .*envs/(\w+)\.yaml will be created", run.stdout + run.stderr)
    assert set(made) == {"annotation", "figures", "model"}


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("conda"), reason="needs conda and its packages")
def test_conda_makes_an_environment_and_a_figure_in_it(call_snakemake, tmp_path):
    places = ["--directory", tmp_path, "--configfile", ROOT / "config" / "config.yaml"]
    run = call_snakemake(["pattern_quality", "--sdm", "conda", "--cores", "2", *places], ROOT)
    assert run.returncode == 0, run.stdout + run.stderr
    assert (tmp_path / "results" / "demo" / "figures" / "pattern_quality.svg").is_file()


def locked(name: str) -> dict[str, str]:
    """Versions in a lock file."""
    text = (ROOT / name).read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("file", "extras"), [("requirements.lock", []), ("requirements-dev.lock", ["dev"])]
)
def test_a_lock_has_what_the_project_requires_but_for_torch_and_gpu_libraries(file, extras):
    """It is installed without looking at what its packages require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    further = [one for extra in extras for one in project["optional-dependencies"][extra]]
    required = installed_by(*project["dependencies"], *further)
    missing = required - set(locked(file))
    assert {name for name in missing if not GPU.match(name)} == {"torch"}


def test_tests_run_with_the_versions_of_runs():
    run, developed = locked("requirements.lock"), locked("requirements-dev.lock")
    assert run.items() <= developed.items()
    assert not {"pytest", "mypy", "ruff"} & set(run)


def test_the_lock_is_made_with_what_torch_requires():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    (stated,) = tool["uv"]["dependency-metadata"]
    installed = [Requirement(text) for text in metadata.requires("torch") or []]
    needed = {r for r in installed if "extra" not in str(r.marker) and not GPU.match(r.name)}
    assert needed == {Requirement(text) for text in stated["requires-dist"]}


def test_continuous_integration_installs_what_tests_would_be_skipped_without():
    installed = re.findall(r"packages\+?=\((.*)\)", (ROOT / ".ci" / "run").read_text())
    assert set(PACKAGES.values()) <= set(" ".join(installed).split())


def test_the_image_is_what_the_installation_script_can_read_and_the_project_says():
    """`container_install.sh` reads the Dockerfile by these lines; others it would pass over."""
    text = (ROOT / "Dockerfile").read_text()
    lines = text.replace("\\\n", " ").splitlines()
    steps = [line for line in lines if line and not line.startswith("#")]
    forms = (
        *(r"FROM \S+:[\w.-]*\d[\w.-]*", r"LABEL .+", r"RUN .+", r'ARG \w+=""'),
        *(r"COPY \S+ /\S+", r"ENV \w+=\S+", r"CMD \[.+\]"),
    )
    assert [step for step in steps if not any(re.fullmatch(form, step) for form in forms)] == []
    copied = [step.split()[1] for step in steps if step.startswith("COPY")]
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if "!" in line]
    package = ["pyproject.toml", "setup.py", "README.md", "Snakefile", "darksecrets"]
    package += ["workflow", "scripts", "config", "envs"]
    assert copied == sent == ["requirements.lock", "requirements-torch.txt", *package]
    version = darksecrets.__version__
    assert f'image.version="{version}"' in text
    assert f"-t darksecrets:{version} " in text
    assert "://" not in text, "hosts are the builder's to name"


def test_the_snakemake_that_is_tested_is_what_is_allowed_and_pinned(root):
    """The oldest allowed, by `make test-oldest`, and that of the lock file."""
    first = re.search(r'^min_version\("(.*)"\)$', (root / "Snakefile").read_text(), re.MULTILINE)[1]
    needs = PROJECT["optional-dependencies"]["workflow"]
    assert f"snakemake[reports]>={first}" in needs
    lock = (root / "requirements.lock").read_text()
    last = re.search(r"^snakemake==(\d+\.\d+)\.", lock, re.MULTILINE)[1]
    assert f"Snakemake {first} and {last}" in (root / "docs" / "architecture.md").read_text()
