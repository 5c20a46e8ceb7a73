"""The search for a subnetwork, against a plain loop that removes parts by their weights."""

import copy
import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoModelForSequenceClassification

from darksecrets.beyond.importance.declared import HEADS, MLPS
from darksecrets.beyond.subnetworks import declared as t
from darksecrets.beyond.subnetworks.measure import search as searching
from darksecrets.beyond.subnetworks.measure.parts import Parts
from darksecrets.beyond.subnetworks.measure.running import predicted, subnetworks
from darksecrets.beyond.subnetworks.measure.statistics import subnetwork_scores
from darksecrets.beyond.subnetworks.shown import excess_over_random
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.metrics import METRICS
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.hooks import Call, Intervention, intervene, shape_of
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.selectors import Shape
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

EXAMPLES = 20
ROWS = searching.Examples(range(8), range(8, EXAMPLES))
RNG = np.random.default_rng(1)


@dataclass(frozen=True)
class Gate(Intervention):
    """Constant factors of heads, [layer, head], and of MLPs."""

    heads: np.ndarray
    mlps: np.ndarray

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:
        return outputs * torch.from_numpy(self.heads[call.layer - 1])[:, None, None]

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        return output * self.mlps[layer - 1]


@dataclass(frozen=True)
class Case:
    """A model in double precision with examples of different lengths."""

    model: torch.nn.Module
    split: EncodedSplit
    task: Task

    def logits(self, model: torch.nn.Module, row: int) -> torch.Tensor:
        """Of one example alone."""
        batch = self.split.batch([row])
        del batch["labels"]
        return model(**batch).logits

    def loss(self, row: int) -> float:
        label = torch.from_numpy(self.split.labels[[row]])
        logits = self.logits(self.model, row)
        if self.task.is_regression:
            return ((logits[:, 0] - label) ** 2).item()
        return torch.nn.functional.cross_entropy(logits, label).item()


def examples(task: Task, padding: int, seed: int = 1) -> EncodedSplit:
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *rng.integers(4, 9, EXAMPLES)])
    inputs = {"input_ids": rng.integers(4, 7, starts[-1]).astype(np.int32)}
    labels = rng.integers(0, 2, EXAMPLES)
    if task.is_regression:
        labels = rng.normal(size=EXAMPLES).astype(np.float32)
    return EncodedSplit(np.arange(EXAMPLES), labels, starts, inputs, {"input_ids": padding})


CASES = [("bert", "RTE"), ("roberta", "STS-B"), ("distilbert", "MNLI")]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request, tmp_path_factory) -> Case:
    """The model's own predictions are most of the labels, so that there is a score to lose."""
    family, name = request.param
    task = TASKS[name]
    folder = save_classifier(tmp_path_factory.mktemp(family) / "model", family, task)
    model, _ = load_classifier(folder, task, 1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.5 if weight.dim() == 2 else 1)
    model = model.double().eval()
    split = examples(task, model.config.pad_token_id)
    found = Case(model, split, task)
    with torch.no_grad():
        outputs = torch.cat([found.logits(model, row) for row in range(EXAMPLES)])
        outputs = outputs - outputs.mean(dim=0)
    own = outputs[:, 0].numpy() if task.is_regression else outputs.argmax(dim=1).numpy()
    noise = np.random.default_rng(2).random(EXAMPLES) < 0.1
    labels = np.where(noise, split.labels, own).astype(split.labels.dtype)
    return Case(
        model, EncodedSplit(split.idx, labels, split.starts, split.inputs, split.padding), task
    )


def without(case: Case, parts: Parts) -> torch.nn.Module:
    """The model with all other parts removed, by their weights."""
    model = copy.deepcopy(case.model)
    encoder = model.base_model
    family = case.model.config.model_type
    layers = encoder.transformer.layer if family == "distilbert" else encoder.encoder.layer
    size = 32 // parts.heads.shape[1]
    with torch.no_grad():
        for number, layer in enumerate(layers):
            output = (
                layer.attention.out_lin if family == "distilbert" else layer.attention.output.dense
            )
            down = layer.ffn.lin2 if family == "distilbert" else layer.output.dense
            for head in np.flatnonzero(~parts.heads[number]).tolist():
                output.weight[:, head * size : (head + 1) * size] = 0
            if not parts.mlps[number]:
                down.weight.zero_()
                down.bias.zero_()
    return model


def some(case: Case, seed: int) -> Parts:
    rng, shape = np.random.default_rng(seed), shape_of(case.model)
    return Parts(rng.random((shape.layers, shape.heads)) < 0.6, rng.random(shape.layers) < 0.6)


@pytest.mark.parametrize("seed", range(4))
def test_a_subnetwork_is_the_model_whose_other_weights_are_0(case, seed):
    parts = some(case, seed)
    expected = without(case, parts)
    with torch.no_grad():
        for row in (0, 5):
            removal = parts.removal()
            assert removal is not None
            with intervene(case.model, removal):
                found = case.logits(case.model, row)
            assert torch.allclose(found, case.logits(expected, row), rtol=0, atol=1e-10)


def test_all_parts_need_no_removal(case):
    assert Parts.every(shape_of(case.model)).removal() is None


def test_importance_is_the_mean_absolute_slope_of_every_example(case):
    """Against central differences of gates, of each example alone, within a subnetwork."""
    parts, step = some(case, 1), 1e-5
    rows = ROWS.measuring[:4]
    found = searching.importance(case.model, case.split, case.task, rows, parts)
    layers, heads = parts.heads.shape
    for place in [*np.ndindex(layers, heads), *((layer,) for layer in range(layers))]:
        slopes = []
        for row in rows:
            ends = []
            for sign in (1, -1):
                gates = parts.heads.astype(float), parts.mlps.astype(float)
                gates[len(place) == 1][place] += sign * step
                with torch.no_grad(), intervene(case.model, Gate(*gates)):
                    ends.append(case.loss(row))
            slopes.append(abs(ends[0] - ends[1]) / (2 * step))
        expected = np.mean(slopes)
        assert found[len(place) == 1][place] == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_the_search_is_that_of_a_plain_loop(case):
    share = 0.8
    found = searching.search(case.model, case.split, case.task, ROWS, share, RNG)
    metric = METRICS[case.task.metrics[0]]

    def score(parts: Parts) -> float:
        model = without(case, parts)
        with torch.no_grad():
            outputs = torch.cat([case.logits(model, row) for row in ROWS.deciding]).numpy()
        own = outputs[:, 0] if case.task.is_regression else outputs.argmax(axis=1)
        return metric.plain(own, case.split.labels[list(ROWS.deciding)])

    heads = {(x, y) for x, y in np.ndindex(*found.good.heads.shape)}
    mlps, total = set(range(len(found.good.mlps))), len(heads)
    shape, removed, scores = found.good.heads.shape, {}, []

    def flags(some_heads: set, some_mlps: set) -> Parts:
        parts = Parts(np.zeros(shape, bool), np.zeros(shape[0], bool))
        for place in some_heads:
            parts.heads[place] = True
        parts.mlps[sorted(some_mlps)] = True
        return parts

    scores.append(score(flags(heads, mlps)))
    for tenths, of_mlps in ((0.1, 1), (0.05, 0), (0, 1)):
        count = max(1, round(tenths * total)) if tenths else 0
        while not (count and len(heads) == 1) and not (of_mlps and len(mlps) == 1):
            of = searching.importance(
                case.model, case.split, case.task, ROWS.measuring, flags(heads, mlps)
            )
            gone = set(sorted(heads, key=lambda place: of[0][place])[: min(count, len(heads) - 1)])
            off = set(sorted(mlps, key=lambda layer: of[1][layer])[:of_mlps])
            reached = score(flags(heads - gone, mlps - off))
            if reached < share * scores[0]:
                break
            removed |= dict.fromkeys([*gone, *off], len(scores))
            scores.append(reached)
            heads, mlps = heads - gone, mlps - off
    assert found.scores == pytest.approx(scores, abs=1e-9)
    expected = flags(heads, mlps)
    assert (found.good.heads == expected.heads).all()
    assert (found.good.mlps == expected.mlps).all()
    for place in np.ndindex(shape):
        assert found.heads[place] == removed.get(place, 0)
    assert found.mlps.tolist() == [removed.get(layer, 0) for layer in range(shape[0])]
    assert len(scores) > 1, "something can be removed"


def test_models_that_need_no_part_agree_on_none_that_they_keep(case):
    """Two seeds whose gates have no slope and whose scores never fall: what is left is chance."""
    model = copy.deepcopy(case.model)
    with torch.no_grad():
        for weight in model.classifier.parameters():
            weight.zero_()
    kept = [
        searching.search(model, case.split, case.task, ROWS, 1.0, np.random.default_rng(seed)).good
        for seed in range(8)
    ]
    assert {parts.size for parts in kept} == {(1, 1)}
    assert len({tuple(np.argwhere(parts.heads)[0]) for parts in kept}) > 3
    assert len({int(parts.mlps.argmax()) for parts in kept}) > 1


def found_with(heads: list[list[int]], mlps: list[int]) -> searching.SearchResult:
    steps = np.array(heads), np.array(mlps)
    return searching.SearchResult(Parts(steps[0] == 0, steps[1] == 0), *steps, scores=[1.0])


def test_a_share_that_nothing_smaller_reaches_keeps_the_whole_model(case, tmp_path):
    """Then the rest, which is bad, is empty; all are predicted and scored, and say so."""
    found = searching.search(case.model, case.split, case.task, ROWS, np.inf, RNG)
    assert found.good.size == Parts.every(shape_of(case.model)).size
    assert found.bad().size == (0, 0)
    table = subnetworks(case.model, found, draws=2, seed=1)
    result = predicted(copy.deepcopy(case.model), case.split, case.task, table)
    whole, good, _, *drawn = result.predictions[:5]
    assert (good == whole).all()
    assert all((each == whole).all() for each in drawn), "there is but one of this size"
    options = {"trained": t.AS_IT_IS, "resamples": 50, "seed": 1}
    scores = subnetwork_scores(result, table, case.task, **options)
    identified = identify(scores, case.task.name, "finetuned/seed-1")
    t.SUBNETWORK_SCORES.write(identified, tmp_path / "scores.csv")
    sizes = scores.groupby("subnetwork")[["heads", "mlps", "same_size"]].first()
    assert sizes.loc[t.BAD].tolist() == [0, 0, False]
    assert sizes.loc[t.GOOD, "same_size"]
    kept = excess_over_random(identified)
    assert set(kept["subnetwork"]) == {t.GOOD}, "claims leave out what is of another size"
    assert (kept["low"] <= 0).all(), "and the whole model is no better than itself"


@pytest.mark.parametrize("layer", [0, 1])
def test_a_layer_without_heads_is_that_of_removed_weights(case, layer):
    every = Parts.every(shape_of(case.model))
    heads = every.heads.copy()
    heads[layer] = False
    parts = Parts(heads, every.mlps)
    rows = list(range(EXAMPLES))
    (found,) = searching.predictions(case.model, case.split, case.task, rows, [parts.removal()])
    with torch.no_grad():
        small = without(case, parts)
        logits = torch.cat([case.logits(small, row) for row in rows]).numpy()
    own = logits[:, 0] if case.task.is_regression else logits.argmax(axis=1)
    assert found == pytest.approx(own, abs=1e-6)


def test_a_bad_subnetwork_is_what_was_removed_first():
    found = found_with([[1, 0, 3], [0, 1, 2]], [2, 0])
    bad = found.bad()
    assert bad.heads.tolist() == [[True, False, False], [False, True, False]]
    assert bad.mlps.tolist() == [True, False]
    assert bad.size == found.good.size


def test_a_rest_that_is_too_small_is_bad_as_a_whole():
    found = found_with([[1, 0, 0], [0, 0, 0]], [0, 0])
    bad = found.bad()
    assert bad.size == (1, 0)
    assert bad.heads[0, 0]
    assert found_with([[0, 0]], [0]).bad().size == (0, 0), "nothing could be removed"


def test_random_subnetworks_have_exactly_the_size_and_differ():
    rng, shape = np.random.default_rng(1), Shape(4, 6)
    drawn = [Parts.drawn(shape, (7, 2), rng) for _ in range(2000)]
    assert {parts.size for parts in drawn} == {(7, 2)}
    assert np.mean([parts.heads for parts in drawn], axis=0) == pytest.approx(7 / 24, abs=0.04)
    assert np.mean([parts.mlps for parts in drawn], axis=0) == pytest.approx(2 / 4, abs=0.04)


def test_the_table_has_every_part_of_every_subnetwork(case, tmp_path):
    found = searching.search(case.model, case.split, case.task, ROWS, 0.9, RNG)
    table = subnetworks(case.model, found, draws=3, seed=5)
    file = tmp_path / "subnetworks.csv"
    t.SUBNETWORKS.write(identify(table, case.task.name, "finetuned/seed-1"), file)
    table = t.SUBNETWORKS.read(file)
    assert len(table) == 5 * (8 + 2)
    for name, expected in ((t.GOOD, found.good), (t.BAD, found.bad())):
        again = Parts.from_table(table[table["subnetwork"] == name])
        assert (again.heads == expected.heads).all()
        assert (again.mlps == expected.mlps).all()
    good = table[table["subnetwork"] == t.GOOD]
    assert (good["step"].isna() == good["kept"]).all()
    assert table.loc[table["subnetwork"] == t.RANDOM, "step"].isna().all()
    one = table[(table["subnetwork"] == t.RANDOM) & (table["draw"] == 3)]
    assert one.loc[one["part"] == HEADS, "kept"].sum() == found.good.size[0]
    heads, mlps = (one[one["part"] == part] for part in (HEADS, MLPS))
    places = itertools.product((1, 2), (1, 2, 3, 4))
    assert [*zip(heads["layer"], heads["head"], strict=True)] == [*places]
    assert mlps["layer"].tolist() == [1, 2]
    # 32 × 32 weights in each of four maps, for four heads; 32 × 64 in each of two.
    assert set(zip(one["part"], one["weights"], strict=True)) == {("head", 1024), ("MLP", 4096)}


def test_predictions_are_those_of_models_that_are_run(case):
    found = searching.search(case.model, case.split, case.task, ROWS, 0.9, RNG)
    table = subnetworks(case.model, found, draws=2, seed=5)
    model = copy.deepcopy(case.model)
    result = predicted(model, case.split, case.task, table)
    names = ["whole", "good 1", "bad 1", "random 1", "random 2"]
    assert result.sets["name"].tolist() == names
    parts = {"whole": Parts.every(shape_of(model)), "good 1": found.good, "bad 1": found.bad()}
    with torch.no_grad():
        for name, each in parts.items():
            small = without(case, each)
            logits = torch.cat([case.logits(small, row) for row in range(EXAMPLES)]).numpy()
            own = logits[:, 0] if case.task.is_regression else logits.argmax(axis=1)
            row = result.predictions[names.index(name)]
            assert row == pytest.approx(own, abs=1e-6)


@pytest.mark.parametrize("family", ["ALBERT", "ModernBERT", "ELECTRA"])
def test_families_of_encoders_are_searched(family, tmp_path):
    """ALBERT's layers share weights, but have gates of their own."""
    folder = FAMILIES[family].save(tmp_path / "model")
    task = TASKS["RTE"]
    model = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=2).eval()
    split = examples(task, model.config.pad_token_id)
    found = searching.search(model, split, task, ROWS, 0.8, RNG)
    table = subnetworks(model, found, draws=2, seed=1)
    result = predicted(model, split, task, table)
    assert len(result.sets) == 1 + 4
    assert len(table) == 4 * (3 * 4 + 3)


def test_a_loss_that_is_not_finite_is_named(case):
    broken = copy.deepcopy(case.model)
    with torch.no_grad():
        broken.classifier.register_forward_hook(lambda *given: given[2] * torch.nan)
    with pytest.raises(InputError, match="not finite"):
        searching.search(broken, case.split, case.task, ROWS, 0.9, RNG)


def test_accuracy_decides_where_a_task_has_it():
    named = {name: searching.deciding_metric(TASKS[name]) for name in ("MRPC", "RTE", "STS-B")}
    assert named == {"MRPC": "accuracy", "RTE": "accuracy", "STS-B": "pearson"}


def test_examples_that_measure_do_not_decide():
    halves = searching.Examples.of([4, 9, 2, 7, 5])
    assert list(halves.measuring) == [4, 9]
    assert list(halves.deciding) == [2, 7, 5]
    assert (
        list(searching.Examples.of([3]).measuring)
        == list(searching.Examples.of([3]).deciding)
        == [3]
    )


def test_predictions_keep_the_order_of_the_rows(case):
    rows = [5, 0, 17, 3]
    (found,) = searching.predictions(case.model, case.split, case.task, rows, [None])
    (every,) = searching.predictions(case.model, case.split, case.task, range(EXAMPLES), [None])
    assert found == pytest.approx(every[rows])
