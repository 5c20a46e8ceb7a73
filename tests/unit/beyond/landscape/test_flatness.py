"""Flatness of models: against plain loops and closed forms, random weights, rescaled weights."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from claim_tables import OPEN, RUN, decide
from glue import TASKS
from made_up_models import made_flatness
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss, mean_squared_error
from tiny_models import save_classifier
from toy_data import save_dataset
from transformers import PreTrainedModel

from darksecrets.beyond.landscape import declared as t
from darksecrets.beyond.landscape.declared import Flatness
from darksecrets.beyond.landscape.measure import flatness
from darksecrets.beyond.landscape.measure.directions import encoder_parameters, filter_normalised
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.flatness import RADIUS, constant_loss, flatness_of
from darksecrets.beyond.landscape.measure.statistics import learned
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

TASK = TASKS["RTE"]
LENGTHS = (7, 4, 9, 4, 6, 5)
DIRECTIONS = 3


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def model_of(state: str, seed: int) -> Finetuned:
    return Finetuned(TASK, state, seed, sample=1, max_length=16)


def split(padding: int) -> EncodedSplit:
    rng, starts = np.random.default_rng(1), np.cumsum([0, *LENGTHS])
    inputs = {"input_ids": rng.integers(4, 7, starts[-1]).astype(np.int32)}
    labels = np.arange(len(LENGTHS)) % 2
    return EncodedSplit(np.arange(len(LENGTHS)), labels, starts, inputs, {"input_ids": padding})


@pytest.fixture
def model(tmp_path) -> PreTrainedModel:
    """Untrained, with weights large enough that the loss has a shape."""
    loaded, _ = load_classifier(save_classifier(tmp_path / "model", "bert", TASK), TASK, 1)
    draw_from_normal(loaded, 1, 0.5)
    return loaded


@pytest.fixture(scope="module")
def random_models(tmp_path_factory) -> pd.DataFrame:
    """`FLATNESS` of models that nothing has been learned in, in the place of both states."""
    folder = save_classifier(tmp_path_factory.mktemp("bert") / "model", "bert", TASK)
    tables = []
    for state in t.STATES:
        for seed in (1, 2):
            loaded, _ = load_classifier(folder, TASK, seed)
            draw_from_normal(loaded, seed + 10 * t.STATES.index(state), 0.5)
            of, examples = model_of(state, seed), split(loaded.config.pad_token_id)
            found = flatness_of(loaded, examples, of, DIRECTIONS)
            assert found == flatness_of(loaded, examples, of, DIRECTIONS)
            tables.append(identify(pd.DataFrame([found]), TASK.name, of.name))
    return pd.concat(tables, ignore_index=True)[list(t.FLATNESS.names)]


def plain_loss(model: PreTrainedModel, examples: EncodedSplit) -> float:
    """Mean cross-entropy, one example at a time, in double precision."""
    total = 0.0
    for row in range(len(examples)):
        batch = examples.batch([row])
        label = int(batch.pop("labels")[0])
        with torch.no_grad():
            logits = model.train(False)(**batch).logits[0].double()
        total -= float(torch.log_softmax(logits, dim=0)[label])
    return total / len(examples)


def test_rises_are_those_of_a_plain_loop_and_the_model_is_left_as_it_was(model):
    examples = split(model.config.pad_token_id)
    before = {name: each.clone() for name, each in model.state_dict().items()}
    found = flatness.rises(
        model, examples, TASK, plain_loss(model, examples), DIRECTIONS, generator(3)
    )
    assert all(torch.equal(before[name], each) for name, each in model.state_dict().items())
    drawing, expected = generator(3), []
    for _ in range(DIRECTIONS):
        parts = {
            name: filter_normalised(each.detach(), drawing)
            for name, each in encoder_parameters(model).items()
        }
        both = []
        for sign in (1, -1):
            state = {
                name: each + sign * RADIUS * parts[name] if name in parts else each
                for name, each in before.items()
            }
            model.load_state_dict(state)
            both.append(plain_loss(model, examples))
            model.load_state_dict(before)
        expected.append(sum(both) / 2 - plain_loss(model, examples))
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_row_is_the_mean_of_its_rises_with_students_interval(random_models, tmp_path):
    loaded, _ = load_classifier(save_classifier(tmp_path / "m", "bert", TASK), TASK, 1)
    draw_from_normal(loaded, 1, 0.5)
    examples = split(loaded.config.pad_token_id)
    row = random_models.query("state == 'finetuned' and seed == 1").iloc[0]
    assert row["loss"] == pytest.approx(plain_loss(loaded, examples), rel=1e-6)
    drawing = flatness.generator_of(model_of("finetuned", 1))
    draws = flatness.rises(loaded, examples, TASK, float(row["loss"]), DIRECTIONS, drawing)
    ends = stats.t.interval(
        0.95, DIRECTIONS - 1, draws.mean(), draws.std(ddof=1) / np.sqrt(DIRECTIONS)
    )
    assert row["rise"] == pytest.approx(draws.mean(), rel=1e-5)
    assert (row["rise_low"], row["rise_high"]) == pytest.approx(ends, rel=1e-4)


def test_both_states_of_a_seed_move_in_the_same_directions():
    one, same, other = (
        flatness.generator_of(model_of(*of))
        for of in ((t.STATES[0], 1), (t.STATES[1], 1), (t.STATES[0], 2))
    )
    drawn = [torch.randn(3, generator=each) for each in (one, same, other)]
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_directions_have_filters_as_long_as_those_of_the_weights():
    weights = torch.randn(4, 3, generator=generator(1))
    found = filter_normalised(weights, generator())
    assert torch.allclose(found.norm(dim=1), weights.norm(dim=1))
    assert not filter_normalised(torch.zeros(2, 3), generator()).any()
    assert not filter_normalised(weights[0], generator()).any()


def test_rescaled_queries_and_keys_change_nothing(model):
    """Dinh et al. (2017): queries × 4 and keys / 4 compute the same."""
    examples = split(model.config.pad_token_id)
    of = model_of("finetuned", 1)
    before = flatness_of(model, examples, of, DIRECTIONS)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.mul_(4.0 if ".query." in name else 0.25 if ".key." in name else 1.0)
    after = flatness_of(model, examples, of, DIRECTIONS)
    assert before["rise"] == pytest.approx(after["rise"], rel=1e-3)


def test_a_loss_that_is_no_number_is_refused(model):
    with torch.no_grad():
        next(iter(encoder_parameters(model).values())).fill_(torch.nan)
    with pytest.raises(InputError, match=r"the loss on .* not a finite number"):
        flatness_of(model, split(model.config.pad_token_id), model_of("finetuned", 1), 2)


def test_a_stopped_job_goes_on_with_the_next_model(tmp_path, monkeypatch):
    folder = save_classifier(tmp_path / "model", "bert", TASK)
    dataset = save_dataset(tmp_path / "data", TASK, 8, 4)
    models = [(model_of("finetuned", seed), folder) for seed in (1, 2)]
    settings = Flatness(examples=6, directions=DIRECTIONS)
    whole = tmp_path / "whole.csv"
    flatness.measure(models, dataset, settings, whole, threads=1)
    calls = []

    def stopping(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return flatness_of(*given)

    monkeypatch.setattr(flatness, "flatness_of", stopping)
    output = tmp_path / "flatness.csv"
    with pytest.raises(KeyboardInterrupt):
        flatness.measure(models, dataset, settings, output, threads=1)
    assert not output.exists()
    flatness.measure(models, dataset, settings, output, threads=1)
    assert len(calls) == 3, "the first model is not measured again"
    assert output.read_bytes() == whole.read_bytes()


def test_random_weights_decide_no_claim(random_models):
    run = replace(RUN, tasks={"RTE": RUN.tasks["RTE"]}, seeds={"RTE": [1, 2]})
    found = decide("R4", {"flatness": random_models}, run)
    assert found.answer == OPEN, found


def test_the_loss_of_constant_output_is_that_of_scikit_learn():
    labels, nothing = np.array([0, 1, 1, 2, 1, 0]), np.zeros((6, 1))
    dummy = DummyClassifier(strategy="prior").fit(nothing, labels)
    expected = log_loss(labels, dummy.predict_proba(nothing))
    assert constant_loss(TASKS["MNLI"], labels) == pytest.approx(expected)
    scores = np.array([0.5, 3.0, 4.5, 1.0], dtype=np.float32)
    mean = DummyRegressor().fit(np.zeros((4, 1)), scores).predict(np.zeros((4, 1)))
    expected = mean_squared_error(scores, mean)
    assert constant_loss(TASKS["STS-B"], scores) == pytest.approx(expected)


def test_states_that_have_not_learned_are_told_by_their_loss():
    table = made_flatness(3)
    table.loc[(table["task"] == "RTE") & (table["state"] == t.STATES[1]), "loss"] = 0.68
    found = learned(table)
    assert found[~found].index.tolist() == [("RTE", t.STATES[1])]
