"""Fixtures of all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hub import content
from hub.client import ROOT, Client
from hub.standin import Hub, Repository, serving


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Folder of the real data; tests that need it are skipped without it."""
    folder = os.environ.get("DARKSECRETS_TEST_DATA")
    if not folder:
        pytest.skip("DARKSECRETS_TEST_DATA does not name a folder of real data")
    return Path(folder)


@pytest.fixture(scope="session")
def glue_repository() -> Repository:
    """GLUE in small, as the Hub would hold it."""
    return content.glue()


@pytest.fixture(scope="session")
def bert_repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A tiny BERT, as the Hub would hold it."""
    return content.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def hub(glue_repository: Repository) -> Iterator[Hub]:
    """The stand-in of the Hub, with GLUE in small; append other repositories to serve them."""
    with serving([glue_repository]) as running:
        yield running


@pytest.fixture
def client(hub: Hub, tmp_path: Path) -> Client:
    """A client of the stand-in with an empty cache."""
    return Client(tmp_path / "huggingface", hub.endpoint)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def snakemake(root) -> Callable[..., subprocess.CompletedProcess]:
    """Call Snakemake on the project's workflow, with results in another folder."""

    def call(
        folder: Path,
        *arguments: str,
        config: str,
        check: bool = True,
        root: Path = root,
        environment: dict[str, str] | None = None,
    ):
        command = [
            *(sys.executable, "-m", "snakemake", *arguments, "--configfile", config),
            *("--snakefile", str(root / "Snakefile"), "--directory", str(folder), "--cores", "2"),
        ]
        run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        assert not check or run.returncode == 0, run.stdout + run.stderr
        return run

    return call
