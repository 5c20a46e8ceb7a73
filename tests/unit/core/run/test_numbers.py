"""Numbers for readers, beside the built-in ``format`` and as people write them."""

import pytest

from darksecrets.core.run.numbers import written, written_plus_minus


@pytest.mark.parametrize("form", [".0f", ".1f", "+.2f", ".3g", "g"])
@pytest.mark.parametrize("value", [12.345, -0.729, -1e-7, 0.25, float("nan")])
def test_a_number_is_written_as_by_format(value, form):
    plain = written(value, form).replace("−", "-")
    if not plain.strip("+-0."):
        assert float(format(value, form)) == 0
    else:
        assert plain == format(value, form)


def test_what_rounds_to_zero_has_no_minus_sign():
    assert written(-0.000119, ".1f") == "0.0"
    assert written(-0.000119, "+.1f") == "+0.0"
    assert written(-0.0, "g") == "0"
    assert written(-0.06, ".1f") == "−0.1"


def test_half_of_an_interval_follows_its_number():
    assert written_plus_minus(-0.01, -4.41, 4.39) == "0.0 ± 4.4"
