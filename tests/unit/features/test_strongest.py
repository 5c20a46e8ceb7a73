"""The strongest column of every map, against plain loops, by hand and on heads made to fool it."""

from collections import Counter

import numpy as np
import pytest
from made_up_maps import HEADS, LAYERS, LENGTHS, can, random_tokens, save

from darksecrets.features.labels import FEATURES
from darksecrets.features.measures import measure
from darksecrets.features.strongest import StrongestColumns, kinds_of
from darksecrets.features.tokens import describe_example
from darksecrets.run.columns import TOKEN_KINDS

FIRST, SEPARATOR, PUNCTUATION, WORD = range(4)


def kind(one, j):
    """The kind of token j, from its features."""
    has = {name for name, flag in zip(FEATURES, one.features[j], strict=True) if flag}
    if "[CLS]" in has:
        return FIRST
    if "[SEP]" in has:
        return SEPARATOR
    return PUNCTUATION if "punctuation" in has else WORD


def found_in(store, tokens, max_bytes=2**22):
    parts = []
    measure(store, tokens, 1, max_bytes, strongest=parts)
    return StrongestColumns.joined(parts)


@pytest.mark.parametrize("windows", [(), (None, 4)], ids=["global", "local"])
@pytest.mark.parametrize("max_bytes", [1, 10**7])
def test_strongest_columns_are_the_loops(windows, max_bytes, tmp_path):
    rng = np.random.default_rng(3)
    tokens = [random_tokens(n, 10 + i, rng) for i, n in enumerate(LENGTHS)]
    maps = []
    for n in LENGTHS:
        weights = rng.exponential(size=(LAYERS, HEADS, n, n)) ** 2
        weights[:, 0, :, 0] += 3  # some stripes
        weights[:, 1, :, n // 2] += 3
        if windows:
            weights[-1] *= np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 4
        maps.append((weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16))
    store = save(tmp_path / "store", maps, windows)
    found = found_in(store, tokens, max_bytes)
    assert found.idx.tolist() == [one.idx for one in tokens]
    for example, one in enumerate(tokens):
        n = LENGTHS[example]
        kinds = [kind(one, j) for j in range(n)]
        assert found.tokens[example] == pytest.approx(np.bincount(kinds, minlength=4) / n)
        for layer in range(LAYERS):
            for head in range(HEADS):
                a = store.maps(example)[layer, head].astype(np.float64)
                received = [
                    np.mean([a[i, j] for i in range(n) if i != j and can(store, layer, i, j)])
                    for j in range(n)
                ]
                top = [j for j in range(n) if received[j] >= max(received) * (1 - 2.0**-10)]
                expected = np.bincount([kinds[j] for j in top], minlength=4) / len(top)
                assert found.columns[example, layer, head] == pytest.approx(expected)


def test_under_uniform_attention_kinds_have_their_share_of_the_tokens(tmp_path):
    """Ties are shared: the first token, [CLS], does not win them all."""
    rng = np.random.default_rng(4)
    tokens = [random_tokens(n, i, rng) for i, n in enumerate(LENGTHS)]
    maps = [np.full((1, 1, n, n), 1 / n, np.float16) for n in LENGTHS]
    found = found_in(save(tmp_path / "store", maps), tokens)
    np.testing.assert_allclose(found.columns[:, 0, 0], found.tokens, atol=1e-6)


def test_a_token_that_attends_to_itself_is_no_stripe(tmp_path):
    """Of three heads, the diagonal hides a weak stripe on [SEP], is alone, or has no self."""
    rng = np.random.default_rng(5)
    one, n = random_tokens(9, 0, rng), 9
    weak = np.eye(n) * 0.0
    weak[:, n - 1] = 0.1
    weak[2, 2] = 0.9
    weak[np.arange(n), (np.arange(n) + 3) % n] += 1 - weak.sum(axis=1)
    maps = np.stack([weak, np.eye(n), np.roll(np.eye(n), 1, axis=0)])[None].astype(np.float16)
    found = found_in(save(tmp_path / "store", [maps]), [one]).columns[0, 0]
    assert found[0].tolist() == [0, 1, 0, 0]
    for tied in found[1:]:
        assert tied == pytest.approx(np.bincount([kind(one, j) for j in range(n)], minlength=4) / n)


def words(*texts):
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    return [
        {
            "text": text,
            "start": int(start),
            "end": int(start) + len(text),
            "tag": "." if text in ".?" else "NN",
            "dep": "punct" if text in ".?" else "ROOT",
            "head": number,
            "antecedent": None,
        }
        for number, (text, start) in enumerate(zip(texts, starts, strict=False))
    ]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        # BERT: [CLS] Go . [SEP] Why ? [SEP]; RoBERTa: <s> Go . </s> </s> Why ? </s>
        ("sawsbvs", [FIRST, WORD, PUNCTUATION, SEPARATOR, WORD, PUNCTUATION, SEPARATOR]),
        (
            "sawssbvs",
            [FIRST, WORD, PUNCTUATION, SEPARATOR, SEPARATOR, WORD, PUNCTUATION, SEPARATOR],
        ),
        ("awsbvs", [WORD, PUNCTUATION, SEPARATOR, WORD, PUNCTUATION, SEPARATOR]),  # no first one
    ],
)
def test_kinds_of_the_tokens_of_any_tokenizer(layout, expected):
    spans = {"a": (0, 2), "w": (3, 4), "b": (0, 3), "v": (4, 5), "s": (0, 0)}
    offsets = np.array([spans[letter] for letter in layout])
    segments = np.array([int(letter in "bv") for letter in layout])
    special = np.array([letter == "s" for letter in layout])
    sentences = [words("Go", "."), words("Why", "?")]
    tokens = describe_example(7, sentences, offsets, segments, special, Counter())
    kinds = kinds_of(tokens.features[None])[0]
    assert kinds.argmax(axis=1).tolist() == expected
    assert kinds.sum(axis=1).tolist() == [1] * len(layout)
    assert kinds.shape[1] == len(TOKEN_KINDS)
