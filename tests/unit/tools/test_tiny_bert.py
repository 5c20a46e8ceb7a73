"""Pairs, masks and weights of the tiny BERT; a killed run; the weights that ship."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining, PreTrainedTokenizerFast

from darksecrets.core.run.files import RESOURCES
from tools.corpus.documents import pretraining_documents
from tools.pretraining import tiny_bert
from tools.pretraining.tiny_bert import Configuration

SHIPPED = RESOURCES / "tiny-bert"

TINY = Configuration(
    documents=60,
    heldout_documents=20,
    heldout_pairs=24,
    table_pairs=10,
    vocabulary=300,
    layers=2,
    heads=2,
    hidden=32,
    intermediate=64,
    positions=64,
    max_length=40,
    batch_size=8,
    steps=12,
    warmup_steps=2,
    dropout=0.1,
    precision="float32",
    evaluate_every=4,
    save_every=4,
)


@pytest.fixture(scope="module")
def documents() -> list[list[str]]:
    """Documents whose sentences contain their document's number and their position."""
    rng = np.random.default_rng(0)
    return [
        [f"d{d} s{s} " + " ".join(f"w{w}" for w in rng.integers(0, 9, rng.integers(1, 9)))
         for s in range(rng.integers(1, 7))]
        for d in range(40)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer(documents: list[list[str]]) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = sorted({w for d in documents for s in d for w in s.split()})
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: i for i, word in enumerate([*specials, *words])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = ("pad", "unk", "cls", "sep", "mask")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, **{f"{name}_token": f"[{name.upper()}]" for name in names}
    )


@pytest.fixture(scope="module")
def text(documents: list[list[str]], tokenizer: PreTrainedTokenizerFast) -> tiny_bert.Text:
    return tiny_bert.tokenise(documents, tokenizer)


def segments(example: dict, tokenizer: PreTrainedTokenizerFast) -> tuple[list[str], list[str]]:
    words = tokenizer.convert_ids_to_tokens(example["input_ids"])
    assert words[0] == "[CLS]"
    assert words[-1] == "[SEP]"
    middle = words.index("[SEP]")
    assert example["token_type_ids"] == [0] * (middle + 1) + [1] * (len(words) - middle - 1)
    return words[1:middle], words[middle + 1 : -1]


def test_segments_come_from_the_right_documents(text, documents, tokenizer):
    pairs = tiny_bert.draw_pairs(text, 500, np.random.default_rng(1))
    whole = ["|".join(d).replace("|", " ") for d in documents]
    for i in range(len(pairs)):
        example = tiny_bert.encode(text, pairs, i, tokenizer, max_length=1_000)
        a, b = segments(example, tokenizer)
        document_a, document_b = int(a[0][1:]), int(b[0][1:])
        assert " ".join(a) in whole[document_a]
        assert " ".join(b) in whole[document_b]
        if example["next_sentence_label"] == 0:
            assert " ".join(a + b) in whole[document_a]
        else:
            assert document_a != document_b
    assert 0.4 < pairs.is_random.mean() < 0.6


def test_every_other_document_can_be_the_random_one(text):
    pairs = tiny_bert.draw_pairs(text, 20_000, np.random.default_rng(2))
    random = pairs.is_random == 1
    drawn = np.searchsorted(text.documents, pairs.b_first[random], side="right") - 1
    usable = np.flatnonzero(np.diff(text.documents) >= 2)
    assert set(drawn) >= set(usable)


def test_similar_sentences_share_words_and_are_of_other_documents(text):
    anchors = np.random.default_rng(0).integers(0, len(text.sentences) - 1, 6_000)
    found = tiny_bert.similar_sentences(text, anchors, np.random.default_rng(1))
    assert (found >= 0).mean() > 0.5  # many sentences of this text share words with none
    anchors, found = anchors[found >= 0], found[found >= 0]
    random = np.random.default_rng(2).permutation(found)

    def document(sentence: int) -> int:
        return int(np.searchsorted(text.documents, sentence, side="right"))

    def shared(one: int, other: int) -> int:
        return len({*text.slice(one, one + 1)} & {*text.slice(other, other + 1)})

    for anchor, similar in zip(anchors, found, strict=True):
        assert document(anchor) != document(similar)
        assert shared(anchor, similar) >= 1
    alike = np.mean([shared(a, b) for a, b in zip(anchors, found, strict=True)])
    chance = np.mean([shared(a, b) for a, b in zip(anchors, random, strict=True)])
    assert alike > chance + 0.5


def test_a_sentence_of_the_same_words_is_not_similar_but_the_same():
    """Sentence 0 has a twin in document 1, and shares one word with a sentence of document 2."""
    sentences = [[5, 6, 7], [20, 21], [7, 6, 5], [22, 23], [5, 8, 9], [24, 25]]
    text = tiny_bert.Text(
        pieces=np.concatenate(sentences),
        sentences=np.cumsum([0, *map(len, sentences)]),
        documents=np.array([0, 2, 4, 6]),
    )
    found = tiny_bert.similar_sentences(
        text, np.zeros(200, dtype=int), np.random.default_rng(0), candidates=64
    )
    # Of the anchor's three words one leads to document 2; of the others no candidate will do.
    assert set(found) == {4, -1}


@pytest.mark.parametrize("max_length", [9, 16, 17])
def test_long_pairs_are_cut_to_fit_and_keep_both_segments(text, tokenizer, max_length):
    pairs = tiny_bert.draw_pairs(text, 300, np.random.default_rng(3))
    lengths = tiny_bert.pair_lengths(text, pairs, max_length)
    for i in range(len(pairs)):
        example = tiny_bert.encode(text, pairs, i, tokenizer, max_length)
        a, b = segments(example, tokenizer)
        assert len(example["input_ids"]) == lengths[i]
        assert min(len(a), len(b)) >= 2
    assert lengths.max() == max_length


def test_masks_leave_special_tokens_and_padding_alone(text, tokenizer):
    pairs = tiny_bert.draw_pairs(text, 400, np.random.default_rng(4))
    examples = tiny_bert.Examples(text, pairs, tokenizer, 64)
    batch = tiny_bert.masking_collator(tokenizer, 0.15, seed=1)([*examples])
    original = tokenizer.pad(
        [{"input_ids": e["input_ids"]} for e in examples], return_tensors="pt"
    )["input_ids"]
    special = torch.isin(original, torch.tensor([0, 2, 3]))
    chosen = batch["labels"] != -100
    assert not (chosen & special).any()
    assert torch.equal(batch["input_ids"][~chosen], original[~chosen])
    assert torch.equal(batch["labels"][chosen], original[chosen])
    # Binomial shares, within 4 standard deviations.
    share = chosen.sum() / (~special).sum()
    assert abs(share - 0.15) < 4 * (0.15 * 0.85 / (~special).sum()) ** 0.5
    masked = (batch["input_ids"][chosen] == tokenizer.mask_token_id).float().mean()
    assert abs(masked - 0.8) < 4 * (0.8 * 0.2 / chosen.sum()) ** 0.5


def test_masks_depend_on_the_seed_and_the_batch_only(text, tokenizer):
    pairs = tiny_bert.draw_pairs(text, 64, np.random.default_rng(5))
    examples = [*tiny_bert.Examples(text, pairs, tokenizer, 64)]
    collate = tiny_bert.masking_collator(tokenizer, 0.15, seed=1)
    first, second = collate(examples[:32]), collate(examples[32:])
    again = tiny_bert.masking_collator(tokenizer, 0.15, seed=1)(examples[32:])
    other = tiny_bert.masking_collator(tokenizer, 0.15, seed=2)(examples[32:])
    assert torch.equal(second["labels"], again["labels"])
    assert not torch.equal(second["labels"], other["labels"])
    assert first["labels"].shape != second["labels"].shape or not torch.equal(
        first["labels"] == -100, second["labels"] == -100
    )


def test_scores_agree_with_the_models_own_loss(text, tokenizer):
    model = tiny_bert.new_model(TINY, tokenizer, seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5)  # so that the losses are not those of chance
    batches = tiny_bert.heldout_batches(text, tokenizer, TINY, seed=1)
    assert sum(len(b["input_ids"]) for b in batches) == TINY.heldout_pairs
    scores = tiny_bert.evaluate(model, batches[:1])
    with torch.no_grad():
        output = model.eval()(**batches[0])
    assert scores["mlm_loss"] + scores["nsp_loss"] == pytest.approx(output.loss.item(), rel=1e-5)
    labels = batches[0]["labels"].numpy()
    predicted = output.prediction_logits.numpy().argmax(-1)
    correct = sum(
        int(predicted[i, j] == labels[i, j])
        for i, j in zip(*np.nonzero(labels != -100), strict=True)
    )
    assert scores["mlm_accuracy"] == pytest.approx(correct / (labels != -100).sum())
    decided = output.seq_relationship_logits.numpy().argmax(-1)
    expected = (decided == batches[0]["next_sentence_label"].numpy()).mean()
    assert scores["nsp_accuracy"] == pytest.approx(expected)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


class KillError(Exception):
    pass


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pretraining")
    tiny_bert.pretrain(root / "model", configuration=TINY, seed=3, threads=1)
    assert [path.name for path in root.iterdir()] == ["model"]
    return root / "model"


def test_pretraining_makes_a_model_that_loads(trained):
    model = BertForPreTraining.from_pretrained(trained, dtype=torch.float32)
    assert model.config.num_hidden_layers == TINY.layers
    assert model.config.hidden_dropout_prob == TINY.finetuning_dropout
    tokenizer = AutoTokenizer.from_pretrained(trained)
    assert len(tokenizer) == model.config.vocab_size
    assert (
        model(**tokenizer("The dog sleeps.", return_tensors="pt"))
        .prediction_logits.isfinite()
        .all()
    )


@pytest.mark.slow
@pytest.mark.parametrize("damaged", [False, True], ids=["whole", "damaged"])
def test_the_same_seed_gives_the_same_model_after_a_kill_too(
    trained, tmp_path, monkeypatch, damaged
):
    def pretrain() -> None:
        tiny_bert.pretrain(tmp_path / "model", configuration=TINY, seed=3, threads=1)

    steps = 0
    step = tiny_bert.PretrainingTrainer.training_step

    def counting(self: tiny_bert.PretrainingTrainer, *args: object) -> torch.Tensor:
        nonlocal steps
        steps += 1
        if steps == 11:
            raise KillError
        return step(self, *args)

    monkeypatch.setattr(tiny_bert.PretrainingTrainer, "training_step", counting)
    with pytest.raises(KillError):
        pretrain()
    assert not (tmp_path / "model").exists()
    last = tmp_path / ".model.partial" / "checkpoint-8"
    if damaged:
        (last / "optimizer.pt").unlink()
    steps = 100
    pretrain()
    assert steps == 100 + TINY.steps - (4 if damaged else 8)  # resumed, did not start again

    expected, resumed = weights(trained), weights(tmp_path / "model")
    assert expected.keys() == resumed.keys()
    for name in expected:
        assert torch.equal(expected[name], resumed[name]), name
    for file in ("pretraining_log.csv", "heads.csv", "heads.md"):
        assert (trained / file).read_text() == (tmp_path / "model" / file).read_text()


def test_another_seed_gives_another_model(trained, tokenizer):
    model = tiny_bert.new_model(TINY, tokenizer, seed=3).state_dict()
    other = tiny_bert.new_model(TINY, tokenizer, seed=4).state_dict()
    name = "bert.encoder.layer.0.intermediate.dense.weight"
    assert not torch.equal(model[name], other[name])
    assert model[name].std().item() == pytest.approx(0.02, rel=0.1)


def test_positions_begin_as_sinusoids(tokenizer):
    """Products of positions depend on the distance alone, and the size is that of BERT's."""
    model = tiny_bert.new_model(Configuration(), tokenizer, seed=1)
    positions = model.bert.embeddings.position_embeddings.weight.detach().double()
    products = positions @ positions.T
    for distance in (0, 1, 7):
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), rtol=1e-4, atol=0)
    assert positions.pow(2).mean().sqrt().item() == pytest.approx(0.02, rel=1e-3)


# --- the weights that ship ---


def test_shipped_weights_are_small_and_of_the_defaults():
    record = json.loads((SHIPPED / "pretraining.json").read_text())
    assert record["configuration"] == dataclasses.asdict(Configuration())
    assert (SHIPPED / "model.safetensors").stat().st_size <= 12_000_000
    tensors = weights(SHIPPED)
    assert {t.dtype for t in tensors.values()} == {torch.float32}
    assert all(t.isfinite().all() for t in tensors.values())


@pytest.mark.slow
def test_shipped_table_of_heads_is_that_of_the_shipped_weights():
    """Recomputed on other pairs of the same kind of text, so within sampling error."""
    configuration = dataclasses.replace(Configuration(), table_pairs=60)
    tokenizer = AutoTokenizer.from_pretrained(SHIPPED)
    text = tiny_bert.tokenise(list(pretraining_documents(100, seed=12345)), tokenizer)
    heads, _ = tiny_bert.measure_heads(SHIPPED, text, configuration, seed=7)
    table = pd.read_csv(SHIPPED / "heads.csv")
    shares = ["cls", "sep", "self", "previous", "next", "same_segment", "other_segment"]
    assert np.abs(heads[shares] - table[shares]).to_numpy().max() < 0.08
    assert np.abs(heads["relative_entropy"] - table["relative_entropy"]).max() < 0.05


@pytest.mark.slow
def test_shipped_model_predicts_words_and_next_sentences():
    """Its scores on new text are those of its log, and far from chance."""
    tokenizer = AutoTokenizer.from_pretrained(SHIPPED)
    model = BertForPreTraining.from_pretrained(SHIPPED, dtype=torch.float32)
    text = tiny_bert.tokenise(list(pretraining_documents(200, seed=54321)), tokenizer)
    configuration = dataclasses.replace(Configuration(), heldout_pairs=256)
    batches = tiny_bert.heldout_batches(text, tokenizer, configuration, seed=5)
    scores = tiny_bert.evaluate(model, batches)
    logged = json.loads((SHIPPED / "pretraining.json").read_text())["result"]
    assert scores["mlm_accuracy"] == pytest.approx(logged["mlm_accuracy"], abs=0.06)
    assert scores["nsp_accuracy"] == pytest.approx(logged["nsp_accuracy"], abs=0.08)
