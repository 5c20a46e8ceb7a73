"""A client of the stand-in: Python code in a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass
class Client:
    """Runs Python code in a process of its own, because the client reads its settings on import."""

    home: Path
    endpoint: str
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Environment of a process that knows only this Hub and this cache."""
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
