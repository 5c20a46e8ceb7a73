"""Every key of the schema is read: a key that nothing reads promises what is not done."""

import ast
import re

from hub.client import ROOT

from workflow.lib import configuration

SCHEMA = configuration.load_schema()


def keys(schema: dict, prefix: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Every key, with those that it stands below; entries of tasks have the name ``*``."""
    found = set()
    for name, part in schema.get("properties", {}).items():
        found |= {(*prefix, name)} | keys(part, (*prefix, name))
    if isinstance(schema.get("additionalProperties"), dict):
        found |= keys(schema["additionalProperties"], (*prefix, "*"))
    return found


def words() -> set[str]:
    """Names, attributes and texts of the code: what could read a key."""
    found = set()
    for folder in ("darksecrets", "scripts", "workflow"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found |= set(re.findall(r"\w+", node.value)) if len(node.value) < 80 else set()
                elif isinstance(node, ast.Attribute):
                    found.add(node.attr)
                elif isinstance(node, ast.arg | ast.keyword):
                    found.add(str(node.arg))
        for path in (ROOT / folder).rglob("*.smk"):
            found |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    for path in (ROOT / "workflow" / "report").glob("*.rst"):
        found |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return found


def test_every_key_of_the_schema_is_read():
    every = keys(SCHEMA)
    assert len(every) > 100
    known = words()
    unread = {key for key in every if key[-1] not in known}
    assert not unread


def test_verify_reaches_the_check_of_inputs():
    """No code read it once: 2,000 lines away from the schema, a refactoring had lost it."""
    text = (ROOT / "darksecrets" / "core" / "run" / "job.py").read_text(encoding="utf-8")
    assert re.search(r'snakemake\.config\.get\("verify"\)', text)
    assert "thorough=thorough" in text
