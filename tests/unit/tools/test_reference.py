"""The keys that pages name are keys of the schema."""

import re

import pytest
import yaml

from tests.conftest import ROOT
from tools import reference
from workflow.lib import configuration

PAGES = [ROOT / "README.md", ROOT / "config" / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
FENCE = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
OF_SNAKEMAKE = {"set-resources"}
"""Keys of profiles, which pages show, too."""


@pytest.fixture(scope="module")
def keys():
    leaves = {key for key, _, _ in reference.leaves(configuration.load_schema())}
    parents = {key.rsplit(".", n)[0] for key in leaves for n in range(1, key.count(".") + 1)}
    return leaves | parents


def named(content, prefix=""):
    """Dotted keys of a mapping, as deep as it goes."""
    for key, value in content.items():
        yield f"{prefix}{key}"
        if isinstance(value, dict):
            yield from named(value, f"{prefix}{key}.")


def is_known(key, keys):
    """Whether it is a key, or within one that is a mapping of the reader's own, such as `tasks`."""
    return any(key == one or (key.startswith(f"{one}.") and one in FREE) for one in keys)


FREE = {"tasks", "compression.amounts", "ablation.sets"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_key_that_a_page_names_exists(page, keys):
    text = page.read_text(encoding="utf-8")
    unknown = []
    for block in FENCE.findall(text):
        content = yaml.safe_load(block)
        if isinstance(content, dict) and not OF_SNAKEMAKE & content.keys():
            unknown += [key for key in named(content) if not is_known(key, keys)]
    sections = {key for key in keys if "." not in key}
    for code in re.findall(r"`([^`\n]+)`", text):
        dotted = re.match(r"([a-z_]+(?:\.[a-z_]+)+)(: |$)", code)
        is_file = code.endswith((".csv", ".json", ".py", ".safetensors"))
        if dotted and not is_file and dotted[1].split(".")[0] in sections:
            unknown += [dotted[1]] if not is_known(dotted[1], keys) else []
        braces = re.match(r"([a-z_]+): (\{.*\}|\[.*\])$", code)
        if braces and braces[1] in sections:
            content = yaml.safe_load(code)
            unknown += [key for key in named(content) if not is_known(key, keys)]
    assert not unknown


def test_a_page_with_a_key_that_is_gone_would_fail(keys):
    assert is_known("fine_tuning.epochs", keys)
    assert is_known("tasks.RTE.epochs", keys)
    assert not is_known("ablation.joint.heads", keys)
    assert not is_known("epochs", keys)
