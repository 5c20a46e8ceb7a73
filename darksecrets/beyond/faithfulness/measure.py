"""Whether attention explains decisions: gradients, rank correlations, and erasing tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.beyond.faithfulness import declared
from darksecrets.beyond.faithfulness.declared import (
    ATTENTION_GRADIENT,
    ATTENTION_GRADIENTS,
    COMPARED,
    ERASURE,
    FAITHFULNESS,
    GRADIENT,
    NORMS,
    WEIGHTS,
    Settings,
)
from darksecrets.core.arrays import Flags, Floats, Integers, Values
from darksecrets.core.attention.contributions import lengths, transformed
from darksecrets.core.attention.extraction import (
    Inputs,
    batches_of,
    encode_longest_first,
    pad,
    read_sample,
)
from darksecrets.core.attention.punctuation import punctuation
from darksecrets.core.data.batches import MASK
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.devices import SEQUENCES, sequence_bytes
from darksecrets.core.models.devices import batch_size as batch_size_on
from darksecrets.core.models.hooks import Observation, observe, require_projections
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.models.losses import loss
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.columns import FIRST, PUNCTUATION, SEPARATOR, TOKEN_KINDS, WORD
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.kendall import kendall, least_significant
from darksecrets.core.stats.paired import ends_of_means, mean_over_heads, nanmean
from darksecrets.core.stats.resampling import resampled_means

# The examples whose decisions are explained: encoded, with labels and kinds of tokens.


@dataclass(frozen=True)
class Examples:
    """Encoded examples, longest first.

    Attributes:
        idx: [examples] the data set's number of each.
        labels: [examples] integers for classes, float32 for regression.
        kinds: For each example, [L] number of every token's kind in `TOKEN_KINDS`.
        inputs: The model's inputs: for each example, [L].
        padding: Number of the padding token.
    """

    idx: Integers
    labels: Values
    kinds: list[Integers]
    inputs: Inputs
    padding: int

    def __len__(self) -> int:
        return len(self.idx)

    @property
    def lengths(self) -> list[int]:
        """Tokens of each example, special ones included."""
        return [len(kinds) for kinds in self.kinds]

    def ordinary(self, example: int) -> Integers:
        """Places of the tokens of an example that are not special."""
        special = [TOKEN_KINDS.index(name) for name in (FIRST, SEPARATOR)]
        return np.flatnonzero(~np.isin(self.kinds[example], special))

    def batch(self, rows: Sequence[int]) -> dict[str, torch.Tensor]:
        """The model's inputs for some examples, [example, token], padded on the right."""
        some = {name: [of[row] for row in rows] for name, of in self.inputs.items()}
        inputs = pad(some, range(len(rows)), self.padding)
        real = torch.zeros_like(inputs["input_ids"])
        for place, row in enumerate(rows):
            real[place, : len(self.kinds[row])] = 1
        return {**inputs, MASK: real}


def read(
    dataset: Path,
    sample: Sequence[int],
    tokenizer: PreTrainedTokenizerBase,
    task: Task,
    *,
    size: int,
    seed: int,
    max_length: int,
) -> Examples:
    """Read some of the sampled validation examples of a task.

    Args:
        dataset: The task's data.
        sample: The ``idx`` of the sampled examples.
        tokenizer: That of the model.
        task: The task, which determines the type of the labels.
        size: How many of the sampled examples are drawn; all, if there are fewer.
        seed: Seed of the draw.
        max_length: Longest sequence kept, in tokens.
    """
    from datasets import load_from_disk

    sampled = read_sample(dataset, sample)
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(sampled["idx"]))[:size]).tolist()
    examples = {name: [values[row] for row in chosen] for name, values in sampled.items()}
    table, inputs = encode_longest_first(examples, tokenizer, max_length)
    split = load_from_disk(str(dataset))["validation"]
    labels = dict(zip(split["idx"], split["label"], strict=True))
    marks = punctuation(table, examples)
    kinds = [
        _kinds(np.asarray(special, dtype=bool), flags)
        for special, flags in zip(table["special"], marks, strict=True)
    ]
    kind_of_label = np.float32 if task.is_regression else np.int64
    wanted = np.array([labels[idx] for idx in table["idx"]], dtype=kind_of_label)
    return Examples(table["idx"].to_numpy(), wanted, kinds, inputs, tokenizer.pad_token_id)


def _kinds(special: Flags, marks: Flags) -> Integers:
    """[L] numbers of kinds in `TOKEN_KINDS`."""
    kinds = np.where(marks, TOKEN_KINDS.index(PUNCTUATION), TOKEN_KINDS.index(WORD))
    kinds[special] = TOKEN_KINDS.index(SEPARATOR)
    if special[0]:
        kinds[0] = TOKEN_KINDS.index(FIRST)
    return kinds


# What explains the decisions of one model, example by example.
#
# Gradients of a loss and of a decision are by attention weights and by embeddings. Weights are
# taken as if they could change by themselves: the gradient by the weight α of a head is that of
# what the head's output, α times values, changes in all that follows, later weights included. One
# forward and two backward passes give the gradients of all weights, for each example by itself:
# examples of a batch do not depend on each other, so that their losses can be added up.


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
    inputs = {name: tensor.to(device) for name, tensor in examples.batch(batch).items()}
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


# Tables of gradients, agreement of rankings and erased tokens, from single examples.

RESAMPLES = 1000
"""Bootstrap samples of the examples."""
REVERSED = " reversed"
"""Ends the names of orders in which the least important tokens are erased first."""


@dataclass(frozen=True)
class Estimate:
    """Means over examples with intervals.

    Attributes:
        value: [...]; NaN where no example has a value.
        low: [...] NaN with fewer than 6 examples.
        high: The same.
        examples: [...] examples with a value.
    """

    value: Floats
    low: Floats
    high: Floats
    examples: Integers

    def columns(self, name: str, low: float, high: float) -> dict[str, Floats]:
        """The estimate and both ends, within their bounds, by the names of their columns."""
        ends = {f"{name}_low": self.low, f"{name}_high": self.high}
        return {name: self.value} | {key: np.clip(end, low, high) for key, end in ends.items()}


def mean(values: Floats, seed: int) -> Estimate:
    """Means over the examples that have a value.

    Args:
        values: [examples, ...]; NaN for examples without one.
        seed: Seed of the bootstrap samples.
    """
    return _estimate(nanmean(values, axis=0), _drawn(values, seed), values)


def ratio(values: Floats, of: Floats, seed: int) -> Estimate:
    """Ratios of means over the examples that have a value.

    Args:
        values: [examples, ...]; NaN for examples without one.
        of: The same shape.
        seed: Seed of the bootstrap samples.
    """
    below = np.where(np.isnan(values), np.nan, of)
    drawn = _quotient(_drawn(values, seed), _drawn(below, seed))
    found = _quotient(nanmean(values, axis=0), nanmean(below, axis=0))
    return _estimate(found, drawn, values)


def _drawn(values: Floats, seed: int) -> Floats:
    """[resamples, ...] means of bootstrap samples; the same samples for all values of a seed."""
    flat = values.reshape(len(values), -1)
    drawn = resampled_means(flat, RESAMPLES, np.random.default_rng(seed))
    return drawn.reshape(-1, *values.shape[1:])


def _quotient(over: Floats, under: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(under > 0, over / under, np.nan)


def _estimate(value: Floats, drawn: Floats, values: Floats) -> Estimate:
    examples = np.asarray((~np.isnan(values)).sum(axis=0))
    low, high = ends_of_means(drawn, value, examples)
    return Estimate(value, low, high, examples)


def gradients(models: Mapping[str, Measured], random: str, seed: int) -> dict[str, pd.DataFrame]:
    """The table `attention_gradients` of a task, without the columns of the model.

    Args:
        models: Every model's measurements, on the same examples.
        random: Name of the one with random weights.
        seed: Seed of the bootstrap samples.
    """
    layer_values = _relative(models[random], seed).value
    shape = models[random].gradients.shape[1:]
    control = _replace_by_layers(layer_values, shape)
    return {name: _gradients(one, control, seed) for name, one in models.items()}


def _relative(measured: Measured, seed: int) -> Estimate:
    """[kinds, places] gradients by attention to a kind, divided by those of all tokens."""
    every = np.broadcast_to(measured.all_gradients[:, None], measured.gradients.shape)
    return ratio(stack_levels(measured.gradients), stack_levels(every), seed)


def _gradients(measured: Measured, control: Floats, seed: int) -> pd.DataFrame:
    shape = measured.gradients.shape[1:]
    size = mean(stack_levels(measured.gradients), seed)
    relative = _relative(measured, seed)
    columns: dict[str, Floats | Integers] = {
        **size.columns("gradient", 0, np.inf),
        **relative.columns("relative", 0, np.inf),
        "random": control,
        "examples": size.examples,
    }
    rows = _rows("kind", TOKEN_KINDS, shape, columns)
    return declared.ATTENTION_GRADIENTS.select(rows[rows["examples"] > 0]).reset_index(drop=True)


def agreements(
    models: Mapping[str, Measured], tokens: Sequence[int], seed: int
) -> dict[str, pd.DataFrame]:
    """The table `faithfulness` of a task, without the columns of the model.

    Args:
        models: Every model's measurements, on the same examples.
        tokens: [examples] numbers of their ordinary tokens.
        seed: Seed of the bootstrap samples.
    """
    least = np.array([least_significant(n) if n > 1 else np.nan for n in tokens])
    return {name: _agreement(one, least, seed) for name, one in models.items()}


def _agreement(measured: Measured, least: Floats, seed: int) -> pd.DataFrame:
    places = {
        name: stack_levels(getattr(measured, name)) for name in ("tau", "shuffled", "other_text")
    }
    tau = mean(places["tau"], seed)
    columns: dict[str, Floats | Integers] = {
        **tau.columns("tau", -1, 1),
        "shuffled": nanmean(places["shuffled"], axis=0),
        "other_text": nanmean(places["other_text"], axis=0),
        **mean(places["tau"] - places["other_text"], seed).columns("over_control", -2, 2),
        "significant": _significant(measured.tau, least),
        "shuffled_significant": _significant(measured.shuffled, least),
        "examples": tau.examples,
    }
    rows = _rows("compared", tuple(declared.COMPARED), measured.tau.shape[1:], columns)
    return declared.FAITHFULNESS.select(rows).reset_index(drop=True)


def _significant(tau: Floats, least: Floats) -> Floats:
    """[compared, places] share of the examples whose τ is beyond those of random orders."""
    beyond = np.where(np.isnan(tau), np.nan, np.abs(tau) > least[:, None, None, None])
    return nanmean(stack_levels(beyond), axis=0)


def erased(found: Mapping[str, Floats], draws: int, seed: int) -> pd.DataFrame:
    """The table `erasure` of one model, without the columns of the model.

    Args:
        found: By order, [examples] share of the tokens that were erased: of every importance, of
            each reversed, and of ``draws`` random orders.
        draws: Number of random orders.
        seed: Seed of the bootstrap samples.
    """
    shares = {name: np.nan_to_num(values, nan=1.0) for name, values in found.items()}
    names = [f"{declared.RANDOM_ORDER} {draw}" for draw in range(1, draws + 1)]
    random = np.mean([shares[name] for name in names], axis=0)
    own = np.stack([shares[name] for name in declared.IMPORTANCE], axis=1)  # [examples, importance]
    columns = {
        "importance": declared.IMPORTANCE,
        **mean(own, seed).columns("erased", 0, 1),
        "reversed": [shares[name + REVERSED].mean() for name in declared.IMPORTANCE],
        "random": random.mean(),
        **mean(own - random[:, None], seed).columns("over_random", -1, 1),
        **mean(own - shares[declared.WEIGHTS][:, None], seed).columns("over_weights", -1, 1),
        "flipped": [(~np.isnan(found[name])).mean() for name in declared.IMPORTANCE],
        "examples": len(own),
    }
    return declared.ERASURE.select(pd.DataFrame(columns)).reset_index(drop=True)


def orders(
    rankings: Sequence[Mapping[str, Floats]], draws: int, seed: int
) -> dict[str, list[Integers]]:
    """Orders in which tokens are erased, numbers of ordinary tokens.

    Args:
        rankings: For each example, the importance of its ordinary tokens.
        draws: Number of random orders.
        seed: Seed of the random orders.
    """
    found: dict[str, list[Integers]] = {}
    for name in declared.IMPORTANCE:
        most_first = [np.argsort(-one[name], kind="stable") for one in rankings]
        found[name] = most_first
        found[name + REVERSED] = [order[::-1].copy() for order in most_first]
    rng = np.random.default_rng(seed)
    for draw in range(1, draws + 1):
        found[f"{declared.RANDOM_ORDER} {draw}"] = [
            rng.permutation(len(one[declared.WEIGHTS])) for one in rankings
        ]
    return found


def stack_levels(values: Floats) -> Floats:
    """[examples, kinds, places] of every head; then of every layer; last, of the whole encoder.

    Layers and the encoder are means over the heads that have a value.

    Args:
        values: [examples, kinds, layers, heads].
    """
    heads = values.reshape(*values.shape[:2], -1)
    return np.concatenate([heads, mean_over_heads(values)], axis=-1)


def _replace_by_layers(values: Floats, shape: tuple[int, ...]) -> Floats:
    """[kinds, places] with the values of layers in place of those of their heads."""
    _, layers, heads = shape
    found = values.copy()
    layer_values = values[:, layers * heads : -1]
    found[:, : layers * heads] = np.repeat(layer_values, heads, axis=1)
    return found


def _rows(
    column: str,
    kinds: Sequence[str],
    shape: tuple[int, ...],
    columns: Mapping[str, Floats | Integers],
) -> pd.DataFrame:
    """Rows of every kind and place, from columns of [kinds, places]."""
    _, layers, heads = shape
    numbers = np.arange(1, layers + 1)
    head_values = (
        [*np.repeat(numbers, heads), *numbers, None],
        [*np.tile(np.arange(1, heads + 1), layers), *[None] * (layers + 1)],
    )
    layer, head = (pd.array(list(one) * len(kinds), dtype="Int64") for one in head_values)
    named = np.repeat(list(kinds), len(head_values[0]))
    values = {name: np.ravel(of) for name, of in columns.items()}
    return pd.DataFrame({column: named, "layer": layer, "head": head, **values})


# All tables of one task; tokens are erased in some order until the decision changes.
#
# After Serrano and Smith (2019): a token is erased by hiding it from all others, in every layer and
# head, as padding is. The weights of the others then add up to 1, as in the authors' code. Special
# tokens are never erased.

STEPS = 10
"""Steps in which the tokens are erased: a tenth each."""
BATCH_SIZE = 64
"""Sequences of a batch on a CPU."""

Orders = Mapping[str, Sequence[Integers]]
"""By name, for every row: the places of its tokens in the order in which they are erased."""


def erase(
    model: PreTrainedModel,
    examples: Examples,
    rows: Sequence[int],
    decisions: Integers,
    orders: Orders,
) -> dict[str, Floats]:
    """Erase tokens until decisions change.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        examples: The examples.
        rows: Which of them.
        decisions: [rows] predicted classes of the intact examples.
        orders: Orders of their tokens; an example without tokens to erase has none.

    Returns:
        By order, [rows] share of the tokens that are erased once the decision changes; NaN if it
        never does.
    """
    names = list(orders)
    found = np.full((len(rows), len(names)), np.nan)
    left = [(row, place) for row in range(len(rows)) for place in range(len(names))]
    longest = max(examples.lengths[row] for row in rows)
    size = devices.sequence_bytes(model.config, longest)
    count = devices.batch_size(model.device, size, cpu=BATCH_SIZE, gpu=devices.SEQUENCES)
    with progress("Erasing", STEPS, "steps") as advance:
        for step in range(1, STEPS + 1):
            flipped: set[tuple[int, int]] = set()
            for start in range(0, len(left), count):
                batch = left[start : start + count]
                erased = [
                    first_tokens(orders[names[place]][row], step / STEPS) for row, place in batch
                ]
                predicted = decide(model, examples, [rows[row] for row, _ in batch], erased)
                for (row, place), tokens, decision in zip(batch, erased, predicted, strict=True):
                    if decision != decisions[row]:
                        share = len(tokens) / max(1, len(orders[names[place]][row]))
                        found[row, place] = share
                        flipped.add((row, place))
            left = [one for one in left if one not in flipped]
            advance(1)
    return dict(zip(names, found.T, strict=True))


def first_tokens(order: Integers, share: float) -> Integers:
    """The first tokens of an order, at least this share of them."""
    return order[: int(np.ceil(share * len(order) - 1e-9))]


def decide(
    model: PreTrainedModel, examples: Examples, rows: Sequence[int], erased: Sequence[Integers]
) -> list[int]:
    """Decisions with some tokens hidden from all others.

    Args:
        model: A classifier in evaluation mode.
        examples: The examples.
        rows: Which of them, possibly several times.
        erased: For each, the places of the hidden tokens.

    Returns:
        The predicted classes.
    """
    inputs = examples.batch(rows)
    for place, tokens in enumerate(erased):
        inputs[MASK][place, torch.from_numpy(tokens)] = 0
    with torch.inference_mode():
        logits = model(**{name: tensor.to(model.device) for name, tensor in inputs.items()}).logits
    return logits.argmax(dim=-1).tolist()


DRAWS = 3
"""Random orders in which tokens are erased."""

Tables = dict[str, dict[str, pd.DataFrame]]
"""By table and model, the rows without the columns of the model."""


def tables(
    task: Task,
    models: Mapping[str, Reading],
    dataset: Path,
    sample: Sequence[int],
    settings: Settings,
    seed: int,
) -> Tables:
    """Measure all models of a task, one after the other.

    Args:
        task: The task.
        models: The fine-tuned models by name; last, one whose weights are drawn, the classifier's
            included.
        dataset: The task's data.
        sample: The ``idx`` of the sampled examples.
        settings: How many of them are used.
        seed: Seed of the examples, of shuffled rankings, random orders and bootstrap samples.

    Raises:
        InputError: The values of a model cannot be observed.
    """
    control, random = list(models.items())[-1]
    chosen = {"size": settings.examples, "seed": seed, "max_length": random.max_length}
    some = read(dataset, sample, random.tokenizer(), task, **chosen)
    rows = np.sort(np.random.default_rng(seed).permutation(len(some))[: settings.erased]).tolist()
    measured: dict[str, Measured] = {}
    of_erased: dict[str, pd.DataFrame] = {}
    for name, reading in models.items():
        model = _load(reading, task)
        measured[name] = measure(model, task, some, batch_size=reading.batch_size, seed=seed)
        if name != control and not task.is_regression:
            of_erased[name] = _erase(model, some, rows, measured[name], seed)
    tokens = [len(some.ordinary(row)) for row in range(len(some))]
    return {
        ATTENTION_GRADIENTS.name: gradients(measured, control, seed),
        FAITHFULNESS.name: agreements(measured, tokens, seed),
        ERASURE.name: of_erased,
    }


def _load(reading: Reading, task: Task) -> PreTrainedModel:
    """A classifier on the device to use."""
    draw = reading.draw
    model, _ = load_classifier(reading.folder, task, seed=0 if draw is None else draw.seed)
    if draw is not None:
        draw_from_normal(model, draw.seed, draw.std)
    model = devices.place(model)
    require_projections(model)
    return model


def _erase(
    model: PreTrainedModel, examples: Examples, rows: Sequence[int], measured: Measured, seed: int
) -> pd.DataFrame:
    """The rows of one model in the table of erased tokens."""
    numbers = orders([measured.rankings[row] for row in rows], DRAWS, seed)
    erased_in = {
        name: [examples.ordinary(row)[order] for row, order in zip(rows, row_values, strict=True)]
        for name, row_values in numbers.items()
    }
    found = erase(model, examples, rows, measured.decisions[list(rows)], erased_in)
    return erased(found, DRAWS, seed)
