"""Chunks: gathered, they equal the store of a single job byte for byte."""

import itertools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from datasets import Dataset, DatasetDict
from glue import TASKS
from tiny_models import WORDS, save_classifier

from darksecrets.attention import extraction
from darksecrets.attention.chunks import batches_of_chunk, gather, gather_models
from darksecrets.attention.store import AttentionStore
from darksecrets.run.errors import InputError

EXAMPLES, BATCH = 30, 4
FILES = ("maps.npy", "examples.parquet", "store.json")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, pairs of many lengths, a sample, and its store from a single job."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("inputs")
    words = [word for word in WORDS if not word.startswith("##")]
    texts = [
        [" ".join(rng.choice(words, rng.integers(1, 11))) for _ in range(EXAMPLES)]
        for _ in range(2)
    ]
    idx = 10 + rng.permutation(EXAMPLES)
    columns = {"idx": idx, "sentence1": texts[0], "sentence2": texts[1], "label": [0] * EXAMPLES}
    split = Dataset.from_dict(columns)
    DatasetDict(train=split, validation=split).save_to_disk(folder / "data")
    (folder / "sample.json").write_text(json.dumps(idx[:-3].tolist()))
    save_classifier(folder / "model", "bert", TASKS["MRPC"])
    extract(folder, folder / "whole")
    return folder


def sampled(inputs: Path) -> list[int]:
    sample: list[int] = json.loads((inputs / "sample.json").read_text())
    return sample


def extract(inputs: Path, output: Path, chunk: int = 1, chunks: int = 1) -> Path:
    extraction.extract(
        inputs / "model",
        extraction.read_sample(inputs / "data", sampled(inputs)),
        output,
        max_length=20,
        batch_size=BATCH,
        chunk=chunk,
        chunks=chunks,
    )
    return output


def extract_all(inputs: Path, folder: Path, chunks: int) -> list[Path]:
    return [extract(inputs, folder / str(n), n, chunks) for n in range(1, chunks + 1)]


def test_maps_depend_on_their_batch(inputs, tmp_path):
    """Otherwise the next test would not notice batches split between chunks."""
    examples = extraction.read_sample(inputs / "data", sampled(inputs))
    alone = tmp_path / "alone"
    extraction.extract(inputs / "model", examples, alone, max_length=20, batch_size=1)
    assert (alone / "maps.npy").read_bytes() != (inputs / "whole" / "maps.npy").read_bytes()


@pytest.mark.parametrize("chunks", [2, 3, 7, 12])
def test_gathered_chunks_are_the_store_of_one_job(inputs, tmp_path, chunks):
    """Seven batches, in as many chunks, in fewer and in more, where some are empty."""
    folders = extract_all(inputs, tmp_path, chunks)
    examples = [AttentionStore.open(folder).examples for folder in folders]
    assert sum(examples) == 27
    assert (0 in examples) == (chunks >= 7)
    gather(folders, sampled(inputs), tmp_path / "gathered")
    assert sorted(path.name for path in (tmp_path / "gathered").iterdir()) == sorted(FILES)
    for name in FILES:
        found, whole = tmp_path / "gathered" / name, inputs / "whole" / name
        assert found.read_bytes() == whole.read_bytes(), name


def test_gathered_chunks_of_several_models_are_the_stores_of_one_job(
    inputs: Path, tmp_path: Path
) -> None:
    models = dict.fromkeys(("pretrained", "finetuned/seed-1"), inputs / "model")
    examples = extraction.read_sample(inputs / "data", sampled(inputs))
    folders = [tmp_path / str(chunk) for chunk in (1, 2)]
    for chunk, folder in enumerate(folders, 1):
        extraction.extract_models(
            models, examples, folder, max_length=20, batch_size=BATCH, chunk=chunk, chunks=2
        )
    gather_models(list(models), folders, sampled(inputs), tmp_path / "gathered")
    for model, name in itertools.product(models, FILES):
        found = (tmp_path / "gathered" / model / name).read_bytes()
        assert found == (inputs / "whole" / name).read_bytes()


@pytest.mark.parametrize("examples", [0, 1, 15, 16, 1000])
@pytest.mark.parametrize("chunks", [1, 2, 7, 100])
def test_every_batch_is_in_one_chunk_of_about_equal_cost(examples, chunks):
    lengths = np.sort(np.random.default_rng(1).integers(3, 129, examples))[::-1].tolist()
    batches = extraction.batches_of(examples, 16)
    cut = [batches_of_chunk(batches, lengths, n + 1, chunks) for n in range(chunks)]
    assert [batch for part in cut for batch in part] == batches
    costs = [sum(max(lengths[i] for i in batch) * len(batch) for batch in part) for part in cut]
    largest = 16 * max(lengths, default=0)
    assert all(abs(cost - sum(costs) / chunks) <= largest for cost in costs)


def test_chunks_that_do_not_make_up_a_store(inputs, tmp_path):
    folders, sample = extract_all(inputs, tmp_path / "chunks", 3), sampled(inputs)
    for wrong, words in (
        (folders[:2], r"have \d+ examples that are not the 27 of"),
        ([*folders, folders[2]], r"have \d+ examples that are not the 27 of"),
        ([folders[1], folders[0], folders[2]], "are not in the order of one store"),
    ):
        with pytest.raises(InputError, match=f"chunks {words}.*Remove them and run again"):
            gather(wrong, sample, tmp_path / "gathered")
    counts = json.loads((folders[1] / "store.json").read_text())
    (folders[1] / "store.json").write_text(json.dumps(counts | {"layers": 4, "heads": 2}))
    with pytest.raises(InputError, match="2 × 4 and 4 × 2 layers and heads"):
        gather(folders, sample, tmp_path / "gathered")
    shutil.rmtree(folders[1])
    with pytest.raises(InputError, match=r"is no attention store"):
        gather(folders, sample, tmp_path / "gathered")
    assert not (tmp_path / "gathered").exists()
