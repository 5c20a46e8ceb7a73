"""Tables of what heads do with syntax (Clark et al. 2019)."""

from __future__ import annotations

from darksecrets.core.run.columns import HEAD, LAYER, MAPS, P_VALUE, Q_VALUE, RANDOM, names
from darksecrets.core.run.tables import Column, Table, flag, integer, interval, like, share, text
from darksecrets.core.stats import LEVEL

ALL = "all"
"""All relations together, but that of the root."""
DEPENDENT_TO_HEAD, HEAD_TO_DEPENDENT = DIRECTIONS = ("dependent_to_head", "head_to_dependent")
"""What attends to what."""
YES, OPEN, NO = VERDICTS = ("yes", "open", "no")
"""Whether a head is syntactic."""

_MODEL = MAPS[1:]
"""All models read the same sentences, so there is no task."""

_LABEL = text(
    "label",
    f"label of the dependency; `{ALL}`: all but that of the root. Punctuation has no rows of its "
    "own",
)


def rate(name: str, meaning: str, low: int = 0, **more: object) -> Column:
    """The column of a share, or of a difference of shares."""
    return share(name, meaning, "share", low=low, **more)  # type: ignore[arg-type]


def estimate(
    name: str, meaning: str, low: int = 0, *, known: bool = False, **more: object
) -> tuple[Column, Column, Column]:
    """The same with its interval; unless it is always known, it is empty with one unit."""
    ends = interval(name, name, unit="share", bounds=(low, 1), optional=not known)
    return rate(name, meaning, low, **more), *ends


def _direction(name: str, meaning: str) -> Column:
    return text(name, meaning, values=DIRECTIONS)


SYNTACTIC_HEADS = Table(
    "syntactic_heads",
    "How often heads find the head of a dependent, by label, beside five controls (Clark et al. "
    "2019). A random half of the sentences selects the best head and the best offset; all other "
    f"numbers are of the other half. States are `pretrained` and, for comparison, `{RANDOM}`; each "
    "is tested on its own.",
    (
        *_MODEL,
        _LABEL,
        _direction(
            "direction",
            f"`{DEPENDENT_TO_HEAD}`: the word that the dependent attends to most is taken for its "
            f"head; `{HEAD_TO_DEPENDENT}`: the word that attends to the dependent most",
        ),
        LAYER,
        HEAD,
        integer("arcs", "dependents with this label", low=1),
        integer("sentences", "sentences with such a dependent", low=1),
        *estimate("accuracy", "share of them whose head is found", known=True),
        flag(
            "selected",
            "whether this head and direction were the best for the label on the selecting half",
        ),
        rate("selecting", "`accuracy` on the selecting half"),
        integer(
            "offset",
            "distance from dependent to head, −8 to 8, that is most frequent on the selecting half",
            "words",
            low=-8,
            high=8,
        ),
        rate(
            "at_offset",
            "share of the dependents whose head is at this distance",
            control_of="accuracy",
        ),
        *estimate("over_offset", "`accuracy` − `at_offset`", -1, known=True),
        rate(
            "same_distance",
            "how often the same is found for words that are as far apart but not so related",
            control_of="accuracy",
            optional=True,
        ),
        rate("over_distance", "how much less often that is", -1, optional=True),
        rate(
            "same_tags",
            "the same for words with the same parts of speech, too",
            control_of="accuracy",
            optional=True,
        ),
        rate("over_tags", "how much less often that is", -1, optional=True),
        integer("tags_arcs", "dependents with such words to compare"),
        rate(
            "same_rank",
            "how often, from words not so related, the nth word of the head's part of speech on "
            "its side is found: the next noun, for example",
            control_of="accuracy",
            optional=True,
        ),
        rate("over_rank", "how much less often that is", -1, optional=True),
        rate(
            "other_words",
            "how often the same head is found for other words of its sentence",
            control_of="accuracy",
            optional=True,
        ),
        rate("over_words", "how much less often that is", -1, optional=True),
        like(
            P_VALUE,
            "p-value of exceeding the offset and every control: the largest of their "
            "p-values, which bound those of random signs of the sentences' differences",
        ),
        like(Q_VALUE, "false discovery rate over all heads, labels and both directions"),
        text(
            "syntactic",
            f"`{YES}`: `q_value` < {LEVEL:g}; `{OPEN}`: the same, but without the control for "
            f"parts of speech, as `tags_arcs` is less than 20; `{NO}`",
            values=VERDICTS,
        ),
    ),
    key=(*names(*_MODEL), "label", "direction", "layer", "head"),
    every=("layer", "head"),
)

ATTENTION_TREES = Table(
    "attention_trees",
    "How much the best tree of every head, with the sentence's own root, is like the gold tree "
    "(Htut et al. 2019), beside chains. Punctuation does not count. A random half of the sentences "
    f"selects the best head; all other numbers are of the other half. States are `pretrained` and, "
    f"to compare, `{RANDOM}`; each is tested on its own.",
    (
        *_MODEL,
        _direction(
            "direction",
            f"`{DEPENDENT_TO_HEAD}`: the score of an arc is the weight from the dependent to the "
            f"head; `{HEAD_TO_DEPENDENT}`: from the head to the dependent",
        ),
        LAYER,
        HEAD,
        integer("arcs", "gold arcs", low=1),
        integer("sentences", "sentences with such arcs", low=1),
        *estimate(
            "uuas",
            "share of the gold arcs that the tree has, whatever their direction",
            known=True,
        ),
        flag(
            "selected",
            "whether this head and direction have the greatest `uuas` on the selecting half",
        ),
        rate("selecting", "`uuas` on the selecting half"),
        rate("chain", "the same of a chain of neighbours, right or left", control_of="uuas"),
        *estimate("over_chain", "`uuas` − `chain`", -1, known=True),
        *estimate(
            "uas", "share of the gold arcs that the tree has in the same direction", known=True
        ),
        rate(
            "right_chain", "the same if every word depends on the one before it", control_of="uas"
        ),
        rate("left_chain", "the same if every word depends on the one after it", control_of="uas"),
        like(
            P_VALUE,
            "p-value of `over_chain` > 0; bounds that of random signs of the sentences' "
            "differences",
        ),
        like(Q_VALUE, "false discovery rate over all heads and both directions"),
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
        text(
            "distractors", "other nouns and pronouns before the verb", values=(ANY, "1", "2", MANY)
        ),
        like(LAYER, "layer, from 1; empty for all layers", optional=True),
        integer("verbs", "verbs with a subject and so many others before them", low=1),
        integer("sentences", "sentences with such verbs", low=1),
        *estimate("share", "share of the weight to all of these that the subject gets"),
        rate("uniform", "the same of equal parts", control_of="share"),
        *estimate("over_uniform", "`share` − `uniform`", -1),
        *estimate(
            "over_places",
            "how much more than what is, in the same sentence, at the subjects' places of other "
            "sentences with as many words and nouns",
            -1,
            optional=True,
        ),
        *estimate(
            "over_rank",
            "how much more than the noun that is the subject in other sentences with the same "
            "classes of nouns before the verb",
            -1,
            optional=True,
        ),
        rate("nearest", "what the nearest of them gets, the subject or not", control_of="share"),
        rate("random", "`share` in the encoder with random weights", control_of="share"),
    ),
    key=(*names(*_MODEL), "distractors", "layer"),
    may_be_empty=True,
)

TABLES = (SYNTACTIC_HEADS, ATTENTION_TREES, DISTRACTORS)
