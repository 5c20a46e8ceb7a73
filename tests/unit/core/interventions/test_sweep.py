"""The sweep, against running the model once per set of heads, one example at a time."""

import re

import cpus
import numpy as np
import pytest
import torch
from datasets import Dataset, DatasetDict, load_from_disk
from glue import TASKS
from safetensors.torch import load_file, save_file
from tiny_models import WORDS, bert_tokenizer, save_classifier
from transformers import BertConfig, BertForSequenceClassification

from darksecrets.core.data.batches import load_split
from darksecrets.core.interventions import shared
from darksecrets.core.interventions import sweep as module
from darksecrets.core.interventions.backends import Loop
from darksecrets.core.interventions.disable import Disable, disable
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.sets import sweep_sets
from darksecrets.core.interventions.shared import Shared
from darksecrets.core.interventions.sweep import Settings, choose_backend, sweep
from darksecrets.core.models.hooks import Intervention, shape_of
from darksecrets.core.models.layers import Layer
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run import resuming
from darksecrets.core.run.errors import InputError

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
    if family == "electra":
        # No normalisation follows this projection. With weights as large as the others, scores of
        # attention are in the thousands, and rounding in float32 changes what heads give by 0.002:
        # the loop's own logits differ by 0.0016 between one thread and two.
        multiply(folder, "electra.embeddings_project", 0.1)
    if scale != 1.0:
        multiply(folder, "classifier", scale)
    return folder


def multiply(folder, prefix, factor):
    """Multiply the weights whose names begin with a prefix."""
    weights = load_file(folder / "model.safetensors")
    weights = {n: t * factor if n.startswith(prefix) else t for n, t in weights.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


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


def settings_of(task="RTE", **settings):
    return Settings(task=TASKS[task], seed=1, max_length=MAX_LENGTH, **settings)


def run(model, data, output, task="RTE", **settings):
    """Sweep over all examples."""
    details = sweep(model, data / task, output, settings_of(task, **settings), threads=1)
    return SweepResult.load(output), details


def loop(folder, data, sets=OWN, mode="uniform", task="RTE", dtype=torch.float32, parts=True):
    """Logits, [sets, examples, outputs], of the model run once per set and example."""
    model, split = load(folder, data, task, dtype)
    found = []
    for of_set in sweep_sets(shape_of(model), sets, parts=parts):
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


def load(folder, data, task="RTE", dtype=torch.float32):
    """The classifier and the validation examples."""
    split = load_split(data / task, "validation", load_tokenizer(folder), TASKS[task], MAX_LENGTH)
    model, _ = load_classifier(folder, TASKS[task], seed=1)
    return model.to(dtype), split


def logits_of(folder, data, task="RTE", dtype=torch.float32, sets=OWN, mode="uniform"):
    """Logits of the backend that the sweep chooses, in the model's precision."""
    model, split = load(folder, data, task, dtype)
    interventions = [of_set.intervention(mode) for of_set in sweep_sets(shape_of(model), sets)]
    backend = choose_backend(model, split, interventions)
    assert isinstance(backend, Shared) == (model.config.model_type in SHARED)
    with torch.inference_mode():
        return backend.all_logits(range(len(split)))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["uniform", "zero"])
@pytest.mark.parametrize("family", SHARED)
def test_shared_backend_gives_the_loops_outputs(family, mode, data, tmp_path):
    """In float32 against float64, where both backends agree to many more digits."""
    own = OWN if family == "bert" else [3, {1: [1, 2], 2: "all"}]
    folder = save_model(tmp_path, family)
    expected, _ = loop(folder, data, own, mode, dtype=torch.float64)
    found = logits_of(folder, data, sets=own, mode=mode)
    assert found.dtype == np.float32
    # The others' random weights are so large that they amplify rounding, the loop's own, too.
    assert np.abs(found - expected).max() < (1e-5 if family == "bert" else 1e-4)
    exact = logits_of(folder, data, sets=own, mode=mode, dtype=torch.float64)
    assert exact.dtype == np.float64
    assert np.abs(exact - expected).max() < 1e-10
    effects = np.abs(expected - expected[0]).max(axis=(1, 2))
    assert effects[1:].min() > 1e-3, "every set does something"


@pytest.mark.parametrize("mode", ["uniform", "zero"])
def test_sets_with_heads_in_common_share_layers(mode, bert, data, monkeypatch):
    """As greedy orders have them: some heads in every set, and sets within sets."""
    common = {1: frozenset([2]), 2: frozenset([1])}
    others = [{}, {1: [1]}, {1: [1], 3: [2]}, {1: [1], 2: [2], 3: [1]}, {2: [2]}, {3: [1, 2]}]
    sets = [
        Disable({n: common.get(n, frozenset()) | set(of.get(n, ())) for n in (1, 2, 3)}, mode)
        for of in [*others, others[2]]
    ]
    model, split = load(bert, data, dtype=torch.float64)
    forwards, whole = [], Layer.forward
    monkeypatch.setattr(
        Layer,
        "forward",
        lambda self, hidden, off: forwards.append(len(off)) or whole(self, hidden, off),
    )
    every = np.ones((len(sets), len(split)), dtype=bool)
    with torch.inference_mode():
        found = Shared(model, split, sets).logits(range(len(split)), every)
        assert sum(forwards) == 2 * len(split), (
            "layer 2 of {1: 1}, with and without its second head"
        )
        expected = Loop(model, split, sets).logits(range(len(split)), every)
    assert np.abs(found - expected).max() < 1e-10
    assert np.abs(np.diff(expected[:6], axis=0)).max(axis=(1, 2)).min() > 1e-3


def test_outputs_do_not_depend_on_the_number_of_threads(bert, data):
    model, split = load(bert, data)
    sets = [of_set.intervention("uniform") for of_set in sweep_sets(shape_of(model), OWN)]
    before, found = torch.get_num_threads(), []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        backend = choose_backend(model, split, sets)
        with torch.inference_mode():
            found.append(backend.all_logits(range(len(split))))
    torch.set_num_threads(before)
    np.testing.assert_array_equal(*found)


class Identity(Intervention):
    """In some heads, every token attends only to itself."""

    def __init__(self, heads):
        self.heads = heads

    def weights(self, weights, call):
        weights = weights.clone()
        for head in self.heads.get(call.layer, ()):
            weights[:, head - 1] = torch.eye(weights.shape[-1], dtype=weights.dtype)
        return weights


class Half(Intervention):
    """Halves the output of some heads."""

    def __init__(self, heads):
        self.heads = heads

    def outputs(self, outputs, call):
        outputs = outputs.clone()
        outputs[:, [head - 1 for head in self.heads.get(call.layer, ())]] *= 0.5
        return outputs


def hooked(model, split, heads, intervention):
    """Logits, [examples, outputs], of transformers' eager attention with hooks, one by one.

    A head that attends to the token alone gives that token's value; what a head gives is its slice
    of the input of the output projection.
    """
    size = model.config.hidden_size // model.config.num_attention_heads
    values, hooks = {}, []

    def keep(layer):
        return lambda _module, _inputs, output: values.__setitem__(layer, output)

    def change(layer, numbers):
        def hook(_module, inputs):
            context = inputs[0].clone()
            for head in numbers:
                part = slice((head - 1) * size, head * size)
                own = values[layer][..., part]
                context[..., part] = own if intervention is Identity else 0.5 * context[..., part]
            return (context,)

        return hook

    for layer, numbers in heads.items():
        attention = model.bert.encoder.layer[layer - 1].attention
        hooks.append(attention.self.value.register_forward_hook(keep(layer)))
        hooks.append(attention.output.dense.register_forward_pre_hook(change(layer, numbers)))
    found = []
    for row in range(len(split)):
        batch = split.batch([row])
        del batch["labels"]
        found.append(model(**batch).logits[0].numpy())
    for hook in hooks:
        hook.remove()
    return np.array(found)


@pytest.mark.parametrize("intervention", [Identity, Half])
def test_loop_takes_any_intervention(bert, data, intervention):
    """Against hooks on transformers' own eager attention, in float64."""
    model, split = load(bert, data, dtype=torch.float64)
    eager, _ = load(bert, data, dtype=torch.float64)
    eager.set_attn_implementation("eager")
    sets = [{1: {2}}, {3: {1, 4}}, {1: {1, 2, 3, 4}, 2: {3}}]
    changes = [None, *map(intervention, sets)]
    backend = choose_backend(model, split, changes)
    assert type(backend) is Loop
    with torch.inference_mode():
        found = backend.all_logits(range(len(split)))
        expected = np.stack([hooked(eager, split, heads, intervention) for heads in [{}, *sets]])
    assert np.abs(found - expected).max() < 1e-10
    assert np.abs(expected[1:] - expected[0]).max(axis=(1, 2)).min() > 1e-3


def test_a_batch_too_large_is_cut(bert, data, monkeypatch):
    whole = logits_of(bert, data)
    monkeypatch.setitem(shared.BATCH, "cpu", 32 * 24 * 3)
    monkeypatch.setitem(shared.CHUNK, "cpu", 10)
    np.testing.assert_allclose(logits_of(bert, data), whole, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "task"),
    [
        ("bert", "RTE"),
        ("bert", "MNLI"),
        ("electra", "RTE"),
        ("roberta", "RTE"),
        ("bert", "STS-B"),
        ("distilbert", "RTE"),
    ],
)
def test_predictions_are_those_of_the_loop(family, task, data, tmp_path):
    folder = save_model(tmp_path / "model", family, task=task)
    own = OWN if family == "bert" else OWN[:1]
    expected, split = loop(folder, data, own, task=task)
    found, details = run(folder, data, tmp_path / "sweep", task, sets=own)
    if task == "STS-B":
        np.testing.assert_allclose(found.predictions, expected[..., 0], atol=1e-5)
    else:
        assert np.array_equal(found.predictions, expected.argmax(-1))
    assert found.predictions.dtype == (np.float32 if task == "STS-B" else np.int64)
    assert np.array_equal(found.labels, split.labels)
    stored = load_from_disk(str(data / task))["validation"]
    assert found.idx.tolist() == stored["idx"]
    layers = 3 if family == "bert" else 2
    kinds = ["baseline"] + ["head"] * 4 * layers + ["layer"] * layers + ["set"] * len(own)
    assert list(found.sets["kind"]) == kinds
    assert details["backend"] == ("shared" if family in SHARED else "loop")
    assert (found.predictions[0] != found.predictions[1:]).any(), "disabling changes predictions"


OTHER_CPUS = [kind for kind in cpus.FLAGS if kind not in ("AVX2", "ARM")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["AVX2", "ARM", *(pytest.param(one, marks=pytest.mark.thorough) for one in OTHER_CPUS)]
)
def test_a_sweep_gives_the_same_predictions_on_every_cpu(kind, bert, data, tmp_path, monkeypatch):
    expected, _ = loop(bert, data)
    cpus.become(kind, monkeypatch)
    found, _ = run(bert, data, tmp_path / "sweep", sets=OWN)
    assert np.array_equal(found.predictions, expected.argmax(-1))


def test_ties_are_decided_by_the_example_alone(data, tmp_path):
    """A classifier with zero weights has only ties: both logits are equal."""
    folder = save_model(tmp_path / "model", scale=0.0)
    found, details = run(folder, data, tmp_path / "sweep")
    assert details["ties"] == found.predictions.size
    assert not found.predictions.any(), "the first of equal logits"


def killed_at(block, monkeypatch):
    """Kill a sweep when it has computed a block, before it is written."""
    write = resuming.write_arrays

    def killed(arrays, file):
        if file.name == f"block-{block}.npz":
            raise KeyboardInterrupt
        write(arrays, file)

    monkeypatch.setattr(resuming, "write_arrays", killed)


def another(change, bert, data, folder):
    """A sweep's inputs with one thing changed."""
    inputs = {"model": bert, "data": data, "sets": OWN, "mode": "uniform"}
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
    return inputs


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "nothing",
        "mode",
        *(pytest.param(one, marks=pytest.mark.thorough) for one in ("weights", "data", "sets")),
    ],
)
def test_what_a_killed_sweep_left_serves_the_same_sweep_only(
    bert, data, tmp_path, monkeypatch, capsys, change
):
    monkeypatch.setitem(module.BLOCK, "cpu", 16)
    with monkeypatch.context() as patch:
        killed_at(1, patch)
        with pytest.raises(KeyboardInterrupt):
            run(bert, data, tmp_path / "sweep", sets=OWN)
    assert (tmp_path / ".sweep.partial" / "block-0.npz").is_file()
    inputs = another(change, bert, data, tmp_path)
    capsys.readouterr()
    found, details = run(output=tmp_path / "sweep", **inputs)
    assert details["resumed_examples"] == (16 if change == "nothing" else 0)
    assert re.search(
        r"Disabling heads[^\r]*100%[^\r]* (\d+)/\1 \[[^\r]*$", capsys.readouterr().err.rstrip()
    )
    assert not list(tmp_path.glob(".*.partial"))
    model, folder = inputs.pop("model"), inputs.pop("data")
    expected, _ = loop(model, folder, **inputs)
    assert np.array_equal(found.predictions, expected.argmax(-1))


def test_labels_that_are_all_equal_are_refused_before_the_sweep(bert, data, tmp_path):
    split = load_from_disk(str(data / "RTE"))["validation"]
    split = split.map(lambda row: {**row, "label": 1})
    DatasetDict(train=split, validation=split).save_to_disk(tmp_path / "data" / "RTE")
    words = r"all 40 validation examples of RTE have the label 1 \(not_entailment\)"
    with pytest.raises(InputError, match=words):
        run(bert, tmp_path / "data", tmp_path / "sweep")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_damaged_model_is_refused(data, tmp_path):
    folder = save_model(tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["bert.encoder.layer.1.output.dense.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match="not finite"):
        run(folder, data, tmp_path / "sweep")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
