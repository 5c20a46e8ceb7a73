"""What important heads attend to, against SciPy.

`tests/unit/adversarial/important.py` tries measures that know nothing of importance.
"""

import numpy as np
import pytest
from made_up_heads import DRAWS, KIND, KINDS, METRICS, OF_STATISTICS, VALUE, importance, statistics
from scipy.stats import spearmanr

from darksecrets.beyond.importance.declared import IMPORTANT_HEADS
from darksecrets.beyond.importance.measure.statistics import important_heads
from darksecrets.paper.features.tables import HEAD_STATISTICS as STATISTICS


def test_correlations_are_spearmans_of_means_over_seeds(tmp_path):
    rng = np.random.default_rng(2)
    needed, table = importance(rng), statistics(rng)
    found = important_heads(needed, OF_STATISTICS, {STATISTICS.name: table}, METRICS, DRAWS)
    IMPORTANT_HEADS.write(found, tmp_path / "a.csv")
    assert set(found["task"]) == set(METRICS)
    assert found["measure"].nunique() == len(KINDS)
    assert set(found["measured"]) == {"pretrained", "finetuned"}
    places = ["layer", "head"]
    for row in found.to_dict("records"):
        mine = needed[
            (needed["task"] == row["task"])
            & (needed["definition"] == row["definition"])
            & (needed["mode"] == "zero")
        ]
        kind = row["measure"].removeprefix(f"{STATISTICS.name}.{VALUE}.")
        theirs = table[
            (table["task"] == row["task"])
            & (table["state"] == row["measured"])
            & (table[KIND] == kind)
        ]
        expected = spearmanr(
            mine.groupby(places)["importance"].mean(), theirs.groupby(places)[VALUE].mean()
        ).statistic
        assert row["spearman"] == pytest.approx(expected, abs=1e-9)
    assert (found["q_value"] >= found["p_value"] - 1e-12).all()
    assert (found["q_value"] >= found["p_value"] - 1e-12).all()
