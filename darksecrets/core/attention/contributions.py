"""What each token adds to the output of a layer's attention (Kobayashi et al. 2020).

A head adds α f(x) for each token x, where f(x) = (x W_V + b_V) W_O is the token's value vector in
the space of the hidden states. Over all heads and tokens, this and the bias of W_O add up to the
layer's output. The authors build all these vectors, [head, query, key, hidden]. Their lengths
follow from less: that of α f is α times that of f; that of a sum over heads, from the products of
the heads' vectors, ‖Σ α f‖² = αᵀ G α.
"""

from __future__ import annotations

import torch


def transformed(values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """f(x) of every head.

    Args:
        values: [example, head, token, size] value vectors.
        weight: [head, size, hidden] output projection.

    Returns:
        [example, token, head, hidden].
    """
    return torch.einsum("bhkd,hdo->bkho", values, weight)


def products(vectors: torch.Tensor) -> torch.Tensor:
    """Inner products of the heads' vectors of each token.

    Args:
        vectors: [example, token, head, hidden] from `transformed`.

    Returns:
        [example, token, head, head] Gram matrices.
    """
    return vectors @ vectors.transpose(-1, -2)


def lengths(vectors: torch.Tensor) -> torch.Tensor:
    """Lengths ‖f(x)‖.

    Args:
        vectors: [example, token, head, hidden] from `transformed`.

    Returns:
        [example, head, token].
    """
    norms: torch.Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return norms.transpose(1, 2)


def lengths_of_sums(maps: torch.Tensor, gram: torch.Tensor) -> torch.Tensor:
    """Lengths of what a token adds to another through all heads together, ‖Σ α f(x)‖.

    Args:
        maps: [example, head, query, key] attention weights.
        gram: [example, key, head, head] from `products`.

    Returns:
        [example, query, key].
    """
    weights = maps.permute(0, 3, 2, 1)  # [example, key, query, head]
    squares = ((weights @ gram) * weights).sum(dim=-1)
    return squares.clamp(min=0).sqrt().transpose(1, 2)
