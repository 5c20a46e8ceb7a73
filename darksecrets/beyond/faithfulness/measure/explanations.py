"""What explains the decisions of one model, example by example.

Gradients of a loss and of a decision are by attention weights and by embeddings. Weights are
taken as if they could change by themselves: the gradient by the weight α of a head is that of
what the head's output, α times values, changes in all that follows, later weights included. One
forward and two backward passes give the gradients of all weights, for each example by itself:
examples of a batch do not depend on each other, so that their losses can be added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.faithfulness.declared import (
    ATTENTION_GRADIENT,
    COMPARED,
    GRADIENT,
    NORMS,
    WEIGHTS,
)
from darksecrets.beyond.faithfulness.measure.examples import Examples
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.attention.contributions import lengths, transformed
from darksecrets.core.attention.extraction import (
    batches_of,
)
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.devices import SEQUENCES, sequence_bytes
from darksecrets.core.models.devices import batch_size as batch_size_on
from darksecrets.core.models.hooks import Observation, observe
from darksecrets.core.models.losses import loss
from darksecrets.core.run.columns import TOKEN_KINDS
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.kendall import kendall


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
        decision_gradients = torch.autograd.grad(decision.values.sum(), [*maps, embeddings])
        *by_decision, by_embeddings = decision_gradients
        tokens = (by_embeddings * embeddings.detach()).sum(dim=-1).abs()
        layers = list(_layers(seen, by_loss, by_decision))
        return Pass(decision.indices, tokens, layers)


def _layers(
    seen: Observation, by_loss: tuple[torch.Tensor, ...], by_decision: list[torch.Tensor]
) -> Iterator[Layer]:
    for number, loss_gradient, decision_gradient in zip(
        seen.maps, by_loss, by_decision, strict=True
    ):
        values, weight = seen.values[number].detach(), seen.projections[number].weight.detach()
        row = seen.maps[number][:, :, 0].detach()
        norms = row * lengths(transformed(values, weight))
        yield Layer(loss_gradient, seen.reach[number], row, norms, decision_gradient[:, :, 0])


Rankings = dict[str, Floats]
"""Importance of the ordinary tokens of an example, by what says it: [tokens] or [..., tokens]."""


@dataclass(frozen=True)
class Measured:
    """One model's decisions on the examples, and what explains them.

    Attributes:
        decisions: [examples] predicted classes; 0 for regression.
        gradients: [examples, kinds, layers, heads] mean magnitude of the gradient of the loss by
            the attention to tokens of a kind of `TOKEN_KINDS`, over all pairs of tokens; NaN for
            kinds that the example lacks.
        all_gradients: [examples, layers, heads] the same of all tokens.
        tau: [examples, compared, layers, heads] Kendall's τ of the pairs of `COMPARED`, over the
            ordinary tokens; NaN where a side does not vary.
        shuffled: The same if the second of a pair is shuffled.
        other_text: The same if the second of a pair is that of another example, stretched to as
            many tokens; NaN with one example.
        rankings: For each example, the importance of its ordinary tokens.
    """

    decisions: Integers
    gradients: Floats
    all_gradients: Floats
    tau: Floats
    shuffled: Floats
    other_text: Floats
    rankings: list[Rankings]


def measure(
    model: PreTrainedModel, task: Task, examples: Examples, *, batch_size: int, seed: int
) -> Measured:
    """Measure gradients, and how rankings of the tokens agree.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        task: Its task.
        examples: The examples.
        batch_size: Batch size on a CPU.
        seed: Seed of the shuffled rankings.
    """
    decisions: list[int] = []
    gradients: list[Floats] = []
    heads: list[Rankings] = []
    # What all layers compute is kept for the backward passes.
    kept = 3 * model.config.num_hidden_layers * sequence_bytes(model.config, max(examples.lengths))
    count = batch_size_on(model.device, kept, cpu=batch_size, gpu=SEQUENCES)
    with progress("Gradients", len(examples), "examples") as advance:
        for batch in batches_of(len(examples), count):
            batch_rows = _measure_batch(model, task, examples, batch)
            decisions += batch_rows[0]
            gradients += batch_rows[1]
            heads += batch_rows[2]
            advance(len(batch))
    kinds = np.stack(gradients)
    return Measured(
        np.array(decisions),
        kinds[:, :-1],
        kinds[:, -1],
        *_agreements(heads, examples.idx, seed),
        [_last_layer_importance(one) for one in heads],
    )


def _measure_batch(
    model: PreTrainedModel, task: Task, examples: Examples, batch: range
) -> tuple[list[int], list[Floats], list[Rankings]]:
    """Decisions; [kinds + 1, layers, heads] gradients; importance by head, [layers, heads, n]."""
    device = model.device
    inputs = devices.move(examples.batch(batch), device)
    labels = torch.from_numpy(examples.labels[batch.start : batch.stop]).to(device)
    passed = run(model, task, inputs, labels)
    kinds = _one_hot(examples.kinds[batch.start : batch.stop]).to(device)
    gradients, rows = [], []
    for layer in passed.layers:
        gradients.append(_mean_by_kind(layer, kinds))
        rows.append(torch.stack([layer.weights, layer.norms, layer.by_decision]))
    kind_values = torch.stack(gradients, dim=2).double().cpu().numpy()
    head_values = torch.stack(rows, dim=2).double().cpu().numpy()  # [3, example, layer, head, key]
    tokens = passed.tokens.double().cpu().numpy()
    rankings = []
    for place, example in enumerate(batch):
        ordinary = examples.ordinary(example)
        weights, norms, by_decision = head_values[:, place][..., ordinary]
        rankings.append(
            {
                WEIGHTS: weights,
                NORMS: norms,
                ATTENTION_GRADIENT: by_decision,
                GRADIENT: tokens[place, ordinary],
            }
        )
    return passed.decisions.tolist(), list(kind_values), rankings


def _one_hot(kinds: Sequence[Integers]) -> torch.Tensor:
    """[example, token, kind + 1] which kind a token is of; last, whether it is real."""
    flags = torch.zeros(len(kinds), max(map(len, kinds)), len(TOKEN_KINDS) + 1)
    for example, token_kinds in enumerate(kinds):
        flags[example, torch.arange(len(token_kinds)), torch.from_numpy(token_kinds)] = 1
        flags[example, : len(token_kinds), -1] = 1
    return flags


def _mean_by_kind(layer: Layer, kinds: torch.Tensor) -> torch.Tensor:
    """[example, kind + 1, head] mean magnitude of the gradient over the pairs in reach."""
    pairs = layer.reach * kinds[:, None, :, -1:]  # real queries
    sizes = torch.einsum("bhqk,bkc->bch", layer.by_loss.abs() * pairs, kinds)
    counts = torch.einsum("bhqk,bkc->bch", pairs.expand(len(kinds), -1, -1, -1), kinds)
    return sizes / torch.where(counts > 0, counts, torch.nan)


def _agreements(
    rankings: Sequence[Rankings], idx: Integers, seed: int
) -> tuple[Floats, Floats, Floats]:
    """[examples, compared, layers, heads] τ, and the same of shuffled and of other rankings."""
    found = []
    for place, own in enumerate(rankings):
        size = own[GRADIENT].shape[-1]
        order = np.random.default_rng([seed, int(idx[place])]).permutation(size)
        shuffled = {name: values[..., order] for name, values in own.items()}
        others = rankings[place - 1] if len(rankings) > 1 else {}
        other_values = {name: stretched(values, size) for name, values in others.items()}
        found.append([_compare(own, taken) for taken in (own, shuffled, other_values)])
    tau, shuffled_tau, other_text = (np.stack(part) for part in zip(*found, strict=True))
    return tau, shuffled_tau, other_text


def _compare(own: Rankings, others: Rankings) -> Floats:
    """[compared, layers, heads] τ between the rankings of an example and others; NaN without."""
    if not others:
        return np.full((len(COMPARED), *own[WEIGHTS].shape[:-1]), np.nan)
    return np.stack(
        [
            kendall(own[first], others[second] if second == NORMS else np.abs(others[second]))
            for first, second in COMPARED.values()
        ]
    )


def stretched(values: Floats, size: int) -> Floats:
    """[..., size] values of as many tokens, each at about the same share of the text.

    Args:
        values: [..., tokens]; at least one token.
        size: Number of tokens.
    """
    places = np.linspace(0, values.shape[-1] - 1, size).round().astype(np.int64)
    return values[..., places]


def _last_layer_importance(heads: Rankings) -> Rankings:
    """Importance of an example's tokens in the last layer: means over heads; of gradients, sums."""
    return {
        WEIGHTS: heads[WEIGHTS][-1].mean(axis=0),
        NORMS: heads[NORMS][-1].mean(axis=0),
        GRADIENT: heads[GRADIENT],
        ATTENTION_GRADIENT: heads[ATTENTION_GRADIENT][-1].sum(axis=0),
    }
