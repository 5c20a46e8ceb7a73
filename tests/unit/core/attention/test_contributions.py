"""Contributions and their lengths, against loops over pairs of tokens in float64."""

import pytest
import torch

from darksecrets.core.attention.contributions import lengths, lengths_of_sums, products, transformed

EXAMPLES, HEADS, TOKENS, SIZE, HIDDEN = 2, 3, 5, 4, 12


@pytest.fixture(scope="module")
def drawn() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Maps, values and projections of a layer, in float64."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    maps = torch.softmax(3 * normal(EXAMPLES, HEADS, TOKENS, TOKENS), dim=-1)
    return maps, normal(EXAMPLES, HEADS, TOKENS, SIZE), normal(HEADS, SIZE, HIDDEN)


def test_vectors_are_values_times_the_heads_part_of_the_projection(drawn):
    _, values, weight = drawn
    found = transformed(values, weight)
    for example in range(EXAMPLES):
        for token in range(TOKENS):
            for head in range(HEADS):
                expected = values[example, head, token] @ weight[head]
                torch.testing.assert_close(found[example, token, head], expected)


def test_lengths_are_those_of_every_pair(drawn):
    """Of one head: its weight times ‖f‖. Of all heads: from the products, without the vectors."""
    maps, values, weight = drawn
    vectors = transformed(values, weight)
    size, together = lengths(vectors), lengths_of_sums(maps, products(vectors))
    for example in range(EXAMPLES):
        for query in range(TOKENS):
            for key in range(TOKENS):
                added = [
                    maps[example, head, query, key] * (values[example, head, key] @ weight[head])
                    for head in range(HEADS)
                ]
                for head, vector in enumerate(added):
                    found = maps[example, head, query, key] * size[example, head, key]
                    torch.testing.assert_close(found, vector.norm())
                expected = torch.stack(added).sum(dim=0).norm()
                torch.testing.assert_close(together[example, query, key], expected)


def test_heads_that_cancel_add_nothing_together(drawn):
    maps, values, weight = drawn
    maps, values = maps[:, :1].expand(-1, 2, -1, -1), values[:, :1].expand(-1, 2, -1, -1)
    vectors = transformed(values, torch.stack([weight[0], -weight[0]]))
    together = lengths_of_sums(maps, products(vectors))
    assert lengths(vectors).min() > 0.1
    torch.testing.assert_close(together, torch.zeros_like(together), rtol=0, atol=1e-6)
