import re
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def planned() -> Callable[[str], dict[str, int]]:
    """Read how many jobs of every rule a dry run would run."""

    def read(output: str) -> dict[str, int]:
        counts = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
        return {rule: int(jobs) for rule, jobs in counts if rule != "total"}

    return read


@pytest.fixture(scope="session")
def smoke_config(root) -> str:
    return str(root / "tests" / "workflow" / "smoke.yaml")
