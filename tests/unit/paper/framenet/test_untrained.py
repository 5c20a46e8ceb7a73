"""Heads of encoders with random weights, beside measuring each encoder alone."""

import numpy as np
import pandas as pd
import pytest
from encoders import FAMILIES

from darksecrets.core.attention.extraction import extract_maps
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.models.loading import Draw
from darksecrets.paper.framenet import heads, untrained
from darksecrets.paper.framenet.heads import Linked
from darksecrets.paper.framenet.links import Annotation, Element
from darksecrets.paper.framenet.tables import RANDOM_HEADS

EXTRACTION = {"max_length": 64, "batch_size": 3}
NAMES = ["She", "Kim", "He"]


@pytest.fixture(scope="module")
def annotations() -> list[Annotation]:
    texts = [
        f"{who} {what} the old horses near {where} and slept ."
        for who in NAMES
        for what in ("sold", "bought")
        for where in ("walls", "windows", "us")
    ]
    return [
        Annotation(text, (text.index("slept"), text.index("slept") + 5), (Element((0, end)),))
        for text in texts
        if (end := text.index(" "))
    ]


@pytest.mark.parametrize("family", ["BERT", "ModernBERT"])
def test_heads_of_all_encoders_are_measured_at_once_as_each_alone(
    tmp_path, monkeypatch, annotations, family
):
    folder = FAMILIES[family].save(tmp_path / "model")
    draws = [Draw(seed, 0.3) for seed in (4, 5, 6)]
    texts = {"sentence1": [annotation.sentence for annotation in annotations]}
    expected = []
    for draw in draws:
        extract_maps(folder, texts, tmp_path / str(draw.seed), draw=draw, **EXTRACTION)
        store = AttentionStore.open(tmp_path / str(draw.seed))
        expected.append(heads.measure(Linked(store, annotations)))
    joined = []
    measure = heads.measure

    def spy(sentences):
        joined.append(measure(sentences))
        return joined[-1]

    counted = iter([{1, 3}, set(), {2}])

    def heads_table(weights, draws, seed):
        table = heads.heads_table(weights, draws, seed)
        pd.testing.assert_frame_equal(table, heads.tables(weights, draws, seed)[0])
        return table.assign(exceeds_controls=table.index.isin(next(counted)))

    monkeypatch.setattr(untrained, "measure", spy)
    monkeypatch.setattr(untrained, "heads_table", heads_table)
    tests = {"draws": 19, "seed": 1}
    found = untrained.count_exceeding(folder, annotations, draws, EXTRACTION, tests)
    RANDOM_HEADS.check(found, "framenet_random", "")
    assert found["seed"].tolist() == [4, 5, 6]
    assert found["exceeding"].tolist() == [2, 0, 1]
    (together,) = joined
    size = expected[0].linked.shape[-1]
    for number, alone in enumerate(expected):
        own = together.of(slice(number * size, (number + 1) * size))
        for name, values in vars(alone).items():
            np.testing.assert_array_equal(vars(own)[name], values)
    assert not np.array_equal(expected[0].linked, expected[1].linked)
