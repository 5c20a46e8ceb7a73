"""Observe and change the attention and the MLPs of an encoder.

    with observe(model, maps=True) as seen, intervene(model, SomeIntervention()):
        model(**inputs)
    seen.maps[3]  # layer 3, [example, head, query, key]

Code outside of `models` uses this module. What reaches into a model is in `models.session`, and no
other module depends on the internals of encoders, except those that `tests/test_architecture.py`
names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from darksecrets.core.models.mlps import mlps_of
from darksecrets.core.models.session import (
    Call,
    Intervention,
    Observation,
    Session,
    change_mlp,
    collect_maps,
    intervene_on_heads,
    observe,
    opened,
    require_projections,
    require_reachable,
    shape_of,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

__all__ = [
    "Call",
    "Intervention",
    "Observation",
    "collect_maps",
    "intervene",
    "observe",
    "require_projections",
    "require_reachable",
    "shape_of",
]


@contextlib.contextmanager
def intervene(model: PreTrainedModel, *interventions: Intervention) -> Iterator[None]:
    """Change heads and MLPs of a model within the context; the innermost context comes last.

    Args:
        model: A model of `transformers` that uses the attention interface, with or without a
            classifier.
        interventions: Applied in this order, in every layer.

    Raises:
        InputError: The model's attention cannot be reached; or its MLPs, if they are to change.
    """
    require_reachable(model)
    with (
        opened(model) as session,
        _changing_mlps(model, session, interventions),
        intervene_on_heads(model, *interventions),
    ):
        yield


@contextlib.contextmanager
def _changing_mlps(
    model: PreTrainedModel, session: Session, interventions: Sequence[Intervention]
) -> Iterator[None]:
    """Show the outputs of all MLPs to the session, if interventions change them."""
    if session.mlps or all(type(each).mlp is Intervention.mlp for each in interventions):
        yield
        return
    handles = [module.register_forward_hook(change_mlp) for module in set(mlps_of(model))]
    session.mlps = True
    try:
        yield
    finally:
        session.mlps = False
        for handle in handles:
            handle.remove()
