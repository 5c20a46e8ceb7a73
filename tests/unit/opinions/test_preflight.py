"""What is measured besides weights, and messages where nothing can be."""

import pytest

from darksecrets.opinions.preflight import check_run, measures
from darksecrets.run.errors import InputError

BUILTIN = {"model": {"source": "builtin"}, "text": None}


@pytest.mark.parametrize(
    ("asked", "left_out", "expected"),
    [
        (["effective", "weights", "norms"], "", ["norms", "effective"]),
        (["weights", "effective"], "", ["effective"]),
        (["weights"], "", []),
        (["weights", "norms"], "Values are hidden.", []),
    ],
)
def test_measures_besides_weights_are_in_the_usual_order(asked, left_out, expected) -> None:
    assert measures({"measures": asked}, left_out) == expected


def test_a_run_that_measures_nothing_else_is_told_why() -> None:
    config = {**BUILTIN, "measures": ["weights", "norms"]}
    check_run(config)
    with pytest.raises(InputError, match=r"Values are hidden\. Norms, effective attention"):
        check_run(config, "Values are hidden.")
    with pytest.raises(InputError, match=r"found \['weights'\], expected norms and effective"):
        check_run({**BUILTIN, "measures": ["weights"]})
