"""Optional libraries: not every environment has them."""

from __future__ import annotations

import importlib.util
import logging

from darksecrets.core.run.errors import InputError

_log = logging.getLogger(__name__)


def can_import(*libraries: str) -> bool:
    """Whether the libraries that a check needs are installed; logs a warning if not.

    Snakemake may run in its own environment while the libraries are in those of the rules
    (``--sdm conda``). The first job then makes the same check.
    """
    missing = [name for name in libraries if importlib.util.find_spec(name) is None]
    if missing:
        _log.warning("%s is not installed here: the first job will check more.", missing[0])
    return not missing


def require(library: str, extra: str, purpose: str) -> None:
    """Check that an optional library is installed.

    Args:
        library: Its name.
        extra: The extra of this package that installs it.
        purpose: What needs it, in words.

    Raises:
        InputError: It is not; says what to install.
    """
    if importlib.util.find_spec(library) is None:
        raise InputError(
            f"{purpose} needs the library {library}, which is not installed: "
            f'pip install "darksecrets[{extra}]"'
        )
