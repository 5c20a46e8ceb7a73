"""Maps that are computed on demand: those of the store, cropped, of several models at once."""

from pathlib import Path

import numpy as np
import pytest
import torch
from encoders import FAMILIES, HEADS, LAYERS, PAIRS
from scipy.linalg import null_space

from darksecrets.beyond.attention_measures.measure import running as module
from darksecrets.beyond.attention_measures.measure.running import Running, run
from darksecrets.core.attention.extraction import extract_maps
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.data.encoding import encode
from darksecrets.core.models.hooks import observe
from darksecrets.core.models.loading import Draw, load_encoder
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.columns import MEASURES
from darksecrets.core.run.errors import InputError

IDX = [3, 1, 0, 2]
EXAMPLES = {"idx": IDX, **PAIRS}
SETTINGS = {"max_length": 128, "batch_size": 3}


@pytest.fixture(scope="module", params=["BERT", "ModernBERT", "ALBERT"])
def folder(request, tmp_path_factory) -> Path:
    return FAMILIES[request.param].save(tmp_path_factory.mktemp("attention_measures") / "model")


def models_of(folder: Path) -> dict[str, Reading]:
    """The same encoder with its own weights and with random ones."""
    random = Reading(folder, 128, 3, Draw(1, 0.02))
    return {"pretrained": Reading(folder, 128, 3), "random/seed-1": random}


@pytest.fixture(scope="module")
def maps(folder: Path) -> Running:
    return run(models_of(folder), EXAMPLES, MEASURES)


def heads_of(maps: Running, measure: str, model: str = "pretrained") -> slice:
    (variant,) = (v for v in maps.variants if (v.measure, v.model) == (measure, model))
    return variant.heads


@pytest.mark.parametrize(
    ("model", "draw"), [("pretrained", None), ("random/seed-1", Draw(1, 0.02))]
)
def test_weights_are_those_of_the_store_bit_for_bit(model, draw, folder, maps, tmp_path):
    extract_maps(folder, EXAMPLES, tmp_path / "store", **SETTINGS, draw=draw)
    store = AttentionStore.open(tmp_path / "store")
    assert store.idx.tolist() == maps.idx.tolist()
    assert (store.windows or (None,) * LAYERS) == maps.windows
    heads = heads_of(maps, "weights", model)
    for examples, found in maps.batches():
        for example, own in zip(examples, found, strict=True):
            np.testing.assert_array_equal(own[:, heads], store.maps(example))


def test_norms_and_effective_attention_are_those_of_an_example_alone(folder, maps):
    """No padding, and f(x) in full: loops over pairs, and an explicit null space."""
    tokenizer, model = load_tokenizer(folder), load_encoder(folder)
    changed = 0
    for example, idx in enumerate(maps.idx):
        one = {name: [texts[IDX.index(idx)]] for name, texts in PAIRS.items()}
        inputs = {name: torch.tensor(ids) for name, ids in encode(one, tokenizer, 128).items()}
        wanted = {"maps": True, "values": True, "reach": True, "projections": True}
        with torch.inference_mode(), observe(model, **wanted) as seen:
            model(**inputs)
        found = maps.maps(example).astype(np.float64)
        for layer, head in np.ndindex(LAYERS, HEADS):
            weights = seen.maps[layer + 1][0, head].double().numpy()
            values = seen.values[layer + 1][0, head].double().numpy()
            weight = seen.projections[layer + 1].weight[head].detach().double().numpy()
            reach = seen.reach[layer + 1][0, 0].numpy()
            lengths = np.linalg.norm(values @ weight, axis=-1)
            expected = {"norms": weights * lengths, "effective": np.zeros_like(weights)}
            for query, keys in enumerate(reach):
                null = null_space((values[keys] @ weight).T, rcond=1e-5)
                row = weights[query, keys]
                expected["effective"][query, keys] = row - (row @ null) @ null.T
                changed += null.shape[1] > 0
            for measure, signed in expected.items():
                shares = np.abs(signed) / np.abs(signed).sum(axis=-1, keepdims=True)
                own = found[layer, heads_of(maps, measure)][head]
                np.testing.assert_allclose(own, shares, rtol=2e-3, atol=2e-5)
    assert changed > 100, "texts are longer than heads are wide"


def test_batches_change_nothing(folder, maps, monkeypatch):
    alone = run({"pretrained": Reading(folder, 128, 1)}, EXAMPLES, ["effective"])
    heads = heads_of(maps, "effective")
    for example in range(len(IDX)):
        expected = maps.maps(example)[:, heads].astype(np.float64)
        np.testing.assert_allclose(alone.maps(example), expected, rtol=2e-3, atol=2e-5)
    monkeypatch.setattr(module, "_PASS_BYTES", 1)
    small = [found.shape[0] for _, found in maps.batches(1)]
    assert small == [1] * len(IDX)


def test_an_encoder_that_hides_its_values_is_refused(tmp_path):
    folder = FAMILIES["DeBERTa-v3"].save(tmp_path / "model")
    with pytest.raises(InputError, match="only its maps can be observed"):
        run({"pretrained": Reading(folder, 128, 3)}, EXAMPLES, ["norms"])
