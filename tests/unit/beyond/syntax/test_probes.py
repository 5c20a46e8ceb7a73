"""Probes over attention: their likelihood, what they learn, and what they do not."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from shipped_sentences import draw_sentences

from darksecrets.beyond.syntax.declared import ATTENTION_PROBES, PROBES
from darksecrets.beyond.syntax.measure import probes, probing
from darksecrets.beyond.syntax.measure.probes import (
    Attention,
    AttentionAndWords,
    Distances,
    DistancesAndWords,
    Probe,
    Sentences,
)
from darksecrets.beyond.syntax.measure.probing import Scores, features_of
from darksecrets.beyond.syntax.measure.words import word_maps
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.models.loading import Draw, load_encoder
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import identify

HEADS, SIZE = 3, 4


def made(lengths: list[int], seed: int = 0) -> list[Sentences]:
    """Sentences with random attention, trees and words, in double precision, padded in pairs."""
    rng = torch.Generator().manual_seed(seed)
    parts, first = [], 0
    for pair in zip(lengths[::2], lengths[1::2], strict=True):
        longest = max(pair)
        maps = torch.rand(2, 1, HEADS, longest, longest, generator=rng, dtype=torch.float64)
        heads = torch.full((2, longest), -1)
        apart = torch.zeros(2, longest, longest, dtype=torch.bool)
        for own, (length, row) in enumerate(zip(pair, heads, strict=True)):
            apart[own, :length, :length] = ~torch.eye(length, dtype=torch.bool)
            for word in range(1, length):  # the first word is the root
                other = int(torch.randint(length - 1, (1,), generator=rng))
                row[word] = other + (other >= word)
        words = torch.randn(2, longest, SIZE, generator=rng, dtype=torch.float64)
        numbers = torch.arange(first, first + 2)
        parts.append(Sentences(numbers, features_of(maps), words, apart, heads))
        first += 2
    return parts


def drawn(probe: Probe, seed: int = 1) -> Probe:
    """The same with random weights, in double precision."""
    rng = torch.Generator().manual_seed(seed)
    probe.double()
    for weights in probe.parameters():
        weights.data = torch.randn(weights.shape, generator=rng, dtype=torch.float64)
    return probe


def every(seed: int = 1) -> list[Probe]:
    made_ones = (
        Attention(2 * HEADS),
        AttentionAndWords(2 * HEADS, SIZE),
        Distances(),
        DistancesAndWords(SIZE, 0),
    )
    return [drawn(probe, seed) for probe in made_ones]


def score_by_loops(probe: Probe, part: Sentences, own: int, word: int, candidate: int) -> float:
    """The formula of one pair of words, as in the paper."""
    weights = {name: value.detach().numpy() for name, value in probe.named_parameters()}
    v, w = part.words[own, word].numpy(), part.words[own, candidate].numpy()
    far = max(-9, min(9, candidate - word)) + 9
    if isinstance(probe, Distances):
        return float(weights["weights"][far])
    if isinstance(probe, DistancesAndWords):
        inner = (
            v @ weights["word_weights"]
            + w @ weights["candidate_weights"]
            + weights["distance_weights"][far]
        )
        return float(np.tanh(inner) @ weights["out"])
    total = 0.0
    for feature in range(2 * HEADS):
        weight = weights["weights"][feature]
        if isinstance(probe, AttentionAndWords):
            weight += (
                v @ weights["word_weights"][:, feature]
                + w @ weights["candidate_weights"][:, feature]
            )
        total += weight * float(part.attention[own, word, feature, candidate])
    return total


@pytest.mark.parametrize("number", range(4))
def test_scores_and_likelihood_are_those_of_plain_loops(number):
    probe, parts = every()[number], made([4, 6, 5, 5])
    penalty = sum(float((weights.detach() ** 2).sum()) for weights in probe.parameters()) / 2
    total = penalty
    for part in parts:
        found = probe(part)
        for own, word in np.ndindex(*part.heads.shape):
            candidates = [c for c in range(part.heads.shape[1]) if part.apart[own, word, c]]
            scores = {c: score_by_loops(probe, part, own, word, c) for c in candidates}
            for candidate, score in scores.items():
                assert float(found[own, word, candidate].detach()) == pytest.approx(score, rel=1e-9)
            if part.heads[own, word] >= 0:
                whole = math.log(sum(math.exp(score) for score in scores.values()))
                total -= scores[int(part.heads[own, word])] - whole
    assert float(probes.loss(probe, parts).detach()) == pytest.approx(total, rel=1e-9)


def test_both_directions_of_attention_are_read():
    maps = torch.arange(2 * HEADS * 16, dtype=torch.float64).reshape(1, 2, HEADS, 4, 4)
    features = features_of(maps)
    for layer, head, word, other in np.ndindex(2, HEADS, 4, 4):
        number = layer * HEADS + head
        assert features[0, word, number, other] == maps[0, layer, head, word, other]
        assert features[0, word, 2 * HEADS + number, other] == maps[0, layer, head, other, word]


def test_the_fit_of_a_linear_probe_is_the_maximum():
    """SciPy, with gradients from differences, finds the same maximum."""
    from scipy.optimize import minimize

    parts = made([6, 8, 5, 7], seed=4)
    fitted = probes.fit(Attention(2 * HEADS).double(), parts)
    probe = Attention(2 * HEADS).double()

    def value(weights: np.ndarray) -> float:
        probe.weights.data = torch.from_numpy(weights.copy())
        return float(probes.loss(probe, parts).detach())

    found = minimize(value, np.zeros(2 * HEADS), method="BFGS")
    np.testing.assert_allclose(fitted.weights.detach().numpy(), found.x, atol=1e-3)  # type: ignore[union-attr]


def planted(parts: list[Sentences], feature: int) -> list[Sentences]:
    """One head attends only from words to their heads."""
    found = []
    for part in parts:
        attention = part.attention.clone()
        attention[:, :, feature] = 0
        for own, word in torch.nonzero(part.heads >= 0).tolist():
            attention[own, word, feature, part.heads[own, word]] = 1
        found.append(replace(part, attention=attention))
    return found


@pytest.mark.parametrize("make", [Attention, lambda size: AttentionAndWords(size, SIZE)])
def test_a_planted_head_gives_the_whole_tree(make):  # type: ignore[no-untyped-def]
    parts = planted(made([6, 7] * 12), 1)
    half = np.arange(24) % 2
    scores = probing.cross_fitted(lambda: make(2 * HEADS).double(), parts, half)
    assert (scores.hits == scores.sizes).all()


def test_a_probe_is_never_scored_on_what_it_was_trained_on():
    """Words that are unique to a sentence tell its tree only if it was seen."""
    parts = made([6, 6] * 8, seed=5)
    seen = [part.of(torch.ones(16, dtype=torch.bool)) for part in parts]
    probe = probes.fit(drawn(DistancesAndWords(SIZE, 0)), seen)
    known = probes.hits(probe, seen, 16).sum()
    half = np.arange(16) % 2
    new = probing.cross_fitted(lambda: drawn(DistancesAndWords(SIZE, 0)), parts, half).hits.sum()
    assert known > 2 * new


def test_shuffled_trees_keep_their_shape():
    parts = made([7, 9] * 6)
    for part, other in zip(parts, probing.shuffled(parts, 3), strict=True):
        for ones, others in zip(part.heads.tolist(), other.heads.tolist(), strict=True):
            shapes = [sorted(Counter(h for h in row if h >= 0).values()) for row in (ones, others)]
            assert shapes[0] == shapes[1]
        assert not torch.equal(part.heads, other.heads)
        assert (other.heads != torch.arange(other.heads.shape[1])).all()


def test_offsets_are_counted_as_in_a_loop():
    parts = made([7, 9, 5, 6])
    for offset in (-2, 1, 3):
        counts = [
            sum(int(head) == word + offset >= 0 for word, head in enumerate(row))
            for part in parts
            for row in part.heads.tolist()
        ]
        assert probing.hits_of_offset(parts, 4, offset).tolist() == counts


def test_the_best_offset_of_each_half_is_scored_on_the_other():
    parts = made([7, 9, 5, 6, 8, 7, 9, 6], seed=3)
    half = np.array([0, 1, 1, 0, 0, 1, 0, 1])

    def hits_of(sentence: int, offset: int) -> int:
        heads = parts[sentence // 2].heads[sentence % 2].tolist()
        return sum(head == word + offset >= 0 for word, head in enumerate(heads))

    expected, chosen = np.zeros(8), []
    for own in (0, 1):
        sums = {
            offset: sum(hits_of(n, offset) for n in range(8) if half[n] == own)
            for offset in range(-8, 9)
            if offset
        }
        chosen.append(max(sums, key=lambda offset: sums[offset]))
        for n in np.flatnonzero(half != own):
            expected[n] = hits_of(n, chosen[-1])
    assert chosen[0] != chosen[1]
    found = probing.best_offset(parts, half)
    assert found.hits.tolist() == expected.tolist()


def test_root_and_punctuation_are_not_asked_for():
    sentence = Sentence(
        "1", 0, "", ("I", "ran", "."), (), (), (1, ROOT, 1), ("a", "root", "punct"), ()
    )
    assert probing.asked_of(sentence) == [1, -1, -1]


def test_documents_are_the_units():
    sentences = draw_sentences(40, 1)
    units = probing.units_of(sentences)
    half = probing.halves_of(units, 0)
    for one, other in zip(range(39), range(1, 40), strict=True):
        if sentences[one].document == sentences[other].document:
            assert units[one] == units[other]
            assert half[one] == half[other]
    assert set(half) == {0, 1}
    single = [replace(sentence, document=3) for sentence in sentences]
    assert probing.units_of(single).tolist() == list(range(40))


def test_a_table_has_all_probes_and_their_differences():
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 12, 50).astype(float)
    scores = {name: Scores(rng.binomial(sizes.astype(int), 0.5), sizes) for name in PROBES}
    controls = {name: scores[name] for name in PROBES[:2]}
    found = probing.table_of(scores, controls, controls, np.arange(50) // 2)
    ATTENTION_PROBES.check(identify(found, None, "pretrained"), "x", "y")
    rows = found.set_index("probe")
    for name, own in scores.items():
        assert rows.loc[name, "uas"] == pytest.approx(own.hits.sum() / sizes.sum())
        over = own.hits.sum() - scores["fixed offset"].hits.sum()
        assert rows.loc[name, "over_offset"] == pytest.approx(over / sizes.sum())
    assert (rows["over_random"].dropna() == 0).all()
    assert pd.isna(rows.loc["distances", "random"])


TINY = Reading(RESOURCES / "tiny-bert", 64, 3)


def without_contractions() -> list[Sentence]:
    """Sentences whose words share no piece."""
    return [sentence for sentence in draw_sentences(9, 3) if "'" not in sentence.text]


def test_words_are_the_encoders_own_embeddings_of_first_pieces():
    sentences = without_contractions()
    vectors = probing.word_vectors(sentences, TINY)
    tokenizer, model = load_tokenizer(TINY.folder), load_encoder(TINY.folder)
    table = model.get_input_embeddings().weight.detach()
    first = [
        table[tokenizer(word, add_special_tokens=False)["input_ids"][0]]
        for sentence in sentences
        for word in sentence.words
    ]
    found = torch.cat(vectors)
    assert found.square().sum(dim=1).mean() == pytest.approx(1, abs=1e-4)
    centred = torch.stack(first) - torch.stack(first).mean(dim=0)
    left, sizes, _ = torch.linalg.svd(centred.double(), full_matrices=False)
    main = left[:, : found.shape[1]] * sizes[: found.shape[1]]
    products = (main @ main.T) / main.square().sum(dim=1).mean()
    torch.testing.assert_close((found @ found.T).double(), products, atol=1e-3, rtol=1e-3)


def test_what_probes_read_is_the_attention_between_words():
    sentences = without_contractions()
    vectors = probing.word_vectors(sentences, TINY)
    parts = probing.gather(sentences, vectors, TINY)
    maps = list(word_maps(TINY, sentences))
    cells = torch.cat([part.attention.movedim(2, -1)[part.apart] for part in parts])
    torch.testing.assert_close(cells.square().mean(dim=0), torch.ones(cells.shape[1]))
    for part, batch in zip(parts, maps, strict=True):
        heads = batch.maps.flatten(1, 2)
        for own, number in enumerate(batch.numbers):
            ratio = heads[own, 3, 0, 1:] / part.attention[own, 0, 3, 1:]
            known = part.apart[own, 0, 1:]
            assert ratio[known].max() == pytest.approx(float(ratio[known].min()), rel=1e-4)
            assert part.heads[own].tolist()[: len(sentences[number])] == probing.asked_of(
                sentences[number]
            )


def test_the_table_of_an_encoder_is_as_declared_and_repeats():
    sentences = probing.chosen(draw_sentences(40, 3), 16, 1)
    assert len({sentence.text for sentence in sentences}) == 16
    random = replace(TINY, draw=Draw(1, 0.02))
    found = [probing.probe_table(sentences, TINY, random, 4) for _ in range(2)]
    ATTENTION_PROBES.check(identify(found[0], None, "pretrained"), "x", "y")
    pd.testing.assert_frame_equal(*found)
