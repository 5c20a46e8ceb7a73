"""The tables of config/README.md, made from the schema and from the registry of analyses.

python -m tools.reference    write them again
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from darksecrets.beyond import analyses
from darksecrets.core.run.files import write_text
from workflow.lib import configuration

PAGE = Path(__file__).parents[1] / "config" / "README.md"


def keys() -> str:
    """A table with a row per key: what it may be, its default and its meaning."""
    schema = configuration.load_schema()
    rows = [
        f"| `{key}` | {_values(part)} | {_default(part, required)} | {part['description']} |"
        for key, part, required in leaves(schema)
    ]
    return "\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows])


def further() -> str:
    """A table with a row per analysis beyond the paper."""
    rows = [
        f"| `{one.name}` | {one.question} | {one.papers} | {', '.join(one.needs) or '–'} |"
        for one in analyses.find().values()
    ]
    head = ["| analysis | question | papers | needs |", "|---|---|---|---|"]
    return "\n".join([*head, *rows])


def leaves(
    schema: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """The keys that have values, their schema, and whether they must be given."""
    for key, part in schema["properties"].items():
        if part.get("type") == "object" and "properties" in part:
            yield from leaves(part, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", part, key in schema.get("required", ())


def page(text: str) -> str:
    """The page with its tables made again, each after a comment with its name."""
    for name, table in (("keys", keys()), ("analyses", further())):
        pattern = rf"(<!-- {name}: [^\n]*-->\n\n)\|.*?(?=\n\n|\n?\Z)"
        escaped = table.replace("\\", "\\\\")
        text = re.sub(pattern, rf"\g<1>{escaped}", text, flags=re.DOTALL)
    return text


def _values(part: Mapping[str, Any]) -> str:
    if "enum" in part:
        return ", ".join(f"`{each}`" for each in part["enum"] if each is not None)
    kinds = [part["type"]] if isinstance(part["type"], str) else list(part["type"])
    words = [
        "mapping" if kind == "object" else kind for kind in kinds if kind not in ("null", "array")
    ]
    if "array" in kinds:
        items = part.get("items", {})
        words.append(f"list of {_values(items) if 'enum' in items else _plural(items)}")
    limits = [
        f"{sign} {part[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"))
        if key in part
    ]
    return " ".join([" or ".join(words), ", ".join(limits)]).strip()


def _plural(items: Mapping[str, Any]) -> str:
    kinds = items.get("type", "string")
    return f"{kinds}s" if isinstance(kinds, str) else "selectors"


def _default(part: Mapping[str, Any], required: bool) -> str:
    if required:
        return "required"
    return "none" if part.get("default") is None else f"`{json.dumps(part['default'])}`"


if __name__ == "__main__":
    write_text(page(PAGE.read_text(encoding="utf-8")), PAGE)
