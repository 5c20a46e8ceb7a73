"""Numbers that claims about changes of attention need."""

import pandas as pd
import pytest

from darksecrets.paper.features.claims import greatest_change


def test_the_greatest_change_of_all_layers_allows_for_their_number():
    """Of three layers: intervals of 1 - 0.05 / 3, by the quantiles of the normal distribution."""
    values = [0.1, 0.3, -0.2]
    layers = pd.DataFrame({"layer": [1, 2, 3], "over_control": values})
    layers = layers.assign(task="RTE", feature="noun", seeds=2)
    layers = layers.assign(
        over_control_low=layers["over_control"] - 0.1,
        over_control_high=layers["over_control"] + 0.2,
    )
    whole = layers.iloc[:1].assign(layer=None, over_control=9.0, over_control_high=9.5)
    (row,) = greatest_change(pd.concat([layers, whole])).to_dict("records")
    wider = 2.3939797998 / 1.9599639845
    assert (row["value"], row["seeds"]) == (0.3, 2)
    assert (row["low"], row["high"]) == pytest.approx((0.3 - 0.1 * wider, 0.3 + 0.2 * wider))
