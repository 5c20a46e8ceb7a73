import re
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Plan in a folder where nothing was ever run, not in the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        yield


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
