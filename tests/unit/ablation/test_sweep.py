"""The sweep, against running the model once per set of heads, one example at a time."""

import json
import logging

import numpy as np
import pytest
import torch
from datasets import Dataset, DatasetDict, load_from_disk
from safetensors.torch import load_file, save_file
from tiny_models import WORDS, bert_tokenizer, save_classifier
from transformers import BertConfig, BertForSequenceClassification

from darksecrets.ablation import shared
from darksecrets.ablation import sweep as module
from darksecrets.ablation.disable import disable, shape_of
from darksecrets.ablation.results import SweepResult
from darksecrets.ablation.sets import sweep_sets
from darksecrets.ablation.sweep import Settings, sweep_heads, sweep_heads_part
from darksecrets.data.batches import load_split
from darksecrets.data.tasks import TASKS
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.run.errors import InputError
from darksecrets.run.resuming import Partial

EXAMPLES, MAX_LENGTH = 40, 24
OWN = [3, {1: [1, 2], 3: "all"}, "layer 2 head 1 + layer 3 heads 2, 4"]
SHARED = ("bert", "roberta", "electra")


def save_model(folder, family="bert", task="RTE", scale=1.0):
    """A random classifier; `scale` multiplies its last weights, and so the margins."""
    if family == "bert":  # three layers, so that there is one below and one above another
        torch.manual_seed(3)
        tokenizer = bert_tokenizer()
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=64,
            initializer_range=0.3,
            id2label=dict(enumerate(TASKS[task].labels or ("score",))),
        )
        BertForSequenceClassification(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    else:
        save_classifier(folder, family, TASKS[task])
    if scale != 1.0:
        weights = load_file(folder / "model.safetensors")
        weights = {n: t * scale if n.startswith("classifier") else t for n, t in weights.items()}
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Random pairs of sentences of many lengths, saved once per kind of label."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("data")
    words = [word for word in WORDS if not word.startswith("##")]
    texts = [
        [" ".join(rng.choice(words, rng.integers(1, 11))) for _ in range(EXAMPLES)]
        for _ in range(2)
    ]
    for task in ("RTE", "STS-B", "MNLI"):
        classes = TASKS[task].num_labels
        labels = rng.integers(0, classes, EXAMPLES) if classes > 1 else rng.random(EXAMPLES)
        columns = {
            "idx": (500 + rng.permutation(EXAMPLES)).tolist(),
            "sentence1": texts[0],
            "sentence2": texts[1],
            "label": labels.tolist(),
        }
        split = Dataset.from_dict(columns)
        DatasetDict(train=split, validation=split).save_to_disk(folder / task)
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return save_model(tmp_path_factory.mktemp("bert"))


def run(model, data, output, task="RTE", parts=(), **settings):
    details = call(sweep_heads, model, data, output, task, settings, parts=parts)
    return SweepResult.load(output), details


def run_parts(model, data, folder, parts, task="RTE", **settings):
    """Run all parts, the last first, because they have no order."""
    for part in range(parts, 0, -1):
        split = {"part": part, "parts": parts}
        call(sweep_heads_part, model, data, folder / str(part), task, settings, **split)
    return [folder / str(part) for part in range(1, parts + 1)]


def call(function, model, data, output, task, settings, **arguments):
    return function(
        model,
        data / task,
        output,
        task=TASKS[task],
        seed=1,
        max_length=MAX_LENGTH,
        settings=Settings(**settings),
        threads=1,
        **arguments,
    )


def loop(folder, data, sets=OWN, mode="uniform", task="RTE", dtype=torch.float32):
    """Logits, [sets, examples, outputs], of the model run once per set and example."""
    split = load_split(data / task, "validation", load_tokenizer(folder), TASKS[task], MAX_LENGTH)
    model, _ = load_classifier(folder, TASKS[task], seed=1)
    model.to(dtype)
    found = []
    for of_set in sweep_sets(shape_of(model), sets):
        with torch.inference_mode():
            found.append(
                [_alone(model, split, row, of_set.heads, mode) for row in range(len(split))]
            )
    return np.array(found), split


def _alone(model, split, row, heads, mode):
    batch = split.batch([row])
    del batch["labels"]
    if not heads:
        return model(**batch).logits[0].numpy()
    with disable(model, heads, mode):
        return model(**batch).logits[0].numpy()


def logits_of(folder, data, task="RTE", dtype=torch.float32, **settings):
    """Logits of the path that the sweep takes."""
    split = load_split(data / task, "validation", load_tokenizer(folder), TASKS[task], MAX_LENGTH)
    model, _ = load_classifier(folder, TASKS[task], seed=1)
    model.to(dtype)
    sets = sweep_sets(shape_of(model), settings.pop("sets", OWN))
    path = (module.Sharing if module.knows(model) else module.OneByOne)(
        model, split, sets, Settings(**settings)
    )
    found = np.full((len(sets), len(split), TASKS[task].num_labels), np.nan)
    with torch.inference_mode():
        for group, ask in path.groups(list(range(len(split)))):
            found[:, group] = ask(np.ones((len(sets), len(group)), dtype=bool))
    return found


@pytest.mark.parametrize("mode", ["uniform", "zero"])
@pytest.mark.parametrize("family", SHARED)
def test_shared_path_gives_the_loops_outputs(family, mode, data, tmp_path):
    own = OWN if family == "bert" else [3, {1: [1, 2], 2: "all"}]
    folder = save_model(tmp_path, family)
    expected, _ = loop(folder, data, own, mode)
    found = logits_of(folder, data, sets=own, mode=mode)
    # The others' random weights are so large that they amplify rounding, the loop's own, too.
    assert np.abs(found - expected).max() < (1e-5 if family == "bert" else 1e-4)
    effects = np.abs(expected - expected[0]).max(axis=(1, 2))
    assert effects[1:].min() > 1e-3, "every set does something"


@pytest.mark.parametrize("family", SHARED)
def test_shared_path_differs_by_rounding_alone(family, data, tmp_path, monkeypatch):
    """In float64 both agree to many more digits."""
    monkeypatch.setattr(module.Way, "check", lambda _, logits: logits.numpy())
    monkeypatch.setattr(
        module.Way,
        "empty",
        lambda self, n: np.full((len(self.sets), n, 2), np.nan, dtype=np.float64),
    )
    folder = save_model(tmp_path, family)
    expected, _ = loop(folder, data, [2], dtype=torch.float64)
    found = logits_of(folder, data, sets=[2], dtype=torch.float64)
    assert np.abs(found - expected).max() < 1e-10


def test_a_batch_too_large_is_cut(bert, data, monkeypatch):
    whole = logits_of(bert, data)
    monkeypatch.setitem(shared.BATCH, "cpu", 32 * 24 * 3)
    monkeypatch.setitem(shared.PIECE, "cpu", 10)
    np.testing.assert_allclose(logits_of(bert, data), whole, atol=1e-5)


@pytest.mark.parametrize(
    ("family", "task", "screening"),
    [
        ("bert", "RTE", "off"),
        ("bert", "RTE", "on"),
        ("bert", "MNLI", "on"),
        ("electra", "RTE", "on"),
        ("roberta", "RTE", "off"),
    ],
)
def test_predictions_are_those_of_the_loop(family, task, screening, data, tmp_path):
    folder = save_model(tmp_path / "model", family, task=task)
    own = OWN if family == "bert" else OWN[:1]
    expected, split = loop(folder, data, own, task=task)
    found, details = run(folder, data, tmp_path / "sweep", task, sets=own, screening=screening)
    assert np.array_equal(found.predictions, expected.argmax(-1))
    assert found.predictions.dtype == np.int64
    assert np.array_equal(found.labels, split.labels)
    stored = load_from_disk(str(data / task))["validation"]
    assert found.idx.tolist() == stored["idx"]
    layers = 3 if family == "bert" else 2
    kinds = ["baseline"] + ["head"] * 4 * layers + ["layer"] * layers + ["set"] * len(own)
    assert list(found.sets["kind"]) == kinds
    assert details["path"] == "shared path"
    assert ("screening" in details) == (screening == "on")
    assert (found.predictions[0] != found.predictions[1:]).any(), "disabling changes predictions"
    if screening == "on":
        told = details["screening"]
        assert 0 < told["sampled"] <= told["recomputed"] < found.predictions.size
        assert all(
            bound >= 2 * error
            for bound, error in zip(
                told["bound_by_layer"], told["largest_error_by_layer"], strict=True
            )
        )


def test_near_ties_are_recomputed(data, tmp_path):
    """Margins below the errors of bfloat16 nearly everywhere: bfloat16 alone gets many wrong."""
    folder = save_model(tmp_path / "model")
    logits = logits_of(folder, data)
    margins = logits[..., 1] - logits[..., 0]
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"][1] -= float(np.median(margins))  # the decision is where most are
    weights = {n: t * 0.01 if n == "classifier.weight" else t for n, t in weights.items()}
    weights["classifier.bias"] = weights["classifier.bias"] * 0.01
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    expected, _ = loop(folder, data)
    found, details = run(folder, data, tmp_path / "sweep", sets=OWN, screening="on")
    assert np.array_equal(found.predictions, expected.argmax(-1))
    assert details["screening"]["corrected"] > 0, "bfloat16 alone would have been wrong"


def test_ties_are_decided_by_the_example_alone(data, tmp_path):
    """A classifier without weights has ties only: both logits are the same number."""
    folder = save_model(tmp_path / "model", scale=0.0)
    found, details = run(folder, data, tmp_path / "sweep", screening="on")
    assert details["ties"] == found.predictions.size
    assert not found.predictions.any(), "the first of equal logits"


def test_regression_stays_in_float32(data, tmp_path, caplog):
    folder = save_model(tmp_path / "model", task="STS-B")
    expected, _ = loop(folder, data, task="STS-B")
    with caplog.at_level(logging.INFO):
        found, details = run(folder, data, tmp_path / "sweep", "STS-B", sets=OWN, screening="on")
    np.testing.assert_allclose(found.predictions, expected[..., 0], atol=1e-5)
    assert found.predictions.dtype == np.float32
    assert details["arithmetic"] == "float32"
    assert "shared path" in caplog.text


def test_general_path_for_other_models_and_the_log_says_so(data, tmp_path, caplog):
    folder = save_model(tmp_path / "model", "distilbert")
    expected, _ = loop(folder, data, [2])
    with caplog.at_level(logging.INFO):
        found, details = run(folder, data, tmp_path / "sweep", sets=[2], screening="on")
    assert np.array_equal(found.predictions, expected.argmax(-1))
    np.testing.assert_allclose(logits_of(folder, data, sets=[2]), expected, rtol=1e-5, atol=1e-5)
    assert "general path" in caplog.text
    assert details["path"].startswith("general path")
    assert details["arithmetic"] == "float32"


@pytest.mark.parametrize("screening", ["on", "off"])
def test_a_killed_sweep_goes_on_and_ends_the_same(bert, data, tmp_path, monkeypatch, screening):
    whole, _ = run(bert, data, tmp_path / "whole", sets=OWN, screening=screening)
    output = tmp_path / "sweep"
    monkeypatch.setitem(module.BLOCK, "cpu", 16)
    keep = Partial.keep

    def killed(self, name, arrays):
        if name == "block-2":
            raise KeyboardInterrupt
        return keep(self, name, arrays)

    with monkeypatch.context() as patch:
        patch.setattr(Partial, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            run(bert, data, output, sets=OWN, screening=screening)
    assert not output.exists()
    left = tmp_path / ".sweep.partial"
    assert sorted(path.name for path in left.glob("*.npz")) == ["block-0.npz", "block-1.npz"]
    calls = []
    compute = module.block_logits
    monkeypatch.setattr(module, "block_logits", lambda *a: calls.append(a[1]) or compute(*a))
    resumed, details = run(bert, data, output, sets=OWN, screening=screening)
    assert len(calls) == 1
    assert details["resumed_examples"] == 32
    assert np.array_equal(resumed.predictions, whole.predictions)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweep", "whole"]


def another(change, bert, data, folder):
    """A sweep's inputs with one thing changed."""
    inputs = {"model": bert, "data": data, "sets": OWN, "screening": "auto", "mode": "uniform"}
    match change:
        case "weights":
            inputs["model"] = save_model(folder / "model", scale=1.001)
        case "data":
            stored = load_from_disk(str(data / "RTE"))["validation"]
            flipped = stored.map(lambda row: {**row, "label": 1 - row["label"]})
            DatasetDict(train=stored, validation=flipped).save_to_disk(folder / "data" / "RTE")
            inputs["data"] = folder / "data"
        case "sets":
            inputs["sets"] = OWN[:2]
        case "mode":
            inputs["mode"] = "zero"
        case "screening":
            inputs["screening"] = "off"
    return inputs


@pytest.mark.parametrize(
    "change", ["nothing", "hardware", "screening", "weights", "data", "sets", "mode"]
)
def test_what_a_killed_sweep_left_serves_the_same_sweep_only(
    bert, data, tmp_path, monkeypatch, change
):
    """With `auto`, bfloat16 that nothing has checked must not be taken for float32."""
    monkeypatch.setitem(module.BLOCK, "cpu", 16)
    monkeypatch.setattr(module.precision, "fast_bfloat16", lambda: True)
    keep = Partial.keep

    def killed(self, name, arrays):
        keep(self, name, arrays)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Partial, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            run(bert, data, tmp_path / "sweep", sets=OWN)
    if change == "hardware":
        monkeypatch.setattr(module.precision, "fast_bfloat16", lambda: False)
    inputs = another(change, bert, data, tmp_path)
    resumed, details = run(output=tmp_path / "sweep", **inputs)
    assert details["resumed_examples"] == (16 if change == "nothing" else 0)
    assert ("screening" in details) == (change not in ("hardware", "screening"))
    model, folder = inputs.pop("model"), inputs.pop("data")
    inputs.pop("screening")
    expected, _ = loop(model, folder, **inputs)
    assert np.array_equal(resumed.predictions, expected.argmax(-1))


@pytest.mark.parametrize("parts", [1, 2, 5, 7])
@pytest.mark.parametrize(
    ("family", "task", "screening"),
    [
        ("bert", "RTE", "off"),
        ("bert", "RTE", "on"),
        ("bert", "STS-B", "on"),
        ("distilbert", "MNLI", "off"),
    ],
)
def test_parts_give_the_predictions_of_the_whole(
    family, task, screening, parts, data, tmp_path, monkeypatch
):
    """Five blocks in as many parts, in fewer and in more; in float32 to the last bit."""
    monkeypatch.setitem(module.BLOCK, "cpu", 8)
    folder = save_model(tmp_path / "model", family, task=task)
    settings = {"sets": OWN[:1], "screening": screening}
    whole, expected = run(folder, data, tmp_path / "whole", task, **settings)
    left = run_parts(folder, data, tmp_path / "parts", parts, task, **settings)
    monkeypatch.setattr(module, "block_logits", None)  # nothing is computed twice
    found, details = run(folder, data, tmp_path / "sweep", task, left, **settings)
    assert np.array_equal(found.predictions, whole.predictions)
    assert found.idx.tolist() == whole.idx.tolist()
    assert details.pop("resumed_examples") == EXAMPLES
    if "screening" in details:  # whose errors are seen in another order
        assert details["screening"]["sampled"] == expected["screening"]["sampled"]
    else:
        same = set(details) - {"seconds"}
        assert {n: details[n] for n in same} == {n: expected[n] for n in same}
    assert sorted(path.name for path in left[0].parent.iterdir()) == [path.name for path in left]
    assert not list(tmp_path.rglob(".*.partial"))


def test_errors_that_one_part_saw_unsettle_what_others_screened(bert, data, tmp_path, monkeypatch):
    monkeypatch.setitem(module.BLOCK, "cpu", 16)
    left = run_parts(bert, data, tmp_path / "parts", 2, screening="on")
    whole, before = run(bert, data, tmp_path / "whole", parts=left, screening="on")
    assert before["screening"]["recomputed_share"] < 1
    with np.load(left[1] / "block-1.npz") as arrays:
        blocks = dict(arrays)
    last = 12  # the last head of the last layer: what lies below has no smaller bound
    example = np.flatnonzero(~np.isnan(blocks["exact"][last, :, 0]))[0]
    blocks["screened"][last, example, 0] += 1000.0
    np.savez(left[1] / "block-1.npz", **blocks)
    found, details = run(bert, data, tmp_path / "sweep", parts=left, screening="on")
    assert min(details["screening"]["bound_by_layer"]) > 1000.0
    assert details["screening"]["recomputed_share"] == 1
    assert np.array_equal(found.predictions, whole.predictions)


@pytest.mark.parametrize("screening", ["on", "off"])
def test_a_killed_part_goes_on(bert, data, tmp_path, monkeypatch, screening):
    monkeypatch.setitem(module.BLOCK, "cpu", 8)
    whole, _ = run(bert, data, tmp_path / "whole", sets=OWN, screening=screening)
    settings = {"sets": OWN, "screening": screening}
    keep = Partial.keep

    def killed(self, name, arrays):
        if name == "block-4":
            raise KeyboardInterrupt
        return keep(self, name, arrays)

    def first():
        split = {"part": 1, "parts": 2}
        return call(sweep_heads_part, bert, data, tmp_path / "1", "RTE", settings, **split)

    with monkeypatch.context() as patch:
        patch.setattr(Partial, "keep", killed)
        with pytest.raises(KeyboardInterrupt):
            first()
    assert not (tmp_path / "1").exists()
    assert len(list((tmp_path / ".1.partial").glob("*.npz"))) == 2
    details = first()
    assert (details["examples"], details["resumed_examples"]) == (24, 16)
    split = {"part": 2, "parts": 2}
    call(sweep_heads_part, bert, data, tmp_path / "2", "RTE", settings, **split)
    parts = [tmp_path / "1", tmp_path / "2"]
    found, details = run(bert, data, tmp_path / "sweep", parts=parts, **settings)
    assert np.array_equal(found.predictions, whole.predictions)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2", "sweep", "whole"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("hardware", "screening"),
        ("screening", "screening"),
        ("weights", "model"),
        ("data", "data"),
        ("sets", "sets"),
        ("mode", "settings"),
        ("device", "device"),
        ("version", "versions"),
    ],
)
def test_a_part_of_another_sweep_is_refused(bert, data, tmp_path, monkeypatch, change, named):
    monkeypatch.setitem(module.BLOCK, "cpu", 16)
    monkeypatch.setattr(module.precision, "fast_bfloat16", lambda: True)
    parts = run_parts(bert, data, tmp_path / "parts", 2, sets=OWN)
    if change == "hardware":
        monkeypatch.setattr(module.precision, "fast_bfloat16", lambda: False)
    if change in ("device", "version"):  # as another machine would have written it
        record = parts[1] / "identity.json"
        old, new = {"device": ("cpu", "cuda"), "version": (torch.__version__, "1.0")}[change]
        assert f'"{old}"' in record.read_text()
        record.write_text(record.read_text().replace(f'"{old}"', f'"{new}"'))
    inputs = another(change, bert, data, tmp_path)
    with pytest.raises(InputError, match=rf"parts/\d is a part of .*: {named} differ\. .*Remove"):
        run(output=tmp_path / "sweep", parts=parts, **inputs)
    assert not (tmp_path / "sweep").exists()
    assert all(len(list(part.glob("*.npz"))) for part in parts), "parts are only read"


def test_a_folder_that_is_no_part_is_refused(bert, data, tmp_path):
    with pytest.raises(InputError, match=r"none is no part of a computation"):
        run(bert, data, tmp_path / "sweep", parts=[tmp_path / "none"])
    assert not list(tmp_path.iterdir())


def test_what_another_sweep_left_is_not_used(tmp_path):
    partial = Partial(tmp_path / "p", {"sets": ["a"], "version": (1, 2)})
    partial.keep("block-0", {"exact": np.arange(3)})
    same = Partial(tmp_path / "p", {"sets": ["a"], "version": (1, 2)})
    assert same.load("block-0")["exact"].tolist() == [0, 1, 2]
    assert same.load("block-1") is None
    other = Partial(tmp_path / "p", {"sets": ["b"], "version": (1, 2)})
    assert other.load("block-0") is None
    assert json.loads((tmp_path / "p" / "identity.json").read_text())["sets"] == ["b"]
    other.remove()
    assert not list(tmp_path.iterdir())


def test_labels_that_are_all_equal_are_refused_before_the_sweep(bert, data, tmp_path):
    split = load_from_disk(str(data / "RTE"))["validation"]
    split = split.map(lambda row: {**row, "label": 1})
    DatasetDict(train=split, validation=split).save_to_disk(tmp_path / "data" / "RTE")
    words = r"all 40 validation examples of RTE have the label 1 \(not_entailment\)"
    with pytest.raises(InputError, match=words):
        run(bert, tmp_path / "data", tmp_path / "sweep")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_validation_set_without_examples_is_refused():
    with pytest.raises(InputError, match="data/RTE: found no validation examples of RTE"):
        module.check_labels(np.array([], dtype=np.int64), TASKS["RTE"], "data/RTE")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sets": [5]}, "head 5, but the model has 3 layers of 4 heads"),
        ({"sets": [[]]}, "names no head"),
        ({"sets": [3, "3"]}, "3 and '3' mean the same heads"),
        ({"screening": "maybe"}, "'maybe', expected one of auto, on, off"),
        ({"mode": "half"}, "'half', expected one of uniform, zero"),
    ],
    ids=["head", "empty", "twice", "screening", "mode"],
)
def test_settings_that_cannot_be_meant(bert, data, tmp_path, settings, words):
    with pytest.raises(InputError, match=words):
        run(bert, data, tmp_path / "sweep", **settings)
    assert not list(tmp_path.iterdir())


def test_a_damaged_model_is_refused(data, tmp_path):
    folder = save_model(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["bert.encoder.layer.1.output.dense.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="not finite"):
        run(folder, data, tmp_path / "sweep", screening="on")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
