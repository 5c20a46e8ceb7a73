"""`pip install .` brings the whole package, which then works in any folder."""

import json
import os
import subprocess
import sys

import pytest

# Imports every module and reads what ships, in a process that does not see the checkout.
USE = """
import importlib, json, pkgutil
from pathlib import Path

import darksecrets

modules = [found.name for found in pkgutil.walk_packages(darksecrets.__path__, "darksecrets.")]
for name in modules:
    if not name.endswith("__main__"):
        importlib.import_module(name)

from darksecrets.paper.framenet.sources import read_tsv
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.paper.patterns.maps import labelling, labelled_maps
from darksecrets.core.run import records
from darksecrets.core.run.files import RESOURCES

labels = Path("labels")
labelling.prepare(labels, RESOURCES / "patterns")
labelling.write_page(labels, "someone", 1)
page = (labels / "label.html").read_text(encoding="utf-8")

print(json.dumps({
    "package": str(Path(darksecrets.__file__).parent),
    "modules": len(modules),
    "links": len(read_tsv(RESOURCES / "corpus" / "frames.tsv")),
    "vocabulary": len(load_tokenizer(RESOURCES / "tiny-bert")),
    "labelled maps": len(labelled_maps.load(labelled_maps.folders([])).maps),
    "paper": sorted(path.name for path in (RESOURCES / "paper").glob("*.csv")),
    "labelling page": [part in page for part in ("<style>", "function start()", "borderline")],
    "commit": records.find_commit(),
}))
"""


@pytest.fixture
def site(clone, tmp_path):
    """A folder with the installed package; its dependencies are in the environment of the tests."""
    folder = tmp_path / "site"
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--target", folder)
    command = [sys.executable, "-m", "pip", "install", *options, clone]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def files(folder):
    """Files of a folder but for compiled ones."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path.relative_to(folder)) for path in found}


def test_an_installed_package_has_every_file_and_works_in_another_folder(clone, site, tmp_path):
    installed = files(site / "darksecrets")
    project = {name for name in installed if name.startswith("project/")}
    assert installed - project == files(clone / "darksecrets")
    parts = ("workflow", "scripts", "config", "envs")
    expected = {f"{part}/{name}" for part in parts for name in files(clone / part)}
    assert {name.removeprefix("project/") for name in project} == {"Snakefile", *expected}

    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)  # somebody else's repository
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost")
    commit = ["git", *identity, "commit", "-q", "--allow-empty", "-m", "Not the project's"]
    subprocess.run(commit, cwd=tmp_path, check=True)
    environment = os.environ | {"PYTHONPATH": str(site)}
    command = [sys.executable, "-c", USE]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout)
    assert found.pop("package") == str(site / "darksecrets")
    assert found.pop("commit") is None, "the commit of another project"
    assert found.pop("labelling page") == [True] * 3
    assert found.pop("paper") == sorted(
        path.name for path in clone.glob("darksecrets/resources/paper/*.csv")
    )
    assert all(count > 100 for count in found.values()), found
