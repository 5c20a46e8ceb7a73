"""Hand-made features of self-attention maps, for the classifier (section 4.1).

They express the definitions of the classes as numbers. No feature is the length of a map, or grows
with it: a column through all rows, a line along the diagonal or two squares give about the same
numbers in maps of 10 and of 100 tokens. Some need to know which tokens are special and which
sentence each belongs to, because the paper's vertical pattern is attention to special tokens.

Most are about the map as the annotators see it, see `seen`.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import torch
from torch.nn import functional

from darksecrets.paper.patterns.network.seen import Seen

DISTANCES = (0, 1, 2, 3)
"""Diagonals of which the darkness is measured: distance of key and query."""
SIDES = ("darker", "paler")
"""Of the two diagonals at a distance. Which comes first in the sentence does not matter."""
WIDE = 2 / 3
"""Share of the rows in which a column that runs through the map is dark."""
BANDS = (1, 2, 4)
"""Greatest distances, in tokens, of which the weight is added up."""
PARTS = 4
"""Parts into which rows are cut, to see whether a line runs through all of them."""
_TINY = 1e-9

NAMES = (
    # Scale: how far from uniform.
    "saturation",  # logarithm of the L-th greatest weight, relative to a uniform map's
    "greatest weight",  # the same of the greatest
    "mean darkness",
    "contrast",  # standard deviation of the darkness
    "dark cells of a row",  # their number, as a logarithm
    "entropy",  # of a row, relative to that of a uniform row
    "entropy, spread",  # its standard deviation over rows
    "entropy of columns",  # of the mean weights of columns, relative to uniform
    "greatest of a row",  # mean over rows
    # Columns.
    "weight on special",
    "special 1",  # greatest mean weight of a special column
    "special 2",
    "other 1",  # and of other columns
    "other 2",
    "special 1, dark rows",  # share of the rows in which it is dark
    "special 2, dark rows",
    "other 1, dark rows",
    "other 2, dark rows",
    "other 3, dark rows",
    "special 1, palest part",  # darkness in the quarter of the rows where it is palest
    "special 2, palest part",
    "other 1, palest part",
    "other 2, palest part",
    "dark columns, special",  # number with two thirds of the rows dark, as a logarithm
    "dark columns, other",
    "other 1, left",  # greatest mean weight of a column once special ones are taken away
    "other 2, left",
    "entropy of columns, left",  # of the mean weights of columns, likewise
    # Diagonals.
    "diagonal 0",
    *(f"diagonal {distance}, {side}" for side in SIDES for distance in DISTANCES[1:]),
    "diagonal 0, above its columns",
    *(
        f"diagonal {distance}, {side}, above its columns"
        for side in SIDES
        for distance in DISTANCES[1:]
    ),
    "diagonal, best",  # darkest of them
    "diagonal, palest part",  # the same in the quarter of the rows where it is palest
    "diagonal, above its columns, palest part",
    "band of 3",  # weight at most 1 token away, more than its columns have on average
    "band of 5",
    "band of 9",
    # Sentences, without special tokens.
    "own sentence",  # weight on tokens of the same sentence, more than by chance
    "own against other, darkness",
    "own, dark cells",
    "other, dark cells",
    "own, unevenness",  # standard deviation of the darkness among tokens of one sentence
    "text against special, darkness",  # of columns of text and special ones
    "two sentences",
    # What explains the darkness of cells (share of its variance).
    "explained by columns",
    "explained by rows",
    "explained by distances",
    "explained by sentences",
    "symmetry",  # correlation of the map with its transpose
    # The same among tokens of text alone, where strong special columns do not hide the rest.
    "text, contrast",  # standard deviation of the darkness; the unit of the next ones
    "text, diagonal 0",  # darkness above the mean
    *(f"text, diagonal {distance}, {side}" for side in SIDES for distance in DISTANCES[1:]),
    "text, column 1",  # greatest of a column, above the mean
    "text, column 2",
    "text, explained by columns",
    "text, explained by distances",
    "text, explained by sentences",
)


def features(seen: Seen) -> torch.Tensor:
    """Compute the features of maps of equal length.

    Returns:
        [maps, features] in the order of ``NAMES``, float32.
    """
    parts = (_scale, _columns, _diagonals, _sentences, _explained, _text)
    return torch.cat([part(seen) for part in parts], dim=1)


def entropy(shares: torch.Tensor) -> torch.Tensor:
    """Entropy over the last axis, relative to that of equal shares."""
    terms = shares.clamp(min=_TINY).log_().mul_(shares)
    found: torch.Tensor = terms.sum(dim=-1) / -float(np.log(max(shares.shape[-1], 2)))
    return found


def _spread(mean: torch.Tensor, mean_of_squares: torch.Tensor) -> torch.Tensor:
    """Standard deviation."""
    return (mean_of_squares - mean.square()).clamp(min=0).sqrt()


def _scale(seen: Seen) -> torch.Tensor:
    weights, drawn, length = seen.weights, seen.drawn, seen.length
    rows = entropy(weights)
    greatest, mean = weights.amax(dim=2), drawn.mean(dim=(1, 2))
    values = [
        torch.log(seen.saturation * length),
        torch.log(greatest.amax(dim=1) * length),
        mean,
        _spread(mean, drawn.square().mean(dim=(1, 2))),
        torch.log1p(seen.dark.sum(dim=(1, 2)) / length),
        rows.mean(dim=1),
        rows.std(dim=1, correction=0),
        entropy(weights.mean(dim=1)),
        greatest.mean(dim=1),
    ]
    return torch.stack(values, dim=1)


def _columns(seen: Seen) -> torch.Tensor:
    special, text = seen.special, 1 - seen.special
    means, rows = seen.weights.mean(dim=1), seen.dark.mean(dim=1)
    palest = (_parts(seen.length, special.device) @ seen.drawn).amin(dim=1)
    wide = torch.log1p(torch.stack([((rows > WIDE) * one).sum(dim=1) for one in (special, text)]))
    on_text = (seen.weights @ text[:, :, None])[:, :, 0].clamp(min=_TINY)
    left = ((1 / on_text)[:, None] @ seen.weights)[:, 0] * text / seen.length
    values = [
        (means * special).sum(dim=1, keepdim=True),
        _greatest(means * special, 2),
        _greatest(means * text, 2),
        _greatest(rows * special, 2),
        _greatest(rows * text, 3),
        _greatest(palest * special, 2),
        _greatest(palest * text, 2),
        wide.T,
        _greatest(left, 2),
        entropy(left)[:, None],
    ]
    return torch.cat(values, dim=1)


def _greatest(values: torch.Tensor, count: int) -> torch.Tensor:
    """[maps, count] greatest values, in descending order; 0 if there are fewer."""
    values = functional.pad(values, (0, max(0, count - values.shape[1])))
    return values.topk(count, dim=1).values


@cache
def _parts(length: int, device: torch.device) -> torch.Tensor:
    """[parts, L] matrix that takes means over consecutive parts, which overlap by a row at most."""
    edges = np.linspace(0, length, PARTS + 1)
    matrix = torch.zeros(PARTS, length)
    for part, (start, end) in enumerate(itertools.pairwise(edges)):
        matrix[part, int(np.floor(start)) : int(np.ceil(end))] = 1
    return (matrix / matrix.sum(dim=1, keepdim=True)).to(device)


def _diagonals(seen: Seen) -> torch.Tensor:
    columns = seen.drawn.mean(dim=1)
    sides = [
        torch.stack([_line(seen.drawn, columns, sign * distance) for distance in DISTANCES], dim=2)
        for sign in (1, -1)
    ]  # each [4 measures, maps, distances]
    darker, paler = torch.maximum(*sides), torch.minimum(*sides)
    lines, above = (torch.cat([darker[n], paler[n, :, 1:]], dim=1) for n in (0, 1))
    best = [darker[n].amax(dim=1, keepdim=True) for n in (0, 2, 3)]
    return torch.cat([lines, above, *best, _bands(seen)], dim=1)


def _line(drawn: torch.Tensor, columns: torch.Tensor, offset: int) -> torch.Tensor:
    """[4, maps] darkness along a diagonal, and above that of its columns.

    The first two are means, the others the same in the part where they are palest. All are 0 if the
    map is too short for the diagonal.
    """
    line = torch.diagonal(drawn, offset, dim1=1, dim2=2)
    if not line.shape[1]:
        return torch.zeros(4, len(drawn), device=drawn.device)
    above = line - columns[:, max(offset, 0) : max(offset, 0) + line.shape[1]]
    parts = _parts(line.shape[1], line.device).T
    palest, palest_above = ((one @ parts).amin(dim=1) for one in (line, above))
    return torch.stack([line.mean(dim=1), above.mean(dim=1), palest, palest_above])


def _bands(seen: Seen) -> torch.Tensor:
    """[maps, bands] mean weight of a row within some distance, less the mean of its columns."""
    length, columns = seen.length, seen.weights.mean(dim=1)
    sums = []
    for offset in range(BANDS[-1] + 1):
        both = torch.zeros(len(columns), device=columns.device)
        for side in {offset, -offset}:
            line = torch.diagonal(seen.weights, side, dim1=1, dim2=2)
            start = max(side, 0)
            both = both + line.sum(dim=1) - columns[:, start : start + line.shape[1]].sum(dim=1)
        sums.append(both / length)
    within = torch.stack(sums, dim=1).cumsum(dim=1)
    return within[:, list(BANDS)]


def _sentences(seen: Seen) -> torch.Tensor:
    sizes = seen.groups.sum(dim=1)
    cells = sizes[:, :, None] * sizes[:, None, :]
    weights, drawn, squares, dark = (
        seen.sum_over_groups(one)
        for one in (seen.weights, seen.drawn, seen.drawn.square(), seen.dark)
    )
    several = (cells[:, 0, 1] > 0).float()
    count, on_text = cells[:, :2, :2].sum(dim=(1, 2)), weights[:, :2, :2].sum(dim=(1, 2))
    above_chance = _own(weights) / on_text.clamp(min=_TINY) - _own(cells) / count.clamp(min=1)
    own, other = (one(drawn) / one(cells).clamp(min=1) for one in (_own, _other))
    on_special = drawn[:, :, 2].sum(dim=1) / cells[:, :, 2].sum(dim=1).clamp(min=1)
    values = [
        several * above_chance,
        several * (own - other),
        _own(dark) / _own(cells).clamp(min=1),
        _other(dark) / _other(cells).clamp(min=1),
        _spread(own, _own(squares) / _own(cells).clamp(min=1)),
        drawn[:, :2, :2].sum(dim=(1, 2)) / count.clamp(min=1) - on_special,
        several,
    ]
    return torch.stack(values, dim=1)


def _own(sums: torch.Tensor) -> torch.Tensor:
    """[maps] sums [maps, 3, 3] where query and key are of the same sentence."""
    return sums[:, 0, 0] + sums[:, 1, 1]


def _other(sums: torch.Tensor) -> torch.Tensor:
    """[maps] sums [maps, 3, 3] where query and key are of different sentences."""
    return sums[:, 0, 1] + sums[:, 1, 0]


def _explained(seen: Seen) -> torch.Tensor:
    length = seen.length
    above = seen.drawn - seen.drawn.mean(dim=(1, 2), keepdim=True)
    total = above.square().mean(dim=(1, 2)).clamp(min=_TINY)
    columns, rows = (above.mean(dim=axis).square().mean(dim=1) for axis in (1, 2))
    diagonal_sums = _sums_by_offset(above)
    lengths = length - torch.arange(1 - length, length, device=above.device).abs()
    distances = (diagonal_sums.square() / lengths).sum(dim=1) / length**2
    sizes = seen.groups.sum(dim=1)
    cells = (sizes[:, :, None] * sizes[:, None, :]).clamp(min=1)
    sentences = (seen.sum_over_groups(above).square() / cells).sum(dim=(1, 2)) / length**2
    symmetry = (above * above.transpose(1, 2)).mean(dim=(1, 2))
    return torch.stack([columns, rows, distances, sentences, symmetry], dim=1) / total[:, None]


def _text(seen: Seen) -> torch.Tensor:
    text = 1 - seen.special
    mask = text[:, :, None] * text[:, None, :]
    count = mask.sum(dim=(1, 2)).clamp(min=1)
    mean = (seen.drawn * mask).sum(dim=(1, 2)) / count
    above = (seen.drawn - mean[:, None, None]) * mask
    total = (above.square().sum(dim=(1, 2)) / count).clamp(min=_TINY)
    spread = total.sqrt()[:, None]
    columns, cells = above.sum(dim=1), mask.sum(dim=1).clamp(min=1)
    offsets, lengths = _sums_by_offset(above), _sums_by_offset(mask).clamp(min=1)
    sizes = seen.groups.sum(dim=1)[:, :2]
    regions = seen.sum_over_groups(above)[:, :2, :2]
    within = (sizes[:, :, None] * sizes[:, None, :]).clamp(min=1)
    explained = [
        (sums.square() / of).flatten(1).sum(dim=1) / count / total
        for sums, of in ((columns, cells), (offsets, lengths), (regions, within))
    ]
    return torch.cat(
        [
            spread,
            _diagonals_by_distance(offsets / lengths) / spread,
            _greatest(columns / cells, 2) / spread,
            torch.stack(explained, dim=1),
        ],
        dim=1,
    )


def _diagonals_by_distance(lines: torch.Tensor) -> torch.Tensor:
    """[maps, 2 · distances - 1] the main diagonal, the darker and the paler ones beside it.

    Args:
        lines: [maps, 2 L - 1] values of all diagonals.
    """
    middle = lines.shape[1] // 2
    reach = DISTANCES[-1]
    near = functional.pad(lines, (max(0, reach - middle),) * 2)
    middle = near.shape[1] // 2
    before = near[:, middle - reach : middle].flip(1)
    after = near[:, middle + 1 : middle + 1 + reach]
    main = near[:, middle : middle + 1]
    return torch.cat([main, torch.maximum(before, after), torch.minimum(before, after)], dim=1)


def _sums_by_offset(values: torch.Tensor) -> torch.Tensor:
    """[maps, 2 L - 1] sums along every diagonal of [maps, L, L].

    With L zeros after every row and one number less per row, what was a diagonal is a column.
    """
    length = values.shape[-1]
    shifted = functional.pad(values.flip(2), (0, length)).flatten(1)[:, :-length]
    return shifted.reshape(len(values), length, 2 * length - 1).sum(dim=1)
