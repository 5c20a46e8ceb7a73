"""Snakemake, as it builds its report, with one change: no text ends the script that it stands in.

The report has parameters of rules and files of the configuration as JSON inside of ``<script>``. A
browser ends such a script at the first ``</script>``, also within a text, and runs what follows: a
label of a task could run code. In JSON, ``<`` may be written as its code point.
"""

from __future__ import annotations

import functools
import json
import sys
from typing import Any

_ESCAPED = {letter: f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
"""Characters of HTML and of JavaScript's lines; JSON has them in texts only."""


def escape(text: str) -> str:
    """JSON that says the same, and is no HTML."""
    for letter, code in _ESCAPED.items():
        text = text.replace(letter, code)
    return text


def main() -> None:
    """Call Snakemake with the arguments of this process."""
    dumps = json.dumps

    @functools.wraps(dumps)
    def dump(*values: Any, **options: Any) -> str:  # noqa: ANN401 - as json.dumps
        return escape(dumps(*values, **options))

    json.dumps = dump
    from snakemake.cli import main as snakemake

    snakemake(sys.argv[1:])


if __name__ == "__main__":
    main()
