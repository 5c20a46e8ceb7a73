"""Loss surfaces of trainings: their paths, and models that have learned nothing."""

import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import small_training
import torch
from glue import TASKS
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import CORNERS
from darksecrets.beyond.landscape.declared import Surface as Settings
from darksecrets.beyond.landscape.measure.finetuned import Finetuned
from darksecrets.beyond.landscape.measure.surface import Surface, spaced_shares, tables
from darksecrets.beyond.landscape.measure.surfaces import Losses, Model, measure, weights_of
from darksecrets.beyond.landscape.measure.vectors import Vectors
from darksecrets.core.data.batches import EncodedSplit, load_split
from darksecrets.core.models.loading import draw_from_normal, load_classifier, load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning.evaluation import evaluate, write_results

SEED = 3
MODEL = Finetuned(TASKS["MRPC"], "finetuned", SEED, sample=7, max_length=32)
SETTINGS = Settings(grid=5, examples=21)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with both trainings, the first of which has kept snapshots."""
    folder = tmp_path_factory.mktemp("run")
    small_training.save_inputs(folder)
    small_training.finetune(folder, folder / "finetuned", snapshots=5, epochs=2)
    small_training.finetune(folder, folder / "finetuned-from-normal", state="finetuned-from-normal")
    model, _ = load_classifier(folder / "model", MODEL.task, SEED)
    split = load_split(
        folder / "MRPC", "validation", load_tokenizer(folder / "model"), MODEL.task, 32
    )
    files = {"scores": folder / "scores.csv", "predictions": folder / "pretrained.csv"}
    write_results(evaluate(model, split), split, MODEL.task, "pretrained", SEED, **files)
    return folder


def models(run: Path) -> dict[str, Model]:
    trained = {
        name: Model(run / name / "model", run / name / "predictions.csv") for name in CORNERS[1:]
    }
    return {"pretrained": Model(run / "model", run / "pretrained.csv"), **trained}


def measured(run: Path, folder: Path, model: Finetuned = MODEL) -> Surface:
    found, _ = measure(
        models(run),
        run / "MRPC",
        model,
        SETTINGS,
        folder / "surface.npz",
        snapshots=run / "finetuned" / "snapshots",
        threads=1,
        in_precision="float32",
    )
    return found


def test_the_path_goes_from_the_pretrained_to_the_finetuned_model(run, tmp_path):
    """Its first point is the one, bit for bit, the last the other up to rounding to bfloat16."""
    surface = measured(run, tmp_path)
    path, corners = surface.path, surface.corners
    assert path.steps[0] == 0
    assert (np.diff(path.steps) > 0).all()
    assert len(path.steps) >= 4
    length = corners.distances[0, 0]
    assert np.allclose(path.shares[0], [1, 0], atol=1e-6)
    assert math.isclose(path.beside[0], 0, abs_tol=1e-4 * length)
    assert np.allclose(path.losses[:, 0], corners.losses[:, 0], rtol=1e-5)
    last = np.linalg.norm(path.distances[-1]), path.beside[-1]
    assert max(last) < length / 128
    assert np.allclose(path.losses[:, -1], corners.losses[:, 1], rtol=0.02, atol=0.01)
    assert (path.beside[1:-1] > 1e-3 * length).all(), "a training does not go straight"
    rows = tables(surface, "MRPC", SEED)["surface_points"]
    assert len(rows) == 2 * (len(CORNERS) + len(path.steps))
    assert rows["step"].notna().sum() == 2 * len(path.steps)


def test_snapshots_of_another_run_stop_before_anything_is_computed(run, tmp_path):
    with pytest.raises(InputError, match="seed 3, not 4"):
        measured(run, tmp_path, replace(MODEL, seed=4))
    other = tmp_path / "run"
    shutil.copytree(run, other)
    small_training.finetune(
        run, tmp_path / "other", state="finetuned-from-normal", snapshots=3, epochs=1
    )
    shutil.rmtree(other / "finetuned" / "snapshots")
    shutil.copytree(tmp_path / "other" / "snapshots", other / "finetuned" / "snapshots")
    with pytest.raises(InputError, match="state finetuned-from-normal, not finetuned"):
        measured(other, tmp_path)
    assert not list(tmp_path.glob("*surface.npz*")), "nothing half-written"


def below_chance(losses: Losses) -> np.ndarray:
    """[nodes] whether the interval of a training loss lies below that of the best constant."""
    labels = losses.splits["train"].labels
    shares = np.bincount(labels) / len(labels)
    chance = -float(np.sum(shares * np.log(shares)))
    found = []
    for x in spaced_shares(SETTINGS.grid):
        for y in spaced_shares(SETTINGS.grid):
            _, _, high = losses.measure(weights_of("models", x, y))[:, 0]
            found.append(high < chance)
    return np.array(found)


def learn(model: PreTrainedModel, split: EncodedSplit, steps: int = 120) -> None:
    """Train on all examples of a split at once, without dropout."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    batch = split.batch(list(range(len(split))))
    for _ in range(steps):
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()


@pytest.mark.slow
def test_models_that_have_learned_nothing_have_no_basin(run, tmp_path):
    """On planes of models with random weights, hardly a node is better than a constant.

    If one of the three is trained, its own node is.
    """
    tokenizer = load_tokenizer(run / "model")
    train = load_split(run / "MRPC", "train", tokenizer, MODEL.task, 32)
    found = []
    for seed in range(8):
        vectors = Vectors()
        for number, name in enumerate(CORNERS):
            model, _ = load_classifier(run / "model", MODEL.task, SEED)
            if name == "finetuned" and seed == 0:
                learn(model, train)
            else:
                draw_from_normal(model, 10 * seed + number, 0.1)
            vectors.keep(name, model)
        found.append(below_chance(Losses(model, vectors, {"train": train}, MODEL.task)))
    trained, *untrained = found
    assert trained.any(), "a trained model is better than a constant"
    assert np.mean(untrained) < 0.05
