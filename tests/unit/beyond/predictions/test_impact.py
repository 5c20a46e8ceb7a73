"""Impact against plain loops, and projective trees against all trees."""

import itertools

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from made_up_layers import sentence
from shipped_sentences import draw_sentences

from darksecrets.beyond.predictions.declared import ANY, PROJECTIVE, TREES
from darksecrets.beyond.predictions.measure import impact
from darksecrets.core.attention.pieces import align
from darksecrets.core.data.sentences import ROOT
from darksecrets.core.models.hooks import Intervention, intervene
from darksecrets.core.models.loading import load_encoder
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import identify

TINY = RESOURCES / "tiny-bert"
SENTENCES = draw_sentences(8, 5)


@pytest.fixture(scope="module", params=["shipped", "RoBERTa"])
def folder(request, tmp_path_factory):
    if request.param == "shipped":
        return TINY
    return FAMILIES[request.param].save(tmp_path_factory.mktemp("impact") / "model")


def test_impact_is_that_of_a_loop_over_pairs_of_words(folder):
    tokenizer, model = load_tokenizer(folder), load_encoder(folder)
    aligned = align(SENTENCES, tokenizer, 64)
    place = len(aligned.numbers) // 2
    found = impact.impacts(model, aligned, place, tokenizer.mask_token_id)
    text, belongs = SENTENCES[aligned.numbers[place]].text, aligned.belongs[place]
    encoded = tokenizer(text, return_tensors="pt")

    def state(word, *others):
        hidden = belongs[:, [word, *others]].any(axis=1)
        ids = encoded["input_ids"].clone()
        ids[0, torch.from_numpy(hidden)] = tokenizer.mask_token_id
        with torch.no_grad():
            last = model(**{**encoded, "input_ids": ids}).last_hidden_state[0]
        return last[torch.from_numpy(belongs[:, word])].mean(dim=0).numpy()

    words = belongs.shape[1]
    for i, j in itertools.product(range(words), repeat=2):
        expected = 0 if i == j else np.linalg.norm(state(i) - state(i, j))
        assert found[i, j] == pytest.approx(expected, abs=2e-3)


class Alone(Intervention):
    """Every token attends to itself alone."""

    def weights(self, weights, _):
        return torch.eye(weights.shape[-1]).expand_as(weights)


def test_words_that_attend_to_themselves_alone_have_no_impact():
    tokenizer, model = load_tokenizer(TINY), load_encoder(TINY)
    aligned = align(SENTENCES, tokenizer, 64)
    with intervene(model, Alone()):
        found = impact.impacts(model, aligned, 0, tokenizer.mask_token_id)
    belongs = aligned.belongs[0]
    apart = (belongs.astype(int).T @ belongs.astype(int)) == 0
    assert np.abs(found[apart]).max() < 1e-4


def trees(size, root):
    for heads in itertools.product(range(size), repeat=size):
        if heads[root] == root and all(h != w for w, h in enumerate(heads) if w != root):
            ends = list(range(size))
            for _ in range(size):
                ends = [heads[end] for end in ends]
            if set(ends) == {root}:
                yield heads


def crosses(heads, root):
    arcs = [tuple(sorted((w, h))) for w, h in enumerate(heads) if w != root]
    inside = any(a < root < b for a, b in arcs)  # above the root, nothing may pass
    return inside or any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_projective_trees_are_the_best_of_all_that_cross_no_arcs(size):
    rng = np.random.default_rng(size)
    for _ in range(8):
        scores, root = rng.random((size, size)), int(rng.integers(size))
        found = tuple(impact.eisner(scores, root).tolist())
        fitting = [heads for heads in trees(size, root) if not crosses(heads, root)]

        def total(heads, scores=scores, root=root):
            return sum(scores[w, h] for w, h in enumerate(heads) if w != root)

        assert found in fitting
        assert total(found) == pytest.approx(max(map(total, fitting)))


def test_a_planted_chain_is_found():
    words = ["a", "b", "c", "d", "e"]
    scores = np.zeros((5, 5))
    for word in range(1, 5):
        scores[word, word - 1] = 1
    for heads in (impact.eisner(scores, 0), impact.arborescences(scores[None], np.array([0]))[0]):
        assert heads.tolist() == [0, 0, 1, 2, 3]
    chain = sentence(words, (ROOT, 0, 1, 2, 3))
    counts = impact.Counts.of(np.array([0, 0, 1, 2, 3]), chain)
    assert counts == impact.Counts(arcs=4, either=4, chain=4)
    other = impact.Counts.of(np.array([1, 2, 3, 4, 4]), chain)
    assert other.either == 4, "whatever the direction"


def test_sentences_without_arcs_are_not_counted():
    one = impact.Counts.of(np.array([0, 0]), sentence(["a", "b"], (ROOT, 0)))
    none = impact.Counts(arcs=0, either=0, chain=0)
    row = impact.tree_row([one, none, one])
    assert (row["sentences"], row["uuas"]) == (2, 1)


def test_sentences_of_two_words_are_used():
    two = sentence(["a", "b"], (ROOT, 0))
    assert impact.usable([two], 3, 40, 0) == [two]


def test_the_table_is_as_declared(folder, tmp_path):
    rows = impact.impact_rows(Reading(folder, 64, 8), SENTENCES)
    assert rows["tree"].tolist() == [PROJECTIVE, ANY]
    assert set(rows["sentences"]) == {len(SENTENCES)}
    assert set(rows["layer"]) == {len(load_encoder(folder).encoder.layer)}
    table = identify(rows, "", "pretrained").reindex(columns=list(TREES.names))
    TREES.write(table, tmp_path / "t.csv")
    assert len(TREES.read(tmp_path / "t.csv")) == 2


def test_long_sentences_are_left_out_and_none_is_refused():
    some = impact.usable(SENTENCES, 3, 40, 0)
    assert len(some) == 3
    with pytest.raises(InputError, match="No sentence of the treebank has 2 to 2 words"):
        impact.usable(SENTENCES, 3, 2, 0)
