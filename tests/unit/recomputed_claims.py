"""The claims of the paper decided from tables alone, by code that shares nothing with the package.

A reader who doubts a verdict finds here how it follows from the numbers of the kept run. Claims are
about the tasks that fine-tuned models have learned: the column `verdict_on_learned_tasks`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

HOLDS, FAILS, UNDECIDED = "holds", "does not hold", "undecided"
FEATURES = ["noun", "verb", "pronoun", "subject", "object", "negation"]
NORMAL = stats.norm.isf(0.025)


class Tables:
    """Tables of a run, by name, and the tasks that it has learned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pooled = self.read("learned", seed=None)
        self.learned = list(pooled.loc[pooled["learned"], "task"])

    def read(self, name: str, **where: object) -> pd.DataFrame:
        """Rows of a table whose columns have the values given; None stands for an empty cell."""
        rows = pd.read_csv(self.folder / f"{name}.csv")
        for column, wanted in where.items():
            values = wanted if isinstance(wanted, list) else [wanted]
            chosen = rows[column].isna() if wanted is None else rows[column].isin(values)
            rows = rows[chosen]
        return rows

    def of_learned(self, name: str, **where: object) -> pd.DataFrame:
        """The same of learned tasks; of scores, those by accuracy, or by a task's main metric."""
        rows = self.read(name, task=where.pop("task", self.learned), **where)
        rows = rows[rows["task"].isin(self.learned)]
        if "metric" in rows:
            by_accuracy = rows.groupby("task")["metric"].transform(
                lambda m: (m == "accuracy").any()
            )
            first = rows.groupby("task")["metric"].transform("first")
            rows = rows[rows["metric"] == first.mask(by_accuracy, "accuracy")]
        return rows


def estimates(rows: pd.DataFrame, value: str, low: str, high: str) -> pd.DataFrame:
    """Rows with columns `value`, `low`, `high`, and `degrees` of freedom of the interval."""
    own = ["value", "low", "high"]
    rows = rows.drop(
        columns=[name for name in own if name not in (value, low, high)], errors="ignore"
    )
    return rows.rename(columns={value: "value", low: "low", high: "high"}).assign(degrees=np.inf)


def measured(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """The same of tables that name the ends after the value."""
    return estimates(rows, value, f"{value}_low", f"{value}_high")


def negative(rows: pd.DataFrame) -> pd.DataFrame:
    """The estimates with the other sign, for claims that something is below a bound."""
    return rows.assign(value=-rows["value"], low=-rows["high"], high=-rows["low"])


def wider(rows: pd.DataFrame) -> pd.Series:
    """How much wider intervals are that hold together, by Bonferroni."""
    alone, together = (stats.t.isf(level, rows["degrees"]) for level in (0.025, 0.025 / len(rows)))
    return pd.Series(together / alone, rows.index)


def every(rows: pd.DataFrame, above: float) -> str:
    """Whether all are above a bound: shown by each interval, refuted by one that is corrected."""
    known = rows.dropna(subset=["value", "low", "high"])
    if known.empty:
        return UNDECIDED
    if len(known) == len(rows) and (rows["low"] > above).all():
        return HOLDS
    corrected = known["value"] + wider(known) * (known["high"] - known["value"])
    refuted = (known["high"] <= above) & (corrected <= above)
    return FAILS if refuted.any() else UNDECIDED


def some(rows: pd.DataFrame, above: float) -> str:
    """Whether one is above a bound: shown by a corrected interval, refuted by all intervals."""
    corrected = rows["value"] - wider(rows) * (rows["value"] - rows["low"])
    if ((rows["low"] > above) & (corrected > above)).any():
        return HOLDS
    return FAILS if (rows["high"] <= above).all() else UNDECIDED


def both(*verdicts: str) -> str:
    """All parts of a claim hold, or one fails."""
    if FAILS in verdicts:
        return FAILS
    return HOLDS if {*verdicts} == {HOLDS} else UNDECIDED


def significant(p_values: pd.Series) -> str:
    """A test never refutes."""
    return HOLDS if len(p_values) and (p_values < 0.05).all() else UNDECIDED


def apart(more: pd.DataFrame, less: pd.DataFrame) -> pd.DataFrame:
    """Differences of every pair of independent estimates."""
    names = ["task", "value", "low", "high", "degrees"]
    pairs = more[names].merge(less[names], how="cross", suffixes=("", "_less"))
    value = pairs["value"] - pairs["value_less"]
    below = np.hypot(pairs["value"] - pairs["low"], pairs["high_less"] - pairs["value_less"])
    above = np.hypot(pairs["high"] - pairs["value"], pairs["value_less"] - pairs["low_less"])
    return pairs[names].assign(value=value, low=value - below, high=value + above)


def over_seeds(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Means over seeds: variances of examples, of seeds pooled, and of seeds that differ more."""
    groups = [group for _, group in rows.groupby([*by])]
    pooled = float(np.mean([group["value"].var(ddof=1) for group in groups]))
    found = []
    for group in groups:
        seeds = len(group)
        degrees = np.array([np.inf, len(groups) * (seeds - 1), seeds - 1])
        ends, mean, least = [], group["value"].mean(), np.inf
        for end in ("low", "high"):
            of_examples = ((group[end] - group["value"]).abs().mean() / NORMAL) ** 2
            excess = max(group["value"].var(ddof=1) - pooled, 0)
            parts = np.array([of_examples, pooled / seeds, excess / seeds])
            shares = parts / parts.sum() if parts.any() else np.array([1.0, 0.0, 0.0])
            critical = shares @ stats.t.isf(0.025, degrees)
            ends.append(critical * np.sqrt(parts.sum()))
            least = min(least, degrees[1], degrees[parts.argmax()])
        names = dict(zip(by, group[[*by]].iloc[0], strict=True))
        found.append(
            names | {"value": mean, "low": mean - ends[0], "high": mean + ends[1], "degrees": least}
        )
    return pd.DataFrame(found)


def beyond_random(levels: pd.DataFrame) -> pd.DataFrame:
    """Estimates of fine-tuned models minus those of random weights, for each task."""
    tuned, random = (
        levels[levels["state"] == state].set_index("task") for state in ("finetuned", "random")
    )
    pairs = [
        apart(tuned.loc[[task]].reset_index(), random.loc[[task]].reset_index())
        for task in tuned.index
    ]
    return pd.concat(pairs, ignore_index=True)


def attention(tables: Tables, measure: str, feature: object, value: str) -> pd.DataFrame:
    """Attention to features over all layers."""
    where = {} if measure == "from [CLS]" else {"layer": None}
    states = ["finetuned", "random"]
    rows = tables.of_learned("attention_levels", measure=measure, feature=feature, **where)
    return measured(rows[rows["state"].isin(states)], value)


def tuned(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of fine-tuned models."""
    return rows[rows["state"] == "finetuned"]


def claim_10(tables: Tables) -> str:
    where = {"state": "finetuned", "definition": "strict", "pattern": "vertical or diagonal"}
    rows = tables.of_learned("patterns", **where)
    return every(over_seeds(estimates(rows, "share", "ci_low", "ci_high"), "task"), 0.33)


def claim_12(tables: Tables) -> str:
    where = {"state": "finetuned", "definition": "strict", "pattern": "block"}
    rows = estimates(tables.of_learned("patterns", **where), "share", "ci_low", "ci_high")
    shares = over_seeds(rows, "task")
    return every(apart(shares[shares["task"] != "SST-2"], shares[shares["task"] == "SST-2"]), 0)


def claim_13(tables: Tables) -> str:
    features = [*FEATURES, "punctuation"]
    return every(negative(tuned(attention(tables, "most attended", features, "to_special"))), -1)


def claim_19(tables: Tables) -> str:
    place = ["direction", "layer", "head"]
    heads = tables.read("framenet_heads", state="pretrained").set_index(place)["exceeds_controls"]
    controls = tables.read("framenet_controls", state="pretrained").set_index(place)
    refuted = heads.index.isin(controls.index[controls["difference_high"] <= 0])
    by_chance = tables.read("framenet_random")["exceeding"].max()
    counted = {"value": heads.sum(), "low": heads.sum(), "high": (heads | ~refuted).sum()}
    return every(pd.DataFrame([counted]).sub(by_chance).assign(degrees=np.inf), 0.5)


def claim_20(tables: Tables) -> str:
    tasks = ["MRPC", "STS-B", "SST-2", "RTE", "QNLI", "MNLI"]
    rows = tables.of_learned("last_layers", scale="change", task=tasks)
    more = every(estimates(rows, "difference", "ci_low", "ci_high"), 0)
    return both(more, significant(rows["q_greatest"]))


def differences(tables: Tables, model: str, reference: str) -> pd.DataFrame:
    """Differences of scores that would be there with one model in ten at the majority's score."""
    scores = tables.of_learned("score_differences").set_index("task")
    over = scores[scores["reference"] == "majority"].set_index("model", append=True)["difference"]
    rows = scores[(scores["model"] == model) & (scores["reference"] == reference)]
    rows = estimates(rows, "difference", "ci_low", "ci_high")
    failing = {
        name: 0.1 * over.xs(name, level="model").clip(lower=0)
        if name in over.index.unique("model")
        else 0
        for name in (model, reference)
    }
    rows["low"] -= failing[model]
    rows["high"] += failing[reference]
    return rows


def claim_21(tables: Tables) -> str:
    rows = tables.read("mean_differences", model="finetuned", reference="pretrained", tasks=7)
    one = estimates(rows, "difference", "ci_low", "ci_high")
    near = both(every(one, 32.9), every(negative(one), -38.9))
    return near if len(tables.learned) == 7 else UNDECIDED


def claim_22(tables: Tables) -> str:
    return every(differences(tables, "finetuned", "pretrained"), 0)


def claim_23(tables: Tables) -> str:
    return every(negative(differences(tables, "finetuned-from-normal", "finetuned")), 0)


def claim_24(tables: Tables) -> str:
    rows = differences(tables, "finetuned-from-normal", "pretrained")
    return every(negative(rows[rows.index.isin(["STS-B", "QNLI"])]), 0)


def claim_26(tables: Tables) -> str:
    rows = tuned(attention(tables, "most attended", ["[CLS]", "[SEP]"], "weight"))
    sums = rows.groupby("task")[["value", "low", "high"]].sum().assign(degrees=np.inf)
    return every(sums, 0.5)


def claim_27(tables: Tables) -> str:
    rows = beyond_random(attention(tables, "greatest", "[SEP]", "weight"))
    of_sst2 = rows["task"] == "SST-2"
    return every(apart(rows[of_sst2], rows[~of_sst2]), 0)


def claim_28(tables: Tables) -> str:
    levels = attention(tables, "total", "[SEP]", "weight")
    ends = ["value", "low", "high"]
    multiples = levels.assign(**{end: levels[end] / levels["uniform"] for end in ends})
    verdicts = []
    for rows in (beyond_random(levels), beyond_random(multiples)):
        of_sst2 = rows["task"] == "SST-2"
        verdicts.append(every(apart(rows[~of_sst2], rows[of_sst2]), 0))
    # Without claim 27 there is nothing to explain.
    return both(*verdicts, HOLDS if claim_27(tables) == HOLDS else UNDECIDED)


def claim_29(tables: Tables) -> str:
    trends = tables.of_learned("attention_trends", state="finetuned", feature=["[CLS]", "[SEP]"])
    rows = measured(trends, "correlation")
    by_chance = ~(rows["p_value"] < 0.05)
    rows.loc[by_chance, ["low", "high"]] = -1.0, 1.0
    to_cls = rows["feature"] == "[CLS]"
    return both(every(negative(rows[to_cls]), 0), every(rows[~to_cls], 0))


def claim_30(tables: Tables) -> str:
    where = {"task": ["MRPC", "RTE", "QQP"], "feature": ["noun", "object"]}
    changes = measured(tables.of_learned("attention_changes", **where), "over_control")
    layers = changes[changes["layer"].notna()]
    greatest = []
    for _, rows in layers.groupby(["task", "feature"]):
        wide = wider(rows)
        low = rows["value"] + wide * (rows["low"] - rows["value"])
        high = rows["value"] + wide * (rows["high"] - rows["value"])
        greatest.append({"value": rows["value"].max(), "low": low.max(), "high": high.max()})
    return every(pd.DataFrame(greatest).assign(degrees=np.inf), 0)


def claim_32(tables: Tables) -> str:
    return every(negative(tuned(attention(tables, "greatest", FEATURES, "to_special"))), -0.1)


def claim_33(tables: Tables) -> str:
    rows = tables.of_learned("attention_origins", feature=["[CLS]", "[SEP]"])
    return every(measured(rows, "difference"), 0)


def claim_34(tables: Tables) -> str:
    relations = ["verb to subject", "subject to verb", "pronoun to noun", "noun to pronoun"]
    rows = tables.of_learned("token_pair_correlations", state="finetuned", relation=relations)
    return every(over_seeds(measured(rows, "weight"), "task", "relation"), 0.5)


def claim_35(tables: Tables) -> str:
    rows = tuned(attention(tables, "from [CLS]", "[SEP]", "over_rivals"))
    return every(rows[rows["task"].isin(["MRPC", "SST-2", "QQP", "MNLI"])], 0)


def claim_36(tables: Tables) -> str:
    rows = tuned(attention(tables, "from [CLS]", "punctuation", "over_rivals"))
    return every(rows[rows["task"].isin(["STS-B", "RTE", "QNLI"])], 0)


def best_gains(tables: Tables, kind: str) -> pd.DataFrame:
    """Gains of the best head or layer on examples that did not choose it."""
    rows = tables.of_learned("survival", state="finetuned", kind=kind)
    return over_seeds(estimates(rows, "unbiased_gain", "ci_low", "ci_high"), "task")


def claim_1(tables: Tables) -> str:
    return some(best_gains(tables, "head"), 0)


def claim_37(tables: Tables) -> str:
    return every(best_gains(tables, "head"), 0)


def claim_40(tables: Tables) -> str:
    where = {"state": "finetuned", "kind": "head", "task": ["MRPC", "RTE"]}
    rows = estimates(tables.of_learned("survival", **where), "mean_effect", "mean_low", "mean_high")
    return every(over_seeds(rows, "task"), 0)


def claim_41(tables: Tables) -> str:
    return some(best_gains(tables, "layer"), 0)


def claim_44(tables: Tables) -> str:
    rows = tables.of_learned("layer_ablation", state="finetuned")
    return every(over_seeds(estimates(rows, "delta", "ci_low", "ci_high"), "task", "layer"), -1)


def claim_49(tables: Tables) -> str:
    heads = tables.read("head_ablation", state="finetuned")
    if {*heads["task"]} - {*tables.learned}:
        return UNDECIDED  # it is about all tasks of the run
    heads = heads[heads["metric"] == heads.groupby("task")["metric"].transform("first")]
    of_seeds = []
    for _, of_seed in heads.groupby("seed"):
        of_heads = []
        for _, rows in of_seed.groupby(["layer", "head"]):
            variances = ((rows["ci_high"] - rows["ci_low"]) / (2 * NORMAL)) ** 2
            variances = np.maximum(variances, variances.mean())
            if variances.max() > 0:
                mean = np.average(rows["delta"], weights=1 / variances)
                q = ((rows["delta"] - mean) ** 2 / variances).sum()
                of_heads.append(stats.chi2.sf(q, len(rows) - 1))
        count = len(of_seed[["layer", "head"]].drop_duplicates())
        of_seeds.append(count * min(of_heads, default=1.0))
    return significant(pd.Series([max(of_seeds)]))


def claim_54(tables: Tables) -> str:
    rows = tables.of_learned("patterns", definition="strict", pattern="vertical or diagonal")
    rows = estimates(rows, "share", "ci_low", "ci_high")
    states = rows.groupby(["state", "task"])[["value", "low", "high"]].mean()
    trained, random = states.loc["pretrained"], states.loc["random"]
    found = trained - random.rename(columns={"low": "high", "high": "low"})
    return every(found.assign(degrees=np.inf), 0)


CLAIMS: dict[str, Callable[[Tables], str]] = {
    name.removeprefix("claim_"): function
    for name, function in globals().items()
    if name.startswith("claim_")
}
"""How each claim is decided, by its number."""
