"""The page about `head_mask`: its code runs as it stands, and does what transformers 4 did."""

import re
from pathlib import Path

import pytest
import torch
from tiny_models import bert_tokenizer
from transformers import AutoModelForSequenceClassification, BertConfig
from transformers import BertForSequenceClassification as Classifier

from darksecrets import HeadMask, disable, intervene
from darksecrets.core.run.errors import InputError

PAGE = Path(__file__).parents[4] / "docs" / "head-mask.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
LAYERS, HEADS, SIZE = 4, 8, 32


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A classifier of four layers of eight heads."""
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("page") / "my-bert"
    tokenizer = bert_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=SIZE,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=48,
        initializer_range=0.3,
    )
    Classifier(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder) -> dict:
    """What the code of the page leaves behind, run from top to bottom."""
    found: dict = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
            exec(compile(block, str(PAGE), "exec"), found)
    return found


def reference(folder: Path, inputs, mask: torch.Tensor) -> torch.Tensor:
    """Logits as earlier versions computed them: weights times the mask, after the softmax."""
    model = Classifier.from_pretrained(folder, attn_implementation="eager").eval()
    hidden = model.bert.embeddings(inputs["input_ids"], inputs["token_type_ids"])
    padded = inputs["attention_mask"][:, None, None, :] == 0
    for layer, own in zip(model.bert.encoder.layer, mask, strict=True):
        states = [
            projection(hidden).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for projection in (
                layer.attention.self.query,
                layer.attention.self.key,
                layer.attention.self.value,
            )
        ]
        scores = states[0] @ states[1].transpose(2, 3) / (SIZE // HEADS) ** 0.5
        weights = scores.masked_fill(padded, -1e9).softmax(-1) * own[:, None, None]
        context = (weights @ states[2]).transpose(1, 2).flatten(2)
        attended = layer.attention.output(context, hidden)
        hidden = layer.output(layer.intermediate(attended), attended)
    return model.classifier(model.bert.pooler(hidden))


def test_zero_is_what_a_mask_of_zeros_did(page, folder):
    mask = torch.ones(LAYERS, HEADS)
    mask[2, 5] = 0
    expected = reference(folder, page["inputs"], mask)
    torch.testing.assert_close(page["logits"], expected, rtol=1e-5, atol=1e-5)
    plain = reference(folder, page["inputs"], torch.ones(LAYERS, HEADS))
    assert not torch.allclose(expected, plain, atol=1e-3)


def test_factors_and_their_gradients_are_those_of_multiplied_weights(page, folder):
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    mask = torch.rand(LAYERS, HEADS, generator=torch.Generator().manual_seed(2))
    ours, theirs = (mask.clone().requires_grad_() for _ in range(2))
    with intervene(model, HeadMask(ours)):
        found = model(**page["inputs"]).logits
    expected = reference(folder, page["inputs"], theirs)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    for logits in (found, expected):
        torch.nn.functional.cross_entropy(logits, page["labels"]).backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-6)


def test_importance_is_the_mean_absolute_gradient_of_single_examples(page, folder):
    expected = torch.zeros(LAYERS, HEADS)
    for row in range(2):
        mask = torch.ones(LAYERS, HEADS, requires_grad=True)
        one = {name: values[row : row + 1] for name, values in page["inputs"].items()}
        logits = reference(folder, one, mask)
        torch.nn.functional.cross_entropy(logits, page["labels"][row : row + 1]).backward()
        expected += mask.grad.abs() / 2
    torch.testing.assert_close(page["importance"], expected, rtol=1e-4, atol=1e-6)


def test_heads_removed_for_good_are_heads_at_zero_and_can_be_read_again(page, folder):
    mask = torch.ones(LAYERS, HEADS)
    mask[2, [5, 7]] = 0
    expected = reference(folder, page["inputs"], mask)
    torch.testing.assert_close(page["smaller"], expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(page["again"](**page["inputs"]).logits, page["smaller"])


def test_a_mask_of_another_model_is_refused(page, folder):
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with (
        pytest.raises(InputError, match="The mask has 3 heads a layer; the model has 8"),
        intervene(model, HeadMask(torch.ones(LAYERS, 3))),
    ):
        model(**page["inputs"])
    with disable(model, {1: [1]}):
        pass  # nothing of the mask is left behind
    torch.testing.assert_close(
        model(**page["inputs"]).logits,
        reference(folder, page["inputs"], torch.ones(LAYERS, HEADS)),
        rtol=1e-5,
        atol=1e-5,
    )
