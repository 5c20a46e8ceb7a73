"""Made-up tables that make each claim of the registry hold, fail and stay open.

A module per section, which is found by itself, with `CASES`: by the claim's id, tables for every
answer; and, if more is to be tried, `ALSO`: ids, answers and tables.
"""

from importlib import import_module
from pkgutil import iter_modules

from claim_tables import Frames

from darksecrets.pages.claims.answers import Answer

CASES: dict[str, dict[Answer, Frames]] = {}
ALSO: list[tuple[str, Answer, Frames]] = []
for _found in iter_modules(__path__):
    _section = import_module(f"{__name__}.{_found.name}")
    CASES |= _section.CASES
    ALSO += getattr(_section, "ALSO", [])
