"""Exchanged weights: against models put together by hand, one example at a time."""

import copy
import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel

from darksecrets.beyond.landscape.measure.resetting import outputs_of, take_stored
from darksecrets.beyond.landscape.measure.results import Reset
from darksecrets.beyond.landscape.measure.swaps import Swap, swaps
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.mixing import Mixture, require_separable
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning.evaluation import evaluate

LENGTHS = (7, 4, 9, 4, 6, 7, 5, 4)
LAYERS = 2

EMBEDDINGS = r"\.embeddings\."


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


def one(kind: str, first: int, last: int) -> Swap:
    (found,) = (each for each in swaps(LAYERS) if each == Swap(kind, first, last))
    return found


def test_there_is_every_set_once():
    found = swaps(12)
    assert len(set(found)) == len(found) == 3 * 12 + 3
    places = [(swap.kind, swap.first, swap.last) for swap in found]
    assert places.count(("up to", 0, 12)) == places.count(("from", 1, 12)) == 1
    thirds = [place for place in places if place[0] == "third"]
    assert thirds == [("third", 1, 4), ("third", 5, 8), ("third", 9, 12)]
    assert {place for place in places if place[0] == "layer"} == {
        ("layer", n, n) for n in range(1, 13)
    }
    assert not [swap for swap in swaps(2) if swap.kind == "third"]
    assert len(swaps(1)) == 3, "an encoder of one layer"


def test_all_reset_is_the_pretrained_encoder_with_the_finetuned_classifier(case):
    """Bit for bit, and so is none reset; the pooler belongs to the classifier."""
    mixture = case.mixture()
    mixture.reset(one("layer", 1, 1).components)
    classifier = r"^(classifier|pre_classifier)|\.pooler\."
    for components, expected in (
        (one("up to", 0, LAYERS).components, case.merged(rf"^(?!.*({classifier})).*$")),
        ((), case.end),
        (range(LAYERS + 2), case.start),
    ):
        mixture.reset(components)
        found, wanted = mixture.model.state_dict(), expected.state_dict()
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    assert not np.array_equal(evaluate(case.end, case.split), evaluate(case.start, case.split))


def test_every_set_gives_the_outputs_of_a_model_put_together_by_hand(case, outputs):
    """Of every example by itself, in double precision."""
    patterns = {
        ("up to", 0, 1): [EMBEDDINGS, case.layer(1)],
        ("up to", 0, 2): [EMBEDDINGS, case.layer(1), case.layer(2)],
        ("from", 1, 2): [case.layer(1), case.layer(2)],
        ("layer", 1, 1): [case.layer(1)],
        ("layer", 2, 2): [case.layer(2)],
    }
    places = {(swap.kind, swap.first, swap.last): k for k, swap in enumerate(swaps(LAYERS))}
    for key, names in patterns.items():
        expected = case.alone(case.merged(*names))
        assert outputs.swapped[places[key]] == pytest.approx(expected, rel=1e-4, abs=1e-4), key
    assert outputs.finetuned == pytest.approx(case.alone(case.end), rel=1e-4, abs=1e-4)
    assert len({of.tobytes() for of in outputs.swapped}) == len(patterns), "layer 2 is also a from"


def test_resetting_what_did_not_change_costs_exactly_nothing(case):
    """Here, the second layer."""
    end = case.merged(case.layer(2))
    found = outputs_of(Mixture(case.start, end), case.split, case.task)
    swaps_and_outputs = zip(found.swaps.itertuples(), found.swapped, strict=True)
    for swap, outputs in swaps_and_outputs:
        unchanged = swap.first_layer == 2
        assert np.array_equal(outputs, found.finetuned) == unchanged
        if not unchanged:
            assert np.abs(outputs - found.finetuned).max() > 1e-3


def test_changes_are_relative_distances(case):
    mixture = case.mixture()
    both = (case.start.state_dict(), case.end.state_dict())
    names = [name for name in both[0] if re.search(case.layer(2), name)]
    start, end = (np.concatenate([of[n].double().numpy().ravel() for n in names]) for of in both)
    expected = np.linalg.norm(end - start) / np.linalg.norm(start)
    assert mixture.change([2]) == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def outputs(case: Case) -> Reset:
    return outputs_of(case.mixture(), case.split, case.task)


def test_with_nothing_reset_outputs_are_those_stored(case, outputs):
    """Bit for bit, although they were computed in other batches."""
    nudged = outputs.finetuned * np.float32(1 + 1e-6)
    assert not np.array_equal(nudged, outputs.finetuned)
    found, rounding = take_stored(outputs, nudged, Path("stored.csv"))
    assert 0 < rounding < 1e-4
    assert np.array_equal(found.finetuned, nudged)
    assert np.array_equal(found.swapped, outputs.swapped), "every set changes something"
    same = dataclasses.replace(outputs, swapped=np.stack([outputs.finetuned] * 2))
    assert np.array_equal(take_stored(same, nudged, Path("x"))[0].swapped, [nudged] * 2)
    with pytest.raises(InputError, match=r"stored.csv: the stored outputs differ .* of one run"):
        take_stored(outputs, outputs.finetuned + 1, Path("stored.csv"))


def test_outputs_are_stored_and_read_back(case, outputs, tmp_path):
    outputs.save(tmp_path / "reset")
    again = Reset.load(tmp_path / "reset")
    for name, value in vars(outputs).items():
        if name != "swaps":
            assert np.array_equal(getattr(again, name), value)
    numbers = list(outputs.swaps)
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
    with pytest.raises(InputError, match=r"differ in .*embeddings.*: \d+ × 32 numbers.*and"):
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


def test_outputs_that_are_not_finite_are_named(case):
    end = copy.deepcopy(case.end)
    with torch.no_grad():
        next(p for n, p in end.named_parameters() if re.search(case.layer(2), n))[:] = torch.inf
    with pytest.raises(InputError, match="not finite"):
        outputs_of(Mixture(case.start, end), case.split, case.task)
