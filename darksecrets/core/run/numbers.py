"""Numbers as they are printed for readers."""

from __future__ import annotations


def written(value: float, form: str) -> str:
    """A number with a real minus sign instead of a hyphen.

    Args:
        value: The number.
        form: A format specification, such as ``.2f``.
    """
    return format(value, form).replace("-", "−")
