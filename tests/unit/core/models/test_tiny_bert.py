"""The encoder that ships has learned its words, and what its page says of its heads."""

import re

import pytest
import torch
from safetensors.torch import load_file
from shipped_sentences import draw_sentences
from transformers import BertForMaskedLM

from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.files import RESOURCES

FOLDER = RESOURCES / "tiny-bert"
SENTENCES = [each.text for each in draw_sentences(60, 1)]


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(FOLDER)


@pytest.fixture(scope="module")
def model() -> BertForMaskedLM:
    found = BertForMaskedLM.from_pretrained(
        FOLDER, dtype=torch.float32, attn_implementation="eager"
    )
    return found.eval()


def test_weights_are_small_and_in_float32():
    assert (FOLDER / "model.safetensors").stat().st_size <= 12_000_000
    tensors = load_file(FOLDER / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float32}
    assert all(tensor.isfinite().all() for tensor in tensors.values())


@torch.inference_mode()
def test_every_seventh_piece_is_predicted_as_often_as_the_page_says(model, tokenizer):
    """Up to what sentences without their context cost."""
    said = int(re.search(r"predicts (\d+)% of the masked", (FOLDER / "README.md").read_text())[1])
    right = total = 0
    for text in SENTENCES:
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        masked = ids.clone()
        masked[0, 3:-1:7] = tokenizer.mask_token_id
        chosen = model(masked).logits.argmax(dim=-1)
        hidden = masked == tokenizer.mask_token_id
        right += int((chosen == ids)[hidden].sum())
        total += int(hidden.sum())
    assert total > 60
    assert 100 * right / total > said - 15


@torch.inference_mode()
def test_some_heads_attend_to_neighbours(model, tokenizer):
    page = (FOLDER / "README.md").read_text()
    said = [int(share) for share in re.search(r"\((\d+)% of .*? \((\d+)%\)", page).groups()]
    shares = []
    for text in SENTENCES:
        maps = model(**tokenizer(text, return_tensors="pt"), output_attentions=True).attentions
        words = torch.stack(maps)[:, 0, :, 1:-1]
        both = [words.diagonal(offset=distance, dim1=-2, dim2=-1) for distance in (2, 0)]
        shares.append(torch.stack([own.mean(dim=-1) for own in both]))
    best = torch.stack(shares).mean(dim=0).flatten(1).amax(dim=1)
    assert (100 * best > torch.tensor(said) - 3).all()
