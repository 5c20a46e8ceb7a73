"""A GPU against the CPU, within the tolerances of docs/gpu.md; `make test-gpu` runs these."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from glue import TASKS
from hub.client import ROOT
from safetensors.torch import load_file
from tiny_models import save_classifier
from toy_data import save_bert, save_dataset
from transformers import masking_utils
from transformers.models.bert.modeling_bert import BertPooler

from darksecrets.core.attention import extraction
from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.data.batches import load_split
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.sweep import Settings, sweep
from darksecrets.core.models import devices, loading, tokenizing
from darksecrets.paper.finetuning import evaluation, training
from darksecrets.paper.patterns.network import classification, classifier

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU here"),
]

GPU, CPU = torch.device("cuda"), torch.device("cpu")
EXAMPLES, MAX_LENGTH = 60, 32

# docs/gpu.md; the models here have large random weights, which amplify rounding.
LOGITS = 1e-3
MAPS = 2.0**-10
PROBABILITIES = 1e-3
PREDICTIONS = 0.01  # share that may differ


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    for name in ("MRPC", "STS-B"):
        save_dataset(folder / name, TASKS[name], EXAMPLES, EXAMPLES)
    return folder


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return save_classifier(tmp_path / "bert", "bert", TASKS["MRPC"])


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Choose the device that the package runs models on."""
    devices.use_float32()  # whichever test comes first
    return lambda device: monkeypatch.setattr(devices, "best", lambda: device)


def test_float32_is_not_tensorfloat32():
    device = devices.best()
    devices.use_float32()
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(8, 16, 32, 32, generator=generator)
    filters = torch.randn(32, 16, 3, 3, generator=generator)
    for operation, a, b in [
        (torch.matmul, images.flatten(2), images.flatten(2).transpose(1, 2)),
        (torch.nn.functional.conv2d, images, filters),
    ]:
        exact = operation(a.double(), b.double())
        found = operation(a.to(device), b.to(device)).cpu().double()
        assert (found - exact).abs().max() < 1e-5 * exact.abs().max()


def test_logits(bert, data):
    split = load_split(
        data / "MRPC", "validation", tokenizing.load_tokenizer(bert), TASKS["MRPC"], 32
    )
    model: Any = loading.load_classifier(bert, TASKS["MRPC"], seed=1)[0]
    expected = evaluation.evaluate(model, split)
    model.to(GPU)
    for batch_size in (None, 7):
        found = evaluation.evaluate(model, split, batch_size=batch_size)
        np.testing.assert_allclose(found, expected, rtol=0, atol=LOGITS)


def test_maps(bert, data, tmp_path, on, monkeypatch):
    split = load_split(
        data / "MRPC", "validation", tokenizing.load_tokenizer(bert), TASKS["MRPC"], 32
    )
    monkeypatch.setattr(extraction, "MAX_HOST_BYTES", 2**13)  # so that there are many batches
    stores, batches = {}, {}
    for device in (CPU, GPU):
        on(device)
        details = extraction.extract_maps(
            bert,
            extraction.read_sample(data / "MRPC", split.idx.tolist()),
            tmp_path / device.type,
            max_length=MAX_LENGTH,
            batch_size=16,
        )
        stores[device] = AttentionStore.open(tmp_path / device.type)
        batches[device] = details["batches"]
    assert batches[GPU] > 3
    pd.testing.assert_frame_equal(stores[CPU].table, stores[GPU].table)
    for example in range(EXAMPLES):
        a, b = (store.maps(example).astype(np.float32) for store in stores.values())
        np.testing.assert_allclose(a, b, rtol=0, atol=MAPS)


def test_maps_copied_while_computing_are_those_computed():
    """Long computations and large maps, so that reading or overwriting a buffer too early shows."""
    generator = torch.Generator().manual_seed(0)
    start = torch.rand(1500, 1500, generator=generator).to(GPU)

    def compute(number: int) -> torch.Tensor:
        result = start
        for _ in range(20):
            result = torch.softmax(result @ start + number, dim=-1)
        return (result * (number + 1)).half()[None].expand(20 - number % 3, -1, -1).contiguous()

    expected = [compute(number)[-1].cpu().numpy() for number in range(12)]
    arriving = extraction.copy_to_host((compute(number) for number in range(12)), GPU)
    for number, maps in enumerate(arriving):
        assert len(maps) == 20 - number % 3
        assert (maps == expected[number]).all()


def test_patterns(tmp_path, on):
    rng = np.random.default_rng(0)
    lengths = [90, 40, 40, 17, 5]
    empty = ("segments", "special", "starts", "ends")
    rows = [
        {"idx": number, "tokens": ["t"] * length} | dict.fromkeys(empty, [0] * length)
        for number, length in enumerate(lengths)
    ]
    with write_store(tmp_path / "store", pd.DataFrame(rows), 4, 6) as writer:
        for length in lengths:
            writer.append(rng.dirichlet(np.full(length, 0.2), size=(4, 6, length)))
    torch.manual_seed(0)
    untrained = classifier.untrained()
    tables = {}
    for device in (CPU, GPU):
        on(device)
        store = AttentionStore.open(tmp_path / "store")
        tables[device] = classification.classify(store, untrained)
    a, b = tables.values()
    np.testing.assert_allclose(a["probability"], b["probability"], rtol=0, atol=PROBABILITIES)
    assert (a["pattern"] != b["pattern"]).mean() <= PREDICTIONS


@pytest.mark.parametrize(
    ("family", "task"), [("bert", "MRPC"), ("distilbert", "MRPC"), ("bert", "STS-B")]
)
def test_sweep(family, task, data, tmp_path, on):
    folder = save_classifier(tmp_path / "model", family, TASKS[task])
    predictions = {}
    for device in (CPU, GPU):
        on(device)
        settings = Settings(task=TASKS[task], seed=1, max_length=MAX_LENGTH)
        sweep(folder, data / task, tmp_path / device.type, settings, threads=1)
        predictions[device] = SweepResult.load(tmp_path / device.type).predictions
    a, b = predictions.values()
    if TASKS[task].is_regression:
        np.testing.assert_allclose(a, b, rtol=0, atol=LOGITS)
    else:
        assert (a != b).mean() <= PREDICTIONS


def finetune(
    folder: Path, data: Path, output: Path, precision: str, **others: Any
) -> dict[str, Any]:
    return training.finetune(
        folder,
        data / "MRPC",
        output / "model",
        task=TASKS["MRPC"],
        state="finetuned",
        seed=1,
        settings=training.Settings(
            batch_size=4, learning_rate=1e-3, max_length=MAX_LENGTH, precision=precision
        ),
        threads=1,
        scores=output / "scores.csv",
        predictions=output / "predictions.csv",
        curve=output / "curve.csv",
        **others,
    )


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_same_training_twice(precision, data, tmp_path):
    """With dropout, and bit for bit."""
    folder = save_bert(tmp_path / "pretrained")
    for name in ("one", "other"):
        finetune(folder, data, tmp_path / name, precision)
    one, other = (load_file(tmp_path / n / "model/model.safetensors") for n in ("one", "other"))
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_steps_launched_at_once_are_those_launched_one_by_one(
    precision, data, tmp_path, monkeypatch
):
    """With dropout, and bit for bit where both have the same padding and mask."""
    folder = save_bert(tmp_path / "pretrained")
    monkeypatch.setattr(training, "MULTIPLE", 1)
    monkeypatch.setattr(masking_utils, "is_tracing", lambda *_: True)
    finetune(folder, data, tmp_path / "graphs", precision)
    monkeypatch.setattr(training.FineTuner, "capture_steps", lambda _: None)
    finetune(folder, data, tmp_path / "plain", precision)
    graphs, plain = (
        load_file(tmp_path / n / "model/model.safetensors") for n in ("graphs", "plain")
    )
    assert all(torch.equal(graphs[name], plain[name]) for name in graphs)


def test_broken_off_and_resumed_is_the_same(data, tmp_path, monkeypatch):
    folder = save_bert(tmp_path / "pretrained")
    finetune(folder, data, tmp_path / "whole", "bfloat16")
    report = training.Progress.on_step_end

    def stop(self: Any, args: Any, state: Any, control: Any, **others: Any) -> None:
        report(self, args, state, control, **others)
        if state.global_step == 22:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training.Progress, "on_step_end", stop)
        with pytest.raises(KeyboardInterrupt):
            finetune(folder, data, tmp_path / "resumed", "bfloat16", checkpoint_seconds=0.0)
    details = finetune(folder, data, tmp_path / "resumed", "bfloat16")
    assert details["resumed_from_step"] == 21
    whole, resumed = (
        load_file(tmp_path / n / "model/model.safetensors") for n in ("whole", "resumed")
    )
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_model_that_reads_from_the_gpu_is_trained_step_by_step(
    data, tmp_path, monkeypatch, caplog
):
    folder = save_bert(tmp_path / "pretrained")
    finetune(folder, data, tmp_path / "graphs", "float32")
    forward = BertPooler.forward

    def reading(self: Any, hidden: torch.Tensor) -> torch.Tensor:
        assert hidden.abs().max().item() > 0
        return forward(self, hidden)

    monkeypatch.setattr(BertPooler, "forward", reading)
    finetune(folder, data, tmp_path / "plain", "float32")
    assert caplog.text.count("cannot be captured") == 1
    scores = [pd.read_csv(tmp_path / name / "scores.csv")["score"] for name in ("graphs", "plain")]
    np.testing.assert_allclose(*scores, atol=20)


IN_A_PROCESS = """
import sys
from pathlib import Path
sys.path[:0] = {paths!r}
import test_on_gpu
assert not test_on_gpu.torch.cuda.is_available()
test_on_gpu.finetune(Path({folder!r}), Path({data!r}), Path({output!r}), "float32")
"""


def test_training_without_dropout_has_the_losses_of_the_cpu(data, tmp_path):
    """The same order of examples and the same numbers but for rounding, which grows with steps."""
    folder = save_bert(tmp_path / "pretrained", dropout=0.0)
    finetune(folder, data, tmp_path / "gpu", "float32")
    on_gpu = pd.read_csv(tmp_path / "gpu" / "curve.csv")
    here = Path(__file__).parent
    code = IN_A_PROCESS.format(
        paths=[str(path) for path in (here, ROOT / "tests" / "unit", ROOT / "tests", ROOT)],
        folder=str(folder),
        data=str(data),
        output=str(tmp_path / "cpu"),
    )
    hidden = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=hidden, check=True)
    on_cpu = pd.read_csv(tmp_path / "cpu" / "curve.csv")
    losses = on_gpu["quantity"] == "loss"
    np.testing.assert_allclose(on_gpu["value"][losses], on_cpu["value"][losses], rtol=1e-2)
