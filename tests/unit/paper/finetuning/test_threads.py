"""How far another number of threads moves a training: the bound of docs/failures.md."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from glue import TASKS
from toy_data import save_dataset

from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.finetuning import training

BOUND = 1e-4


@pytest.fixture
def outputs(tmp_path: Path):
    """Train the shipped encoder for six steps on short pairs; give its outputs."""
    save_dataset(tmp_path / "data", TASKS["RTE"], train=64, validation=32)
    before = torch.get_num_threads()

    def train(threads: int, seed: int = 1) -> np.ndarray:
        made = tmp_path / f"{threads}-{seed}"
        training.finetune(
            RESOURCES / "tiny-bert",
            tmp_path / "data",
            made / "model",
            task=TASKS["RTE"],
            state="finetuned",
            seed=seed,
            settings=training.Settings(learning_rate=3e-4, precision="float32"),
            threads=threads,
            scores=made / "scores.csv",
            predictions=made / "predictions.csv",
            curve=made / "curve.csv",
        )
        return pd.read_csv(made / "predictions.csv")[["logit_0", "logit_1"]].to_numpy()

    yield train
    torch.set_num_threads(before)


@pytest.mark.thorough
def test_threads_move_a_short_training_within_the_bound_of_the_page(outputs):
    one = outputs(threads=1)
    assert np.abs(outputs(threads=2) - one).max() < BOUND
    assert np.abs(outputs(threads=1, seed=2) - one).max() > 100 * BOUND, "the bound means something"
