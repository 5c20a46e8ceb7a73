"""Every key that a message names is a key of the configuration."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub.client import ROOT

from darksecrets.core.run import learned
from workflow.lib import configuration

SCHEMA = configuration.load_schema()
FILES = [
    path
    for folder in ("darksecrets", "scripts", "workflow")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".smk") and "resources" not in path.parts
]
NO_KEYS = ("model.eval", "model.gradient_checkpointing_disable")
"""Calls that look like keys of the section `model`."""
FILES_END = ("csv", "json", "npz", "parquet", "py", "safetensors", "smk", "tsv", "yaml")


def parts(schema: dict) -> dict:
    """The keys below a part of the schema, whatever alternatives it has."""
    found = dict(schema.get("properties", {}))
    for each in schema.get("anyOf", []) + schema.get("oneOf", []):
        found |= parts(each)
    return found


def every_key(schema: dict) -> set[str]:
    """All keys of a schema, at any depth."""
    inner = [*parts(schema).values()]
    inner += [schema[name] for name in ("items", "additionalProperties") if schema.get(name)]
    for each in schema.get("anyOf", []):
        inner.append(each)
    keys = set(parts(schema))
    return keys.union(*(every_key(each) for each in inner if isinstance(each, dict)))


KEYS = every_key(SCHEMA)
SECTIONS = {name for name, part in SCHEMA["properties"].items() if parts(part)}
TASK_KEYS = set(parts(SCHEMA["properties"]["tasks"])) | KEYS


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a file that are no docstrings, with their lines; what is filled in is ‹›."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".smk":
        for number, line in enumerate(source.splitlines(), start=1):
            for text in re.findall(r'"([^"]*)"', line):
                yield number, text
        return
    tree = ast.parse(source)
    statements = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
    }  # docstrings
    joined = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            joined |= {id(part) for part in ast.walk(node)} - {id(node)}
            yield (
                node.lineno,
                "".join(
                    part.value if isinstance(part, ast.Constant) else "‹›" for part in node.values
                ),
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in statements | joined
        ):
            yield node.lineno, node.value


def is_key(path: str) -> bool:
    """Whether a dotted path is one of the schema, as far as that goes."""
    part = SCHEMA
    for name in path.split("."):
        known = parts(part)
        if name not in known:
            return not known and bool(part.get("additionalProperties"))
        part = known[name]
    return True


def dotted(text: str) -> Iterator[str]:
    """What looks like a key of a section within a message."""
    for found in re.finditer(r"(?<![\w./-])([a-z_]+)\.([a-z_]+(?:\.[a-z_]+)*)(?![\w(/])", text):
        is_other = found[0].startswith(NO_KEYS) or found[0].endswith(FILES_END)
        if found[1] in SECTIONS and found[1] != "tasks" and not is_other:
            yield found[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_keys_in_messages_exist(path):
    for line, text in messages(path):
        if " " not in text:
            continue  # a name in code
        for key in dotted(text):
            assert is_key(key), f"line {line}: {key}"


def test_keys_in_advice_for_models_that_have_not_learned_exist():
    """It stood at the end of every such run: more examples (`data.size`), a key that is refused."""
    quoted = re.findall(r"`([^`]+)`", f"{learned.ADVICE} {' '.join(learned._UNSEEN.values())}")
    assert len(quoted) == 4
    for key in quoted:
        assert is_key(key) if "." in key else key in TASK_KEYS, key


def test_the_check_knows_a_key_that_does_not_exist():
    text = "Raise `data.size` or samples.size, see data.size."
    assert [key for key in dotted(text) if not is_key(key)] == ["data.size", "data.size"]
    text = "model.safetensors is in ../data.csv and fine_tuning.epochs, not compression.csv"
    assert list(dotted(text)) == ["fine_tuning.epochs"]
