"""Exchanged weights: against models put together by hand, one example at a time."""

import copy
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from darksecrets.data.batches import EncodedSplit
from darksecrets.data.tasks import Task
from darksecrets.finetuning.evaluation import evaluate
from darksecrets.landscape import running
from darksecrets.landscape.finetuned import sample
from darksecrets.landscape.preflight import check_points
from darksecrets.landscape.resetting import outputs_of, with_stored
from darksecrets.landscape.results import Reset
from darksecrets.landscape.running import Loop, Shared, heads_of, run
from darksecrets.landscape.swaps import Swap, interpolated, interpolations, swaps
from darksecrets.models.hooks import shape_of
from darksecrets.models.layers import is_known
from darksecrets.models.loading import load_classifier
from darksecrets.models.mixing import Mixture, require_separable, whole
from darksecrets.run.errors import InputError

LENGTHS = (7, 4, 9, 4, 6, 7, 5, 4)
LAYERS, HEADS, SIZE = 2, 4, 8
POINTS = (0.0, 0.3, 1.0)

ATTENTION = {
    "bert": r"layer\.{}\.attention\.",
    "roberta": r"layer\.{}\.attention\.",
    "distilbert": r"layer\.{}\.(attention|sa_layer_norm)\.",
}
EMBEDDINGS = r"\.embeddings\."
INPUTS = r"\.(query|key|value|q_lin|k_lin|v_lin)\.(weight|bias)$"
OUTPUT = r"\.attention\.(output\.dense|out_lin)\.weight$"


@dataclass(frozen=True)
class Case:
    """A model before and after a fine-tuning, with examples."""

    family: str
    start: PreTrainedModel
    end: PreTrainedModel
    split: EncodedSplit
    task: Task

    def mixture(self) -> Mixture:
        return Mixture(self.start, self.end)

    def merged(self, *patterns: str) -> PreTrainedModel:
        """The fine-tuned model with all parameters reset whose names match."""
        states = self.start.state_dict(), self.end.state_dict()
        model = copy.deepcopy(self.end)
        model.load_state_dict(
            {
                name: states[0 if any(re.search(p, name) for p in patterns) else 1][name]
                for name in states[1]
            }
        )
        return model

    def layer(self, number: int) -> str:
        return rf"\.layer\.{number - 1}\."

    def alone(self, model: PreTrainedModel) -> np.ndarray:
        """[examples, outputs] of every example by itself, in double precision."""
        exact = copy.deepcopy(model).double()
        found = []
        for row in range(len(self.split)):
            batch = self.split.batch([row])
            del batch["labels"]
            with torch.no_grad():
                found.append(exact(**batch).logits[0].numpy())
        return np.array(found)


def moved(model: PreTrainedModel, seed: int, size: float = 0.15) -> PreTrainedModel:
    """A copy with noise on all parameters."""
    generator, other = torch.Generator().manual_seed(seed), copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(size * torch.randn(parameter.shape, generator=generator))
    return other


def examples(task: Task, padding: int, seed: int = 1) -> EncodedSplit:
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *LENGTHS])
    inputs = {"input_ids": rng.integers(4, 7, starts[-1]).astype(np.int32)}
    labels = np.arange(len(LENGTHS)) % 2
    if task.is_regression:
        labels = rng.normal(size=len(LENGTHS)).astype(np.float32)
    return EncodedSplit(np.arange(len(LENGTHS)), labels, starts, inputs, {"input_ids": padding})


CASES = [("bert", "RTE"), ("roberta", "STS-B"), ("distilbert", "MNLI")]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request, tmp_path_factory) -> Case:
    family, name = request.param
    task = TASKS[name]
    start, _ = load_classifier(
        save_classifier(tmp_path_factory.mktemp(family) / "model", family, task), task, 1
    )
    split = examples(task, start.config.pad_token_id)
    return Case(family, start, moved(start, 3), split, task)


def one(kind: str, first: int, last: int, direction: str = "reset") -> Swap:
    (found,) = (
        swap
        for swap in swaps(LAYERS)
        if (swap.direction, swap.kind, swap.first, swap.last) == (direction, kind, first, last)
    )
    return found


def test_there_is_every_exchange_once():
    found = swaps(12)
    assert len(set(found)) == len(found)
    of = {
        direction: [(s.kind, s.first, s.last) for s in found if s.direction == direction]
        for direction in ("reset", "transferred")
    }
    assert of["reset"].count(("up to", 0, 12)) == of["reset"].count(("from", 1, 12)) == 1
    assert [s for s in of["reset"] if s[0] == "third"] == [
        ("third", 1, 4),
        ("third", 5, 8),
        ("third", 9, 12),
    ]
    assert {s for s in of["reset"] if s[0] == "layer"} == {("layer", n, n) for n in range(1, 13)}
    assert ("mlp", 3, 3) in of["reset"]
    assert ("mlp", 1, 12) in of["transferred"]
    assert not [s for s in swaps(2) if s.kind == "third"]
    assert len({s.mix(1) for s in swaps(1)}) > 4, "an encoder of one layer"


def test_all_reset_is_the_pretrained_encoder_with_the_finetuned_classifier(case):
    """Bit for bit, and so is none reset; the pooler belongs to the classifier."""
    mixture = case.mixture()
    mixture.apply(one("layer", 1, 1).mix(LAYERS))
    classifier = r"^(classifier|pre_classifier)|\.pooler\."
    for mix, expected in (
        (one("up to", 0, LAYERS).mix(LAYERS), case.merged(rf"^(?!.*({classifier})).*$")),
        (whole(LAYERS, 1.0), case.end),
        (whole(LAYERS, 0.0, 0.0), case.start),
    ):
        mixture.apply(mix)
        found, wanted = mixture.model.state_dict(), expected.state_dict()
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert not np.array_equal(evaluate(case.end, case.split), evaluate(case.start, case.split))


def test_every_exchange_gives_the_outputs_of_a_model_put_together_by_hand(case):
    """Of every example by itself, in double precision."""
    attention = [ATTENTION[case.family].format(n) for n in range(LAYERS)]
    mlp = [rf"layer\.{n}\.(?!attention\.|sa_layer_norm\.)" for n in range(LAYERS)]
    patterns = {
        ("embeddings", 0, 0): [EMBEDDINGS],
        ("up to", 0, 1): [EMBEDDINGS, case.layer(1)],
        ("from", 2, 2): [case.layer(2)],
        ("from", 1, 2): [case.layer(1), case.layer(2)],
        ("layer", 1, 1): [case.layer(1)],
        ("attention", 1, 2): attention,
        ("attention", 2, 2): attention[1:],
        ("mlp", 1, 2): mlp,
        ("mlp", 1, 1): mlp[:1],
    }
    found = run(case.mixture(), case.split, [one(*key).mix(LAYERS) for key in patterns])
    for (key, names), outputs in zip(patterns.items(), found, strict=True):
        expected = case.alone(case.merged(*names))
        assert outputs == pytest.approx(expected, rel=1e-4, abs=1e-4), key
    assert len({outputs.tobytes() for outputs in found}) == len(patterns)


def test_transfer_is_resetting_the_rest(case):
    found = run(case.mixture(), case.split, [one("layer", 1, 1, "transferred").mix(LAYERS)])
    assert found[0] == pytest.approx(
        case.alone(case.merged(EMBEDDINGS, case.layer(2))), rel=1e-4, abs=1e-4
    )


def test_a_reset_head_has_its_own_slices_and_no_others(case):
    heads = heads_of(case.end)
    assert heads == [(layer, head) for layer in (1, 2) for head in (1, 2, 3, 4)]
    found = run(case.mixture(), case.split, [], heads)
    starts = case.start.state_dict()
    for (layer, head), outputs in zip(heads, found, strict=True):
        model, own = copy.deepcopy(case.end), slice((head - 1) * SIZE, head * SIZE)
        for name, weight in model.state_dict().items():
            if re.search(case.layer(layer), name) and re.search(INPUTS, name):
                weight[own] = starts[name][own]
            elif re.search(case.layer(layer), name) and re.search(OUTPUT, name):
                weight[:, own] = starts[name][:, own]
        assert outputs == pytest.approx(case.alone(model), rel=1e-4, abs=1e-4)
    assert len({outputs.tobytes() for outputs in found}) == len(heads)


def test_both_ways_to_run_agree(case):
    mixes, heads = [swap.mix(LAYERS) for swap in swaps(LAYERS)], heads_of(case.end)
    assert is_known(case.end) == (case.family != "distilbert")
    backends = [Loop, *([Shared] if is_known(case.end) else [])]
    outputs = [run(case.mixture(), case.split, mixes, heads)]
    with torch.inference_mode():
        for backend in backends:
            made = backend(case.mixture(), case.split, mixes, heads)
            outputs.append(made.block(list(range(len(case.split)))).numpy())
    for other in outputs[1:]:
        assert outputs[0] == pytest.approx(other, rel=1e-4, abs=1e-4)


def test_no_output_depends_on_threads(case, monkeypatch):
    """Threads that work on blocks of their own share the model whose weights are mixed.

    A model that runs as it is differs by rounding.
    """
    monkeypatch.setitem(running.BLOCK, "cpu", 1)
    mixes = [swap.mix(LAYERS) for swap in swaps(LAYERS)]
    mixes += [interpolated(*of, 0.3, LAYERS) for of in interpolations(LAYERS)]
    mixture, heads, threads = case.mixture(), heads_of(case.end), torch.get_num_threads()
    found = []
    try:
        for number in (1, 4, 4, 4):
            torch.set_num_threads(number)
            found.append(run(mixture, case.split, mixes, heads))
    finally:
        torch.set_num_threads(threads)
    tolerance = 0 if is_known(case.end) else 1e-4
    for other in found[1:]:
        assert other == pytest.approx(found[0], rel=tolerance, abs=tolerance)


def test_resetting_what_did_not_change_costs_exactly_nothing(case):
    """A layer, and single heads of a layer of which one head changed."""
    start, end = case.start, case.merged(case.layer(2))
    name = next(n for n in end.state_dict() if re.search(case.layer(2) + ".*" + INPUTS, n))
    with torch.no_grad():
        end.state_dict()[name][:SIZE] += 0.5
    mixture, none = Mixture(start, end), whole(LAYERS, 1.0)
    mixes = [none, one("mlp", 2, 2).mix(LAYERS), one("layer", 2, 2).mix(LAYERS)]
    found = run(mixture, case.split, mixes, [(2, 1), (2, 2), (1, 1)])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[4])
    for changed in (2, 3, 5):
        assert np.abs(found[0] - found[changed]).max() > 1e-3
    assert mixture.change([(2, 1)]) == mixture.change_of_head(2, 2) == 0
    assert mixture.change_of_head(2, 1) > 0


def test_changes_are_relative_distances(case):
    mixture = case.mixture()
    both = (case.start.state_dict(), case.end.state_dict())
    names = [n for n in both[0] if re.search(ATTENTION[case.family].format(1), n)]
    start, end = (np.concatenate([of[n].double().numpy().ravel() for n in names]) for of in both)
    expected = np.linalg.norm(end - start) / np.linalg.norm(start)
    assert mixture.change([(2, 0)]) == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def outputs(case: Case) -> Reset:
    train = sample(examples(case.task, case.start.config.pad_token_id, seed=2), 5, 7)
    return outputs_of(case.mixture(), case.split, train, case.task, POINTS)


def test_interpolations_end_at_the_models(case, outputs):
    """Their weights do bit for bit; on small matrices, PyTorch rounds differently by address."""
    train = sample(examples(case.task, case.start.config.pad_token_id, seed=2), 5, 7)
    parts = interpolations(LAYERS)
    for found, split in ((outputs.validation, case.split), (outputs.train, train)):
        assert found.shape[:2] == (len(parts), len(POINTS))
        ends = [(("model", 0), 0, case.start), *((part, -1, case.end) for part in parts)]
        for part, point, model in ends:
            expected = evaluate(model, split)
            place = parts.index(part)
            assert found[place, point] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_with_nothing_reset_outputs_are_those_stored(case, outputs):
    """Bit for bit, although they were computed in other batches."""
    nudged = outputs.finetuned * np.float32(1 + 1e-6)
    assert not np.array_equal(nudged, outputs.finetuned)
    found, rounding = with_stored(outputs, nudged, Path("stored.csv"))
    assert 0 < rounding < 1e-4
    assert np.array_equal(found.finetuned, nudged)
    assert all(np.array_equal(curve[-1], nudged) for curve in found.validation)
    whole_encoder = swaps(LAYERS).index(one("up to", 0, LAYERS, "transferred"))
    for number, (ours, before) in enumerate(zip(found.swapped, outputs.swapped, strict=True)):
        assert np.array_equal(ours, nudged if number == whole_encoder else before)
    with pytest.raises(InputError, match=r"stored.csv: found outputs that differ by .* of one run"):
        with_stored(outputs, outputs.finetuned + 1, Path("stored.csv"))


def test_between_the_ends_weights_are_mixed(case, outputs):
    patterns = {("model", 0): ".*", ("layer", 2): case.layer(2), ("embeddings", 0): EMBEDDINGS}
    start, end = case.start.state_dict(), case.end.state_dict()
    for part, pattern in patterns.items():
        model = copy.deepcopy(case.end)
        mixed = {
            name: 0.7 * start[name] + 0.3 * end[name]
            if end[name].is_floating_point() and re.search(pattern, name)
            else end[name]
            for name in end
        }
        model.load_state_dict(mixed)
        found = outputs.validation[interpolations(LAYERS).index(part), 1]
        assert found == pytest.approx(case.alone(model), rel=1e-4, abs=1e-4), part
    assert interpolated("layer", 2, 0.0, LAYERS) == one("layer", 2, 2).mix(LAYERS)


def test_outputs_are_stored_and_read_back(case, outputs, tmp_path):
    outputs.save(tmp_path / "reset")
    again = Reset.load(tmp_path / "reset")
    for name, value in vars(outputs).items():
        if name != "swaps":
            assert np.array_equal(getattr(again, name), value)
    assert again.layers == LAYERS
    assert again.heads.shape == (LAYERS, HEADS, len(LENGTHS), outputs.finetuned.shape[-1])
    numbers = [name for name in outputs.swaps if name != "weight_change"]
    assert again.swaps[numbers].equals(outputs.swaps[numbers])


def test_a_model_of_another_run_is_refused(case):
    """Other weights in the same names and shapes."""
    other = AutoModelForSequenceClassification.from_config(case.end.config)
    with pytest.raises(InputError, match="was not made from the other one"):
        Mixture(other, case.end)


def test_a_model_of_another_shape_is_refused(case):
    config = copy.deepcopy(case.end.config)
    config.vocab_size += 3
    other = AutoModelForSequenceClassification.from_config(config)
    with pytest.raises(InputError, match=r"differ in .*embeddings.*found \d+ × 32 numbers.*and"):
        Mixture(other, case.end)


def test_layers_that_share_their_weights_are_left_out():
    small = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    config = AutoConfig.for_model("albert", vocab_size=30, embedding_size=16, **small)
    config.num_hidden_layers = 3
    model = AutoModelForSequenceClassification.from_config(config)
    with pytest.raises(InputError, match="share their weights"):
        require_separable(model)
    with pytest.raises(InputError, match="cannot be reset one by one"):
        Mixture(model, model)


def test_heads_that_share_a_projection_are_left_out():
    small = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    config = AutoConfig.for_model("modernbert", vocab_size=30, num_hidden_layers=2, **small)
    config.pad_token_id = config.cls_token_id = config.sep_token_id = 0
    model = AutoModelForSequenceClassification.from_config(config)
    require_separable(model)
    assert heads_of(model) == []
    assert shape_of(model).layers == 2


@pytest.mark.parametrize("points", [(), (0.0,), (0.0, 0.5), (0.0, 0.7, 0.5, 1.0), (0.1, 1.0)])
def test_points_ascend_from_one_model_to_the_other(points):
    with pytest.raises(InputError, match="expected ascending numbers from 0"):
        check_points(points)


def test_outputs_that_are_not_finite_are_named(case):
    end = copy.deepcopy(case.end)
    with torch.no_grad():
        next(p for n, p in end.named_parameters() if re.search(case.layer(2), n))[:] = torch.inf
    with pytest.raises(InputError, match="not finite"):
        run(Mixture(case.start, end), case.split, [whole(LAYERS, 1.0)])
