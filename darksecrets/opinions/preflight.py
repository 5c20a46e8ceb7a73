"""What second opinions need, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.norms import preflight as norms
from darksecrets.run.columns import MEASURES, WEIGHTS
from darksecrets.run.errors import InputError


def measures(config: Mapping[str, Any], left_out: str) -> list[str]:
    """Measures of attention of a run, besides its weights.

    Args:
        config: A resolved configuration.
        left_out: Why values cannot be observed; empty if they can.
    """
    asked = [name for name in MEASURES if name in config["measures"] and name != WEIGHTS]
    return [] if left_out else asked


def check_run(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that there are other measures to analyse, for runs that do.

    Args:
        config: A resolved configuration.
        left_out: Why values cannot be observed; empty if they can.

    Raises:
        InputError: There are none; or see `norms.preflight.check_run`.
    """
    norms.check_run(config, left_out)
    if not measures(config, left_out):
        others = " and ".join(name for name in MEASURES if name != WEIGHTS)
        raise InputError(
            f"measures: found {config['measures']}, expected {others}, or one of them, beside "
            f"{WEIGHTS}: second opinions are about these. Add them, or leave out this target."
        )
