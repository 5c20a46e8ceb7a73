"""Smaller models: what is recorded of them, also if no head can be removed."""

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.data.batches import EncodedSplit
from darksecrets.importance.smaller import save_smaller
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.models.removal import PROGRAM


@pytest.mark.slow
@pytest.mark.parametrize("heads", [{}, {1: frozenset({1, 3}), 2: frozenset({2})}])
def test_a_smaller_model_is_saved_and_measured(heads, tmp_path):
    folder = save_classifier(tmp_path / "bert", "bert", TASKS["RTE"])
    model, _ = load_classifier(folder, TASKS["RTE"], 1)
    ids = np.random.default_rng(1).integers(4, 7, 30).astype(np.int32)
    inputs = {"input_ids": ids, "token_type_ids": np.zeros(30, np.int32)}
    padding = {"input_ids": 0, "token_type_ids": 0}
    starts = np.array([0, 9, 14, 30])
    split = EncodedSplit(np.arange(3), np.array([0, 1, 0]), starts, inputs, padding)
    model.eval()
    record = save_smaller(model, load_tokenizer(folder), split, heads, tmp_path / "saved")
    before, after = record["parameters"]
    assert record["heads_removed"] == sum(map(len, heads.values()))
    assert (after < before) == bool(heads)
    assert before == sum(p.numel() for p in model.parameters()), "the model is left as it is"
    assert record["bytes"] == (tmp_path / "saved" / PROGRAM).stat().st_size
    assert record["difference"] <= 1e-5
    assert min(record["seconds_per_batch"]) > 0
    assert isinstance(torch.export.load(tmp_path / "saved" / PROGRAM), torch.export.ExportedProgram)
