"""Mentions in CoNLL-U: brackets in the attribute ``Entity`` of the column MISC, as in CorefUD 1.x.

``Entity=(e1-person-2`` opens a mention of the entity *e1*, ``Entity=e1)`` closes the last one that
is open, and ``Entity=(e1-person-1)`` is a mention of one word. Mentions may lie in each other and
cross; the parts of an interrupted one are numbered, as in ``(e1[1/2]``. The comment
``# global.Entity`` names the fields between hyphens, of which the entity's name and the number of
the head word are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from darksecrets.core.data.sentences import ROOT, Mention

FIELDS = ("eid", "etype", "head", "other")
"""Fields of a mention in files that do not name them."""

_BRACKET = re.compile(r"\((?P<opened>[^()]+)(?P<alone>\))?|(?P<closed>[^()]+)\)")
_NAME = re.compile(r"(?P<entity>[^\[\]]+)(\[(?P<part>[1-9]\d*)/(?P<parts>[1-9]\d*)\])?")
_FEATURES = {
    "Number": {"Sing": "singular", "Plur": "plural"},
    "Gender": {"Masc": "masculine", "Fem": "feminine", "Neut": "neuter"},
    "Person": {"1": "first", "2": "second", "3": "third"},
}
"""Morphological features of Universal Dependencies that words which corefer share."""


@dataclass(frozen=True)
class Node:
    """A word of a sentence, or an empty node of it.

    Attributes:
        word: Number of the word, from 0; None for an empty node.
        entity: Its attribute ``Entity``; empty without.
        features: Its morphological features.
    """

    word: int | None
    entity: str
    features: Mapping[str, str]


class Malformed(ValueError):  # noqa: N818 - becomes an InputError
    """What is wrong with the brackets, and at which node."""

    def __init__(self, node: int, found: str, expected: str) -> None:
        super().__init__(f"{found}; it needs {expected}")
        self.node = node


@dataclass
class _Part:
    """A mention, or a part of an interrupted one: its nodes, from first to last."""

    entity: str
    part: int
    parts: int
    head: str
    first: int
    last: int = -1


@dataclass
class Reader:
    """Reads the mentions of a file, sentence by sentence.

    Attributes:
        fields: Names of the fields of a mention.
        numbers: Number of every entity so far.
    """

    fields: Sequence[str] = FIELDS
    numbers: dict[str, int] = field(default_factory=dict)

    def mentions(
        self, document: int, nodes: Sequence[Node], heads: Sequence[int]
    ) -> tuple[Mention, ...]:
        """The mentions of a sentence, in the order of their beginnings.

        Args:
            document: Number of its document; entities of two documents are never the same.
            nodes: Its words and empty nodes, in order.
            heads: Head of every word, see `treebank.Sentence`.

        Raises:
            Malformed: Brackets do not match, or a field is not as `fields` says.
        """
        found = []
        for parts in _joined(self._parts(nodes)):
            own = [node for part in parts for node in range(part.first, part.last + 1)]
            head = _head(parts[0], own, nodes, heads)
            if head is None:  # nothing but empty nodes
                continue
            words = [word for node in own if (word := nodes[node].word) is not None]
            start, end = min(words), max(words) + 1
            name = f"{document} {parts[0].entity}"
            found.append(
                Mention(
                    *(start, end, head, self.numbers.setdefault(name, len(self.numbers))),
                    gaps=tuple(sorted({*range(start, end)} - {*words})),
                    features=_features(next(n for n in nodes if n.word == head)),
                )
            )
        return tuple(sorted(found, key=lambda mention: (mention.start, -mention.end)))

    def _parts(self, nodes: Sequence[Node]) -> Iterator[_Part]:
        """Mentions and parts of mentions, in the order in which they end."""
        opened: list[_Part] = []
        for place, node in enumerate(nodes):
            for bracket in _brackets(place, node.entity):
                if bracket["closed"]:
                    part = _last(opened, self._part(place, bracket["closed"]))
                    opened.remove(part)
                else:
                    part = self._part(place, bracket["opened"])
                    opened.append(part)
                    if not bracket["alone"]:
                        continue
                    opened.pop()
                part.last = place
                yield part
        if opened:
            raise Malformed(
                opened[0].first,
                f"a mention of {opened[0].entity!r} that begins and does not end",
                "its closing bracket in the same sentence",
            )

    def _part(self, place: int, written: str) -> _Part:
        """A part whose bracket is at a node, from the fields of the bracket."""
        values = written.split("-")
        named = dict(zip(self.fields, values, strict=False))
        name = _NAME.fullmatch(named.get("eid") or named.get("GRP") or "")
        if name is None:
            raise Malformed(
                place,
                f"the mention {written!r}",
                "the name of an entity, maybe with a part: e1[1/2]",
            )
        part, parts = int(name["part"] or 1), int(name["parts"] or 1)
        return _Part(name["entity"], part, parts, named.get("head", ""), place)


def _brackets(place: int, written: str) -> list[re.Match[str]]:
    """The brackets of a node."""
    found = list(_BRACKET.finditer(written))
    if "".join(bracket[0] for bracket in found) != written:
        raise Malformed(
            place, f"Entity={written}", "mentions in brackets, such as (e1-person-1) or (e1 and e1)"
        )
    return found


def _last(opened: Sequence[_Part], closing: _Part) -> _Part:
    """The last open part that a closing bracket belongs to."""
    for part in reversed(opened):
        if (part.entity, part.part, part.parts) == (closing.entity, closing.part, closing.parts):
            return part
    raise Malformed(
        closing.first, f"the end of a mention of {closing.entity!r}", "its opening bracket before"
    )


def _joined(parts: Iterator[_Part]) -> list[list[_Part]]:
    """The parts of every mention together."""
    whole: list[list[_Part]] = []
    begun: dict[str, list[_Part]] = {}
    for part in parts:
        before = begun.pop(part.entity, []) if part.parts > 1 else []
        own = [*before, part]
        if part.part != len(own) or part.parts != own[0].parts:
            raise Malformed(
                part.first,
                f"part {part.part} of {part.parts} of a mention of {part.entity!r}",
                "all parts of a mention in order, in one sentence",
            )
        if part.part < part.parts:
            begun[part.entity] = own
        else:
            whole.append(own)
    for own in begun.values():
        raise Malformed(
            own[-1].first,
            f"{len(own)} of the {own[0].parts} parts of a mention of {own[0].entity!r}",
            "all parts of a mention in one sentence",
        )
    return whole


def _head(
    part: _Part, own: Sequence[int], nodes: Sequence[Node], heads: Sequence[int]
) -> int | None:
    """The head word: the one that the file names; else the first whose head lies outside."""
    if part.head:
        if not part.head.isdecimal() or not 1 <= int(part.head) <= len(own):
            raise Malformed(
                part.first,
                f"the head {part.head!r} of a mention of {part.entity!r}",
                f"the number of one of its {len(own)} words",
            )
        named = nodes[own[int(part.head) - 1]].word
        if named is not None:
            return named
    words = [word for node in own if (word := nodes[node].word) is not None]
    outside = [word for word in words if heads[word] == ROOT or heads[word] not in words]
    return outside[0] if outside else None


def _features(node: Node) -> tuple[str, ...]:
    """Person, number and gender of a word, as far as it is annotated."""
    known = (names.get(node.features.get(kind, "")) for kind, names in _FEATURES.items())
    return tuple(name for name in known if name)
