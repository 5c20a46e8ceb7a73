"""Settings of an analysis, stated once: a frozen dataclass is a section of the configuration.

    @dataclass(frozen=True)
    class Settings(Section):
        tasks: Tasks = tasks_among("tasks", "Tasks whose models are studied.")
        examples: int = setting(100, "Examples of a task.", minimum=1)

The schema of the section, with its defaults and descriptions, follows from the fields; rules pass
the section, or the part that a step depends on, and scripts read it with `Section.of`.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

Tasks = tuple[str, ...] | None
"""Names of tasks; None for all that there are to choose from."""

CORPUS = "<project>/darksecrets/resources/corpus"
"""Folder of the texts that ship, as paths of the configuration begin."""

_NAMES = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def setting(default: Any, description: str, **limits: Any) -> Any:  # noqa: ANN401 - any field
    """A field of a section.

    Args:
        default: Its default; for a section within the section, that section's class. A mapping
            replaces its default as a whole.
        description: What it does, for readers of the configuration's reference.
        limits: Further keywords of JSON Schema, such as ``minimum``; of a list, those of its
            entries, and of the lists of a mapping, are ``items``.
    """
    metadata = {"description": description, "limits": limits}
    if isinstance(default, type):
        return dataclasses.field(default_factory=default, metadata=metadata)
    if isinstance(default, dict):
        return dataclasses.field(default_factory=default.copy, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def constant(value: Any, meaning: str) -> Any:  # noqa: ANN401 - any field
    """A field that is no key of the configuration: the protocol's, or filled in by the workflow."""
    return dataclasses.field(default=value, metadata={"constant": meaning})


def tasks_among(key: str, description: str, default: Tasks = None, like: str = "") -> Any:  # noqa: ANN401
    """A field that names tasks.

    Args:
        key: The key of the configuration with the tasks that it can name, such as ``tasks``.
        description: See `setting`.
        default: Its default.
        like: The key whose tasks it has if it is not set; else all of ``key``.
    """
    chosen = {"among": key, "like": like}
    metadata = {"description": description, "limits": {"uniqueItems": True}, "chosen": chosen}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Section:
    """A section of the configuration."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Read a section, or a part of it; other keys have their defaults.

        Args:
            values: Values by key, as the resolved configuration has them.

        Raises:
            TypeError: There is no such key.
        """
        hints = get_type_hints(cls)
        return cls(**{key: _read(hints.get(key), value) for key, value in values.items()})

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The section's JSON Schema, with defaults and descriptions."""
        hints = get_type_hints(cls)
        return {
            "type": "object",
            "additionalProperties": False,
            "default": {},
            "properties": {
                each.name: _schema(hints[each.name], each)
                for each in dataclasses.fields(cls)
                if "constant" not in each.metadata
            },
        }

    @classmethod
    def constants(cls, prefix: str) -> Iterator[tuple[str, Any]]:
        """The fields that are no keys, by the path that a key would have, and their values."""
        hints = get_type_hints(cls)
        for each in dataclasses.fields(cls):
            key, kind = f"{prefix}.{each.name}", hints[each.name]
            if "constant" in each.metadata:
                yield key, each.default
            elif isinstance(kind, type) and issubclass(kind, Section):
                yield from kind.constants(key)

    @classmethod
    def choices(cls, prefix: str) -> Iterator[tuple[str, str, str]]:
        """The fields that name tasks.

        Args:
            prefix: Name of the section.

        Yields:
            The key, the key of the tasks that it is chosen from, and the key of its default.
        """
        hints = get_type_hints(cls)
        for each in dataclasses.fields(cls):
            key, kind = f"{prefix}.{each.name}", hints[each.name]
            if "chosen" in each.metadata:
                yield key, each.metadata["chosen"]["among"], each.metadata["chosen"]["like"]
            elif isinstance(kind, type) and issubclass(kind, Section):
                yield from kind.choices(key)


def _read(hint: object, value: Any) -> Any:  # noqa: ANN401 - any value of a configuration
    if isinstance(hint, type) and issubclass(hint, Section):
        return hint.of(value)
    if isinstance(value, Mapping):
        return {name: _read(None, each) for name, each in value.items()}
    return tuple(value) if isinstance(value, list) else value


def _schema(hint: Any, field: dataclasses.Field[Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    described = {"description": field.metadata["description"]}
    if isinstance(hint, type) and issubclass(hint, Section):
        return hint.schema() | described
    limits = dict(field.metadata["limits"])
    items = limits.pop("items", {})
    made = field.default_factory
    default = json.loads(json.dumps(field.default if made is dataclasses.MISSING else made()))
    return {**_type(hint, items), **limits, "default": default, **described}


def _type(hint: Any, items: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    """The schema of a type; ``items`` limits the entries of a list."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple:
        return {"type": "array", "items": {**_type(parts[0], {}), **items}}
    if origin is Mapping:
        named, listed = (_type(part, items) for part in parts)
        return {"type": "object", "propertyNames": named, "additionalProperties": listed}
    if origin in (types.UnionType, typing.Union):
        others = [part for part in parts if part is not type(None)]
        kinds = [_type(part, items) for part in others]
        names = [kind["type"] for kind in kinds]
        merged = {key: value for kind in kinds for key, value in kind.items()}
        return {**merged, "type": ["null", *names] if len(others) < len(parts) else names}
    return {"type": _NAMES[hint]}
