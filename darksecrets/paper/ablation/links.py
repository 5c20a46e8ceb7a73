"""Whether the heads that other experiments single out matter for the tasks (section 5).

The paper: disabling the heads that follow FrameNet's relations costs nothing, and STS-B and RTE
rely on heads that attend between words which appear in both sentences. `agreement.worst_heads` has
the heads that matter, whatever they attend to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Floats
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.ranks import Draws
from darksecrets.core.stats.resampling import interval
from darksecrets.paper.ablation.statistics import Resampling, bootstrap
from darksecrets.paper.ablation.tables import EQUAL_WORDS, FRAMENET, LINKED_GROUPS, TOKEN_PAIRS

RESAMPLES = 2000
"""Most bootstrap samples: enough for the ends of 95 % intervals."""

DIRECTION = "element_to_predicate"
"""The direction of the published weights, as named in ``framenet_heads.csv``."""

# States whose heads are the pre-trained ones or fine-tuned from them.
_WITH_FRAMES = ("pretrained", "finetuned")

Model = tuple[str, str, int]
"""Task, state and seed."""

_MODEL = ["task", "state", "seed"]
_PLACE = ["layer", "head"]
_ROUNDING = 1e-9  # of a mean of effects, added up in another order


@dataclass(frozen=True)
class Group:
    """The heads of a model that an experiment names.

    Attributes:
        group: The experiment, one of `darksecrets.paper.ablation.tables.GROUPS`.
        relation: The relation, if the experiment has several.
        heads: ``layer``, ``head`` and ``weight`` of those that exceed all controls; may be empty.
    """

    group: str
    relation: str
    heads: pd.DataFrame

    @property
    def name(self) -> dict[str, str]:
        """The columns that identify the group."""
        return {"group": self.group, "relation": self.relation}


@dataclass(frozen=True)
class Experiments:
    """Tables that name heads.

    Attributes:
        framenet: `framenet_heads.csv`, of the pre-trained model. Its heads are looked up in every
            model that was initialized from it, not in randomly initialized ones.
        equal_words: `equal_words.csv`; its heads are looked up in the same model. None if no task
            has two sentences.
        token_pairs: `token_pairs.csv`, likewise for each relation; None if not measured.
    """

    framenet: pd.DataFrame
    equal_words: pd.DataFrame | None = None
    token_pairs: pd.DataFrame | None = None

    def groups(self, task: str, state: str, seed: int) -> Iterator[Group]:
        """The groups of heads that were looked for in a model."""
        if state in _WITH_FRAMES:
            published = self.framenet[self.framenet["direction"] == DIRECTION]
            yield Group(FRAMENET, "", published[published["exceeds_controls"]])
        for name, table in ((EQUAL_WORDS, self.equal_words), (TOKEN_PAIRS, self.token_pairs)):
            if table is None:
                continue
            mine = (table["task"] == task) & (table["state"] == state)
            if state != "pretrained":  # its maps do not depend on a seed; only its classifier does
                mine &= table["seed"] == seed
            rows = table[mine]
            relations = rows["relation"] if name == TOKEN_PAIRS else pd.Series("", rows.index)
            for relation, relation_rows in rows.groupby(relations, sort=False):
                yield Group(name, str(relation), relation_rows[relation_rows["q_value"] < LEVEL])


def linked(
    heads: pd.DataFrame,
    sweeps: Iterable[tuple[Model, SweepResult]],
    experiments: Experiments,
    resampling: Resampling,
) -> pd.DataFrame:
    """Effects of the heads that other experiments name, on average.

    Args:
        heads: `head_ablation.csv`.
        sweeps: The sweep of every model in it, one after the other.
        experiments: What names the heads.
        resampling: Numbers of samples, seed; of ``bootstrap``, at most `RESAMPLES` are drawn.

    Returns:
        `LINKED_GROUPS`.

    Raises:
        InputError: A table names a head that was not disabled.
    """
    together = []
    number = min(RESAMPLES, resampling.bootstrap)
    for (task, state, seed), sweep in sweeps:
        result = _heads_of(sweep)
        places = result.sets[_PLACE].iloc[1:].astype("int64")
        layers = places["layer"].to_numpy()
        draws = Draws(layers, number, resampling.permutations, resampling.seed)
        groups = [
            (group, _chosen(places, group)) for group in experiments.groups(task, state, seed)
        ]
        mine = heads[(heads[_MODEL] == [task, state, seed]).all(axis=1)]
        for metric in dict.fromkeys(mine["metric"]):
            deltas = places.merge(mine[mine["metric"] == metric], on=_PLACE, how="left")
            rng = np.random.default_rng(resampling.seed)
            drawn = PERCENT * bootstrap(result, metric, number, rng)[:, 1:]
            for group, chosen in groups:
                about = {"task": task, "state": state, "seed": seed, "metric": metric}
                found = compare_group(deltas, chosen, drawn, draws)
                together.append({**about, **group.name, **found})
    return _corrected(pd.DataFrame(together))


def _heads_of(result: SweepResult) -> SweepResult:
    """The part of a sweep with the intact model and single heads."""
    kept = result.sets["kind"].isin(["baseline", "head"]).to_numpy()
    sets = result.sets[kept].reset_index(drop=True)
    return replace(result, sets=sets, predictions=result.predictions[kept])


def _chosen(places: pd.DataFrame, group: Group) -> Flags:
    """[heads] which of a model's heads are in a group."""
    index = pd.MultiIndex.from_frame(group.heads[_PLACE])
    chosen: Flags = pd.MultiIndex.from_frame(places).isin(index)
    if chosen.sum() < len(group.heads):
        raise InputError(
            f"head_ablation.csv lacks some of the heads that exceed all controls ({group.group}), "
            f"{group.heads[_PLACE].to_dict('records')}: the tables are of models of different "
            "shapes. Run again."
        )
    return chosen


def compare_group(
    deltas: pd.DataFrame, chosen: Flags, drawn: Floats, draws: Draws
) -> dict[str, Any]:
    """The mean effect of a group of heads beside that of random heads of the same layers.

    Args:
        deltas: [heads] effects of one model on one metric: ``delta``, ``q_value``.
        chosen: [heads] which are in the group.
        drawn: [resamples, heads] effects on resampled examples.
        draws: For the permutations of heads within layers.

    Returns:
        Columns of `LINKED_GROUPS` from ``heads`` on, without the q-value; only ``heads`` if the
        group is empty.
    """
    size = int(chosen.sum())
    if not size:
        return {"heads": 0}
    values, layers = deltas["delta"].to_numpy(), draws.layers
    counts = {layer: (chosen & (layers == layer)).sum() for layer in np.unique(layers)}
    weights = np.array([counts[layer] / (layers == layer).sum() / size for layer in layers])
    mean, control = values[chosen].mean(), values @ weights
    means = drawn[:, chosen].mean(axis=1)
    low, high = interval(means)
    over_low, over_high = interval(means - drawn @ weights)
    permuted = np.abs(values[draws.permuted()][:, chosen].mean(axis=1) - control)
    extreme = (permuted >= abs(mean - control) - _ROUNDING).sum()
    movable = any(0 < n < (layers == layer).sum() for layer, n in counts.items())
    return {
        "heads": size,
        "mean_effect": mean,
        "ci_low": low,
        "ci_high": high,
        "control": control,
        "over_control": mean - control,
        "over_control_low": over_low,
        "over_control_high": over_high,
        "p_value": (1 + extreme) / (1 + len(permuted)) if movable else np.nan,
        "significant": int((deltas.loc[chosen, "q_value"] < LEVEL).sum()),
    }


def _corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Add q-values over all models and metrics, for each group."""
    table = table.reindex(columns=list(LINKED_GROUPS.names))
    for _, rows in table.groupby(["group", "relation"]):
        known = rows["p_value"].dropna()
        table.loc[known.index, "q_value"] = benjamini_hochberg(known)
    return table
