"""How often heads find the heads of dependents, against loops; planted heads and others."""

import itertools
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from made_up_syntax import anywhere, guesses, offset, place, read, relation

from darksecrets.beyond.syntax.declared import ALL, OPEN, SYNTACTIC_HEADS, YES
from darksecrets.beyond.syntax.measure import heads
from darksecrets.beyond.syntax.measure.guesses import Guess, Read
from darksecrets.beyond.syntax.measure.pairs import Pairs, halves
from darksecrets.beyond.syntax.measure.relations import CONTROLS, OFFSETS, relations
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

RULES = {
    "det": relation("det"),
    "dobj": relation("dobj"),
    "next": offset(1),
    "before": offset(-1),
    "first": place(0),
    "random": anywhere,
}
SEED = 5


@pytest.fixture(scope="module")
def sentences() -> list[Read]:
    return read(300, 1)


@pytest.fixture(scope="module")
def guessed(sentences: list[Read]) -> list[Guess]:
    return guesses(sentences, [*RULES.values()], np.random.default_rng(0))


@pytest.fixture(scope="module")
def table(sentences: list[Read], guessed: list[Guess]) -> pd.DataFrame:
    return heads.table(sentences, guessed, SEED)


def row(table: pd.DataFrame, label: str, rule: str) -> pd.Series:
    (found,) = table[
        (table["label"] == label)
        & (table["head"] == [*RULES].index(rule) + 1)
        & (table["direction"] == "dependent_to_head")
    ].to_dict("records")
    return pd.Series(found)


def test_the_table_is_as_declared(table):
    SYNTACTIC_HEADS.check(identify(table, None, "pretrained"), "here", "")
    assert table["label"].iloc[0] == ALL
    assert not {"punct", "root"} & set(table["label"])
    assert (table[table["selected"]].groupby("label").size() == 1).all()


def test_planted_heads_find_all_of_their_relation_and_no_more_of_others(table):
    for label in ("det", "dobj"):
        planted = row(table, label, label)
        assert planted["accuracy"] == 1 == pytest.approx(planted["accuracy_high"])
        assert planted["accuracy_low"] > 0.9
        assert planted["p_value"] < 1e-3
        assert row(table, "nsubj", label)["over_offset"] < 0.1
    assert row(table, "dobj", "dobj")["syntactic"] == YES
    assert row(table, "det", "det")["syntactic"] in (YES, OPEN)
    others = table[~table["head"].isin([1, 2])]
    assert set(others["syntactic"]) == {"no"}


def test_a_head_of_the_best_offset_is_exactly_at_its_level(table):
    for rule, distance in (("next", 1), ("before", -1)):
        rows = table[(table["offset"] == distance) & (table["head"] == [*RULES].index(rule) + 1)]
        assert len(rows) > 2
        np.testing.assert_array_equal(rows["accuracy"], rows["at_offset"])
        np.testing.assert_array_equal(rows["over_offset"], 0)
        known = rows.dropna(subset="over_distance")
        np.testing.assert_allclose(known["over_distance"], 0, atol=0.02)
        assert (rows["p_value"] == 1).all()


def scoring(sentences: list[Read]) -> list[int]:
    """The sentences that score."""
    return np.flatnonzero(halves(sentences, SEED) == 1).tolist()


@pytest.mark.parametrize("label", ["nsubj", "dobj"])
def test_accuracies_and_controls_are_those_of_loops(sentences, guessed, table, label):
    """Each dependent is compared with all pairs of the scoring half, one by one."""
    own = scoring(sentences)
    others = [number for number in range(len(sentences)) if number not in own]
    arcs = [(n, word, head) for n in own for word, head in _arcs(sentences[n], label)]
    related = set(arcs)
    distances = [h - w for n in others for w, h in _arcs(sentences[n], label)]
    best = max(OFFSETS, key=distances.count)
    for name, cell in _CELLS.items():
        alike = defaultdict(list)
        for n in own:
            for pair in itertools.permutations(range(len(sentences[n].sentence)), 2):
                if (n, *pair) not in related:
                    alike[cell(sentences[n].sentence, *pair)].append((n, *pair))
        matched = [alike.get(cell(sentences[n].sentence, *arc), []) for n, *arc in arcs]
        for number, rule in enumerate(RULES):

            def hits(pairs: list[tuple[int, int, int]], number: int = number) -> float:
                return float(np.mean([guessed[n][i, 0, number, 0] == j for n, i, j in pairs]))

            found = row(table, label, rule)
            assert found["arcs"] == len(arcs)
            assert found["accuracy"] == pytest.approx(hits(arcs))
            assert found["offset"] == best
            assert found["at_offset"] == pytest.approx(np.mean([h - w == best for _, w, h in arcs]))
            rate = np.mean([hits(pairs) for pairs in matched if pairs])
            over = hits([arc for arc, pairs in zip(arcs, matched, strict=True) if pairs]) - rate
            assert found[name] == pytest.approx(rate), (rule, name)
            assert found[_OVER[name]] == pytest.approx(over, abs=1e-9)


def _arcs(read: Read, label: str) -> list[tuple[int, int]]:
    tree = zip(read.sentence.heads, read.sentence.labels, strict=True)
    return [(word, head) for word, (head, own) in enumerate(tree) if own == label and head != ROOT]


def _tags(sentence: Sentence, word: int, head: int) -> tuple[object, ...]:
    return head - word, sentence.tags[word], sentence.tags[head]


def _rank(sentence: Sentence, word: int, head: int) -> tuple[object, ...]:
    tag = sentence.tags[head][:2]
    between = sentence.tags[min(word, head) + 1 : max(word, head)]
    return tag, head > word, sum(own[:2] == tag for own in between)


_CELLS: dict[str, Callable[[Sentence, int, int], object]] = {
    "same_distance": lambda _, word, head: head - word,
    "same_tags": _tags,
    "same_rank": _rank,
    "other_words": lambda sentence, _, head: (sentence.name, head),
}
_OVER = {name: f"over_{name.split('_')[1]}" for name in _CELLS}


def test_the_weights_of_a_control_add_up_to_one(sentences):
    (relation,) = (each for each in relations(sentences, SEED) if each.label == "dobj")
    for name in CONTROLS:
        control = relation.control(name)
        assert control.weights.sum() == pytest.approx(1.0)
        assert not (control.weights[relation.arcs] > 0).any()
        assert not control.arcs[relation.pairs.half == 0].any()


def test_what_selects_does_not_score(sentences, guessed):
    """Guesses of the selecting half change which head is selected, and nothing else."""
    own = set(scoring(sentences))
    wrong: list[npt.NDArray[np.int16]] = [
        each if number in own else np.full_like(each, -1) for number, each in enumerate(guessed)
    ]
    one, other = (heads.table(sentences, given, SEED) for given in (guessed, wrong))
    changed = {name for name in one if not one[name].equals(other[name])}
    assert changed == {"selected", "selecting"}
    assert (other["selecting"] == 0).all()


def test_the_offset_of_a_relation_is_that_of_the_selecting_half():
    sentences = read(100, 2)
    own, differ = set(np.flatnonzero(halves(sentences, SEED) == 1).tolist()), []
    for each in relations(sentences, SEED):
        distances: list[list[int]] = [[], []]
        for number, one in enumerate(sentences):
            distances[number in own] += [h - w for w, h in _arcs(one, each.label)]
        selecting, other = (max(OFFSETS, key=found.count) for found in distances)
        if each.label != ALL:
            assert each.offset == selecting, each.label
            differ.append(selecting != other)
    assert any(differ)


def test_words_that_share_their_pieces_are_no_pairs(sentences):
    together = [Read(each.sentence, each.apart.copy()) for each in sentences]
    lost = 0
    for each in together:
        for word, head in _arcs(each, "det"):
            each.apart[word, head] = each.apart[head, word] = False
            lost += 1
    arcs = [Pairs.of(given, SEED).arcs("det").sum() for given in (sentences, together)]
    assert arcs == [lost, 0]
    assert lost > 0
    assert "det" not in {relation.label for relation in relations(together, SEED)}


def test_too_few_sentences_are_refused(sentences, guessed):
    with pytest.raises(InputError, match=r"4 sentences of the treebank have \d+ dependents"):
        heads.table(sentences[:4], guessed[:4], SEED)
