"""Device and batch size; memory estimates against PyTorch's profiler."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from darksecrets.core.models import devices

GIB = 2**30
GPU, CPU = torch.device("cuda"), torch.device("cpu")


@pytest.fixture
def precision() -> Iterator[None]:
    """Reset PyTorch's settings, which are global to the process."""
    matmul, convolution = torch.backends.cuda.matmul, torch.backends.cudnn
    before = matmul.allow_tf32, convolution.allow_tf32
    yield
    matmul.allow_tf32, convolution.allow_tf32 = before


def test_the_cpu_is_used_without_a_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.best() == CPU


def test_the_gpu_computes_float32_in_float32(monkeypatch, precision):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    assert devices.best() == GPU
    assert torch.backends.cudnn.allow_tf32, "asking changes nothing"
    devices.use_float32()
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32
    assert torch.get_float32_matmul_precision() == "highest"


@pytest.fixture
def gpu_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU with 6 of 16 GiB free; PyTorch holds 5 GiB and uses 2: 9 GiB can be allocated."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (6 * GIB, 16 * GIB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 5 * GIB)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 2 * GIB)


@pytest.mark.parametrize(
    ("each", "most", "expected"),
    [(GIB // 4, 512, 18), (GIB // 4, 16, 16), (5 * GIB, 512, 1)],
    ids=["half of what is free", "no more than asked for", "at least one"],
)
def test_a_gpu_takes_what_fits(gpu_memory, each, most, expected):
    assert devices.batch_size(GPU, each, cpu=64, gpu=most) == expected


def test_a_gpu_that_four_jobs_share_takes_what_fits_into_a_fourth(gpu_memory, monkeypatch):
    monkeypatch.setattr(devices.gpus, "sharing", lambda: 4)
    assert devices.batch_size(GPU, GIB // 4, cpu=64, gpu=512) == 4, "half of 4 - 2 GiB"


def test_a_job_may_allocate_its_part_of_a_gpu_alone(monkeypatch):
    parts = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", parts.append)
    assert devices.best() == GPU
    assert parts == [], "a GPU of its own"
    monkeypatch.setattr(devices.gpus, "sharing", lambda: 4)
    assert devices.best() == GPU
    assert parts == [0.25]


def test_batch_size_on_a_cpu_does_not_depend_on_memory(gpu_memory):
    assert devices.batch_size(CPU, 5 * GIB, cpu=64, gpu=512) == 64


def largest_allocation(work: Callable[[], object], folder: Path) -> int:
    """Peak of allocated bytes during some work."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        work()
    profile.export_chrome_trace(str(folder / "trace.json"))
    trace = json.loads((folder / "trace.json").read_text())["traceEvents"]
    events = [event["args"] for event in trace if event.get("name") == "[memory]"]
    before = events[0]["Total Allocated"] - events[0]["Bytes"]
    return max(event["Total Allocated"] for event in events) - before


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
@pytest.mark.parametrize(("hidden", "heads", "tokens"), [(64, 4, 16), (64, 4, 60), (256, 8, 100)])
def test_a_forward_pass_takes_less_than_estimated(kernel, hidden, heads, tokens, tmp_path):
    config = BertConfig(
        vocab_size=50,
        hidden_size=hidden,
        num_hidden_layers=3,
        num_attention_heads=heads,
        intermediate_size=4 * hidden,
    )
    model = BertForSequenceClassification._from_config(config, attn_implementation=kernel).eval()
    ids = torch.randint(5, 50, (8, tokens))
    mask = torch.ones_like(ids)
    mask[1:, tokens // 2 :] = 0
    with torch.inference_mode():
        model(input_ids=ids, attention_mask=mask)  # what is allocated once
        taken = largest_allocation(lambda: model(input_ids=ids, attention_mask=mask), tmp_path)
    assert 0.3 < taken / (8 * devices.sequence_bytes(config, tokens)) < 0.8
