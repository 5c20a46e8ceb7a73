"""Constants of the protocol: what rules look up beside the configuration, and nobody needs to set.

They stand in a resolved configuration like keys, so that rules find them there. A file that gives
one its value is accepted, as the record of a run does; another value is a mistake.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from darksecrets.beyond import analyses
from darksecrets.core.run.errors import InputError

CONSTANTS: dict[str, Any] = {
    # Resamples and permutations behind the intervals and tests of scores.
    "scores.resamples": 2000,
    # Peak learning rate where the classifier alone is trained: one layer takes larger steps.
    "fine_tuning.frozen_learning_rate": 1e-3,
    # Updates in which the learning rate rises, instead of the share `fine_tuning.warmup`.
    "fine_tuning.warmup_steps": None,
    # Standard deviation of the normal distribution of randomly initialized weights (BERT's).
    "fine_tuning.from_normal_std": 0.02,
    # Seeds of the initialization and of the data order: both are the seed of fine-tuning.
    "fine_tuning.init_seed": None,
    "fine_tuning.order_seed": None,
    # Bootstrap resamples behind the intervals of shares of patterns.
    "patterns.resamples": 1000,
    # Random sign changes and bootstrap resamples of tests along frame-semantic links.
    "framenet.draws": 9999,
    # Bootstrap resamples and permutations of effects; splits that choose and score the best head.
    "ablation.bootstrap": 10000,
    "ablation.permutations": 10000,
    "ablation.splits": 1000,
    # Colours of Figure 5 from the lowest cosine of the run to 1.
    "figures.cosine_scale": "data",
    # Examples per task in the atlas, and the largest number of their tokens.
    "atlas.examples": 12,
    "atlas.tokens": 48,
}

SEED = "sampling_seed"
SEEDED = (
    "data",
    "scores",
    "samples",
    "patterns",
    "patterns.label_maps",
    "framenet",
    "syntax",
    "syntax.coreference",
    "ablation",
)
"""Sections whose constant ``seed`` is the key `SEED`."""


def remove_constants(config: Mapping[str, Any], seed: object) -> dict[str, Any]:
    """A configuration as given, without constants.

    Args:
        config: The configuration.
        seed: The value that its key `SEED` has if it is not given.

    Raises:
        InputError: Names each that has another value.
    """
    left, wrong = copy.deepcopy(dict(config)), []
    seed_keys = {f"{section}.seed" for section in SEEDED}
    for key, value in _all(config.get(SEED, seed)).items():
        *path, last = key.split(".")
        part: Any = left
        for name in path:
            part = part.get(name) if isinstance(part, dict) else None
        if not isinstance(part, dict) or last not in part:
            continue
        found = part.pop(last)
        if found != value:
            use = f"which is now always {value!r}"
            if key in seed_keys:
                use = f"use `{SEED}`, the seed of everything that is sampled"
            wrong.append(f"  - {key} is {found!r}, {use}; remove it")
    if wrong:
        raise InputError("\n".join(["The configuration is of an earlier version:", *wrong]))
    only_constants = {key.split(".")[0] for key in CONSTANTS if left.get(key.split(".")[0]) == {}}
    return {key: value for key, value in left.items() if key not in only_constants}


def add(config: dict[str, Any]) -> None:
    """Put the constants into a resolved configuration."""
    for key, value in _all(config[SEED]).items():
        *path, last = key.split(".")
        part = config
        for name in path:
            part = part.setdefault(name, {})
        part[last] = value


def _all(seed: object) -> dict[str, Any]:
    """All constants by key: these, those of analyses, and the seed of every section."""
    sections = [(one.settings, one.name) for one in analyses.find().values() if one.settings]
    analysis_constants = dict(
        pair for section, name in sections for pair in section.constants(name)
    )
    return {**CONSTANTS, **analysis_constants, **{f"{section}.seed": seed for section in SEEDED}}
