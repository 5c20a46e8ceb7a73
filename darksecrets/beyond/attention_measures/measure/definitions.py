"""Other measures of attention than its weights, as maps: norms and effective attention.

A head adds α f(x) for each token x, where f(x) = (x W_V + b_V) W_O. Norms (Kobayashi et al. 2020)
are the lengths ‖α f(x)‖. Effective attention (Brunner et al. 2020) is what of the weights A makes
a difference to A T, where the rows of T are the f(x): A minus the projection of its rows onto the
left null space of T, the combinations of tokens whose vectors add up to 0. So A_eff T = A T.

T has the bias b_V, because a head adds it, too. Without it, A_eff T would not be what the head
adds, as rows of A_eff need not add up to 1; A_eff can also be negative. The analyses are about
shares of a row. So both measures are made shares: magnitudes, divided by their sum over the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch

from darksecrets.core.run.columns import EFFECTIVE, NORMS, WEIGHTS

ROUNDING = torch.finfo(torch.float32).eps
"""Models compute in single precision: singular values of T up to this, times the number of keys or
the size of a head, the larger of the two, and its greatest singular value, count as 0. That is the
larger dimension of T in the coordinates of its head, where it has the same singular values. The
hidden size, 6 to 12 times larger, would take directions that are well above rounding for 0."""

Measure = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]


def basis(weight: torch.Tensor) -> torch.Tensor:
    """What value vectors are multiplied with instead of W_O to get `coordinates`.

    Args:
        weight: [head, size, hidden] output projection.

    Returns:
        [head, size, size], in double precision: R' of the decomposition W_O = R' Q with orthonormal
        rows of Q.
    """
    _, triangle = torch.linalg.qr(weight.double().mT)
    return triangle.mT


def coordinates(values: torch.Tensor, of_head: torch.Tensor) -> torch.Tensor:
    """f(x) in orthonormal coordinates of the space of each head.

    Lengths, inner products and null space are those of f(x); there are ``size`` numbers instead of
    ``hidden``.

    Args:
        values: [example, head, key, size] value vectors.
        of_head: [head, size, size] from `basis`.

    Returns:
        [example, head, key, size], in double precision.
    """
    return values.double() @ of_head


def weights(maps: torch.Tensor, *_: torch.Tensor | None) -> torch.Tensor:
    """Attention weights as they are; see `effective`."""
    return maps


def norms(maps: torch.Tensor, vectors: torch.Tensor, *_: torch.Tensor | None) -> torch.Tensor:
    """Shares of the lengths ‖α f(x)‖ of what a query gets; see `effective`."""
    return shares(maps * torch.linalg.vector_norm(vectors, dim=-1)[..., None, :])


def effective(
    maps: torch.Tensor, vectors: torch.Tensor, reach: torch.Tensor | None = None
) -> torch.Tensor:
    """Shares of the magnitudes of effective attention.

    Args:
        maps: [example, head, query, key] attention weights, without padding.
        vectors: [example, head, key, size] from `coordinates`.
        reach: [query, key] which keys a query may attend to; None for all.

    Returns:
        [example, head, query, key], rows add up to 1; 0 in rows of heads that add nothing.
    """
    return shares(effective_attention(maps, vectors, reach))


def effective_attention(
    maps: torch.Tensor, vectors: torch.Tensor, reach: torch.Tensor | None = None
) -> torch.Tensor:
    """Effective attention itself, signed; see `effective`.

    A query with local attention has a null space of its own, that of the keys in its reach.
    """
    if reach is None:
        return _projected(maps.double(), vectors)
    result = torch.zeros_like(maps, dtype=torch.float64)
    for query, keys in enumerate(reach):
        row = maps[..., query : query + 1, keys].double()
        result[..., query : query + 1, keys] = _projected(row, vectors[..., keys, :])
    return result


def shares(maps: torch.Tensor) -> torch.Tensor:
    """Magnitudes divided by their sum over a row; rows of zeros stay as they are."""
    sizes = maps.abs()
    total = sizes.sum(dim=-1, keepdim=True)
    return sizes / torch.where(total > 0, total, 1)


OF: Mapping[str, Measure] = MappingProxyType({WEIGHTS: weights, NORMS: norms, EFFECTIVE: effective})
"""The function of every measure."""


def _projected(rows: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Rows without their part in the left null space of the vectors, [..., row, key].

    Where a QR decomposition shows that the vectors have full rank, it gives the projection;
    elsewhere, singular values decide the rank.
    """
    keys, size = vectors.shape[-2:]
    tolerance = max(keys, size) * ROUNDING
    orthonormal, triangle = torch.linalg.qr(vectors if keys > size else vectors.mT)
    result = rows.clone() if keys <= size else (rows @ orthonormal) @ orthonormal.mT
    unsure = ~_surely_of_full_rank(triangle, tolerance)
    if unsure.any():
        left, values, _ = torch.linalg.svd(vectors[unsure], full_matrices=False)
        left = left * (values > tolerance * values[..., :1])[..., None, :]
        result[unsure] = (rows[unsure] @ left) @ left.mT
    return result


def _surely_of_full_rank(triangle: torch.Tensor, tolerance: float) -> torch.Tensor:
    """[...] whether all singular values are above `tolerance` times the greatest.

    The least one is at least 1 / ‖R⁻¹‖ and the greatest at most ‖R‖ (Frobenius norms), so this may
    be false where it is true, but not the reverse.
    """
    ones = torch.eye(triangle.shape[-1], dtype=triangle.dtype, device=triangle.device)
    inverse = torch.linalg.solve_triangular(triangle, ones, upper=True)
    size = torch.linalg.matrix_norm(triangle) * torch.linalg.matrix_norm(inverse)
    return size * tolerance < 1
