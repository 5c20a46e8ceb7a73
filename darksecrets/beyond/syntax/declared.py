"""Settings, tables and entry of the analysis of syntactic relations and coreference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import HEAD, LAYER, MAPS, P_VALUE, Q_VALUE, names
from darksecrets.core.run.settings import CORPUS, Section, constant, setting
from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.core.run.states import RANDOM
from darksecrets.core.run.tables import Column, Table, flag, integer, interval, like, share, text
from darksecrets.core.stats import LEVEL


@dataclass(frozen=True)
class Coreference(Section):
    """Texts in which heads look for antecedents."""

    path: str = setting(
        f"{CORPUS}/stories.conllu.gz",
        "Texts in which heads look for antecedents: the documents of a file in CoNLL-U that marks "
        "mentions as CorefUD does (`Entity`); if not given, short stories that ship with the "
        "project.",
    )
    texts: int = setting(
        400,
        "How many of these texts; all documents if there are fewer.",
        minimum=20,
        maximum=100_000,
    )
    seed: int = constant(2019, "`sampling_seed` of the run: chooses texts and halves.")


@dataclass(frozen=True)
class Settings(Section):
    """The treebank, and what is done with it."""

    source: Literal["conllu", "annotation"] = setting(
        "conllu",
        "Sentences with dependency trees: those of a file, or those of the tasks, as `annotation` "
        "has them (silver trees, if a pipeline parses them).",
    )
    path: str = setting(
        f"{CORPUS}/treebank.conllu.gz",
        "Source `conllu`: a treebank in CoNLL-U, such as those of Universal Dependencies; if not "
        "given, sentences that ship with the project.",
    )
    sentences: int = setting(
        1000,
        "Sentences that are read; all of them if there are fewer.",
        minimum=20,
        maximum=100_000,
    )
    probed: int = setting(
        1000,
        "How many of them probes are trained and scored on; their maps are kept in memory.",
        minimum=20,
        maximum=10_000,
    )
    seed: int = constant(2019, "`sampling_seed` of the run: chooses sentences and halves.")
    coreference: Coreference = setting(Coreference, "Coreference: heads and antecedents.")


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
            "`accuracy` for words that are as far apart but not so related",
            control_of="accuracy",
            optional=True,
        ),
        rate("over_distance", "how much less often that is", -1, optional=True),
        rate(
            "same_tags",
            "`same_distance` for words with the same parts of speech, too",
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
            f"`{YES}`: `q_value` < {LEVEL:g}; `{OPEN}`: as `{YES}`, without the control for "
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
            "whether this head and direction have the largest `uuas` on the selecting half",
        ),
        rate("selecting", "`uuas` on the selecting half"),
        rate("chain", "`uuas` of a chain of neighbours, right or left", control_of="uuas"),
        *estimate("over_chain", "`uuas` − `chain`", -1, known=True),
        *estimate(
            "uas", "share of the gold arcs that the tree has in the same direction", known=True
        ),
        rate("right_chain", "`uas` if every word depends on the one before it", control_of="uas"),
        rate("left_chain", "`uas` if every word depends on the one after it", control_of="uas"),
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
        rate("uniform", "`share` of equal parts", control_of="share"),
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


# Tables of coreference (Clark et al. 2019, section 4.3).

PRONOUN, PROPER, NOMINAL = "pronoun", "proper noun", "common noun"
EXPRESSIONS = (PRONOUN, PROPER, NOMINAL)
"""Kinds of referring expressions, by their head words."""

BEST_HEAD = "best head"
NEAREST, HEAD_MATCH, RULES = "nearest", "head match", "rules"
DISTANCE = "fixed distance"
METHODS = (BEST_HEAD, NEAREST, DISTANCE, HEAD_MATCH, RULES)
"""Ways to choose the antecedent of an expression."""

MODEL = MAPS[1:]
"""Columns of a model; all read the same texts, so there is no task."""


_KIND = text(
    "kind",
    f"kind of the expressions that are resolved, by their head words; `{ALL}`: every kind",
    values=(ALL, *EXPRESSIONS),
)
_COUNTS = (
    integer("anaphors", "expressions that are resolved", low=1),
    integer("texts", "texts with such expressions", low=1),
)

COREFERENCE_HEADS = Table(
    "coreference_heads",
    "How often a head attends most, among the earlier expressions of a text, to one that refers to "
    "the same thing (Clark et al. 2019, section 4.3). Resolved are expressions that refer to "
    "something mentioned before, if something else was mentioned, too. Intervals: over texts "
    "(Wilson).",
    (
        *MODEL,
        _KIND,
        LAYER,
        HEAD,
        *estimate("accuracy", "share of the expressions for which it does"),
        rate(
            "fixed_distance",
            "`accuracy` of the earlier expression nearest to a fixed distance, the best one",
            control_of="accuracy",
        ),
        rate(
            "other_query",
            "`accuracy` with the attention from another expression of the text, that "
            "refers to something else; mean over all of them",
            control_of="accuracy",
        ),
        rate(
            "same_kind",
            "`accuracy` of a random earlier expression of the kind that the head chooses",
            control_of="accuracy",
        ),
        rate(
            "same_form",
            "`accuracy` of the first, the last or a random earlier expression, the best of these, "
            "whose head word is as long as its own (or not) and as frequent (or not), as that of "
            "the head's choice is",
            control_of="accuracy",
        ),
        share(
            "p_family",
            "p-value of exceeding all four controls (random signs of the texts' differences), "
            "corrected for all heads and kinds",
        ),
        *_COUNTS,
    ),
    key=(*names(*MODEL), "kind", "layer", "head"),
    every=names(LAYER, HEAD),
)

COREFERENCE_METHODS = Table(
    "coreference_methods",
    "How often the best head finds a right antecedent, beside methods that need no model (Clark et "
    "al. 2019, Table 2). Intervals: over texts; of the best head and of gains also over the choice "
    "of the head. These need 6 texts.",
    (
        *MODEL,
        _KIND,
        text(
            "method",
            f"`{BEST_HEAD}`: chosen on random halves of the texts and scored on the others; "
            f"`{NEAREST}`: the last expression; `{DISTANCE}`: the one nearest to a distance in "
            f"words, the best one; `{HEAD_MATCH}`: the last one with the same head word, or else "
            f"the last; `{RULES}`: a sieve of all words, head word, and person, number and gender",
            values=METHODS,
        ),
        *estimate("accuracy", "share of the antecedents that are right", optional=True),
        *estimate("gain", f"how much larger that of `{BEST_HEAD}` is", low=-1, optional=True),
        like(LAYER, "layer of the head that most halves chose", optional=True),
        like(HEAD, "that head", optional=True),
        rate("chosen", "share of the halves that chose it", optional=True),
        integer("distance", "the fixed distance", "words", low=1, optional=True),
        *_COUNTS,
    ),
    key=(*names(*MODEL), "kind", "method"),
)

COREFERENCE_TABLES = (COREFERENCE_HEADS, COREFERENCE_METHODS)


# The table of probes that parse by attention (Clark et al. 2019, section 5).

ATTENTION, ATTENTION_AND_WORDS = "attention", "attention and words"
DISTANCES_AND_WORDS, DISTANCES = "distances and words", "distances"
OFFSET, NEXT = "fixed offset", "next word"
PROBES = (ATTENTION, ATTENTION_AND_WORDS, DISTANCES_AND_WORDS, DISTANCES, OFFSET, NEXT)
"""Ways to predict the heads of words; the last four read no attention."""

ATTENTION_PROBES = Table(
    "attention_probes",
    "For how many words a probe over the attention of all heads finds the head in the tree, beside "
    "predictions without attention (Clark et al. 2019, Table 3). What is learned is learned on one "
    "half of the documents and scored on the other, both ways. Intervals: over documents (over "
    "sentences, if all are of one).",
    (
        *MODEL,
        text(
            "probe",
            f"`{ATTENTION}`: a weight for every head and direction; `{ATTENTION_AND_WORDS}`: "
            f"weights that depend on both words; `{DISTANCES_AND_WORDS}`: a hidden layer over both "
            f"words and their distance; `{DISTANCES}`: a weight for every distance; `{OFFSET}`: "
            f"the word at the best distance; `{NEXT}`: the next word (right-branching)",
            values=PROBES,
        ),
        *estimate("uas", "share of the words whose head is found (unlabelled attachment score)"),
        *estimate(
            "shuffled",
            "`uas` with the words of every tree exchanged",
            control_of="uas",
            optional=True,
        ),
        *estimate(
            "random",
            "`uas` with the attention of the encoder with random weights",
            control_of="uas",
            optional=True,
        ),
        *estimate("over_random", "`uas` − `random`", low=-1, optional=True),
        *estimate("over_offset", f"`uas` − that of `{OFFSET}`", low=-1),
        *estimate("over_words", f"`uas` − that of `{DISTANCES_AND_WORDS}`", low=-1),
        integer("words", "words whose head is asked for", low=1),
        integer("sentences", "sentences", low=1),
    ),
    key=(*names(*MODEL), "probe"),
)

PROBE_TABLES = (ATTENTION_PROBES,)


SHOWN = (
    Shown(
        SYNTACTIC_HEADS,
        "over_offset",
        "Best relation, over distance",
        "Syntax (4.2)",
        "share of a relation's arcs that it finds, minus that of the best fixed distance. A head's "
        "relation is that in which it exceeds the mean head most, on other sentences",
        chosen=("label", "direction"),
        chosen_by="selecting",
        words={
            ALL: "all relations",
            DEPENDENT_TO_HEAD: "dependent to head",
            HEAD_TO_DEPENDENT: "head to dependent",
        },
        beside=("accuracy", "at_offset"),
        test="q_value",
        tested={"syntactic": (YES, NO)},
        palette="effect",
        phrases=(
            Phrase(
                "follows {kind}, beyond all controls (finds {accuracy:.0%} of them; the best fixed "
                "distance, {at_offset:.0%})",
                significant=True,
                sign=1,
            ),
        ),
    ),
    Shown(
        ATTENTION_TREES,
        "uuas",
        "Trees: {kind}",
        "Syntax (4.2)",
        kind="direction",
        words={
            DEPENDENT_TO_HEAD: "dependents attend to heads",
            HEAD_TO_DEPENDENT: "heads attend to dependents",
        },
        test="q_value",
        over="over_chain",
        on_card=False,
    ),
    Shown(
        COREFERENCE_HEADS,
        "accuracy",
        "Antecedents: {kind}",
        "Coreference (4.2)",
        "share of the expressions from which it attends most to a right antecedent",
        kind="kind",
        words={
            ALL: "all expressions",
            PRONOUN: "pronouns",
            PROPER: "proper nouns",
            NOMINAL: "common nouns",
        },
        test="p_family",
        summaries=("coreference_methods",),
        on_card=False,
        phrases=(
            Phrase(
                "finds the antecedents of {value:.0%} of the pronouns (95% interval {low:.0%} to "
                "{high:.0%}; the best fixed distance, {fixed_distance:.0%})",
                significant=True,
                sign=1,
                kinds=(PRONOUN,),
            ),
        ),
    ),
)


ANALYSIS = Analysis(
    name="syntax",
    question="Which heads follow syntactic relations and coreference?",
    papers="Clark et al. 2019, Htut et al. 2019, Lin et al. 2019",
    tables={
        "Section 4.2, syntax: heads and dependency relations": (
            *TABLES,
            *PROBE_TABLES,
        ),
        "Section 4.2, coreference: heads and antecedents": COREFERENCE_TABLES,
    },
    settings=Settings,
    shown=SHOWN,
    about_attention=True,
    check="beyond.syntax.measure.sources.check",
)
