"""Numbers as they are printed for readers."""

from __future__ import annotations


def written(value: float, form: str) -> str:
    """A number with a real minus sign instead of a hyphen, and none before what rounds to zero.

    Args:
        value: The number.
        form: A format specification, such as ``.2f``, or ``+.2f`` with the sign of all numbers.
    """
    sign = "+" if form.startswith("+") else ""
    return format(value, f"{sign}z{form.removeprefix(sign)}").replace("-", "−")


def written_plus_minus(value: float, low: float, high: float, form: str = ".1f") -> str:
    """A number and half of its interval, such as 82.9 ± 4.4.

    Args:
        value: The number.
        low: Lower end of the interval.
        high: Upper end.
        form: A format specification of the number; the half has one decimal place.
    """
    return f"{written(value, form)} ± {(high - low) / 2:.1f}"
