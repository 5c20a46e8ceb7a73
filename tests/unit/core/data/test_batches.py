"""Padded batches and their order."""

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import bert_tokenizer, roberta_tokenizer
from toy_data import save_dataset

from darksecrets.core.data.batches import (
    EncodedSplit,
    GroupedByLength,
    batches_by_length,
    load_split,
)


@pytest.mark.parametrize("name", ["MRPC", "SST-2", "STS-B"])
@pytest.mark.parametrize("make", [bert_tokenizer, roberta_tokenizer])
def test_batches_are_what_the_tokenizer_pads(name, make, tmp_path):
    task, tokenizer = TASKS[name], make()
    folder = save_dataset(tmp_path, task, 20, 3)
    split = load_split(folder, "train", tokenizer, task, 12)
    from datasets import load_from_disk

    data = load_from_disk(str(folder))["train"]
    rows = [7, 0, 13]
    texts = [[data[row][column] for row in rows] for column in task.columns]
    expected = tokenizer(
        *texts, padding=True, truncation="longest_first", max_length=12, return_tensors="pt"
    )
    batch = split.batch(rows)
    assert batch.keys() - {"labels"} == expected.keys()
    for input_name, tensor in expected.items():
        assert torch.equal(batch[input_name], tensor), input_name
    assert batch["labels"].tolist() == [data[row]["label"] for row in rows]
    assert batch["labels"].dtype == (torch.float32 if task.is_regression else torch.int64)
    assert split.lengths.tolist() == [
        len(tokenizer(*pair, truncation="longest_first", max_length=12)["input_ids"])
        for pair in zip(*(data[column] for column in task.columns), strict=True)
    ]


def test_fingerprint_tells_inputs_and_labels_apart(tmp_path):
    split = load_split(
        save_dataset(tmp_path, TASKS["MRPC"], 20, 3), "train", bert_tokenizer(), TASKS["MRPC"], 32
    )
    before = split.fingerprint()
    assert split.fingerprint() == before
    for array in (split.labels, split.inputs["input_ids"], split.inputs["token_type_ids"]):
        array[0] ^= 1
        assert split.fingerprint() != before
        array[0] ^= 1


def test_by_length_takes_every_row_once_and_pads_least():
    lengths = np.random.default_rng(0).integers(3, 40, 101)
    batches = list(batches_by_length(lengths, 8))
    assert sorted(row for batch in batches for row in batch) == list(range(101))
    longest = [lengths[batch].max() for batch in batches]
    assert longest == sorted(lengths, reverse=True)[::8]


def test_training_order_is_random_grouped_and_of_its_seed_and_epoch():
    lengths = np.random.default_rng(0).integers(3, 120, 1001)

    def epoch(seed: int, number: int) -> list[int]:
        torch.manual_seed(number + 17)  # must not matter
        sampler = GroupedByLength(lengths, 32, seed)
        sampler.set_epoch(number)
        return list(sampler)

    orders = [epoch(1, 0), epoch(1, 1), epoch(2, 0), epoch(1, 0)]
    assert all(sorted(order) == list(range(1001)) for order in orders)
    assert orders[0] == orders[3]
    assert orders[0] != orders[1]
    assert orders[0] != orders[2]

    def padding(order: list[int]) -> int:
        batches = [lengths[order[i : i + 32]] for i in range(0, 1001, 32)]
        return sum(len(b) * b.max() - b.sum() for b in batches)

    assert padding(orders[0]) < 0.25 * padding(list(range(1001)))
    # Batches do not run from long to short: that would tie the length to the learning rate.
    means = [lengths[orders[0][i : i + 32]].mean() for i in range(0, 992, 32)]
    assert abs(np.corrcoef(means, np.arange(31))[0, 1]) < 0.5


def test_fewer_examples_than_a_batch():
    assert sorted(GroupedByLength(np.array([5, 3, 9]), 32, 1)) == [0, 1, 2]


def test_examples_of_which_a_model_reads_the_same_are_one_unit():
    ids, segments = [5, 6, 5, 6, 7, 5, 6, 6, 5], [0, 1, 0, 1, 0, 0, 0, 0, 1]
    starts = np.array([0, 2, 4, 5, 7, 9])  # the fourth differs in its segments, the fifth in order
    split = EncodedSplit(
        np.arange(5),
        np.zeros(5, int),
        starts,
        {"input_ids": np.array(ids), "token_type_ids": np.array(segments)},
        {"input_ids": 0, "token_type_ids": 0},
    )
    assert split.units.tolist() == [0, 0, 1, 2, 3]


@pytest.mark.parametrize("multiple", [1, 4, 8])
def test_tokens_are_rounded_up_but_not_beyond_the_longest_example(multiple):
    starts = np.cumsum([0, 3, 5, 11])
    flat = np.arange(1, 20, dtype=np.int32)
    split = EncodedSplit(
        np.arange(3), np.zeros(3, int), starts, {"input_ids": flat}, {"input_ids": 0}
    )
    for rows, longest in (([0], 3), ([0, 1], 5), ([1, 2], 11)):
        batch = split.batch(rows, multiple)
        tokens = next(n for n in range(longest, 99) if n % multiple == 0 or n == 11)
        assert batch["input_ids"].shape == batch["attention_mask"].shape == (len(rows), tokens)
        for row, ids, mask in zip(rows, batch["input_ids"], batch["attention_mask"], strict=True):
            real = flat[starts[row] : starts[row + 1]]
            padding = [0] * (tokens - len(real))
            assert ids.tolist() == [*real, *padding]
            assert mask.tolist() == [1] * len(real) + padding
