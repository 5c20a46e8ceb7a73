"""Gradients against central differences in float64; erased tokens against changed attention."""

from pathlib import Path

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.beyond.faithfulness.measure import erasure
from darksecrets.beyond.faithfulness.measure.erasure import decide, erase, first_tokens
from darksecrets.beyond.faithfulness.measure.examples import Examples
from darksecrets.beyond.faithfulness.measure.explanations import run
from darksecrets.core.models.hooks import Call, Intervention, intervene, observe
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.losses import loss
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.columns import TOKEN_KINDS

FAMILIES = ("bert", "roberta", "albert", "distilbert")
STEP = 1e-5
LENGTHS = (7, 5)


class Shift(Intervention):
    """Adds a number to one attention weight."""

    def __init__(self, layer: int, place: tuple[int, int, int, int], by: float) -> None:
        self.layer, self.place, self.by = layer, place, by

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:
        if call.layer != self.layer:
            return weights
        changed = weights.clone()
        changed[self.place] += self.by
        return changed


def inputs_of(folder: Path) -> dict[str, torch.Tensor]:
    """Two examples of random words, the second padded."""
    tokenizer = load_tokenizer(folder)
    ids = torch.full((2, LENGTHS[0]), tokenizer.pad_token_id)
    rng = np.random.default_rng(1)
    for row, length in enumerate(LENGTHS):
        words = rng.integers(4, len(tokenizer), length)
        ids[row, :length] = torch.from_numpy(words)
        ids[row, 0], ids[row, length - 1] = tokenizer.cls_token_id, tokenizer.sep_token_id
    return {"input_ids": ids, "attention_mask": (ids != tokenizer.pad_token_id).long()}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ["MRPC", "STS-B"])
def test_gradients_by_weights_are_central_differences(family, name, tmp_path):
    task = TASKS[name]
    model, _ = load_classifier(save_classifier(tmp_path / family, family, task), task, 0)
    model, inputs = model.double(), inputs_of(tmp_path / family)
    labels = torch.tensor([1.5, 3.0]).double() if task.is_regression else torch.tensor([1, 0])
    passed = run(model, task, inputs, labels)
    layers = passed.layers
    assert len(layers) == 2

    def scores(*changes: Intervention) -> tuple[float, float]:
        """The loss, and the logits of the classes that the intact model predicts."""
        with torch.no_grad(), intervene(model, *changes):
            logits = model(**inputs).logits
        chosen = logits.gather(1, passed.decisions[:, None]).sum()
        return float(loss(task, logits, labels, "sum")), float(chosen)

    rng = np.random.default_rng(2)
    for layer, head in [(1, 0), (1, 3), (2, 2)]:
        for example, length in enumerate(LENGTHS):
            query = int(rng.integers(length)) if layer == 1 else 0
            for at in (query, 0):
                place = (example, head, at, int(rng.integers(length)))
                above, below = (scores(Shift(layer, place, by)) for by in (STEP, -STEP))
                by_loss, by_decision = (
                    (a - b) / (2 * STEP) for a, b in zip(above, below, strict=True)
                )
                found = layers[layer - 1]
                assert float(found.by_loss[place]) == pytest.approx(by_loss, rel=1e-5, abs=1e-7)
                if at == 0:
                    here = found.by_decision[example, head, place[3]]
                    assert float(here) == pytest.approx(by_decision, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradient_times_input_is_the_derivative_by_a_factor(family, tmp_path):
    """Of the embedding that enters the first layer: (1 + s) e, by s at 0."""
    task = TASKS["MRPC"]
    model, _ = load_classifier(save_classifier(tmp_path / family, family, task), task, 0)
    model, inputs = model.double(), inputs_of(tmp_path / family)
    passed = run(model, task, inputs, torch.tensor([1, 0]))
    with torch.no_grad(), observe(model, hidden=True) as seen:
        model(**inputs)
    entering = seen.hidden[0].clone()
    names = ("embeddings", "encoder.embedding_hidden_mapping_in")  # the latter: ALBERT's
    (*_, module) = [m for name, m in model.base_model.named_modules() if name in names]

    def decision(token: int, by: float) -> float:
        changed = entering.clone()
        changed[0, token] *= 1 + by
        handle = module.register_forward_hook(lambda *_: changed)
        try:
            with torch.no_grad():
                logits = model(**inputs).logits
        finally:
            handle.remove()
        return float(logits[0, passed.decisions[0]])

    for token in range(LENGTHS[0]):
        expected = (decision(token, STEP) - decision(token, -STEP)) / (2 * STEP)
        assert float(passed.tokens[0, token]) == pytest.approx(abs(expected), rel=1e-4, abs=1e-7)


def test_rows_and_norms_are_those_of_the_first_token(tmp_path):
    task = TASKS["MRPC"]
    model, _ = load_classifier(save_classifier(tmp_path / "bert", "bert", task), task, 0)
    inputs = inputs_of(tmp_path / "bert")
    passed = run(model, task, inputs, torch.tensor([1, 0]))
    with torch.no_grad(), observe(model, maps=True, values=True, projections=True) as seen:
        logits = model(**inputs).logits
    assert passed.decisions.tolist() == logits.argmax(dim=-1).tolist()
    for number, layer in enumerate(passed.layers, start=1):
        torch.testing.assert_close(layer.weights, seen.maps[number][:, :, 0])
        weight = seen.projections[number].weight
        for example, head, key in np.ndindex(*layer.norms.shape):
            alone = seen.values[number][example, head, key] @ weight[head]
            expected = layer.weights[example, head, key] * torch.linalg.vector_norm(alone)
            torch.testing.assert_close(layer.norms[example, head, key], expected)


def made_up(inputs: dict[str, torch.Tensor]) -> Examples:
    lengths = inputs["attention_mask"].sum(dim=1).tolist()
    kinds = []
    for length in lengths:
        of_tokens = np.full(length, TOKEN_KINDS.index("word"))
        of_tokens[0], of_tokens[-1] = 0, 1
        kinds.append(of_tokens)
    ids = {
        "input_ids": [
            row[:length].numpy().astype(np.int32)
            for row, length in zip(inputs["input_ids"], lengths, strict=True)
        ]
    }
    return Examples(np.arange(len(lengths)), np.zeros(len(lengths)), kinds, ids, 0)


class Hide(Intervention):
    """Takes the weight of some tokens away; the other weights add up to 1."""

    def __init__(self, hidden: list[list[int]]) -> None:
        self.hidden = hidden

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:  # noqa: ARG002
        changed = weights.clone()
        for example, tokens in enumerate(self.hidden):
            changed[example, :, :, tokens] = 0
        return changed / changed.sum(dim=-1, keepdim=True)


def test_hidden_tokens_get_no_weight_in_any_layer(tmp_path):
    task = TASKS["MRPC"]
    model, _ = load_classifier(save_classifier(tmp_path / "bert", "bert", task), task, 0)
    inputs = inputs_of(tmp_path / "bert")
    hidden = [[2, 5], [1]]
    with torch.no_grad(), intervene(model, Hide(hidden)):
        expected = model(**inputs).logits
    examples, found = made_up(inputs), []
    handle = model.register_forward_hook(lambda _, __, output: found.append(output.logits))
    decisions = decide(model, examples, [0, 1], [np.array(one) for one in hidden])
    handle.remove()
    torch.testing.assert_close(found[0], expected)
    assert decisions == expected.argmax(dim=-1).tolist()
    assert examples.ordinary(1).tolist() == [1, 2, 3]


def test_tokens_are_erased_until_the_decision_changes(tmp_path, monkeypatch):
    """One decision changes once tokens 3 and 4 are both hidden, the other never does."""
    task = TASKS["MRPC"]
    model, _ = load_classifier(save_classifier(tmp_path / "bert", "bert", task), task, 0)
    inputs = inputs_of(tmp_path / "bert")
    examples = made_up(inputs)

    def decided(_, __, rows, erased):
        pairs = zip(rows, erased, strict=True)
        return [int(row == 0 and {3, 4} <= set(tokens.tolist())) for row, tokens in pairs]

    monkeypatch.setattr(erasure, "decide", decided)
    orders = {
        "at once": [np.array([3, 4, 1, 2, 5]), np.array([1, 2, 3])],
        "last": [np.array([1, 2, 3, 5, 4]), np.array([1, 2, 3])],
    }
    found = erase(model, examples, [0, 1], np.array([0, 0]), orders)
    np.testing.assert_allclose(found["at once"], [2 / 5, np.nan])
    np.testing.assert_allclose(found["last"], [1, np.nan])
    alone = erase(model, examples, [1], np.array([0]), {"any": [np.array([1, 2, 3])]})
    assert np.isnan(alone["any"]).all()


@pytest.mark.parametrize(("share", "count"), [(0.1, 1), (0.2, 1), (0.21, 2), (1.0, 5), (0.6, 3)])
def test_at_least_the_share_is_erased(share, count):
    assert len(first_tokens(np.arange(5), share)) == count
    assert len(first_tokens(np.arange(0), share)) == 0
