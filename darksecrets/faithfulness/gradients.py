"""Gradients of a loss and of a decision, by attention weights and by embeddings.

Weights are taken as if they could change by themselves: the gradient by the weight α of a head is
that of what the head's output, α times values, changes in all that follows, later weights included.
One forward and two backward passes give the gradients of all weights, for each example by itself:
examples of a batch do not depend on each other, so that their losses can be added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from darksecrets.attention.contributions import lengths, transformed
from darksecrets.models.hooks import Observation, observe
from darksecrets.models.losses import loss

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.data.tasks import Task


@dataclass(frozen=True)
class Layer:
    """One layer of a pass; padding included.

    Attributes:
        by_loss: [example, head, query, key] gradient of the loss by the weights.
        reach: [example or 1, 1, query, key] whether a query may attend to a key.
        weights: [example, head, key] weights of the first token ([CLS]).
        norms: [example, head, key] lengths ‖α f(x)‖ of what each token adds to it.
        by_decision: [example, head, key] gradient of the decision by these weights.
    """

    by_loss: torch.Tensor
    reach: torch.Tensor
    weights: torch.Tensor
    norms: torch.Tensor
    by_decision: torch.Tensor


@dataclass(frozen=True)
class Pass:
    """A batch of examples, forward and backward.

    Attributes:
        decisions: [example] predicted classes; 0 for regression.
        tokens: [example, token] gradient × input: the gradient of the decision by a token's
            embedding, times the embedding, summed and without its sign.
        layers: The layers, from the first.
    """

    decisions: torch.Tensor
    tokens: torch.Tensor
    layers: list[Layer]


def run(
    model: PreTrainedModel, task: Task, inputs: dict[str, torch.Tensor], labels: torch.Tensor
) -> Pass:
    """Run a batch through a classifier, forward and backward.

    Args:
        model: A classifier in evaluation mode whose values can be observed; gradients flow from its
            parameters, so these may not be frozen.
        task: The task, which determines the loss.
        inputs: The model's inputs, on its device.
        labels: [example] on its device.
    """
    with (
        torch.enable_grad(),
        observe(model, maps=True, reach=True, values=True, hidden=True, projections=True) as seen,
    ):
        logits = model(**inputs).logits
        maps, embeddings = list(seen.maps.values()), seen.hidden[0]
        by_loss = torch.autograd.grad(loss(task, logits, labels, "sum"), maps, retain_graph=True)
        decision = logits.max(dim=-1)
        of_decision = torch.autograd.grad(decision.values.sum(), [*maps, embeddings])
        *by_decision, by_embeddings = of_decision
        tokens = (by_embeddings * embeddings.detach()).sum(dim=-1).abs()
        layers = list(_layers(seen, by_loss, by_decision))
        return Pass(decision.indices, tokens, layers)


def _layers(
    seen: Observation, by_loss: tuple[torch.Tensor, ...], by_decision: list[torch.Tensor]
) -> Iterator[Layer]:
    for number, of_loss, of_decision in zip(seen.maps, by_loss, by_decision, strict=True):
        values, weight = seen.values[number].detach(), seen.projections[number].weight.detach()
        row = seen.maps[number][:, :, 0].detach()
        norms = row * lengths(transformed(values, weight))
        yield Layer(of_loss, seen.reach[number], row, norms, of_decision[:, :, 0])
