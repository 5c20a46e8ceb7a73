"""Compressed models on disk, loaded without this project."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from compressed import AMOUNTS, classifier, examples

from darksecrets.beyond.compression import measure
from darksecrets.beyond.compression.declared import EIGHT_BITS, HEADS_AND_MLPS, Settings
from darksecrets.beyond.compression.measure import RECORD, compress, save_all
from darksecrets.core.models.loading import Draw, load_tokenizer
from darksecrets.core.models.removal import PROGRAM

LOAD = """
import json, sys, torch
folder, given = sys.argv[1:]
batch = torch.load(given)
order = json.load(open(f"{folder}/compression.json"))["inputs"]
model = torch.export.load(f"{folder}/model.pt2").module()
with torch.no_grad():
    torch.save(model(*[batch[each] for each in order]), f"{given}.logits")
assert not {"darksecrets", "transformers"} & set(sys.modules)
"""


@pytest.mark.thorough
def test_saved_models_run_with_pytorch_alone(tmp_path):
    """In a fresh process, for inputs of another size than they were made with."""
    model, folder = classifier(tmp_path)
    every = measure.variants(
        model, AMOUNTS, lambda count: {1: frozenset(range(1, count + 1))}, [1, 2], Draw(1, 0.02)
    )
    ways = [way for way in every if way.is_control or way.method in (EIGHT_BITS, HEADS_AND_MLPS)]
    saved = save_all(model, load_tokenizer(folder), ways, tmp_path / "saved")
    slugs = ["heads-and-MLPs-removed-0.5", "8-bits"]
    assert list(saved) == slugs, "not the control"
    batch = examples().batch([0, 1, 2, 3, 4])
    batch["token_type_ids"] = torch.zeros_like(batch["input_ids"])
    torch.save(batch, tmp_path / "given")
    del batch["labels"]
    with torch.no_grad():
        whole = model(**batch).logits.numpy()
    for slug, way in zip(slugs, ways, strict=False):
        place = tmp_path / "saved" / slug
        assert saved[slug] == (place / PROGRAM).stat().st_size
        assert json.loads((place / RECORD).read_text())["method"] == way.method
        call = [sys.executable, "-c", LOAD, str(place), str(tmp_path / "given")]
        subprocess.run(call, check=True, cwd=tmp_path)
        with torch.no_grad():
            expected = compress(model, way)(**batch).logits.numpy()
        found = torch.load(tmp_path / "given.logits").numpy()
        assert found == pytest.approx(expected, abs=1e-4)
        assert not np.allclose(found, whole, atol=1e-4)


def test_every_variant_has_a_folder_of_its_own(tmp_path):
    model, _ = classifier(tmp_path)
    names = ("heads", "heads_and_mlps", "weights", "layers", "rank")
    amounts = Settings(amounts=dict.fromkeys(names, (0.25, 0.5)))
    slugs = [each.slug for each in measure.variants(model, amounts, None, [], Draw(1, 0.02))]
    assert len(set(slugs)) == len(slugs)
    assert {"none", "layers-dropped-0.5", "8-bits"} < set(slugs)
