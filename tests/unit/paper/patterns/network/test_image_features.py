"""Hand-made features of maps, against plain loops over cells."""

import math

import numpy as np
import pytest
import torch

from darksecrets.paper.patterns.network.features import NAMES, features
from darksecrets.paper.patterns.network.seen import Seen


def see(weights, special, segments):
    """One map as the classifier gets it."""
    arrays = (np.asarray(weights, dtype=np.float32), special, segments)
    return Seen.of(*(torch.from_numpy(np.array(one))[None] for one in arrays))


def named(weights, special, segments):
    values = features(see(weights, special, segments))[0].tolist()
    return dict(zip(NAMES, values, strict=True))


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def entropy(shares):
    return -sum(x * math.log(x) for x in shares if x > 0) / math.log(max(len(shares), 2))


def deviation(values):
    centre = mean(values)
    return math.sqrt(mean((x - centre) ** 2 for x in values))


def palest(line):
    """Mean of the palest of four parts, which overlap where the number does not divide by 4."""
    n = len(line)
    edges = [(math.floor(n * k / 4), math.ceil(n * (k + 1) / 4)) for k in range(4)]
    return min(mean(line[start:end]) for start, end in edges) if n else 0.0


def largest(values, count):
    return (sorted(values, reverse=True) + [0.0] * count)[:count]


def by_loops(weights, special, segments):
    """The same features, cell by cell, in float64."""
    n = len(weights)
    w = [[float(x) for x in row] for row in weights]
    darkest = sorted((x for row in w for x in row), reverse=True)[n - 1]
    d = [[min(x / darkest, 1.0) for x in row] for row in w]
    cells = [x for row in d for x in row]
    dark = [[float(x > 0.5) for x in row] for row in d]
    columns = [mean(row[j] for row in w) for j in range(n)]
    dark_rows = [mean(row[j] for row in dark) for j in range(n)]
    pale = [palest([row[j] for row in d]) for j in range(n)]
    text = [j for j in range(n) if not special[j]]
    marks = [j for j in range(n) if special[j]]
    found = {
        "saturation": math.log(darkest * n),
        "greatest weight": math.log(max(x for row in w for x in row) * n),
        "mean darkness": mean(cells),
        "contrast": deviation(cells),
        "dark cells of a row": math.log(1 + mean(sum(row) for row in dark)),
        "entropy": mean(entropy(row) for row in w),
        "entropy, spread": deviation([entropy(row) for row in w]),
        "entropy of columns": entropy(columns),
        "greatest of a row": mean(max(row) for row in w),
        "weight on special": sum(columns[j] for j in marks),
    }
    for place, (name, some) in enumerate((("special", marks), ("other", text))):
        for rank in range(2 + place):
            if rank < 2:
                found[f"{name} {rank + 1}"] = largest([columns[j] for j in some], 2)[rank]
                found[f"{name} {rank + 1}, palest part"] = largest([pale[j] for j in some], 2)[rank]
            rows = largest([dark_rows[j] for j in some], 3)[rank]
            found[f"{name} {rank + 1}, dark rows"] = rows
        wide = sum(dark_rows[j] > 2 / 3 for j in some)
        found[f"dark columns, {name}"] = math.log(1 + wide)
    left = [
        mean(row[j] / max(sum(row[k] for k in text), 1e-9) for row in w) if j in text else 0.0
        for j in range(n)
    ]
    found |= {f"other {rank + 1}, left": largest(left, 2)[rank] for rank in range(2)}
    found["entropy of columns, left"] = entropy(left)
    found |= diagonals_by_loops(w, d)
    found |= sentences_by_loops(w, d, dark, special, segments)
    found |= explained_by_loops(d, special, segments)
    found |= text_by_loops(d, special, segments)
    return found


def diagonals_by_loops(w, d):
    n, found, measures = len(w), {}, {}
    columns = [mean(row[j] for row in d) for j in range(n)]
    for offset in range(-3, 4):
        cells = [(i, i + offset) for i in range(n) if 0 <= i + offset < n]
        line = [d[i][j] for i, j in cells]
        above = [d[i][j] - columns[j] for i, j in cells]
        measures[offset] = (mean(line), mean(above), palest(line), palest(above))
    for part, ending in ((0, ""), (1, ", above its columns")):
        found[f"diagonal 0{ending}"] = measures[0][part]
        for distance in (1, 2, 3):
            both = [measures[sign * distance][part] for sign in (1, -1)]
            found[f"diagonal {distance}, darker{ending}"] = max(both)
            found[f"diagonal {distance}, paler{ending}"] = min(both)
    found["diagonal, best"] = max(one[0] for one in measures.values())
    found["diagonal, palest part"] = max(one[2] for one in measures.values())
    found["diagonal, above its columns, palest part"] = max(one[3] for one in measures.values())
    for reach in (1, 2, 4):
        near = [(i, j) for i in range(n) for j in range(n) if abs(i - j) <= reach]
        found[f"band of {2 * reach + 1}"] = (
            sum(w[i][j] - mean(row[j] for row in w) for i, j in near) / n
        )
    return found


def sentences_by_loops(w, d, dark, special, segments):
    n = len(w)
    every = [(i, j) for i in range(n) for j in range(n)]
    text = [(i, j) for i, j in every if not special[i] and not special[j]]
    own = [(i, j) for i, j in text if segments[i] == segments[j]]
    other = [(i, j) for i, j in text if segments[i] != segments[j]]
    several = float(bool(other))
    on_text, on_own = (sum(w[i][j] for i, j in some) for some in (text, own))
    chance = len(own) / len(text) if text else 0.0
    return {
        "own sentence": several * ((on_own / on_text if on_text else 0.0) - chance),
        "own against other, darkness": several
        * (mean(d[i][j] for i, j in own) - mean(d[i][j] for i, j in other)),
        "own, dark cells": mean(dark[i][j] for i, j in own),
        "other, dark cells": mean(dark[i][j] for i, j in other),
        "own, unevenness": deviation([d[i][j] for i, j in own]) if own else 0.0,
        "text against special, darkness": mean(d[i][j] for i, j in text)
        - mean(d[i][j] for i, j in every if special[j]),
        "two sentences": several,
    }


def explained_by_loops(d, special, segments):
    n = len(d)
    every = [(i, j) for i in range(n) for j in range(n)]
    centre = mean(d[i][j] for i, j in every)
    total = mean((d[i][j] - centre) ** 2 for i, j in every)

    def explained(group):
        parts = {}
        for cell in every:
            parts.setdefault(group(cell), []).append(d[cell[0]][cell[1]])
        among = sum(len(one) * (mean(one) - centre) ** 2 for one in parts.values())
        return among / n**2 / total if total else 0.0

    kind = [2 if special[i] else int(segments[i]) for i in range(n)]
    symmetry = mean((d[i][j] - centre) * (d[j][i] - centre) for i, j in every)
    return {
        "explained by columns": explained(lambda cell: cell[1]),
        "explained by rows": explained(lambda cell: cell[0]),
        "explained by distances": explained(lambda cell: cell[1] - cell[0]),
        "explained by sentences": explained(lambda cell: (kind[cell[0]], kind[cell[1]])),
        "symmetry": symmetry / total if total else 0.0,
    }


def text_by_loops(d, special, segments):
    n = len(d)
    cells = [(i, j) for i in range(n) for j in range(n) if not special[i] and not special[j]]
    centre = mean(d[i][j] for i, j in cells)
    total = max(mean((d[i][j] - centre) ** 2 for i, j in cells), 1e-9)

    def above(some):
        return mean(d[i][j] - centre for i, j in some) / math.sqrt(total)

    def explained(group):
        parts = {}
        for cell in cells:
            parts.setdefault(group(cell), []).append(cell)
        return sum(len(one) * above(one) ** 2 for one in parts.values()) / max(len(cells), 1)

    lines = {k: above([(i, j) for i, j in cells if j - i == k]) for k in range(-3, 4)}
    columns = [above([(i, j) for i, j in cells if j == k]) for k in range(n)]
    found = {"text, contrast": math.sqrt(total), "text, diagonal 0": lines[0]}
    for distance in (1, 2, 3):
        both = lines[distance], lines[-distance]
        found[f"text, diagonal {distance}, darker"] = max(both)
        found[f"text, diagonal {distance}, paler"] = min(both)
    found |= {f"text, column {rank + 1}": largest(columns, 2)[rank] for rank in range(2)}
    return found | {
        "text, explained by columns": explained(lambda cell: cell[1]),
        "text, explained by distances": explained(lambda cell: cell[1] - cell[0]),
        "text, explained by sentences": explained(
            lambda cell: tuple(int(segments[k]) for k in cell)
        ),
    }


@pytest.mark.parametrize("length", [2, 3, 9, 30])
@pytest.mark.parametrize("second", [True, False])
def test_features_are_those_of_plain_loops(length, second):
    rng = np.random.default_rng(length)
    weights = rng.dirichlet(np.full(length, 0.3), size=length).astype(np.float16)
    special = np.isin(np.arange(length), (0, length // 2))
    segments = ((np.arange(length) > length // 2) & second).astype(np.int64)
    found, expected = named(weights, special, segments), by_loops(weights, special, segments)
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=2e-4, abs=2e-5), name


def test_maps_of_a_batch_have_the_features_that_they_have_alone():
    rng = np.random.default_rng(0)
    maps = torch.from_numpy(rng.dirichlet(np.full(12, 0.4), size=(5, 12)).astype(np.float32))
    special = torch.from_numpy(rng.random((5, 12)) < 0.2)
    segments = torch.from_numpy((np.arange(12) > 6).astype(np.int64)).expand(5, 12)
    together = features(Seen.of(maps, special, segments))
    assert together.isfinite().all()
    for row, *one in zip(together, maps, special, segments, strict=True):
        alone = features(Seen.of(*(part[None] for part in one)))[0]
        torch.testing.assert_close(row, alone, rtol=1e-4, atol=1e-5)


def test_a_map_of_one_token_has_features():
    values = features(see([[1.0]], np.array([True]), np.array([0])))
    assert values.shape == (1, len(NAMES))
    assert values.isfinite().all()


def test_reversing_the_order_of_tokens_changes_nothing_but_the_rounding_of_parts():
    rng = np.random.default_rng(3)
    weights = rng.dirichlet(np.full(16, 0.3), size=16)
    special, segments = np.arange(16) % 15 == 0, (np.arange(16) > 8).astype(np.int64)
    found = features(see(weights, special, segments))
    turned = features(see(weights[::-1, ::-1], special[::-1], 1 - segments[::-1]))
    torch.testing.assert_close(found, turned, rtol=1e-4, atol=1e-5)
