"""What is measured of every example, against loops in float64 over what transformers computes."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from encoders import FAMILIES, HEADS, LAYERS, PAIRS

from darksecrets.beyond.norms.declared import KINDS, NORM_LEVELS, NORM_STATISTICS
from darksecrets.beyond.norms.measure.running import Measured, measure
from darksecrets.beyond.norms.measure.statistics import tables
from darksecrets.core.data.encoding import encode
from darksecrets.core.models.hooks import observe
from darksecrets.core.models.loading import Draw, load_encoder
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.tables import identify

IDX = [3, 1, 0, 2]
EXAMPLES = {"idx": IDX, **PAIRS}
SIZES = {"max_length": 128, "batch_size": 3}


@pytest.fixture(scope="module", params=["BERT", "ModernBERT", "ALBERT"])
def folder(request, tmp_path_factory) -> Path:
    return FAMILIES[request.param].save(tmp_path_factory.mktemp("norms") / "model")


@pytest.fixture(scope="module")
def found(folder: Path) -> Measured:
    return measure(Reading(folder, **SIZES), EXAMPLES, 1)


def alone(folder: Path, example: int) -> list[tuple[np.ndarray, ...]]:
    """Maps, vectors and uniform attention of every layer of one example, run without padding."""
    tokenizer, model = load_tokenizer(folder), load_encoder(folder)
    one = {name: [texts[example]] for name, texts in PAIRS.items()}
    inputs = {name: torch.tensor(ids) for name, ids in encode(one, tokenizer, 128).items()}
    wanted = {"maps": True, "values": True, "reach": True, "projections": True}
    with torch.inference_mode(), observe(model, **wanted) as seen:
        model(**inputs)
    layers = []
    for layer, projection in seen.projections.items():
        maps, values = seen.maps[layer][0].double().numpy(), seen.values[layer][0].double().numpy()
        weight = projection.weight.detach().double().numpy()
        vectors = np.stack([values[head] @ weight[head] for head in range(HEADS)])
        reach = seen.reach[layer][0, 0].double().numpy()
        layers.append((maps, vectors, reach / reach.sum(axis=-1, keepdims=True)))
    return layers


def tokens_of(folder: Path, example: int) -> np.ndarray:
    """[L] which tokens are the first special one, another special one, or none."""
    one = {name: [texts[example]] for name, texts in PAIRS.items()}
    special = encode(one, load_tokenizer(folder), 128, layout=True)["special_tokens_mask"][0]
    return np.array([0 if place == 0 else 1 if flag else 2 for place, flag in enumerate(special)])


def test_shares_and_lengths_are_those_of_a_loop_over_pairs(folder, found):
    """Of [CLS] and [SEP]; examples of different lengths are padded in one batch of the model."""
    assert found.weight.shape == (len(IDX), len(KINDS), LAYERS, HEADS)
    for place in (1, 2):  # padded, in the batch of the longest
        idx = found.idx[place]
        kinds = tokens_of(folder, IDX.index(idx))
        for layer, (maps, vectors, uniform) in enumerate(alone(folder, IDX.index(idx))):
            length = len(kinds)
            together, chance = np.zeros(2), np.zeros(2)
            everything = 0.0
            for head in range(HEADS):
                weight, norm, all_norms = np.zeros(2), np.zeros(2), 0.0
                for query in range(length):
                    for key in range(length):
                        added = np.linalg.norm(maps[head, query, key] * vectors[head, key])
                        all_norms += added
                        if kinds[key] < 2:
                            weight[kinds[key]] += maps[head, query, key] / length
                            norm[kinds[key]] += added
                here = (place, slice(0, 2), layer, head)
                np.testing.assert_allclose(found.weight[here], weight, rtol=0, atol=1e-5)
                np.testing.assert_allclose(found.norm[here], norm / all_norms, rtol=0, atol=1e-5)
                sizes = np.linalg.norm(vectors[head], axis=-1)
                means = [sizes[kinds == kind].mean() / sizes.mean() for kind in (0, 1)]
                np.testing.assert_allclose(found.length[here], means, rtol=1e-4)
            for query in range(length):
                for key in range(length):
                    added = np.linalg.norm(maps[:, query, key] @ vectors[:, key])
                    everything += added
                    if kinds[key] < 2:
                        together[kinds[key]] += added
                        chance[kinds[key]] += uniform[query, key] / length
            here = (place, slice(0, 2), layer, 0)
            np.testing.assert_allclose(found.summed[here], together / everything, atol=1e-4)
            np.testing.assert_allclose(found.uniform[here], chance, rtol=0, atol=1e-6)


def test_moments_are_sums_over_the_tokens_of_a_kind(folder, found):
    place, kind = 0, KINDS.index("separator")
    kinds = tokens_of(folder, IDX.index(found.idx[place]))
    for layer, (maps, vectors, uniform) in enumerate(alone(folder, IDX.index(found.idx[place]))):
        for head in range(HEADS):
            expected = np.zeros(6)
            for key in np.flatnonzero(kinds == 1):
                x = math.log(maps[head, :, key].sum() / uniform[:, key].sum())
                y = math.log(np.linalg.norm(vectors[head, key]))
                expected += [1, x, y, x * x, y * y, x * y]
            np.testing.assert_allclose(
                found.moments[place, kind, layer, head], expected, rtol=0, atol=1e-4
            )


def test_kinds_exclude_each_other_and_together_get_everything(found):
    apart = [number for number, kind in enumerate(KINDS) if kind != "special"]
    for name in ("weight", "norm", "shuffled", "uniform", "summed"):
        shares = getattr(found, name)
        np.testing.assert_allclose(np.nansum(shares[:, apart], axis=1), 1, atol=1e-5)
        both = [KINDS.index(kind) for kind in ("first special", "separator")]
        special = shares[:, KINDS.index("special")]
        np.testing.assert_allclose(shares[:, both].sum(axis=1), special, atol=1e-5)


def test_batches_change_nothing(folder, found):
    single = measure(Reading(folder, 128, 1), EXAMPLES, 1)
    for name, values in vars(single).items():
        np.testing.assert_allclose(values, getattr(found, name), rtol=1e-4, atol=1e-5)


def test_random_lengths_are_the_weights_if_all_have_the_same(tmp_path):
    """An encoder whose value vectors are the bias: all lengths are equal, norms are weights."""
    folder = FAMILIES["BERT"].save(tmp_path / "model")
    model = load_encoder(folder)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("value.weight"):
                parameter.zero_()
            if name.endswith("value.bias"):
                parameter.normal_()
    model.save_pretrained(folder)
    found = measure(Reading(folder, **SIZES), EXAMPLES, 1)
    for shares in (found.norm, found.shuffled):
        np.testing.assert_allclose(shares, found.weight, rtol=0, atol=1e-5)
    assert np.nanstd(found.weight) > 0.1
    np.testing.assert_allclose(found.length[~np.isnan(found.length)], 1, atol=1e-5)


def test_an_encoder_with_random_weights_is_that_of_the_draw(folder, found):
    drawn = [
        measure(Reading(folder, **SIZES, draw=Draw(seed, 0.02)), EXAMPLES, 1) for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(drawn[0].weight, drawn[1].weight)
    assert not np.allclose(drawn[0].norm, drawn[2].norm, equal_nan=True)
    assert np.nanstd(drawn[0].weight - drawn[0].uniform) < np.nanstd(found.weight - found.uniform)


def test_one_example_one_layer_and_one_head_are_enough(tmp_path):
    small = {"num_hidden_layers": 1, "num_attention_heads": 1}
    folder = replace(FAMILIES["BERT"], settings=small).save(tmp_path / "model")
    one = {"idx": [4], "sentence1": ["She sleeps."]}
    found = {
        name: measure(Reading(folder, **SIZES, draw=draw), one, 1)
        for name, draw in (("pretrained", None), ("random/seed-1", Draw(1, 0.02)))
    }
    for name, both in tables(found, "random/seed-1", 1).items():
        for table, declared in zip(both, (NORM_STATISTICS, NORM_LEVELS), strict=True):
            declared.check(identify(table, "task", name), "table", "")
            assert table.filter(regex="_(low|high)$").isna().all(axis=None)
