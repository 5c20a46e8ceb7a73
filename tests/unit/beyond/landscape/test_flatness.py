"""Flatness of models: tables, means over seeds, random weights, preflight, and the figure."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from claim_tables import OPEN, RUN, decide
from encoders import FAMILIES
from glue import TASKS
from made_up_models import made_flatness
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss, mean_squared_error
from tiny_models import save_classifier
from toy_data import save_dataset

from darksecrets.beyond.landscape import declared as t
from darksecrets.beyond.landscape.declared import Flatness
from darksecrets.beyond.landscape.measure import flatness
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.flatness import (
    constant_loss,
    draws_of_trace,
    flatness_of,
    top_eigenvalue,
)
from darksecrets.beyond.landscape.measure.objective import Objective, require_second
from darksecrets.beyond.landscape.preflight import check_derivatives
from darksecrets.beyond.landscape.statistics import learned, means
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.models import checkpoints
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

TASK = TASKS["RTE"]
LENGTHS = (7, 4, 9, 4, 6, 5)


SETTINGS = Flatness(examples=6, probes=3, iterations=3, directions=3, ascent=1)


def model_of(state: str, seed: int) -> Finetuned:
    return Finetuned(TASK, state, seed, sample=1, max_length=16)


def split(padding: int) -> EncodedSplit:
    rng, starts = np.random.default_rng(1), np.cumsum([0, *LENGTHS])
    inputs = {"input_ids": rng.integers(4, 7, starts[-1]).astype(np.int32)}
    labels = np.arange(len(LENGTHS)) % 2
    return EncodedSplit(np.arange(len(LENGTHS)), labels, starts, inputs, {"input_ids": padding})


@pytest.fixture(scope="module")
def random_models(tmp_path_factory) -> pd.DataFrame:
    """`FLATNESS` of models that nothing has been learned in, in the place of both states."""
    folder = save_classifier(tmp_path_factory.mktemp("bert") / "model", "bert", TASK)
    tables = []
    for state in t.STATES:
        for seed in (1, 2):
            model, _ = load_classifier(folder, TASK, seed, attention="eager")
            draw_from_normal(model, seed + 10 * t.STATES.index(state), 0.5)
            examples = split(model.config.pad_token_id)
            table = flatness_of(model, examples, model_of(state, seed), SETTINGS).assign(
                split="train"
            )
            again = flatness_of(model, examples, model_of(state, seed), SETTINGS).assign(
                split="train"
            )
            pd.testing.assert_frame_equal(table, again)
            tables.append(identify(table, TASK.name, f"{state}/seed-{seed}"))
    return pd.concat(tables, ignore_index=True)[list(t.FLATNESS.names)]


def test_a_stopped_job_goes_on_with_the_next_model(tmp_path, monkeypatch):
    folder = save_classifier(tmp_path / "model", "bert", TASK)
    dataset = save_dataset(tmp_path / "data", TASK, 8, 4)
    models = [(model_of("finetuned", seed), folder) for seed in (1, 2)]
    whole = tmp_path / "whole.csv"
    flatness.measure(models, dataset, SETTINGS, whole, threads=1)
    calls = []

    def stopping(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return flatness_of(*given)

    monkeypatch.setattr(flatness, "flatness_of", stopping)
    output = tmp_path / "flatness.csv"
    with pytest.raises(KeyboardInterrupt):
        flatness.measure(models, dataset, SETTINGS, output, threads=1)
    assert not output.exists()
    flatness.measure(models, dataset, SETTINGS, output, threads=1)
    assert len(calls) == 3, "the first model is not measured again"
    assert output.read_bytes() == whole.read_bytes()


def test_tables_are_as_declared(random_models, tmp_path):
    t.FLATNESS.write(random_models, tmp_path / t.FLATNESS.file)
    found = t.FLATNESS.read(tmp_path / t.FLATNESS.file)
    assert len(found) == 4 * 4
    of_seeds = means(found)
    t.FLATNESS_MEANS.write(of_seeds, tmp_path / t.FLATNESS_MEANS.file)
    assert len(t.FLATNESS_MEANS.read(tmp_path / t.FLATNESS_MEANS.file)) == 3 * 4


def test_rows_are_what_their_functions_say(random_models, tmp_path):
    """The trace and the eigenvalue of one model again, from their draws."""
    model, _ = load_classifier(save_classifier(tmp_path / "m", "bert", TASK), TASK, 1, "eager")
    draw_from_normal(model, 1, 0.5)
    objective = Objective(model, split(model.config.pad_token_id), TASK)
    rows = random_models.query("state == 'finetuned' and seed == 1").set_index("measure")
    assert rows["loss"].unique() == pytest.approx([objective.value])
    slope = float(objective.gradient().double().norm())
    assert rows["gradient"].unique() == pytest.approx([slope], rel=1e-5)
    children = np.random.SeedSequence((1, 1)).spawn(5)[2:]
    drawn = [torch.Generator().manual_seed(int(each.generate_state(1)[0])) for each in children]
    top = top_eigenvalue(objective.scaled_product, objective.start, 3, drawn[1])
    draws = draws_of_trace(objective.scaled_product, objective.start, 3, drawn[0], top)
    row = rows.loc["trace"]
    assert row["value"] == pytest.approx(draws.mean(), rel=1e-5)
    half = stats.t.isf(0.025, 2) * draws.std(ddof=1) / np.sqrt(3)
    assert row["ci_high"] - row["value"] == pytest.approx(half, rel=1e-4)
    row = rows.loc["top_eigenvalue"]
    assert row["value"] == pytest.approx(top.value, rel=1e-5)
    assert row["value"] - row["ci_low"] == pytest.approx(top.residual, rel=1e-4)
    assert row["ci_high"] - row["value"] == pytest.approx(top.residual, rel=1e-4)


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


def test_means_pair_seeds_and_cover_both_errors():
    table = made_flatness(3)
    found = means(table).set_index(["task", "state", "measure"])
    one = table.query("task == 'RTE' and measure == 'trace'").pivot(
        index="seed", columns="state", values=["value", "error"]
    )
    ours, theirs = (one["value"][state] for state in t.STATES)
    row = found.loc["RTE", "difference", "trace"]
    assert row["value"] == pytest.approx((theirs - ours).mean())
    squares = (theirs - ours).var(ddof=1) / 3
    drawn = (one["error"] ** 2).to_numpy().sum() / 9
    student = stats.t.isf(0.025, 2)
    critical = (squares * student + drawn * 1.959964) / (squares + drawn)
    assert row["ci_high"] - row["value"] == pytest.approx(critical * np.sqrt(squares + drawn))
    assert found.loc["RTE", "finetuned", "trace"]["value"] == pytest.approx(ours.mean())


def test_one_seed_has_an_interval_where_the_number_has_an_error():
    found = means(made_flatness(1)).set_index(["task", "state", "measure"])
    assert np.isnan(found.loc["RTE", "finetuned", "sharpness"]["ci_low"])
    assert np.isnan(found.loc["RTE", "difference", "sharpness"]["ci_low"])
    row = found.loc["RTE", "finetuned", "trace"]
    assert row["ci_high"] == pytest.approx(row["value"] * (1 + 0.05 * 1.959964), rel=1e-6)


def test_no_interval_of_a_sharpness_has_negative_ends():
    """Values of 1 and 5 have a Student's interval from -22 to 28; a difference may be negative."""
    table = made_flatness(2)
    table["value"] = np.where(table["seed"] == 0, 1.0, 5.0)
    found = means(table).set_index(["task", "state", "measure"]).sort_index()
    half = stats.t.isf(0.025, 1) * 2
    assert found.loc["RTE", "finetuned", "sharpness"]["ci_low"] == 0
    assert found.loc["RTE", "finetuned", "trace"]["ci_low"] < 0
    assert found.loc["RTE", "finetuned", "sharpness"]["ci_high"] == pytest.approx(3 + half)
    table.loc[table["state"] == t.STATES[1], "value"] *= table["seed"] + 1
    found = means(table).set_index(["task", "state", "measure"]).sort_index()
    assert found.loc["RTE", "difference", "sharpness"]["ci_low"] < 0


def test_states_that_have_not_learned_are_told_by_their_loss():
    table = made_flatness(3)
    table.loc[(table["task"] == "RTE") & (table["state"] == t.STATES[1]), "loss"] = 0.68
    found = learned(table)
    assert found[~found].index.tolist() == [("RTE", t.STATES[1], "train")]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_of_encoders_can_be_differentiated_twice(family, tmp_path):
    folder = FAMILIES[family].save(tmp_path / family)
    require_second(checkpoints.trial_model(folder))
    check_derivatives({"model": {"source": "folder", "folder": str(folder)}})


class Once(torch.autograd.Function):
    """Doubles its input; its gradient is written by hand, and PyTorch takes it for constant."""

    @staticmethod
    def forward(_, values):
        return 2 * values

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(_, gradient):
        return 2 * gradient


def test_a_model_without_second_derivatives_stops_the_run(tmp_path, monkeypatch):
    folder = FAMILIES["BERT"].save(tmp_path / "bert")
    whole = checkpoints.trial_model

    def trial(path):
        model = whole(path)
        layer = next(m for n, m in model.named_modules() if n.endswith("intermediate"))
        layer.register_forward_hook(lambda _, __, output: Once.apply(output))
        return model

    monkeypatch.setattr(checkpoints, "trial_model", trial)
    words = r"Hessian .* wrong.*set landscape\.flatness\.tasks to \[\]"
    with pytest.raises(InputError, match=words):
        check_derivatives({"model": {"source": "folder", "folder": str(folder)}})
