"""Maps along a training against plain loops over the model itself; other trainings are refused."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from glue import TASKS
from safetensors.torch import load_file, save_file
from small_training import finetune, save_inputs

from darksecrets.attention.extraction import encode_longest_first, extract, read_sample
from darksecrets.attention.store import AttentionStore
from darksecrets.finetuning.snapshots import ROUNDING, Snapshots
from darksecrets.landscape.finetuned import Finetuned
from darksecrets.landscape.followed import STATISTICS, Followed
from darksecrets.landscape.following import Sources, follow, open_snapshots
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.models.starting import Start
from darksecrets.patterns import classifier, trained
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.classification import classify
from darksecrets.run.errors import InputError

TASK = TASKS["MRPC"]
MODEL = Finetuned(TASK, "finetuned", 3, sample=1, max_length=32)
SIZES = {"examples": 8, "batch_size": 3, "threads": 1}
HALF = 2e-3  # weights in half precision: relative 2**-11 each


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    folder = tmp_path_factory.mktemp("followed")
    inputs = save_inputs(folder / "inputs")
    finetune(inputs, folder, snapshots=4)
    finetune(inputs, folder / "other", seed=4, snapshots=4)
    finetune(inputs, folder / "normal", state="finetuned-from-normal", epochs=1, snapshots=3)
    return Sources(
        *(inputs / "model", Start(3), folder / "model", folder / "snapshots"),
        *(inputs / "MRPC", range(100, 112)),
    )


@pytest.fixture(scope="module")
def patterns() -> classifier.Classifier:
    return classifier.load(trained.CLASSIFIER)


@pytest.fixture(scope="module")
def found(sources: Sources, patterns: classifier.Classifier) -> Followed:
    return follow(sources, patterns, MODEL, **SIZES)[0]


def maps_of(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> np.ndarray:
    """[layer, head, query, key] of one example by transformers itself, float64."""
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        seen = model(**inputs, output_attentions=True).attentions
    return torch.stack(seen)[:, 0].double().numpy()


def example(sources: Sources, idx: int) -> tuple[dict[str, torch.Tensor], list[int]]:
    """One example's inputs, and which of its tokens are special."""
    rows = read_sample(sources.dataset, sources.sample)
    place = rows["idx"].index(idx)
    texts = [rows[name][place] for name in TASK.columns]
    tokenizer = load_tokenizer(sources.pretrained)
    encoded = tokenizer(*texts, return_special_tokens_mask=True, return_tensors="pt")
    special = encoded.pop("special_tokens_mask")[0].tolist()
    return dict(encoded), special


def test_every_number_is_that_of_a_plain_loop(sources, found):
    """In float64 from unpadded examples, weight by weight; maps were rounded to half precision."""
    model = load_classifier(sources.pretrained, TASK, 3)[0]
    snapshots = Snapshots(sources.snapshots)
    assert found.steps.tolist() == [each.step for each in snapshots.listed]
    assert len(set(found.idx.tolist())) == 8
    for row in (0, 3, 7):
        inputs, special = example(sources, int(found.idx[row]))
        maps = np.stack([maps_of(model, inputs) for _ in snapshots.along(model)])
        for number, layer, head in np.ndindex(*maps.shape[:3]):
            now, first, last = (maps[place, layer, head] for place in (number, 0, -1))
            entropy = sharpness = begins = separators = 0.0
            products = np.zeros(6)
            for query in range(len(now)):
                entropy -= sum(weight * math.log(weight) for weight in now[query]) / len(now)
                sharpness += max(now[query]) / len(now)
                begins += now[query, 0] / len(now)
                for key in range(len(now)):
                    separators += now[query, key] * (special[key] and key > 0) / len(now)
                    a, b, c = now[query, key], first[query, key], last[query, key]
                    products += [a * b, a * c, a * a, b * b, c * c, (a - b) * (c - b)]
            at = (number, row, layer, head)
            expected = dict(zip(STATISTICS, (entropy, sharpness, begins, separators), strict=True))
            for measure, name in enumerate(STATISTICS):
                value = found.values[number, measure, row, layer, head]
                assert value == pytest.approx(expected[name], rel=HALF), name
            ab, ac, aa, bb, cc, along = products
            assert found.to_start[at] == pytest.approx(ab / math.sqrt(aa * bb), abs=1e-6)
            assert found.to_end[at] == pytest.approx(ac / math.sqrt(aa * cc), abs=1e-6)
            assert found.first[row, layer, head] == pytest.approx(bb, rel=HALF)
            assert found.along[at] == pytest.approx(along, abs=HALF * math.sqrt(aa * bb))


def test_identities(found):
    """The start is the start, and the end is the end."""
    assert (found.to_start[0] == 1).all()
    assert (found.to_end[-1] == 1).all()
    np.testing.assert_array_equal(found.to_start[-1], found.to_end[0])
    assert (found.along[0] == 0).all()
    assert (found.along[-1] > 0).all()
    assert (found.weights[0], found.weights[-1]) == (0, 1)
    assert (np.diff(found.weights) > 0).all()


def test_both_ends_are_those_of_the_store(sources, found, patterns, tmp_path):
    """Start: maps of a store, bit for bit. End: those of the fine-tuned model, up to bfloat16."""
    rows = read_sample(sources.dataset, sources.sample)
    kept = sorted(rows["idx"].index(idx) for idx in found.idx)
    rows = {name: [values[row] for row in kept] for name, values in rows.items()}
    stores = []
    for name, model in (("start", sources.pretrained), ("end", sources.finetuned)):
        extract(model, rows, tmp_path / name, max_length=32, batch_size=3)
        stores.append(AttentionStore.open(tmp_path / name))
    start = stores[0]
    np.testing.assert_array_equal(start.idx, found.idx)
    for row in range(start.examples):
        one, other = (store.maps(row).astype(np.float64) for store in stores)
        np.testing.assert_array_equal((one * one).sum(axis=(-1, -2)), found.first[row])
        cosine = (one * other).sum(axis=(-1, -2))
        cosine /= np.sqrt((one**2).sum(axis=(-1, -2)) * (other**2).sum(axis=(-1, -2)))
        np.testing.assert_allclose(found.to_start[-1, row], cosine, atol=1e-4)
        moved = ((other - one) ** 2).sum(axis=(-1, -2))
        np.testing.assert_allclose(found.along[-1, row], moved, rtol=0.05, atol=1e-4)
    table = classify(start, patterns).sort_values(["layer", "head"], kind="stable")
    expected = table["pattern"].to_numpy().reshape(start.layers, start.heads, -1)
    names = np.array(list(PATTERNS))[found.patterns[0]]
    np.testing.assert_array_equal(np.moveaxis(names, 0, -1), expected)


def test_from_normal(sources, patterns):
    """Training began with reinitialized weights."""
    folder = sources.finetuned.parent / "normal"
    files = {"finetuned": folder / "model", "snapshots": folder / "snapshots"}
    own = dataclasses.replace(sources, start=Start(3, 0.02), **files)
    model = dataclasses.replace(MODEL, state="finetuned-from-normal")
    followed, details = follow(own, patterns, model, **SIZES)
    assert (followed.to_start[0] == 1).all()
    assert 0 < details["rounding"] < ROUNDING
    with pytest.raises(InputError, match="began with other weights"):
        open_snapshots(dataclasses.replace(own, start=Start(3, 0.05)), model)


def test_examples_are_chosen_from_the_sample_by_their_seed(sources, found):
    rows = read_sample(sources.dataset, sources.sample)
    table, _ = encode_longest_first(rows, load_tokenizer(sources.pretrained), 32)
    order = table["idx"].tolist()
    assert found.idx.tolist() == [idx for idx in order if idx in set(found.idx.tolist())]


# --- Snapshots of another training ------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "changed", "words"),
    [
        ({"snapshots": "other/snapshots"}, {}, "training with seed 4, expected 3"),
        ({}, {"seed": 4}, "training with seed 3, expected 4"),
        ({}, {"state": "finetuned-from-normal"}, "state finetuned, expected finetuned-from"),
        ({"finetuned": "other/model"}, {}, "differs by .* from the last snapshot"),
    ],
)
def test_of_another_run(change, changed, words, sources):
    folder = sources.finetuned.parent
    own = dataclasses.replace(sources, **{name: folder / path for name, path in change.items()})
    with pytest.raises(InputError, match=words):
        open_snapshots(own, dataclasses.replace(MODEL, **changed))


def test_another_pretrained_model(sources, tmp_path):
    """One whose fingerprint differs, though its weights are those of the start."""
    for file in sources.pretrained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][0, 0] += 1e-6
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    own = dataclasses.replace(sources, pretrained=tmp_path)
    with pytest.raises(InputError, match="snapshots of a training with model"):
        open_snapshots(own, MODEL)
