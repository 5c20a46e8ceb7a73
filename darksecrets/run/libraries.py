"""Libraries that only some environments have."""

from __future__ import annotations

import importlib.util
import logging

_log = logging.getLogger(__name__)


def can_import(*libraries: str) -> bool:
    """Whether a check that needs libraries can be made here; a warning says if not.

    Snakemake may run in an environment of its own, with the libraries in those of the rules
    (``--sdm conda``). Then the first job makes the same check.
    """
    missing = [name for name in libraries if importlib.util.find_spec(name) is None]
    if missing:
        _log.warning("%s is not installed here: the first job will check more.", missing[0])
    return not missing
