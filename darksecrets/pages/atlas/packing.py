"""Numbers as short text: few bits each, compressed, base64."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Reals

Bytes = npt.NDArray[np.uint8]

MAP_LEVELS = 15
"""Largest number of 4 bits: the weight 1."""
MEAN_LEVELS = 255
"""The same of 8 bits."""
MAP_ERROR = 1 / MAP_LEVELS
"""Bound of the error of a weight of a map in 4 bits."""
_DROPPED = 12
"""Bits of a number in single precision that are dropped: the page shows three digits."""
FLOAT_ERROR = 2.0 ** (_DROPPED - 24)
"""Bound of the relative error of a number of a table."""


def levels(weights: Reals, most: int) -> Bytes:
    """Square roots of weights between 0 and 1 as whole numbers from 0 to ``most``.

    The root spends more levels on small weights, of which maps have most. A weight w is off by at
    most √w / most + 1 / (2 most)², and never by more than 1 / most.
    """
    roots = np.sqrt(np.clip(np.nan_to_num(weights.astype(np.float32)), 0, 1))
    return np.rint(roots * most).astype(np.uint8)


def nibbles(numbers: Bytes) -> bytes:
    """Numbers from 0 to 15, two in a byte, the first in the higher half."""
    flat = numbers.ravel()
    if len(flat) % 2:
        flat = np.append(flat, np.uint8(0))
    return (flat[::2] << 4 | flat[1::2]).tobytes()


def pack_map(maps: Reals) -> str:
    """Maps of one example in 4 bits a weight."""
    return text(nibbles(levels(maps, MAP_LEVELS)))


def pack_means(maps: Reals) -> str:
    """Mean maps, or profiles, in 8 bits a weight."""
    return text(levels(maps, MEAN_LEVELS).tobytes())


def pack_floats(numbers: Reals) -> str:
    """Numbers of tables in 20 bits each, NaN for missing ones: all first bytes, then all second.

    The last four bits of each third byte are 0, which compress to nothing.
    """
    bits = numbers.astype(np.float32).ravel().view(np.uint32).astype(np.uint64)
    missing = np.isnan(numbers).ravel()
    unit = 1 << _DROPPED
    rounded = np.where(missing, 0x7FC00000, bits + unit // 2 & (1 << 32) - unit).astype(np.uint32)
    planes = [(rounded >> shift & 0xFF).astype(np.uint8).tobytes() for shift in (24, 16, 8)]
    return text(b"".join(planes))


def text(content: bytes) -> str:
    """Bytes, compressed (zlib), as base64."""
    return base64.b64encode(zlib.compress(content, 9)).decode("ascii")
