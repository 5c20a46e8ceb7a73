"""Fixtures of all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hub import content
from hub.standin import Hub, Repository, serving

ROOT = Path(__file__).parents[1]


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


@dataclass
class Client:
    """Runs Python code in a process of its own, because the client reads its settings on import."""

    home: Path
    endpoint: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a process that knows this Hub and this cache only."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
        own = {"HF_HOME": str(self.home), "HF_ENDPOINT": self.endpoint, "NO_PROXY": "127.0.0.1"}
        quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        return {**inherited, **own, **quiet, "PYTHONPATH": str(ROOT), **self.settings}

    def run(self, code: str, **settings: str) -> str:
        """Run ``code``; return what it prints, or raise with its standard error."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=self.environment | settings,
            capture_output=True,
            text=True,
            timeout=120,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout


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
