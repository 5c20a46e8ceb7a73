"""Reference reproduction of "Revealing the Dark Secrets of BERT" (Kovaleva et al. 2019).

For work in a notebook, see docs/notebook.ipynb:

    from darksecrets import AttentionStore, ablate, disable, extract, inspect, observe, plot_map
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darksecrets.core.attention.extraction import extract
    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.interventions.disable import HeadMask, disable
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.core.models.hooks import Intervention, intervene, observe
    from darksecrets.core.models.removal import remove_heads
    from darksecrets.core.plotting.notebook import plot_map
    from darksecrets.core.run.version import __version__
    from darksecrets.pages.ablate import ablate
    from darksecrets.pages.inspect.inspecting import inspect

__all__ = [
    "AttentionStore",
    "HeadMask",
    "Intervention",
    "SweepResult",
    "__version__",
    "ablate",
    "disable",
    "extract",
    "inspect",
    "intervene",
    "observe",
    "plot_map",
    "remove_heads",
]

# Imported on first access, so that reading tables and stores needs no torch.
_MODULES = {
    "AttentionStore": "core.attention.store",
    "HeadMask": "core.interventions.disable",
    "Intervention": "core.models.hooks",
    "SweepResult": "core.interventions.results",
    "__version__": "core.run.version",
    "ablate": "pages.ablate",
    "disable": "core.interventions.disable",
    "extract": "core.attention.extraction",
    "intervene": "core.models.hooks",
    "inspect": "pages.inspect.inspecting",
    "observe": "core.models.hooks",
    "plot_map": "core.plotting.notebook",
    "remove_heads": "core.models.removal",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the names above
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
