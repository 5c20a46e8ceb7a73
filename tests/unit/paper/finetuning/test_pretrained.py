"""The pre-trained encoder with an untrained and a trained classifier, against plain loops."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import load_from_disk
from glue import TASKS
from scipy.stats import pearsonr
from toy_data import save_bert, save_dataset

from darksecrets.core.data.batches import load_split
from darksecrets.core.models import loading, tokenizing
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import FROZEN, PRETRAINED
from darksecrets.paper.finetuning.pretrained import (
    Settings,
    evaluate_pretrained,
)

TRAIN, VALIDATION = 39, 21
SETTINGS = Settings(epochs=2, batch_size=4, frozen_learning_rate=1e-2)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    save_bert(folder / "model")
    for name in ("MRPC", "STS-B"):
        save_dataset(folder / name, TASKS[name], TRAIN, VALIDATION)
    return folder


def evaluate(
    inputs: Path,
    folder: Path,
    task: str = "MRPC",
    seed: int = 3,
    settings: Settings = SETTINGS,
    before: tuple[int, ...] = (),
) -> dict[str, Any]:
    """What is returned of a seed, and of all; `before` are seeds that are scored before it."""
    details = evaluate_pretrained(
        inputs / "model",
        inputs / task,
        task=TASKS[task],
        seeds=[*before, seed],
        settings=settings,
        max_length=32,
        threads=1,
        scores={state: folder / "scores" / state for state in (PRETRAINED, FROZEN)},
        predictions={state: folder / state for state in (PRETRAINED, FROZEN)},
    )
    return {**details, **details["seeds"][seed]}


def predictions_of(folder: Path, state: str, seed: int = 3) -> Path:
    return folder / state / f"seed-{seed}.csv"


def logits_of(folder: Path, state: str) -> np.ndarray:
    return pd.read_csv(predictions_of(folder, state)).filter(like="logit_").to_numpy()


def plain(model: torch.nn.Module, folder: Path, data: Path, task: str, split: str) -> torch.Tensor:
    """Logits one by one, without batches and padding."""
    tokenizer = tokenizing.load_tokenizer(folder)
    rows = load_from_disk(str(data))[split]
    texts = [[row[c] for c in TASKS[task].columns] for row in rows]
    return torch.cat([model(**tokenizer(*text, return_tensors="pt")).logits for text in texts])


def test_untrained_is_the_classifier_that_finetuning_begins_with(inputs, tmp_path):
    result = evaluate(inputs, tmp_path)
    model, new = loading.load_classifier(inputs / "model", TASKS["MRPC"], seed=3)
    with torch.inference_mode():
        expected = plain(model, inputs / "model", inputs / "MRPC", "MRPC", "validation")
    np.testing.assert_allclose(logits_of(tmp_path, PRETRAINED), expected, atol=1e-6)
    assert result["new_parameters"] == new == ["classifier.bias", "classifier.weight"]
    assert result["sign"] == 1
    for state in (PRETRAINED, FROZEN):
        table = pd.read_csv(tmp_path / "scores" / state / "seed-3.csv")
        predicted = pd.read_csv(predictions_of(tmp_path, state))
        assert set(table["state"]) == set(predicted["state"]) == {state}
        expected_scores = [100 * value for value in result["scores"][state].values()]
        assert table["score"].tolist() == pytest.approx(expected_scores)


@pytest.mark.parametrize("seed", range(4))
def test_an_untrained_regression_gets_the_sign_that_fits_the_training_split(inputs, tmp_path, seed):
    result = evaluate(inputs, tmp_path, "STS-B", seed)
    (tmp_path / PRETRAINED / f"seed-{seed}.csv").rename(predictions_of(tmp_path, PRETRAINED))
    model, _ = loading.load_classifier(inputs / "model", TASKS["STS-B"], seed=seed)
    with torch.inference_mode():
        train, validation = (
            plain(model, inputs / "model", inputs / "STS-B", "STS-B", split).numpy()
            for split in ("train", "validation")
        )
    labels = load_from_disk(str(inputs / "STS-B"))["train"]["label"]
    expected = np.sign(pearsonr(train[:, 0], labels).statistic)
    assert result["sign"] == expected
    np.testing.assert_allclose(logits_of(tmp_path, PRETRAINED), expected * validation, atol=1e-6)


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_frozen_is_trained_as_a_plain_loop_over_the_whole_model(task, inputs, tmp_path):
    """The whole model runs in every step, without dropout; only the classifier is updated."""
    evaluate(inputs, tmp_path, task)
    model, _ = loading.load_classifier(inputs / "model", TASKS[task], seed=3)
    split = load_split(
        inputs / task, "train", tokenizing.load_tokenizer(inputs / "model"), TASKS[task], 32
    )
    weight, bias = (dict(model.named_parameters())[f"classifier.{n}"] for n in ("weight", "bias"))
    moments = {p: [torch.zeros_like(p), torch.zeros_like(p)] for p in (weight, bias)}
    total = 2 * math.ceil(TRAIN / 4)
    warmup, step = math.ceil(0.1 * total), 0
    for epoch in range(2):
        order = np.random.default_rng([3, epoch]).permutation(TRAIN).tolist()
        for start in range(0, TRAIN, 4):
            batch = split.batch(order[start : start + 4])
            labels = batch.pop("labels")
            logits = model(**batch).logits
            if task == "STS-B":
                loss = (logits[:, 0] - labels).square().mean()
            else:
                loss = -logits.log_softmax(-1)[range(len(logits)), labels].mean()
            gradients = torch.autograd.grad(loss, [weight, bias])
            norm = torch.cat([g.flatten() for g in gradients]).norm()
            rate = step / warmup if step < warmup else (total - step) / (total - warmup)
            step += 1
            with torch.no_grad():
                for parameter, gradient in zip((weight, bias), gradients, strict=True):
                    gradient = gradient * min(1.0, 1.0 / (norm + 1e-6))
                    first, second = moments[parameter]
                    first.mul_(0.9).add_(0.1 * gradient)
                    second.mul_(0.999).add_(0.001 * gradient**2)
                    decay = 0.01 if parameter is weight else 0.0
                    parameter.mul_(1 - 1e-2 * rate * decay)
                    moved = (first / (1 - 0.9**step)) / ((second / (1 - 0.999**step)).sqrt() + 1e-8)
                    parameter.sub_(1e-2 * rate * moved)
    with torch.inference_mode():
        expected = plain(model, inputs / "model", inputs / task, task, "validation")
    np.testing.assert_allclose(logits_of(tmp_path, FROZEN), expected, atol=1e-4)
    assert np.abs(logits_of(tmp_path, FROZEN) - logits_of(tmp_path, PRETRAINED)).max() > 0.01


def test_the_same_seed_gives_the_same_tables(inputs, tmp_path):
    """Also where another seed was scored before, with which it shares the encoder's outputs."""
    for name, seed, before in (("one", 3, ()), ("same", 3, (4,)), ("other", 4, ())):
        torch.manual_seed(len(name))
        evaluate(inputs, tmp_path / name, seed=seed, before=before)
    one, same, other = (
        predictions_of(tmp_path / name, FROZEN, seed).read_bytes()
        for name, seed in (("one", 3), ("same", 3), ("other", 4))
    )
    assert one == same != other


def test_exploding_loss_stops_with_what_to_do(inputs, tmp_path):
    settings = Settings(epochs=2, batch_size=4, frozen_learning_rate=1e38)
    with pytest.raises(InputError, match=r"STS-B, frozen, seed 3: .* Check the weights"):
        evaluate(inputs, tmp_path, "STS-B", settings=settings)
