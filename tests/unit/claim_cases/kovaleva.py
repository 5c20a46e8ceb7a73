"""Made-up tables for every claim of *Revealing the Dark Secrets of BERT*."""

import pandas as pd
from claim_tables import (
    NO,
    OPEN,
    TASKS,
    YES,
    Frames,
    crossed,
    extreme,
    made,
    one,
    sides,
    tasks,
    together,
)

from darksecrets.pages.claims.answers import Answer
from darksecrets.paper.features.tables import EQUAL_CONTROLS

PAPER = "kovaleva2019"
TUNED = {"state": "finetuned"}
BEST = TUNED | {"kind": "head"}
FIRST_THREE = ["vertical or diagonal"]

FRAMENET_CONTROLS = ("distance", "key", "place", "sum", "product", "query")


def shares(pattern: str, which: str, sign: int) -> dict[Answer, Frames]:
    return extreme(
        "patterns",
        "share",
        which,
        sign,
        scale=0.04,
        state="finetuned",
        definition="strict",
        pattern=pattern,
    )


def three_patterns(share: float, on_rte: float) -> Frames:
    """Shares of the paper's first three patterns together."""
    values = crossed(TASKS, FIRST_THREE, value=share) | crossed(["RTE"], FIRST_THREE, value=on_rte)
    each = ("task", "pattern")
    return made("patterns", "share", values, each=each, half=0.03, definition="strict", **TUNED)


def repeated(kappa: float, p_value: float) -> Frames:
    """The mean of all pairs of tasks, beside rows that claims do not use."""
    fixed = TUNED | {"p_value": p_value}
    key = ("compared", "task")
    others = {("tasks", "RTE"): 0.9, ("seeds", ""): 0.9, ("seeds", "RTE"): 0.1}
    values = {("tasks", ""): kappa} | others
    return made("pattern_agreement", "kappa", values, each=key, half=0.1, **fixed)


def framenet(out: int, refuted: int, heads: int = 6) -> Frames:
    """Some heads stand out, some are refuted, the rest is open."""
    places = [(1, 2), (7, 6), *((3, head) for head in range(1, heads - 1))]
    fixed = {"state": "pretrained", "direction": "element_to_predicate"}
    parts = []
    for number, (layer, head) in enumerate(places[:heads]):
        flag = {(layer, head): number < out}
        parts.append(
            made("framenet_heads", "exceeds_controls", flag, each=("layer", "head"), **fixed)
        )
        differences = {(layer, head, control): 0.05 for control in FRAMENET_CONTROLS}
        if number >= heads - refuted:
            differences[layer, head, "sum"] = -0.15
        each = ("layer", "head", "control")
        parts.append(
            made("framenet_controls", "difference", differences, each=each, half=0.05, **fixed)
        )
    return together(*parts)


def beside_random(out: int, random: int) -> Frames:
    """Of six heads each, how many stand out before fine-tuning, and with random weights."""
    frames = framenet(random, 0)
    for frame in frames.values():
        frame["state"] = "random"
    return together(framenet(out, 6 - out), frames) | random_counts(random)


def random_counts(most: int) -> Frames:
    """How many heads of twenty encoders with random weights stand out."""
    counts = pd.DataFrame({"seed": range(20), "exceeding": [0] * 10 + [most] * 10})
    return {"framenet_random": counts.assign(state="random")}


def last_layers(difference: float, q_value: float) -> Frames:
    half = {"scale": "change", "q_greatest": q_value}
    return made("last_layers", "difference", tasks(difference), half=0.05, **half)


def levels(column: str, values: dict[object, float], measure: str, **more: object) -> Frames:
    fixed: dict[str, object] = TUNED | {"measure": measure, "layer": None}
    return made("attention_levels", column, values, **(fixed | more))


def special(cls: float, sep: float) -> Frames:
    values = {(task, "[CLS]"): cls for task in TASKS} | {(task, "[SEP]"): sep for task in TASKS}
    return levels("weight", values, "most attended", each=("task", "feature"), half=0.05)


def trends(cls: float, sep: float, p_value: float = 0.01) -> Frames:
    values = {(task, "[CLS]"): cls for task in TASKS} | {(task, "[SEP]"): sep for task in TASKS}
    fixed = {"half": 0.2, "p_value": p_value} | TUNED
    return made("attention_trends", "correlation", values, each=("task", "feature"), **fixed)


def sums_of_sep(others: float, uniform: float = 0.1, premise: Answer = YES) -> Frames:
    """On SST-2 and on others, whose texts are as long unless `uniform` says otherwise.

    The premise is that a single [SEP] gets most on SST-2.
    """
    values = tasks(others, SST_2=0.5)
    frames = levels("weight", values, "total", half=0.02, feature="[SEP]")
    table = frames["attention_levels"]
    table["uniform"] = table["task"].map(lambda task: 0.1 if task == "SST-2" else uniform)
    return together(beside_untrained(frames, table["uniform"]), most_attention_to_sep()[premise])


def beside_untrained(frames: Frames, weight: float | pd.Series) -> Frames:
    """Levels of attention with rows of random weights."""
    table = frames["attention_levels"]
    ends = {"weight": weight, "weight_low": weight, "weight_high": weight}
    random = table.assign(state="random", **ends)
    return {"attention_levels": pd.concat([table, random], ignore_index=True)}


def most_attention_to_sep() -> dict[Answer, Frames]:
    """Of all tasks, SST-2 gives [SEP] the most, or another task; more than without training."""
    levels_of_tasks = extreme(
        "attention_levels",
        "weight",
        "SST-2",
        1,
        scale=0.04,
        measure="greatest",
        layer=None,
        feature="[SEP]",
        **TUNED,
    )
    return {answer: beside_untrained(of, 0.1) for answer, of in levels_of_tasks.items()}


def changes(usual: float, of_objects: float) -> Frames:
    values = crossed(TASKS, ["noun", "object", "negation"], value=usual)
    values |= crossed(TASKS, ["object"], value=of_objects)
    return made(
        "attention_changes", "over_control", values, each=("task", "feature"), half=0.02, layer=2
    )


def ratios(measure: str, usual: float, of_nouns: float) -> Frames:
    values = crossed(TASKS, ["verb", "pronoun", "subject"], value=usual)
    values |= crossed(TASKS, ["noun"], value=of_nouns)
    return levels("to_special", values, measure, each=("task", "feature"), half=0.02)


def most(feature: str, usual: float, on_one: float, task: str) -> Frames:
    more = {"layer": 12, "feature": feature, "half": 0.01}
    return levels("over_rivals", tasks(usual) | {task: on_one}, "from [CLS]", **more)


def exceeds(feature: str, task: str) -> dict[Answer, Frames]:
    return {
        answer: most(feature, 0.1, on_one, task)
        for answer, on_one in ((YES, 0.05), (NO, -0.1), (OPEN, 0.0))
    }


def layers(usual: float, of_one: float, task: str) -> Frames:
    """Effects of layers, of which the first one of a task has another."""
    values = crossed(TASKS, range(1, 4), value=usual) | {(task, 1): of_one}
    return made("layer_ablation", "delta", values, each=("task", "layer"), half=0.1, **TUNED)


def needed(elsewhere: float) -> Frames:
    """The two worst heads of STS-B and RTE cost 10 points; on the other task, `elsewhere`."""
    worst = {"STS-B": (1, 2), "RTE": (3, 4)}
    values = {}
    for task in TASKS:
        for head in range(1, 20):
            of_other = any(head in heads for name, heads in worst.items() if name != task)
            cost = elsewhere if of_other and task in worst else 0.0
            values[task, 1, head] = -10.0 if head in worst.get(task, ()) else cost
    frames = made("head_ablation", "delta", values, each=("task", "layer", "head"), **TUNED)
    table = frames["head_ablation"]
    ends = {"over_layer_low": table["delta"] - 0.5, "over_layer_high": table["delta"] + 0.5}
    return {"head_ablation": table.assign(over_layer=table["delta"], **ends)}


def words(over: float, on_control: float, cost: float = 5.0, q_value: float = 0.01) -> Frames:
    """What two heads of each task exceed controls by, and what losing them costs."""
    heads = {(task, rank): -cost for task in TASKS for rank in (1, 2)}
    fixed = TUNED | {"layer": 1, "metric": "accuracy", "q_value": q_value}
    places = made("worst_heads", "delta", heads, each=("task", "rank"), **fixed)
    places["worst_heads"]["head"] = places["worst_heads"]["rank"]
    values = crossed(TASKS, [1], [1, 2], EQUAL_CONTROLS, value=over)
    values |= crossed(TASKS, [1], [1, 2], ["sum"], value=on_control)
    each = ("task", "layer", "head", "control")
    return places | made("equal_word_controls", "difference", values, each=each, half=0.05, **TUNED)


def tolerated(share: float, on_rte: float) -> Frames:
    values = dict.fromkeys(TASKS, 144 * share) | {"RTE": 144 * on_rte}
    fixed = TUNED | {"order": "leave-one-out loss", "heads": 144}
    return made("pruned_heads", "largest", values, half=7, **fixed)


def effects_of_a_head(on_rte: float) -> Frames:
    """One of four heads costs this on RTE; all others, and it elsewhere, cost half a point."""
    values = crossed(TASKS, [1, 2], [1, 2], value=-0.5) | {("RTE", 2, 1): on_rte}
    return made("head_ablation", "delta", values, each=("task", "layer", "head"), half=1, **TUNED)


def before(share: float, random: float) -> Frames:
    """Shares of the first three patterns, in the encoder and in one of random weights."""
    values = crossed(TASKS, FIRST_THREE, ["pretrained"], value=share)
    values |= crossed(TASKS, FIRST_THREE, ["random"], value=random)
    each = ("task", "pattern", "state")
    return made("patterns", "share", values, each=each, half=0.06, definition="strict")


def by(
    column: str, table: str, values: dict[Answer, float], **fixed: object
) -> dict[Answer, Frames]:
    return {answer: made(table, column, tasks(value), **fixed) for answer, value in values.items()}


CASES: dict[str, dict[Answer, Frames]] = {
    "1": by("unbiased_gain", "survival", {YES: 2, NO: -2, OPEN: 0.1}, **BEST),
    "10": {
        YES: three_patterns(0.75, 0.75),
        NO: three_patterns(0.75, 0.15),
        OPEN: three_patterns(0.75, 0.33),
    },
    "11": {YES: repeated(0.8, 0.01), NO: repeated(0.3, 0.01), OPEN: repeated(0.8, 0.2)},
    "12": shares("block", "SST-2", -1),
    "13": {
        YES: ratios("most attended", 0.5, 0.5),
        NO: ratios("most attended", 0.5, 1.5),
        OPEN: ratios("most attended", 0.5, 1.0),
    },
    "15": {YES: framenet(2, 4), NO: framenet(1, 5), OPEN: framenet(1, 0)},
    "19": {
        answer: framenet(out, refuted) | random_counts(0)
        for answer, out, refuted in ((YES, 1, 0), (NO, 0, 6), (OPEN, 0, 5))
    },
    "20": {YES: last_layers(0.2, 0.01), NO: last_layers(-0.2, 1), OPEN: last_layers(0.2, 0.2)},
    "21": one(
        "mean_differences",
        "difference",
        {YES: 35, NO: 10, OPEN: 39},
        half=1,
        model="finetuned",
        reference="pretrained",
        tasks=7,
    ),
    "22": sides(
        "score_differences", "difference", 10, -10, 0, model="finetuned", reference="pretrained"
    ),
    "23": sides(
        "score_differences",
        "difference",
        -10,
        10,
        0,
        model="finetuned-from-normal",
        reference="finetuned",
    ),
    "24": by(
        "difference",
        "score_differences",
        {YES: -10, NO: 10, OPEN: 0},
        model="finetuned-from-normal",
        reference="pretrained",
    ),
    "26": {YES: special(0.4, 0.4), NO: special(0.1, 0.2), OPEN: special(0.25, 0.25)},
    "27": most_attention_to_sep(),
    "28": {answer: sums_of_sep(others) for answer, others in ((YES, 0.8), (NO, 0.2), (OPEN, 0.5))},
    "29": {YES: trends(-0.8, 0.8), NO: trends(-0.8, -0.8), OPEN: trends(-0.8, 0.1)},
    "30": {YES: changes(0.1, 0.1), NO: changes(0.1, -0.1), OPEN: changes(0.1, 0.0)},
    "31": {YES: changes(0.1, 0), NO: changes(-0.1, 0), OPEN: changes(0.0, 0)},
    "32": {
        YES: ratios("greatest", 0.05, 0.05),
        NO: ratios("greatest", 0.05, 0.5),
        OPEN: ratios("greatest", 0.05, 0.1),
    },
    "33": {
        answer: made(
            "attention_origins",
            "difference",
            crossed(TASKS, ["[CLS]", "[SEP]"], value=value),
            each=("task", "feature"),
            half=0.1,
        )
        for answer, value in ((YES, 0.5), (NO, -0.5), (OPEN, 0.05))
    },
    "34": {
        answer: made(
            "token_pair_correlations",
            "weight",
            crossed(TASKS, ["verb to subject", "noun to pronoun"], value=value),
            each=("task", "relation"),
            half=0.1,
            **TUNED,
        )
        for answer, value in ((YES, 0.7), (NO, 0.2), (OPEN, 0.5))
    },
    "35": exceeds("[SEP]", "QQP"),
    "36": exceeds("punctuation", "QNLI"),
    "37": sides("survival", "unbiased_gain", 2, -2, 0, **BEST),
    "40": by("mean_effect", "survival", {YES: 2, NO: -2, OPEN: 0}, **BEST),
    "41": by("unbiased_gain", "survival", {YES: 2, NO: -2, OPEN: 0.1}, **TUNED, kind="layer"),
    "44": {YES: layers(0, 0, "RTE"), NO: layers(0, -5, "RTE"), OPEN: layers(0, -1, "RTE")},
    "45": sides("linked_groups", "mean_effect", 0.2, -5, -0.5, group="framenet", **TUNED),
    "46": {YES: needed(-8), NO: needed(3), OPEN: needed(0)},
    "47": {YES: words(0.2, 0.2), NO: words(0.2, -0.2), OPEN: words(0.2, 0.0)},
    "48": {YES: tolerated(0.4, 0.4), NO: tolerated(0.4, 0.01), OPEN: tolerated(0.4, 0.2)},
    "49": {YES: effects_of_a_head(-5), OPEN: effects_of_a_head(0)},
    "54": {YES: before(0.3, 0.1), NO: before(0.1, 0.3), OPEN: before(0.11, 0.1)},
}

ALSO = [
    ("28", OPEN, sums_of_sep(0.8, premise=NO)),  # nothing to explain
    ("28", OPEN, sums_of_sep(0.8, premise=OPEN)),
    ("28", NO, sums_of_sep(0.2, premise=NO)),
    ("47", OPEN, words(0.2, 0.2, q_value=0.5)),  # all heads attend to such words, and none matters
    ("47", OPEN, words(0.2, 0.2, cost=-5.0)),  # nor if losing the worst ones helps
    ("19", NO, beside_random(1, 1)),  # as many heads of random weights stand out
    ("19", YES, beside_random(2, 1)),
]
