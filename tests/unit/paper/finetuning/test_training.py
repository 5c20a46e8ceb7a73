"""Fine-tuning against a plain loop, killed and resumed, diverging; scores against one by one."""

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
import torch
from datasets import load_from_disk
from glue import TASKS
from safetensors.torch import load_file
from small_training import (
    STEPS_PER_EPOCH,
    TRAIN,
    VALIDATION,
    break_off,
    finetune,
    flip,
    kill,
    same,
    weights,
)
from tiny_models import save_classifier
from toy_data import save_bert, save_dataset

from darksecrets.core.data import metrics
from darksecrets.core.data.batches import GroupedByLength, load_split
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import loading, tokenizing
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning import evaluation, training


def one_by_one(folder: Path, data: Path, task: Task) -> np.ndarray:
    """Logits of the validation split without batches and padding."""
    model, new = loading.load_classifier(folder, task, seed=0, attention="eager")
    assert new == []
    tokenizer = tokenizing.load_tokenizer(folder)
    rows = load_from_disk(str(data))["validation"]
    with torch.inference_mode():
        return np.concatenate(
            [
                model(**tokenizer(*(row[c] for c in task.columns), return_tensors="pt")).logits
                for row in rows
            ]
        )


# --- What training does -----------------------------------------------------------------------


def plain_loop(folder: Path, data: Path, task: Task, seed: int) -> dict[str, torch.Tensor]:
    """Devlin et al.'s recipe written out: AdamW, linear warm-up and decay, clipping to norm 1."""
    model, _ = loading.load_classifier(folder, task, seed, attention="eager")
    split = load_split(data, "train", tokenizing.load_tokenizer(folder), task, 32)
    decayed = [p for n, p in model.named_parameters() if p.dim() == 2]
    others = [p for n, p in model.named_parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}],
        foreach=False,
    )
    total = 3 * STEPS_PER_EPOCH
    warmup = math.ceil(0.1 * total)
    model.train()
    step = 0
    for epoch in range(3):
        sampler = GroupedByLength(split.lengths, 4, seed)
        sampler.set_epoch(epoch)
        order = list(sampler)
        for start in range(0, TRAIN, 4):
            rate = step / warmup if step < warmup else (total - step) / (total - warmup)
            for group in optimizer.param_groups:
                group["lr"] = 3e-3 * rate
            batch = split.batch(order[start : start + 4])
            logits = model(**{k: v for k, v in batch.items() if k != "labels"}).logits
            if task.is_regression:
                loss = (logits[:, 0] - batch["labels"]).square().mean()
            else:
                loss = -logits.log_softmax(-1)[range(len(logits)), batch["labels"]].mean()
            optimizer.zero_grad()
            loss.backward()
            norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            for parameter in model.parameters():
                parameter.grad *= min(1.0, 1.0 / (norm.item() + 1e-6))
            optimizer.step()
            step += 1
    return model.state_dict()


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_weights_are_those_of_a_plain_loop(task, inputs, tmp_path):
    """Without dropout; atol 2e-5 of weights that move by about 0.05."""
    (tmp_path / task).symlink_to(inputs / task)
    save_bert(tmp_path / "model", dropout=0.0)
    finetune(tmp_path, tmp_path / "out", task)
    expected = plain_loop(tmp_path / "model", inputs / task, TASKS[task], seed=3)
    start = loading.load_classifier(tmp_path / "model", TASKS[task], seed=3)[0].state_dict()
    found = weights(tmp_path / "out")
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        torch.testing.assert_close(tensor, expected[name], atol=2e-5, rtol=0, msg=name)
    moved = max((found[name] - start[name]).abs().max() for name in found)
    assert moved > 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "state"),
    [("MRPC", "finetuned"), ("SST-2", "finetuned-from-normal"), ("STS-B", "finetuned")],
)
def test_the_task_is_learned(task, state, inputs, tmp_path):
    """With a standard deviation of 0.2: with 0.02, 16 hidden units carry too little signal."""
    (tmp_path / "model").symlink_to(inputs / "model")
    save_dataset(tmp_path / task, TASKS[task], 100, 40)
    settings = {"epochs": 8, "learning_rate": 5e-3, "from_normal_std": 0.2}
    result = finetune(tmp_path, tmp_path / "out", task, state, **settings)
    assert result["scores"][TASKS[task].metrics[0]] > 0.95
    assert result["steps"] == 8 * 25
    assert (result["train_examples"], result["validation_examples"]) == (100, 40)
    drawn = "bert.encoder.layer.0.output.dense.weight" in result["new_parameters"]
    assert drawn == (state == "finetuned-from-normal")


def test_from_normal_begins_without_the_pretrained_weights(inputs, tmp_path):
    """With a tiny learning rate, the weights remain as initialized."""
    finetune(inputs, tmp_path, state="finetuned-from-normal", learning_rate=1e-12, epochs=1)
    model, _ = loading.load_classifier(inputs / "model", TASKS["MRPC"], 3)
    loading.draw_from_normal(model, 3, 0.02)
    for name, tensor in weights(tmp_path).items():
        torch.testing.assert_close(tensor, model.state_dict()[name], atol=1e-9, rtol=0)


def test_bfloat16_trains_float32_weights_and_scores_in_float32(inputs, uninterrupted, tmp_path):
    result = finetune(inputs, tmp_path, precision="bfloat16")
    assert result["precision"] == "bfloat16"
    found, other = weights(tmp_path), weights(uninterrupted)
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}
    differences = [(found[name] - other[name]).abs().max().item() for name in found]
    assert 0 < max(differences) < 0.05
    # bfloat16 has 3 digits, far less than this tolerance.
    logits = pd.read_csv(tmp_path / "predictions.csv").filter(like="logit").to_numpy()
    expected = one_by_one(tmp_path / "model", inputs / "MRPC", TASKS["MRPC"])
    np.testing.assert_allclose(logits, expected, atol=1e-5)


def test_same_seed_same_weights_whatever_was_drawn_before(inputs, uninterrupted, tmp_path):
    torch.manual_seed(12345)
    finetune(inputs, tmp_path / "same")
    assert same(tmp_path / "same", uninterrupted)
    finetune(inputs, tmp_path / "other", seed=4)
    assert not same(tmp_path / "other", uninterrupted)
    assert not torch.are_deterministic_algorithms_enabled()


# --- Tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["MRPC", "STS-B", "SST-2"])
def test_tables(task, inputs, tmp_path):
    result = finetune(inputs, tmp_path, task)
    predictions = pd.read_csv(tmp_path / "predictions.csv")
    validation = load_from_disk(str(inputs / task))["validation"]
    assert predictions["idx"].tolist() == list(validation["idx"])
    assert predictions["label"].tolist() == list(validation["label"])
    logits = predictions.filter(like="logit_").to_numpy()
    expected = one_by_one(tmp_path / "model", inputs / task, TASKS[task])
    np.testing.assert_allclose(logits, expected, atol=1e-5)

    scores = pd.read_csv(tmp_path / "scores.csv")
    assert list(scores.columns) == ["task", "state", "seed", "metric", "score", "constant"]
    assert set(scores["constant"]) == {predictions["prediction"].nunique() == 1}
    assert scores["metric"].tolist() == list(TASKS[task].metrics)
    assert set(scores["state"]) == {"finetuned"}
    assert set(scores["seed"]) == {3}
    expected_scores = metrics.compute(TASKS[task], logits, np.asarray(validation["label"]))
    # The file has 9 digits of each logit; logits of STS-B differ in the last few after 3 epochs.
    hundred_times = [100 * value for value in expected_scores.values()]
    assert scores["score"].tolist() == pytest.approx(hundred_times, abs=0.01)
    assert result["scores"] == pytest.approx(expected_scores, abs=1e-4)
    if "accuracy" in expected_scores:
        accuracy = sklearn.metrics.accuracy_score(predictions["label"], predictions["prediction"])
        assert expected_scores["accuracy"] == pytest.approx(accuracy)

    curve = pd.read_csv(tmp_path / "curve.csv")
    columns = ["task", "state", "seed", "step", "epoch", "split", "quantity", "value"]
    assert list(curve.columns) == columns
    scored = curve[curve["split"] == "validation"]
    assert set(scored["quantity"]) == {"loss", *TASKS[task].metrics}
    assert scored["epoch"].unique().tolist() == [1, 2, 3]
    last = scored[scored["epoch"] == 3].set_index("quantity")["value"]
    assert last[list(TASKS[task].metrics)].tolist() == pytest.approx(scores["score"].tolist())
    losses = curve[curve["split"] == "train"]
    assert losses["step"].tolist() == list(range(1, 3 * STEPS_PER_EPOCH + 1))
    assert losses["value"].iloc[-10:].mean() < losses["value"].iloc[:10].mean()


@pytest.mark.parametrize("batch_size", [1, 7, 512])
def test_logits_depend_on_the_batch_by_rounding_alone(inputs, tmp_path, batch_size):
    folder = save_classifier(tmp_path / "model", "bert", TASKS["MRPC"])
    model, _ = loading.load_classifier(folder, TASKS["MRPC"], seed=3)
    tokenizer = tokenizing.load_tokenizer(folder)
    split = load_split(inputs / "MRPC", "validation", tokenizer, TASKS["MRPC"], 32)
    assert evaluation.batch_size_for(model, split) == evaluation.BATCH_SIZE
    expected = evaluation.evaluate(model, split)
    found = evaluation.evaluate(model, split, batch_size=batch_size)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
    assert np.ptp(expected, axis=0).min() > 0.1


# --- Killed and resumed -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "unfinished", "resumed"),
    [
        (STEPS_PER_EPOCH + 3, False, STEPS_PER_EPOCH + 3),
        pytest.param(
            2 * STEPS_PER_EPOCH + 5,
            True,
            2 * STEPS_PER_EPOCH + 4,
            marks=pytest.mark.thorough,
        ),
    ],
    ids=["within an epoch", "while a checkpoint is written"],
)
def test_killed_and_resumed_is_the_same_as_uninterrupted(
    step, unfinished, resumed, inputs, uninterrupted, tmp_path, capsys
):
    """Same bits of all weights, same tables; the bar counts each step once."""
    kill(inputs, tmp_path, step, unfinished=unfinished)
    capsys.readouterr()
    assert finetune(inputs, tmp_path)["resumed_from_step"] == resumed
    assert re.search(
        r"Fine-tuning[^\r]*100%[^\r]* (\d+)/\1 \[[^\r]*$", capsys.readouterr().err.rstrip()
    )
    assert same(tmp_path, uninterrupted)
    names = {"model", "scores.csv", "predictions.csv", "curve.csv"}
    assert {path.name for path in tmp_path.iterdir()} == names


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"seed": 4},
        pytest.param({"learning_rate": 2e-3}, marks=pytest.mark.thorough),
        pytest.param({"epochs": 2}, marks=pytest.mark.thorough),
    ],
)
def test_checkpoint_of_another_configuration_is_not_resumed(change, inputs, interrupted, tmp_path):
    shutil.copytree(interrupted, tmp_path / "broken")
    assert finetune(inputs, tmp_path / "broken", **change)["resumed_from_step"] is None
    finetune(inputs, tmp_path / "fresh", **change)
    assert same(tmp_path / "broken", tmp_path / "fresh")


def test_checkpoint_of_other_data_is_not_resumed(inputs, interrupted, tmp_path):
    shutil.copytree(interrupted, tmp_path / "out")
    (tmp_path / "model").symlink_to(inputs / "model")
    save_dataset(tmp_path / "MRPC", TASKS["MRPC"], TRAIN + 1, VALIDATION)
    assert finetune(tmp_path, tmp_path / "out")["resumed_from_step"] is None


@pytest.fixture(scope="module")
def interrupted(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run leaves that is broken off after the checkpoints of steps 4 and 5."""
    return break_off(inputs, tmp_path_factory.mktemp("interrupted"))


def halve(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


DAMAGES = [
    (["checkpoint-5/optimizer.pt"], flip, 4),
    (["checkpoint-4/scheduler.pt", "checkpoint-5/scheduler.pt"], Path.unlink, None),
]
OTHER_DAMAGES = [
    (["checkpoint-5/optimizer.pt"], halve, 4),
    (["checkpoint-5/optimizer.pt"], Path.unlink, 4),
    (["checkpoint-5/model.safetensors"], halve, 4),
    (["checkpoint-5/trainer_state.json"], halve, 4),
    (["checkpoint-5/rng_state.pth"], flip, 4),
    ([".finished/checkpoint-5.json"], halve, 4),
    (["checkpoint-4/optimizer.pt"], halve, 5),
    (["identity.json"], halve, None),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "damage", "resumed"),
    [*DAMAGES, *(pytest.param(*each, marks=pytest.mark.thorough) for each in OTHER_DAMAGES)],
)
def test_a_damaged_checkpoint_is_thrown_away_and_the_result_is_the_same(
    names, damage, resumed, inputs, interrupted, uninterrupted, tmp_path, caplog
):
    shutil.copytree(interrupted, tmp_path, dirs_exist_ok=True)
    for name in names:
        damage(tmp_path / ".model.partial" / name)
    assert finetune(inputs, tmp_path)["resumed_from_step"] == resumed
    assert same(tmp_path, uninterrupted)
    said = [record.message for record in caplog.records if "Discarded" in record.message]
    assert len(said) == len(names)
    for name, message in zip(names, said, strict=True):
        assert str(tmp_path / ".model.partial" / name) in message


def test_error_before_the_first_checkpoint_leaves_nothing(inputs, tmp_path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(training.FineTuner, "_save", full)
    with pytest.raises(OSError, match="No space"):
        finetune(inputs, tmp_path, checkpoint_seconds=0.0)
    assert not list(tmp_path.iterdir())


def test_checkpoints_are_rare_by_default(inputs, tmp_path, monkeypatch):
    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError("a checkpoint was written within seconds")

    monkeypatch.setattr(training.FineTuner, "_save_checkpoint", unexpected)
    finetune(inputs, tmp_path, epochs=1)


# --- Diverging --------------------------------------------------------------------------------


def poison(folder: Path) -> None:
    """Make a number of the pre-trained model NaN."""
    from safetensors.torch import save_file

    file = folder / "model.safetensors"
    tensors = load_file(file)
    tensors["pooler.dense.bias"][0] = math.nan
    save_file(tensors, file, metadata={"format": "pt"})


def test_exploding_loss_stops_with_what_and_where(inputs, tmp_path):
    message = (
        r"MRPC, finetuned, seed 3: training diverged at step \d+ of 30: the training loss is "
        r"[\d.e+]+, above 6\.93, at a learning rate of \S+ \(peak 100, float32\)\. Lower "
        r"fine_tuning\.learning_rate"
    )
    with pytest.raises(InputError, match=message):
        finetune(inputs, tmp_path, learning_rate=100.0, checkpoint_seconds=0.0)
    assert not list(tmp_path.iterdir())


def test_loss_that_is_not_finite_stops_at_once(inputs, tmp_path):
    (tmp_path / "MRPC").symlink_to(inputs / "MRPC")
    poison(save_bert(tmp_path / "model"))
    with pytest.raises(InputError, match=r"diverged at step 1 of 30: the training loss is nan"):
        finetune(tmp_path, tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_outputs_that_are_not_finite_are_not_scored(inputs, tmp_path, monkeypatch):
    monkeypatch.setattr(
        training, "evaluate", lambda *_: np.full((VALIDATION, 2), np.inf, dtype=np.float32)
    )
    with pytest.raises(InputError, match=r"diverged at step \d+ .* outputs are not finite"):
        finetune(inputs, tmp_path)
    assert not list(tmp_path.iterdir())
