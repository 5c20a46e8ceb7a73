"""Write the versions of the lock files into the environments of conda, `envs/*.yaml`.

python -m tools.environments

The files name what each environment has; `make lock` calls this after the locks have changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from darksecrets.core.run.files import write_text

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.lock", "requirements-torch.txt")
_LOCKED = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;\\]+)", re.MULTILINE)
_PINNED = re.compile(r"^( +- )([\w.-]+)((?:\[[\w,]+\])?)==\S+$", re.MULTILINE)


def locked() -> dict[str, str]:
    """Versions by distribution."""
    texts = ((ROOT / name).read_text(encoding="utf-8") for name in LOCKS)
    return dict(pair for text in texts for pair in _LOCKED.findall(text))


def pinned(text: str, versions: dict[str, str]) -> str:
    """An environment with these versions.

    Raises:
        KeyError: It has a distribution that no lock has.
    """
    return _PINNED.sub(lambda found: f"{found[1]}{found[2]}{found[3]}=={versions[found[2]]}", text)


if __name__ == "__main__":
    for file in sorted((ROOT / "envs").glob("*.yaml")):
        write_text(pinned(file.read_text(encoding="utf-8"), locked()), file)
