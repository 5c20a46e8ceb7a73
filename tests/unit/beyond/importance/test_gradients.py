"""Gradients of gates, against differences, and models that are run."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.beyond.importance.declared import CHOOSING, DEFINITIONS, PRUNING_CHOICES
from darksecrets.beyond.importance.measure import gradients as of
from darksecrets.beyond.importance.measure.pruning import choices, orders
from darksecrets.beyond.importance.measure.steps import pruning_counts
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.metrics import compute
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.disable import disable
from darksecrets.core.models.hooks import intervene, shape_of
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.run.errors import InputError

LENGTHS = (7, 4, 9, 4, 6)
ROWS = [3, 0, 2, 4]


@dataclass(frozen=True)
class Case:
    """A model in double precision with examples of different lengths."""

    model: torch.nn.Module
    split: EncodedSplit
    task: Task

    def losses(self, rows: list[int]) -> torch.Tensor:
        """[rows] losses, of each example alone."""
        return torch.cat([self._loss(row) for row in rows])

    def _loss(self, row: int) -> torch.Tensor:
        batch = self.split.batch([row])
        labels = batch.pop("labels")
        logits = self.model(**batch).logits
        if self.task.is_regression:
            return (logits[:, 0] - labels) ** 2
        return torch.nn.functional.cross_entropy(logits, labels, reduction="none")


CASES = [("bert", "RTE"), ("roberta", "STS-B"), ("distilbert", "MNLI")]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request, tmp_path_factory) -> Case:
    family, name = request.param
    task = TASKS[name]
    folder = save_classifier(tmp_path_factory.mktemp(family) / "model", family, task)
    model, _ = load_classifier(folder, task, 1)
    with torch.no_grad():  # with the random weights of these models, attention is nearly a step
        for weight in model.parameters():
            weight.mul_(0.3 if weight.dim() == 2 else 1)
    rng = np.random.default_rng(1)
    starts = np.cumsum([0, *LENGTHS])
    inputs = {"input_ids": rng.integers(4, 7, starts[-1]).astype(np.int32)}
    labels = rng.integers(0, 2, len(LENGTHS))
    if task.is_regression:
        labels = rng.normal(size=len(LENGTHS)).astype(np.float32)
    padding = {"input_ids": model.config.pad_token_id}
    split = EncodedSplit(np.arange(len(LENGTHS)), labels, starts, inputs, padding)
    return Case(model.double().eval(), split, task)


@pytest.fixture(scope="module")
def found(case: Case) -> of.Gradients:
    return of.measure(case.model, case.split, case.task, ROWS)


def gates(case: Case, examples: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    shape = shape_of(case.model)
    size = (examples, shape.layers, shape.heads)
    return torch.ones((*size, 1), dtype=torch.float64), torch.ones(size, dtype=torch.float64)


@pytest.mark.parametrize("kind", [0, 1], ids=["output", "kept"])
def test_gradients_are_central_differences(case, found, kind):
    """Of every example alone: in the batch, they are padded. Truncation is below 1e-7."""
    step = 1e-5
    measured = (found.output, found.kept)[kind]
    for layer, head in np.ndindex(measured.shape[1:]):
        ends = []
        for sign in (1, -1):
            both = gates(case)
            both[kind][0, layer, head] += sign * step
            with torch.no_grad(), intervene(case.model, of.Gates(*both)):
                ends.append(case.losses(ROWS).numpy())
        slope = (ends[0] - ends[1]) / (2 * step)
        assert measured[:, layer, head] == pytest.approx(slope, rel=1e-5, abs=1e-7)
    assert np.abs(measured).max() > 1e-4


@pytest.mark.parametrize(("closed", "mode"), [(0, "zero"), (1, "uniform")])
def test_a_closed_gate_disables_the_head(case, closed, mode):
    for layer, head in ((1, 2), (2, 1)):
        both = gates(case)
        both[closed][0, layer - 1, head - 1] = 0
        with torch.no_grad(), intervene(case.model, of.Gates(*both)):
            gated = case.losses(ROWS)
        with torch.no_grad(), disable(case.model, {layer: head}, mode):
            assert torch.allclose(case.losses(ROWS), gated, rtol=0, atol=1e-12)


def test_gradients_of_mlps_are_central_differences(case, found):
    assert found.mlp is not None
    layers, step = found.mlp.shape[1], 1e-5
    for layer in range(layers):
        ends = []
        for sign in (1, -1):
            gate = torch.ones((1, layers), dtype=torch.float64)
            gate[0, layer] += sign * step
            with torch.no_grad(), intervene(case.model, of.MlpGates(gate)):
                ends.append(case.losses(ROWS).numpy())
        slope = (ends[0] - ends[1]) / (2 * step)
        assert found.mlp[:, layer, 0] == pytest.approx(slope, rel=1e-5, abs=1e-7)
    assert np.abs(found.mlp).max() > 1e-4


def test_exact_effects_of_mlps_are_those_of_models_without_their_weights(case, found):
    """The last linear map of each MLP, by its name, with all weights at 0."""
    assert found.mlp_exact is not None
    names = ("ffn.lin2", "output.dense")
    modules = [
        module
        for name, module in case.model.named_modules()
        if name.endswith(names) and "attention" not in name
    ]
    assert len(modules) == found.mlp_exact.shape[1]
    with torch.no_grad():
        intact = case.losses(ROWS)
        for layer, module in enumerate(modules):
            before = [weight.clone() for weight in module.parameters()]
            for weight in module.parameters():
                weight.zero_()
            without = case.losses(ROWS)
            for weight, old in zip(module.parameters(), before, strict=True):
                weight.copy_(old)
            expected = (without - intact).numpy()
            assert found.mlp_exact[:, layer, 0] == pytest.approx(expected, abs=1e-9)


def test_heads_are_measured_where_mlps_cannot_be_reached(case, monkeypatch, caplog):
    def refuse(_: object) -> None:
        raise InputError("no MLPs.")

    monkeypatch.setattr("darksecrets.beyond.importance.measure.gradients.mlps_of", refuse)
    found = of.measure(case.model, case.split, case.task, ROWS[:2])
    assert found.mlp is None is found.mlp_exact
    assert "Only the importance of heads is measured. no MLPs." in caplog.text


@pytest.mark.parametrize("mode", ["zero", "uniform"])
def test_exact_effects_are_those_of_models_that_are_run(case, found, mode):
    with torch.no_grad():
        intact = case.losses(ROWS)
        for layer, head in np.ndindex(found.output.shape[1:]):
            with disable(case.model, {layer + 1: head + 1}, mode):
                without = case.losses(ROWS)
            expected = (without - intact).numpy()
            assert found.exact[mode][:, layer, head] == pytest.approx(expected, abs=1e-9)


def test_the_greedy_order_is_that_of_trying_every_head(case, monkeypatch):
    """In steps of one head at a time, by brute force."""
    monkeypatch.setattr(
        "darksecrets.beyond.importance.measure.gradients.pruning_counts",
        lambda total: range(1, total + 1),
    )
    order = of.greedy_order(case.model, case.split, case.task, ROWS)
    shape = shape_of(case.model)
    places = {(x, y) for x in range(1, shape.layers + 1) for y in range(1, shape.heads + 1)}
    assert set(order) == places
    for count in range(shape.layers * shape.heads):
        gone, chosen = order[:count], order[count]
        costs = {}
        for place in sorted(places - set(gone)):
            heads: dict[int, list[int]] = {}
            for layer, head in (*gone, place):
                heads.setdefault(layer, []).append(head)
            with torch.no_grad(), disable(case.model, heads, "zero"):
                costs[place] = case.losses(ROWS).mean().item()
        assert costs[chosen] == pytest.approx(min(costs.values()), abs=1e-9)


def test_a_loss_that_is_not_finite_is_named(case):
    broken = {name: tensor.clone() for name, tensor in case.model.state_dict().items()}
    last = list(broken)[-1]
    case.model.load_state_dict({**broken, last: torch.full_like(broken[last], torch.nan)})
    with pytest.raises(InputError, match="the loss is not a finite number"):
        of.measure(case.model, case.split, case.task, ROWS)
    case.model.load_state_dict(broken)


@pytest.mark.parametrize(("examples", "size"), [(100, 30), (60, 30), (45, 30), (5, 9), (1, 3)])
def test_a_sample_and_what_is_held_out_have_no_text_in_common(examples, size):
    texts = np.tile(np.arange(4, examples + 4, dtype=np.int32), 2)  # each of them twice
    starts, idx = np.arange(2 * examples + 1), np.arange(2 * examples)
    split = EncodedSplit(idx, idx, starts, {"input_ids": texts}, {"input_ids": 0})
    rows, others = of.sample(split, size, 1), of.held_out(split, size, 1)
    assert len({*rows, *others}) == len(rows) + len(others) == min(examples, 2 * size)
    assert 0 <= len(rows) - len(others) <= 1
    assert {*rows, *others} <= set(range(examples))


def test_the_number_of_heads_to_remove_is_that_of_a_loop(case, tmp_path):
    """The most heads up to which no score of the rows drops by more than 10 points."""
    shape, rows = shape_of(case.model), list(range(len(LENGTHS)))
    places = [(x, y) for x in range(1, shape.layers + 1) for y in range(1, shape.heads + 1)]
    named = pd.DataFrame([(*place, 1.0) for place in places], columns=["layer", "head", "needed"])
    importance = pd.concat(
        [
            named.assign(mode="zero", definition=name, importance=np.arange(len(named)) * sign)
            for name, sign in zip(DEFINITIONS, (1, -1, 1), strict=True)
        ]
    )
    table = orders(importance, places, draws=2, seed=1)
    chosen = choices(table, case.model, case.split, case.task, rows, tolerance=10)
    PRUNING_CHOICES.write(chosen, tmp_path / "choices.csv")
    assert len(chosen) == len(CHOOSING) * len(case.task.metrics)
    batch = case.split.batch(rows)
    del batch["labels"]
    with torch.no_grad():
        intact = case.model(**batch).logits.numpy()
    for row in chosen[chosen["order"].isin(("leave-one-out loss", "greedy"))].to_dict("records"):
        order = table[table["order"] == row["order"]].sort_values("rank")[["layer", "head"]]
        expected = 0
        for count in pruning_counts(len(places))[:-1]:  # without any head, some are constant
            heads = order[:count].groupby("layer")["head"].agg(list).to_dict()
            with torch.no_grad(), disable(case.model, heads, "zero"):
                found = (intact, case.model(**batch).logits.numpy())
            before, after = (compute(case.task, each, case.split.labels) for each in found)
            if 100 * (after[row["metric"]] - before[row["metric"]]) < -10 - 1e-9:
                break
            expected = count
        assert row["removed"] in (expected, len(places))
        assert expected == pruning_counts(len(places))[-2] or row["removed"] == expected
    none = choices(table, case.model, case.split, case.task, [], tolerance=10)
    assert set(none["removed"]) == {0}


@pytest.mark.parametrize("total", [1, 2, 4, 9, 10, 36, 72, 144])
def test_heads_are_removed_in_tenths_and_then_one_by_one(total):
    counts = pruning_counts(total)
    assert counts == sorted(set(counts))
    assert counts[-1] == total
    assert counts[0] >= 1
    tenths = {round(total * tenth / 10) for tenth in range(1, 10)} - {0}
    assert tenths <= set(counts)
    last = [count for count in counts if count > round(0.9 * total)]
    assert last == list(range(round(0.9 * total) + 1, total + 1))
