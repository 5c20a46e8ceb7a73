"""Gates that learn: trainings with and without them, and the comparison of the heads they keep."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.beyond.importance.declared import HEAD_GATES, LEARNED_GATES, LearnedGates
from darksecrets.beyond.importance.measure import learning
from darksecrets.beyond.importance.measure.learned import (
    Controls,
    GateResult,
    Kept,
    learn,
    learned_gates,
)
from darksecrets.beyond.importance.measure.learning import (
    GateLearner,
    HardConcrete,
    Start,
    settled,
    train_on,
)
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.interventions.disable import disable
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.run.tables import identify
from darksecrets.paper.finetuning.evaluation import evaluate
from darksecrets.paper.finetuning.training import Settings

pytestmark = pytest.mark.slow

TRAIN, VALIDATION = 48, 60
LAYERS, HEADS = 2, 4
TASK = TASKS["RTE"]
SETTINGS = Settings(epochs=3, batch_size=4, learning_rate=1e-4, precision="float32")


def split_of(model: torch.nn.Module, examples: int, seed: int) -> EncodedSplit:
    """Random words; the labels are what the model itself says."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, 9, examples)
    starts = np.cumsum([0, *lengths])
    ids = {"input_ids": rng.integers(5, 17, starts[-1]).astype(np.int32)}
    split = EncodedSplit(
        np.arange(examples), np.zeros(examples, np.int64), starts, ids, {"input_ids": 0}
    )
    labels = evaluate(model, split).argmax(axis=1)
    return dataclasses.replace(split, labels=labels)


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Start:
    """A model that needs only two of its heads, by its weights, and knows its own labels."""
    folder = save_classifier(tmp_path_factory.mktemp("model") / "bert", "bert", TASK)
    model, _ = load_classifier(folder, TASK, 1)
    size = model.config.hidden_size // HEADS
    with torch.no_grad():
        for layer, needed in zip(model.bert.encoder.layer, (1, 2), strict=True):
            weight = layer.attention.output.dense.weight
            for head in range(HEADS):
                weight[:, head * size : (head + 1) * size] *= 3.0 * (head == needed)
    model.save_pretrained(folder)
    splits = (split_of(model, TRAIN, 1), split_of(model, VALIDATION, 2))
    return Start(folder, TASK, 1, *splits, SETTINGS)


def importance(needed: np.ndarray) -> pd.DataFrame:
    layers, heads = (places.ravel() + 1 for places in np.indices(needed.shape))
    table = pd.DataFrame({"layer": layers, "head": heads, "importance": needed.ravel()})
    return table.assign(mode="zero", definition="absolute gradient")


NEEDED = importance(np.arange(LAYERS * HEADS, dtype=float).reshape(LAYERS, HEADS))


def test_without_a_penalty_there_are_no_gates_and_nothing_changes_by_itself(start, tmp_path):
    """With a learning rate of 0, logits are those of the fine-tuned model, bit for bit."""
    still = dataclasses.replace(SETTINGS, learning_rate=0.0, epochs=1)
    found = train_on(dataclasses.replace(start, settings=still), tmp_path / "a.npz")
    model, _ = load_classifier(start.model, TASK, 1, attention="eager")
    assert np.array_equal(found.logits, evaluate(model, start.validation))
    assert not found.log_a.size


def test_a_huge_penalty_closes_all_heads(start, tmp_path):
    found = train_on(start, tmp_path / "a.npz", penalty=1e3)
    assert (settled(torch.from_numpy(found.log_a)) == 0).all()
    assert found.log_a.shape == (LAYERS, HEADS)


def test_gates_close_the_heads_that_are_not_needed(start, tmp_path):
    found = train_on(start, tmp_path / "a.npz", penalty=0.02)
    gates = settled(torch.from_numpy(found.log_a)).numpy()
    needed = [(0, 1), (1, 2)]
    assert all(gates[place] > 0 for place in needed)
    others = [gates[place] for place in np.ndindex(LAYERS, HEADS) if place not in needed]
    assert np.mean(np.array(others) == 0) > 0.5


def test_a_finished_training_is_not_made_again(start, tmp_path, monkeypatch):
    brief = dataclasses.replace(start, settings=dataclasses.replace(SETTINGS, epochs=1))
    first = train_on(brief, tmp_path / "a.npz", penalty=0.1)
    again = train_on(brief, tmp_path / "b.npz", penalty=0.1)
    assert np.array_equal(first.logits, again.logits), "the seed decides"
    assert np.array_equal(first.log_a, again.log_a)
    monkeypatch.setattr(learning, "_train", lambda *_: pytest.fail("trained again"))
    assert np.array_equal(train_on(brief, tmp_path / "a.npz", penalty=0.1).logits, first.logits)


def test_gates_have_their_own_learning_rate_and_no_decay(start, tmp_path):
    model, _ = load_classifier(start.model, TASK, 1, attention="eager")
    model.add_module("gates", HardConcrete(shape_of(model)))
    settings = {**dataclasses.asdict(SETTINGS), "order_seed": 1}
    run = {**settings, "task": "RTE", "state": "finetuned", "seed": 1}
    of_run = (model, start.train, start.validation, TASK, run, tmp_path)
    groups = GateLearner(model.gates, 0.1, *of_run).create_optimizer().param_groups
    own = model.gates.log_a
    assert [any(each is own for each in group["params"]) for group in groups] == [0, 0, 1]
    assert (len(groups[-1]["params"]), groups[-1]["weight_decay"]) == (1, 0)
    assert groups[0]["lr"] == groups[1]["lr"] == SETTINGS.learning_rate
    steps = SETTINGS.epochs * TRAIN / SETTINGS.batch_size
    # With a schedule that rises and falls linearly: twice from fully open to closed.
    assert groups[-1]["lr"] * steps / 2 == pytest.approx(2 * 2 * np.log(11), rel=1e-6)


@pytest.fixture(scope="module")
def found(start: Start, tmp_path_factory: pytest.TempPathFactory) -> GateResult:
    gates = LearnedGates(penalties=(0.02, 1e3), draws=20, trained=1)
    return learn(start, Controls(NEEDED, gates, 1), tmp_path_factory.mktemp("learned"))


def test_all_sets_of_a_penalty_have_one_size(found):
    for penalty in (0.02, 1e3):
        sets = [each for each in found.kept if each.penalty == penalty]
        gates = found.gates[found.gates["penalty"] == penalty]["gate"]
        assert {each.heads for each in sets} == {(gates > 0).sum()}
        kinds = pd.Series([(each.weights, each.chosen_by) for each in sets]).value_counts()
        assert kinds.to_dict() == {
            **{("fine-tuned", name): 1 for name in ("learned", "absolute gradient")},
            **{("trained on", name): 1 for name in ("learned", "absolute gradient", "random")},
            ("fine-tuned", "random"): 20,
        }


def test_sets_are_removed_from_the_fine_tuned_model(found, start):
    model, _ = load_classifier(start.model, TASK, 1)
    gates = found.gates[found.gates["penalty"] == 0.02]
    closed = gates[gates["gate"] == 0]
    least = NEEDED.sort_values("importance")[: len(closed)]
    for name, rows in (("learned", closed), ("absolute gradient", least)):
        heads = rows.groupby("layer")["head"].agg(list).to_dict()
        (kept,) = (
            each
            for each in found.kept
            if (each.penalty, each.weights, each.chosen_by) == (0.02, "fine-tuned", name)
        )
        with disable(model, heads, "zero"):
            expected = evaluate(model, start.validation)
        assert kept.logits == pytest.approx(expected, abs=1e-4)
    assert found.intact["fine-tuned"] == pytest.approx(evaluate(model, start.validation), abs=1e-4)


def test_without_trained_controls_only_gates_are_trained(start, tmp_path):
    brief = dataclasses.replace(start, settings=dataclasses.replace(SETTINGS, epochs=1))
    gates = LearnedGates(penalties=(0.1,), draws=2, trained=0)
    learn(brief, Controls(NEEDED, gates, 1), tmp_path)
    assert {path.name for path in tmp_path.glob("*.npz")} == {"all.npz", "penalty-0.1.npz"}


def test_gates_that_know_the_model_beat_random_heads(found, start):
    table = learned_gates(
        found, start.validation.labels, start.validation.units, TASK, resamples=100, seed=1
    )
    rows = table.set_index(["penalty", "weights", "chosen_by"])
    assert rows.loc[(0.02, "fine-tuned", "learned"), "over_random_low"] > 0


def test_scores_are_those_of_loops(found, start, tmp_path):
    labels = start.validation.labels
    table = learned_gates(found, labels, np.arange(len(labels)), TASK, resamples=400, seed=1)
    LEARNED_GATES.write(identify(table, "RTE", "finetuned/seed-1"), tmp_path / "a.csv")
    HEAD_GATES.write(identify(found.gates, "RTE", "finetuned/seed-1"), tmp_path / "b.csv")
    assert len(table) == 2 * 6

    def accuracy(logits: np.ndarray) -> float:
        return 100 * sklearn.metrics.accuracy_score(labels, logits.argmax(axis=1))

    for row in table.to_dict("records"):
        place = (row["penalty"], row["weights"])
        sets = [each for each in found.kept if (each.penalty, each.weights) == place]
        chosen = [each for each in sets if each.chosen_by == row["chosen_by"]]
        own = [accuracy(each.logits) for each in chosen]
        drawn = [accuracy(each.logits) for each in sets if each.chosen_by == "random"]
        assert row["draws"] == len(own)
        assert {each.heads for each in chosen} == {row["kept"]}
        assert row["score"] == pytest.approx(np.mean(own))
        assert row["baseline"] == pytest.approx(accuracy(found.intact[row["weights"]]))
        assert row["delta"] == pytest.approx(row["score"] - row["baseline"])
        assert row["ci_low"] <= row["delta"] <= row["ci_high"]
        assert row["share"] == row["kept"] / (LAYERS * HEADS)
        if row["chosen_by"] == "random":
            assert np.isnan(row["over_random"])
        else:
            assert row["over_random"] == pytest.approx(row["score"] - np.mean(drawn))


def test_intervals_of_a_difference_are_those_of_its_standard_error():
    """Paired differences of 2,000 examples, each 0, 1 or -1; 1.96 standard errors."""
    rng, size = np.random.default_rng(1), 2000
    labels = rng.integers(0, 2, size)

    def predicted(wrong: float) -> np.ndarray:
        right = np.where(rng.random(size) < wrong, 1 - labels, labels)
        return np.eye(2, dtype=np.float32)[right]

    intact, mine = predicted(0.1), predicted(0.3)
    others = [Kept(0.1, "random", "fine-tuned", 3, predicted(0.3)) for _ in range(5)]
    kept = [Kept(0.1, "learned", "fine-tuned", 3, mine), *others]
    found = GateResult({"fine-tuned": intact, "trained on": intact}, kept, NEEDED)
    table = learned_gates(found, labels, np.arange(len(labels)), TASK, resamples=2000, seed=1)
    row = table[table["chosen_by"] == "learned"].iloc[0]
    hits = [logits.argmax(axis=1) == labels for logits in (mine, intact)]
    error = 100 * (hits[0].astype(float) - hits[1]).std() / np.sqrt(size)
    assert (row["ci_high"] - row["ci_low"]) / 2 == pytest.approx(1.96 * error, rel=0.1)
