"""Selectors of heads to disable, in plain words (section 4.6). Layers and heads count from 1.

A selector is

- a number, a list, set or array of numbers, or a range ``"2-4"``: these heads, in every layer;
- a list of pairs (layer, head), each a tuple, ``[(3, 5), (4, 1)]``: these heads;
- a mapping of layers to heads, ``{3: 5, 4: [1, 2], "6-7": all}``: these heads of these layers;
- text, several parts joined by ``+``: ``all of layer 1``, ``layer 3 heads 1, 4``,
  ``head 3 of every layer``, ``layer 3``. The sweep names its sets in this form.

A number alone means a head in every layer, as in inseq's ``value_zeroing``, not a layer. The whole
layer is ``all of layer 3`` or ``{3: all}``. This module does not need torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from darksecrets.core.run.errors import InputError

ALL = "all"

Heads = dict[int, frozenset[int]]

_NUMBER = r"\d{1,9}"
_NUMBERS = rf"{_NUMBER}(?:-{_NUMBER})?(?:, ?{_NUMBER}(?:-{_NUMBER})?)*"
_LAYERS = rf"(?:every layer|layers? (?P<layers>{_NUMBERS}))"
_HEADS = rf"(?:all|heads? (?P<heads>{_NUMBERS}))"
_PHRASES = tuple(
    re.compile(phrase)
    for phrase in (
        rf"{_HEADS} of {_LAYERS}",
        rf"{_LAYERS}(?: {_HEADS})?",
        rf"(?P<heads>{_NUMBERS})",
    )
)
_EXPECTED = (
    "Expected a selector such as 3 or [1, 4] (heads of every layer), {3: [1, 4], 5: all}, "
    "[(3, 1), (5, 2)] (layer, head) or 'all of layer 1', counted from 1."
)


@dataclass(frozen=True)
class Shape:
    """Number of layers, and of heads per layer, of an encoder; reads and writes selectors."""

    layers: int
    heads: int

    @property
    def total(self) -> int:
        """Number of heads of the encoder."""
        return self.layers * self.heads

    def parse(self, selector: Any) -> Heads:  # noqa: ANN401 - any value of a configuration
        """Heads of each layer that a selector names.

        Raises:
            InputError: It is not a selector, names no head, or names one that the encoder lacks.
        """
        chosen: dict[int, frozenset[int]] = {}
        for layers, heads in _parts(selector):
            numbers = self._numbers(heads, "head", self.heads, selector)
            for layer in self._numbers(layers, "layer", self.layers, selector):
                chosen[layer] = chosen.get(layer, frozenset()) | numbers
        if not chosen:
            raise InputError(f"The selector {selector!r} names no head. {_EXPECTED}")
        return dict(sorted(chosen.items()))

    def describe(self, heads: Heads) -> str:
        """Describe a set of heads in words that `parse` reads; the empty set is ``nothing``."""
        if not heads:
            return "nothing"
        sets = set(heads.values())
        if len(heads) == self.layers > 1 and len(sets) == 1:
            return f"{self._named(sets.pop())} of every layer"
        return " + ".join(
            f"all of layer {layer}"
            if len(numbers) == self.heads
            else f"layer {layer} {self._named(numbers)}"
            for layer, numbers in sorted(heads.items())
        )

    def _named(self, heads: frozenset[int]) -> str:
        if len(heads) == self.heads:
            return ALL
        return f"head{'s' * (len(heads) > 1)} {', '.join(map(str, sorted(heads)))}"

    def _numbers(self, words: object, what: str, count: int, selector: object) -> frozenset[int]:
        """Read numbers, lists of them, ranges and ``all``, and check that the encoder has them."""
        if isinstance(words, str) and words == ALL:
            return frozenset(range(1, count + 1))
        ranges = list(_read(words, selector))
        if not ranges:
            raise InputError(
                f"In the selector {selector!r}, {words!r} names no {what}. {_EXPECTED}"
            )
        # Ranges are checked by their ends, and only then written out: they may be of any length.
        ends = {end for numbers in ranges for end in (numbers[0], numbers[-1])}
        if unknown := sorted(n for n in ends if not 1 <= n <= count):
            raise InputError(
                f"The selector {selector!r} names {what} {', '.join(map(str, unknown))}, but the "
                f"model has {self.layers} layers of {self.heads} heads, counted from 1. Name a "
                f"{what} from 1 to {count}."
            )
        return frozenset(number for numbers in ranges for number in numbers)


def _parts(selector: object) -> Iterator[tuple[object, object]]:
    """Split a selector into pairs (layers, heads)."""
    if isinstance(selector, Mapping):
        yield from selector.items()
    elif isinstance(selector, str):
        for part in selector.split("+"):
            matches = (phrase.fullmatch(part.strip().lower()) for phrase in _PHRASES)
            match = next((match for match in matches if match), None)
            if not match:
                raise InputError(f"The selector {selector!r} cannot be read. {_EXPECTED}")
            found = match.groupdict()
            yield found.get("layers") or ALL, found.get("heads") or ALL
    elif isinstance(selector, tuple):
        raise InputError(
            f"The selector {selector!r} is a tuple, which may mean a layer and a head, or "
            "several heads. For head 1 of layer 3, write {3: [1]} or [(3, 1)]; for heads 3 and 1 "
            "of every layer, write [3, 1]."
        )
    elif pairs := _pairs(selector):
        yield from pairs
    else:
        yield ALL, selector


def _pairs(selector: object) -> list[tuple[object, object]]:
    """The pairs (layer, head) of a list of tuples; none if it has no tuples.

    Raises:
        InputError: Some are no pairs of numbers.
    """
    if not isinstance(selector, list | set | frozenset):
        return []
    if not any(isinstance(each, tuple) for each in selector):
        return []
    for each in selector:
        if not (isinstance(each, tuple) and len(each) == 2 and all(map(_is_number, each))):
            raise InputError(
                f"{each!r} in the selector {selector!r} is no pair (layer, head) like the others. "
                f"Give pairs only, such as [(3, 1), (5, 2)]. {_EXPECTED}"
            )
    return [(layer, head) for layer, head in selector]


def _is_number(value: object) -> bool:
    """Whether a value is a whole number, of Python or of NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _read(words: object, selector: object) -> Iterator[range]:
    """Yield the ranges in a number, in text such as ``1, 3-5``, or in a list of these."""
    if isinstance(words, Integral) and not isinstance(words, bool):
        yield range(int(words), int(words) + 1)
    elif isinstance(words, str) and re.fullmatch(_NUMBERS, words):
        for part in words.split(","):
            first, *rest = (int(end) for end in part.split("-"))
            last = rest[0] if rest else first
            if last < first:
                raise InputError(
                    f"The range {part.strip()!r} in the selector {selector!r} ends before it "
                    f"begins. Write '{last}-{first}'."
                )
            yield range(first, last + 1)
    elif hasattr(words, "tolist"):  # an array, or a number in an array of its own
        yield from _read(words.tolist(), selector)
    elif isinstance(words, list | tuple | set | frozenset | range):
        for word in words:
            yield from _read(word, selector)
    else:
        raise InputError(f"{words!r} in the selector {selector!r} cannot be read. {_EXPECTED}")
