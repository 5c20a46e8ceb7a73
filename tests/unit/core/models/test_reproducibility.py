"""How far numbers move with threads and instructions of the CPU: the bounds of docs/failures.md."""

import os
import subprocess
import sys

import numpy as np
import pytest

# The shipped encoder on sentences of the words that it knows: a classifier's outputs, and maps.
COMPUTE = """
import sys
import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from darksecrets.core.run.files import RESOURCES

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(1)
folder = RESOURCES / "tiny-bert"
load = AutoModelForSequenceClassification.from_pretrained
model = load(folder, attn_implementation="eager").eval()
texts = ["the old teacher saw a dog near the river " * (1 + n % 7) for n in range(32)]
batch = AutoTokenizer.from_pretrained(folder)(texts, padding=True, return_tensors="pt")
with torch.inference_mode():
    seen = model(**batch, output_attentions=True)
maps = torch.stack(seen.attentions).half().numpy()
np.savez(sys.argv[2], outputs=seen.logits.numpy(), maps=maps)
"""


def compute(root, file, threads, **environment):
    command = [sys.executable, "-c", COMPUTE, str(threads), str(file)]
    subprocess.run(command, cwd=root, env=os.environ | environment, check=True)
    with np.load(file) as arrays:
        return dict(arrays)


def similarity(maps):
    """Cosine similarity of the maps of neighbouring heads; maps are layer, example, head, …"""
    one, other = maps[:, :, :-1], maps[:, :, 1:]
    products = (one * other, one * one, other * other)
    both, first, second = (product.sum(axis=(-1, -2)) for product in products)
    return both / np.sqrt(first * second)


@pytest.fixture(scope="module")
def reference(root, tmp_path_factory):
    return compute(root, tmp_path_factory.mktemp("one") / "reference.npz", threads=1)


@pytest.mark.slow
def test_the_same_machine_and_threads_give_the_same_bytes(root, reference, tmp_path):
    again = compute(root, tmp_path / "again.npz", threads=1)
    for name, values in reference.items():
        assert again[name].tobytes() == values.tobytes()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("threads", "environment"),
    [(2, {}), (1, {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"})],
    ids=["threads", "instructions"],
)
def test_others_stay_within_the_bounds_of_the_page(root, reference, tmp_path, threads, environment):
    other = compute(root, tmp_path / "other.npz", threads, **environment)
    assert np.abs(other["outputs"] - reference["outputs"]).max() < 1e-5
    one, two = (values["maps"].astype(np.float64) for values in (reference, other))
    assert np.all(np.abs(one - two) <= 2.0**-10 * np.maximum(one, two) + 2.0**-24)
    assert np.abs(similarity(one) - similarity(two)).max() < 1e-4
