"""Every trial: of all inferences of the project. To add one: a function, and an entry here."""

from collections.abc import Callable, Iterator
from pathlib import Path

from adversarial import (
    alternatives,
    coreference,
    distances,
    faithfulness,
    features,
    important,
    inferences,
    landscape,
    models,
    norms,
    subnets,
    syntax,
    together,
    types,
    verdicts,
)
from adversarial.trials import Size, Trial

ALL: tuple[Callable[[Size, Path], Iterator[Trial]], ...] = (
    inferences.links,
    inferences.related,
    features.attention,
    features.attention_over_seeds,
    features.attention_that_changes,
    features.rivals,
    distances.redundancy,
    types.of_heads,
    norms.of_kinds,
    alternatives.of_links,
    alternatives.of_pairs,
    syntax.relations,
    syntax.trees_and_subjects,
    coreference.of_heads,
    coreference.of_methods,
    coreference.of_probes,
    faithfulness.of_rankings,
    faithfulness.of_erased_tokens,
    inferences.ablation,
    inferences.annotators,
    models.score_differences,
    models.of_seeds,
    models.of_tasks,
    models.layers_changed,
    models.similarities,
    important.agreement,
    important.removal,
    important.gates,
    important.interpretable,
    subnets.of_scores,
    subnets.of_weights,
    subnets.of_masks,
    landscape.reset,
    together.linked_groups,
    verdicts.claims,
)
"""Each draws from a seed of its own."""
