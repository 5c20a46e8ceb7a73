"""Compressed models on disk, loaded without this project."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from compressed import AMOUNTS, classifier, examples

from darksecrets.compression import methods
from darksecrets.compression.measuring import compress
from darksecrets.compression.saving import RECORD, save_all
from darksecrets.models.loading import Draw, load_tokenizer

LOAD = """
import json, sys, torch
folder, given = sys.argv[1:]
batch = torch.load(given)
found = {}
for name in ("layers-dropped-0.5", "8-bits"):
    order = json.load(open(f"{folder}/{name}/compression.json"))["inputs"]
    model = torch.export.load(f"{folder}/{name}/model.pt2").module()
    with torch.no_grad():
        found[name] = model(*[batch[each] for each in order])
torch.save(found, f"{given}.logits")
assert not {"darksecrets", "transformers"} & set(sys.modules)
"""


def test_saved_models_run_with_pytorch_alone(tmp_path):
    """In a fresh process, for inputs of another size than they were made with."""
    model, folder = classifier(tmp_path)
    amounts = AMOUNTS | {"weights": [], "rank": []}
    ways = methods.variants(model, amounts, None, Draw(1, 0.02))[1:]
    saved = save_all(model, load_tokenizer(folder), ways, tmp_path / "saved")
    assert list(saved) == ["layers-dropped-0.5", "8-bits"], "not the control"
    record = json.loads((tmp_path / "saved" / "layers-dropped-0.5" / RECORD).read_text())
    assert record["detail"] == "1 of 2 layers"
    batch = examples().batch([0, 1, 2, 3, 4])
    batch["token_type_ids"] = torch.zeros_like(batch["input_ids"])
    torch.save(batch, tmp_path / "given")
    call = [sys.executable, "-c", LOAD, str(tmp_path / "saved"), str(tmp_path / "given")]
    subprocess.run(call, check=True, cwd=tmp_path)
    found = torch.load(tmp_path / "given.logits")
    del batch["labels"]
    for way in ways:
        if not way.is_control:
            with torch.no_grad():
                expected = compress(model, way)(**batch).logits.numpy()
            assert found[way.slug].numpy() == pytest.approx(expected, abs=1e-4)
    assert not np.allclose(found["layers-dropped-0.5"], found["8-bits"], atol=1e-4)
