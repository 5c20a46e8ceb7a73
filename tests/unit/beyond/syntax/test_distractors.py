"""Weights from verbs to their subjects and to other nouns, against loops."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from adversarial import families, maps
from made_up_layers import sentence as sentence_of
from shipped_sentences import draw_sentences

from darksecrets.beyond.syntax.declared import ANY, DISTRACTORS, MANY
from darksecrets.beyond.syntax.measure import distractors
from darksecrets.beyond.syntax.measure.distractors import Choice, ComparableChoices, choices
from darksecrets.beyond.syntax.measure.guesses import Read
from darksecrets.beyond.syntax.measure.words import WordMaps
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.tables import identify

SENTENCES = draw_sentences(400, 2)
LAYERS, HEADS = 2, 3


def sentence(template: str) -> Sentence:
    """Of words with tag, label and the number of the head, from 1; 0 for the root."""
    words, tags, labels, heads = zip(*(each.split("/") for each in template.split()), strict=True)
    above = tuple(ROOT if head == "0" else int(head) - 1 for head in heads)
    return replace(sentence_of([*words], above, [*tags]), labels=labels)


def apart(of: Sentence) -> np.ndarray:
    return ~np.eye(len(of), dtype=bool)


def test_the_nouns_before_a_verb_compete():
    """*After the rain, Tom Smith's dog slept near a cat*: rain, Smith and dog."""
    found = sentence(
        "after/IN/prep/8 the/DT/det/3 rain/NN/pobj/1 Tom/NNP/compound/5 Smith/NNP/poss/7 "
        "'s/POS/case/5 dog/NN/nsubj/8 slept/VBD/root/0 near/IN/prep/8 cats/NNS/pobj/9"
    )
    assert choices(found, apart(found)) == [Choice(7, 6, (2, 4, 6))]
    shared = apart(found)
    shared[7, 2] = False
    assert choices(found, shared) == [Choice(7, 6, (4, 6))]


@pytest.mark.parametrize(
    "template",
    [
        "dogs/NNS/nsubj/2 sleep/VBP/root/0",  # no distractor
        "dogs/NNS/nsubj/3 are/VBP/cop/3 animals/NNS/root/0",  # no verb
        "where/WRB/advmod/4 Tom/NNP/npadvmod/4 do/VBP/aux/4 sleep/VB/root/0 dogs/NNS/nsubj/4",
    ],
)
def test_others_do_not_count(template):
    found = sentence(template)
    assert choices(found, apart(found)) == []


@pytest.fixture(scope="module")
def batch() -> WordMaps:
    rng, size = np.random.default_rng(0), max(map(len, SENTENCES))
    maps = torch.from_numpy(rng.random((len(SENTENCES), LAYERS, HEADS, size, size)))
    flags = np.zeros((len(SENTENCES), size, size), dtype=bool)
    for own, each in zip(flags, SENTENCES, strict=True):
        own[: len(each), : len(each)] = apart(each)
    return WordMaps([*range(len(SENTENCES))], maps, torch.from_numpy(flags))


def test_the_table_is_that_of_loops(batch):
    read = [Read(each, apart(each)) for each in SENTENCES]
    alike = ComparableChoices.of(SENTENCES)
    found = distractors.table(read, distractors.subject_shares(batch, SENTENCES, alike))
    DISTRACTORS.check(identify(found, None, "random/seed-1").assign(random=0.5), "here", "")
    shares: dict[tuple[str, int | None], list[tuple[float, ...]]] = {}
    every = [(n, c) for n, each in enumerate(SENTENCES) for c in choices(each, apart(each))]

    def what_others_find(number: int, own: Choice, weights: np.ndarray) -> Iterator[float]:
        """What is at their places, and of their ranks, by plain loops over other sentences."""
        here, places, ranks = SENTENCES[number], [], []
        for other, choice in every:
            there = SENTENCES[other]
            if other == number or len(choice.nouns) != len(own.nouns):
                continue
            for fits, at, nouns, subject in (
                (len(there) == len(here), choice, choice.nouns, choice.subject),
                (
                    [there.tags[noun][:2] for noun in choice.nouns]
                    == [here.tags[noun][:2] for noun in own.nouns],
                    own,
                    own.nouns,
                    own.nouns[choice.nouns.index(choice.subject)],
                ),
            ):
                if fits:
                    total = weights[:, at.verb, list(nouns)].sum(axis=1)
                    mean = (weights[:, at.verb, subject] / total).mean()
                    (places if at is choice else ranks).append(mean)
        yield from (np.mean(found) if found else np.nan for found in (places, ranks))

    for number, each in enumerate(SENTENCES):
        for choice in choices(each, apart(each)):
            count = len(choice.nouns) - 1
            for layer in range(LAYERS):
                weights = batch.maps[number, layer, :, choice.verb].numpy()
                parts = [
                    [weights[head, noun] / sum(weights[head, n] for n in choice.nouns)
                     for head in range(HEADS)]
                    for noun in (choice.subject, max(choice.nouns))
                ]  # fmt: skip
                whole = batch.maps[number, layer].numpy()
                beside = what_others_find(number, choice, whole)
                row = (number, *map(float, np.mean(parts, axis=1)), 1 / (count + 1), *beside)
                for name in (ANY, MANY if count > 2 else str(count)):
                    shares.setdefault((name, layer + 1), []).append(row)
                    shares.setdefault((name, None), []).append(row)
    assert len(found) == len(shares)
    for row in found.to_dict("records"):
        layer = None if pd.isna(row["layer"]) else int(row["layer"])
        number, subject, nearest, uniform, *others = np.array(shares[row["distractors"], layer]).T
        assert row["verbs"] == len(subject) / (LAYERS if layer is None else 1)
        assert row["sentences"] == len(set(number))
        assert row["share"] == pytest.approx(subject.mean())
        assert row["nearest"] == pytest.approx(nearest.mean())
        assert row["uniform"] == pytest.approx(uniform.mean())
        assert row["over_uniform"] == pytest.approx((subject - uniform).mean())
        for name, values in zip(("over_places", "over_rank"), others, strict=True):
            known = subject[~np.isnan(values)] - values[~np.isnan(values)]
            assert row[name] == pytest.approx(known.mean() if len(known) else np.nan, nan_ok=True)


def test_a_head_that_attends_to_subjects_only(batch):
    maps = torch.zeros_like(batch.maps)
    for number, each in enumerate(SENTENCES):
        for choice in choices(each, apart(each)):
            maps[number, 1, :, choice.verb, choice.subject] = 0.5
    read = [Read(each, apart(each)) for each in SENTENCES]
    planted = WordMaps(batch.numbers, maps, batch.apart)
    alike = ComparableChoices.of(SENTENCES)
    found = distractors.table(read, distractors.subject_shares(planted, SENTENCES, alike))
    of_any = found[found["distractors"] == ANY].set_index("layer")
    assert of_any.loc[2, "share"] == 1
    assert (of_any.loc[2, ["over_places_low", "over_rank_low"]] > 0).all()
    assert of_any.loc[1, "over_uniform"] == pytest.approx(0, abs=1e-12), "no weight: equal parts"


IGNORANT = ("decay over 3", "offset -1", "farthest word", "nearest noun before", "any pronoun")


def test_what_places_and_ranks_alone_give_to_subjects_is_not_above_both_controls():
    """By equal parts alone, three of these heads would seem to know subjects."""
    read = [Read(each, apart(each)) for each in draw_sentences(300, 5)]
    heads = {name: maps.ADVERSARIES[name] for name in IGNORANT}
    found = families.of_subjects(read, families.texts_of(read), heads, np.random.default_rng(0))
    own = found.set_index("kind")
    assert (own["over_uniform_low"] > 0).sum() == 3
    assert not ((own["over_places_low"] > 1e-9) & (own["over_rank_low"] > 1e-9)).any()
    assert (own.loc[list(IGNORANT[:3]), "over_places_low"] < 0).all()
    assert (own.loc[list(IGNORANT[3:]), "over_rank_low"] < 0).all()


def test_without_distractors_there_are_no_rows():
    alone = [each for each in SENTENCES if not choices(each, apart(each))][:5]
    found = distractors.table(
        [Read(each, apart(each)) for each in alone], [np.zeros((0, LAYERS, 4))] * 5
    )
    assert found.empty
    assert set(DISTRACTORS.names) - set(found) == {"state", "seed", "random"}
