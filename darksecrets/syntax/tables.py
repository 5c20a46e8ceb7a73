"""Tables of what heads do with syntax (Clark et al. 2019)."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.run.columns import HEAD, LAYER, MAPS, MODEL, P_VALUE, Q_VALUE, RANDOM, names
from darksecrets.run.tables import Column, Table, interval
from darksecrets.stats import LEVEL

ALL = "all"
"""All relations together, but that of the root."""
DEPENDENT_TO_HEAD, HEAD_TO_DEPENDENT = DIRECTIONS = ("dependent_to_head", "head_to_dependent")
"""What attends to what."""
YES, OPEN, NO = VERDICTS = ("yes", "open", "no")
"""Whether a head is syntactic."""

_MODEL = MAPS[1:]
"""All models read the same sentences, so there is no task."""

_LABEL = Column(
    *("label", "text"),
    f"label of the dependency; `{ALL}`: all but that of the root. Punctuation has no rows of its "
    "own",
)


def _share(name: str, meaning: str, **more: object) -> Column:
    return Column(name, "number", meaning, "share", low=0, high=1, **more)  # type: ignore[arg-type]


def _over(name: str, meaning: str, **more: object) -> Column:
    return Column(name, "number", meaning, "share", low=-1, high=1, **more)  # type: ignore[arg-type]


def _interval_of(name: str, low: int = 0) -> tuple[Column, Column]:
    """The interval of a share, or of a difference; empty with one sentence."""
    return interval(name, name, unit="share", bounds=(low, 1), optional=True)


SYNTACTIC_HEADS = Table(
    "syntactic_heads",
    "How often heads find the head of a dependent, by label, beside four controls (Clark et al. "
    "2019). A random half of the sentences selects the best head and the best offset; all other "
    f"numbers are of the other half. States are `pretrained` and, for comparison, `{RANDOM}`; each "
    "is tested on its own.",
    (
        *_MODEL,
        _LABEL,
        Column(
            *("direction", "text"),
            f"`{DEPENDENT_TO_HEAD}`: the word that the dependent attends to most is taken for its "
            f"head; `{HEAD_TO_DEPENDENT}`: the word that attends to the dependent most",
            values=DIRECTIONS,
        ),
        LAYER,
        HEAD,
        Column("arcs", "integer", "dependents with this label", low=1),
        Column("sentences", "integer", "sentences with such a dependent", low=1),
        _share("accuracy", "share of them whose head is found"),
        *interval("accuracy", "accuracy", unit="share", bounds=(0, 1)),
        Column(
            *("selected", "flag"),
            "whether this head and direction were the best for the label on the selecting half",
        ),
        _share("selecting", "`accuracy` on the selecting half"),
        Column(
            *("offset", "integer"),
            "distance from dependent to head, −8 to 8, that is most frequent on the selecting half",
            "words",
            low=-8,
            high=8,
        ),
        _share(
            *("at_offset", "share of the dependents whose head is at this distance"),
            control_of="accuracy",
        ),
        _over("over_offset", "`accuracy` − `at_offset`"),
        *interval("over_offset", "over_offset", unit="share", bounds=(-1, 1)),
        _share(
            "same_distance",
            "how often the same is found for words that are as far apart but not so related",
            control_of="accuracy",
            optional=True,
        ),
        _over("over_distance", "how much less often that is", optional=True),
        _share(
            "same_tags",
            "the same for words with the same parts of speech, too",
            control_of="accuracy",
            optional=True,
        ),
        _over("over_tags", "how much less often that is", optional=True),
        Column("tags_arcs", "integer", "dependents with such words to compare", low=0),
        _share(
            "other_words",
            "how often the same head is found for other words of its sentence",
            control_of="accuracy",
            optional=True,
        ),
        _over("over_words", "how much less often that is", optional=True),
        replace(
            P_VALUE,
            meaning="p-value of exceeding the offset and every control: the largest of their "
            "p-values, which bound those of random signs of the sentences' differences",
        ),
        replace(Q_VALUE, meaning="false discovery rate over all heads, labels and both directions"),
        Column(
            *("syntactic", "text"),
            f"`{YES}`: `q_value` < {LEVEL:g}; `{OPEN}`: the same, but without the control for "
            f"parts of speech, as `tags_arcs` is less than 20; `{NO}`",
            values=VERDICTS,
        ),
    ),
    key=(*names(*_MODEL), "label", "direction", "layer", "head"),
    every=("layer", "head"),
)

_DIRECTION = Column(
    *("direction", "text"),
    "what attends to what, as in [`syntactic_heads.csv`](#syntactic_headscsv)",
    values=DIRECTIONS,
)

SYNTACTIC_CHANGES = Table(
    "syntactic_changes",
    "What fine-tuning changes for the head that finds most of a relation in the pre-trained model. "
    "A random half of the sentences selects the heads, the same as in `syntactic_heads.csv`; all "
    "numbers are of the other half, intervals of changes over sentences, paired. For the tasks of "
    "`treebank.tasks`.",
    (
        *MODEL,
        _LABEL,
        _DIRECTION,
        LAYER,
        HEAD,
        Column("arcs", "integer", "dependents with this label", low=1),
        Column("sentences", "integer", "sentences with such a dependent", low=1),
        _share("pretrained", "share of them whose head is found by this head before fine-tuning"),
        *_interval_of("pretrained"),
        _share("finetuned", "the same by the same head after fine-tuning"),
        *_interval_of("finetuned"),
        _over("change", "`finetuned` − `pretrained`"),
        *_interval_of("change", -1),
        _over(
            "change_of_others",
            "the same for words that are as far apart but not so related: what distances alone "
            "change",
            control_of="change",
        ),
        replace(
            P_VALUE,
            meaning="p-value of a change in either direction; bounds that of random signs of the "
            "sentences' differences",
        ),
        replace(Q_VALUE, meaning="false discovery rate over the labels of the model"),
        replace(_DIRECTION, name="best_direction", meaning="the same for `best_head`"),
        replace(LAYER, name="best_layer", meaning="layer of the best head of the fine-tuned model"),
        replace(HEAD, name="best_head", meaning="the best head of the fine-tuned model"),
        _share("best", "share that it finds in the fine-tuned model"),
        *_interval_of("best"),
        _over("best_change", "`best` − `pretrained`"),
        *_interval_of("best_change", -1),
    ),
    key=(*names(*MODEL), "label"),
)

ATTENTION_TREES = Table(
    "attention_trees",
    "How much the best tree of every head, with the sentence's own root, is like the gold tree "
    "(Htut et al. 2019), beside chains. Punctuation does not count. A random half of the sentences "
    f"selects the best head; all other numbers are of the other half. States are `pretrained` and, "
    f"to compare, `{RANDOM}`; each is tested on its own.",
    (
        *_MODEL,
        Column(
            *("direction", "text"),
            f"`{DEPENDENT_TO_HEAD}`: the score of an arc is the weight from the dependent to the "
            f"head; `{HEAD_TO_DEPENDENT}`: from the head to the dependent",
            values=DIRECTIONS,
        ),
        LAYER,
        HEAD,
        Column("arcs", "integer", "gold arcs", low=1),
        Column("sentences", "integer", "sentences with such arcs", low=1),
        _share("uuas", "share of the gold arcs that the tree has, whatever their direction"),
        *interval("uuas", "uuas", unit="share", bounds=(0, 1)),
        Column(
            *("selected", "flag"),
            "whether this head and direction have the greatest `uuas` on the selecting half",
        ),
        _share("selecting", "`uuas` on the selecting half"),
        _share("chain", "the same of a chain of neighbours, right or left", control_of="uuas"),
        _over("over_chain", "`uuas` − `chain`"),
        *interval("over_chain", "over_chain", unit="share", bounds=(-1, 1)),
        _share("uas", "share of the gold arcs that the tree has in the same direction"),
        *interval("uas", "uas", unit="share", bounds=(0, 1)),
        _share(
            *("right_chain", "the same if every word depends on the one before it"),
            control_of="uas",
        ),
        _share(
            *("left_chain", "the same if every word depends on the one after it"), control_of="uas"
        ),
        replace(
            P_VALUE,
            meaning="p-value of `over_chain` > 0; bounds that of random signs of the sentences' "
            "differences",
        ),
        replace(Q_VALUE, meaning="false discovery rate over all heads and both directions"),
    ),
    key=(*names(*_MODEL), "direction", "layer", "head"),
    every=("layer", "head"),
)

ANY, MANY = "any", "3 or more"

DISTRACTORS = Table(
    "distractors",
    "How much verbs attend to their subjects, of all nouns and pronouns before them (Lin et al. "
    "2019): means over the heads of a layer. Intervals are over sentences; empty with one.",
    (
        *_MODEL,
        Column(
            *("distractors", "text", "other nouns and pronouns before the verb"),
            values=(ANY, "1", "2", MANY),
        ),
        replace(LAYER, meaning="layer, from 1; empty for all layers", optional=True),
        Column("verbs", "integer", "verbs with a subject and so many others before them", low=1),
        Column("sentences", "integer", "sentences with such verbs", low=1),
        _share("share", "share of the weight to all of these that the subject gets"),
        *interval("share", "share", unit="share", bounds=(0, 1), optional=True),
        _share("uniform", "the same of equal parts", control_of="share"),
        _over("over_uniform", "`share` − `uniform`"),
        *interval("over_uniform", "over_uniform", unit="share", bounds=(-1, 1), optional=True),
        _share("nearest", "what the nearest of them gets, the subject or not", control_of="share"),
        _share("random", "`share` in the encoder with random weights", control_of="share"),
    ),
    key=(*names(*_MODEL), "distractors", "layer"),
    may_be_empty=True,
)

TABLES = (SYNTACTIC_HEADS, SYNTACTIC_CHANGES, ATTENTION_TREES, DISTRACTORS)
