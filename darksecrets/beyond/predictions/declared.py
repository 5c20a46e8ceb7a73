"""Settings, tables and entry of the analysis of what an encoder predicts."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import ENCODERS, HEAD, LAYER, MAPS, P_VALUE, Q_VALUE, names
from darksecrets.core.run.settings import CORPUS, Section, Tasks, constant, setting, tasks_among
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import (
    Column,
    Table,
    add_ends,
    flag,
    integer,
    interval,
    like,
    number,
    share,
    text,
)

PROJECTIVE, ANY = "impact, no crossing arcs", "impact, any tree"
"""Trees of impact without crossing arcs (Eisner 1996), and any (Chu and Liu 1965; Edmonds 1967)."""
ATTENTION, PROBE, EMBEDDINGS = "attention", "structural probe", "structural probe of embeddings"
"""Trees of the analyses `syntax` and `layers`."""


@dataclass(frozen=True)
class Settings(Section):
    """Pairs of sentences, and the treebank's sentences for impact trees."""

    pairs: str = setting(
        f"{CORPUS}/pairs.jsonl",
        "Pairs of a right and a wrong sentence: a file of JSON lines as BLiMP has them "
        "(`sentence_good`, `sentence_bad`, `UID`), a folder of such files, or a TSV with the "
        "columns `sentence` (with `[MASK]`), `right`, `wrong` and, if there are any, `attractors`; "
        "if not given, pairs that ship with the project.",
    )
    cloze: str = setting(
        f"{CORPUS}/cloze.jsonl",
        "Sentences with a masked word: a file of JSON lines, or a folder of such files, with "
        "`sentence` (with `[MASK]`), `right`, and maybe `set`, `condition` and `item`; or those of "
        "LAMA. If not given, sentences that ship with the project.",
    )
    most: int = setting(
        200,
        "Pairs of each phenomenon that are read; all if there are fewer.",
        minimum=10,
        maximum=100_000,
    )
    sentences: int = setting(
        300,
        "Sentences of the treebank (`syntax.path`) whose words are masked for impact trees; all if "
        "there are fewer. Passes grow with the square of a sentence's words.",
        minimum=10,
        maximum=100_000,
    )
    longest: int = setting(40, "Words of the longest sentence of these.", minimum=3, maximum=512)
    tasks: Tasks = tasks_among(
        "tasks", "Tasks whose fine-tuned models have impact trees, too; all for `null`."
    )
    seed: int = constant(2019, "`sampling_seed` of the run: chooses pairs and sentences.")


MINIMAL_PAIRS = Table(
    "minimal_pairs",
    "How often an encoder finds the right one of two sentences more probable (Warstadt et al. "
    "2020), by pseudo-log-likelihood (Salazar et al. 2020), beside models of one and of two word "
    "pieces that are counted on the run's training texts. Equal likelihoods count half.",
    (
        *MAPS[1:],
        text("phenomenon", "what is wrong with the wrong sentence"),
        integer(
            "attractors",
            "nouns of the other number before the verb; empty where not counted",
            low=0,
            optional=True,
        ),
        *add_ends(
            share("accuracy", "share of the pairs whose right sentence is more probable", "share")
        ),
        share(
            "whole_words",
            "`accuracy` with the later pieces of a masked word masked, too (Kauf and Ivanova 2023)",
            "share",
        ),
        share(
            "unigrams", "`accuracy` of counts of single word pieces", "share", control_of="accuracy"
        ),
        share(
            "bigrams",
            "`accuracy` of counts of pairs of word pieces",
            "share",
            control_of="accuracy",
        ),
        *add_ends(share("over_bigrams", "`accuracy` − `bigrams`", "share", low=-1)),
        integer("pairs", "pairs", low=1),
        integer(
            "left_out",
            "pairs of this phenomenon that are too long, or have words that the tokenizer lacks",
        ),
    ),
    key=(*names(*MAPS[1:]), "phenomenon", "attractors"),
)

CLOZE = Table(
    "cloze",
    "What an encoder puts in the place of a masked word (Petroni et al. 2019; Ettinger 2020): how "
    "often the right word is the most probable piece, and how much a condition, such as a "
    "negation, changes of that.",
    (
        *MAPS[1:],
        text("set", "the set of sentences"),
        text("condition", "the condition of these; empty for none", optional=True),
        *add_ends(share("first", "share of the items whose right word is the first", "share")),
        share("first_ten", "share of the items whose right word is among the first ten", "share"),
        share("reciprocal_rank", "mean of 1 / rank of the right word", "share"),
        share(
            "majority",
            "share of the items of the most frequent right word",
            "share",
            control_of="first",
        ),
        *add_ends(
            share(
                "same",
                "share of the items whose most probable piece is the same as under the first "
                "condition of the set; empty for that one",
                "share",
                optional=True,
            )
        ),
        *add_ends(
            number(
                "change",
                "log-probability of the right word, minus that under the first condition; mean",
                "nats",
                optional=True,
            )
        ),
        integer("items", "items", low=1),
        integer(
            "left_out",
            "items of this set that are too long, or whose right word has several pieces",
        ),
    ),
    key=(*names(*MAPS[1:]), "set", "condition"),
)

TREES = Table(
    "trees",
    "How much trees of the impact of words on each other's masked states are like gold trees (Wu "
    "et al. 2020), beside chains; and, of runs that have them, trees from attention (Htut et al. "
    "2019) and from states (Hewitt and Manning 2019). Punctuation does not count. Intervals are "
    "over sentences, which differ by kind of tree.",
    (
        *ENCODERS,
        text(
            "tree",
            f"`{PROJECTIVE}`, `{ANY}`: the best tree of impact, with the sentence's own root; "
            f"`{ATTENTION}`: of the selected head of `attention_trees`; `{PROBE}`: of the selected "
            f"layer of `structural_probes`; `{EMBEDDINGS}`: the probe of layer 0",
            values=(PROJECTIVE, ANY, ATTENTION, PROBE, EMBEDDINGS),
        ),
        like(LAYER, "layer of the tree, for impact the last", low=0),
        like(HEAD, "head of the tree", optional=True),
        *add_ends(
            share(
                "uuas",
                "share of the gold arcs that the tree has, whatever their direction",
                "share",
            )
        ),
        share("chain", "`uuas` of a chain of neighbours", "share", control_of="uuas"),
        *add_ends(share("over_chain", "`uuas` − `chain`", "share", low=-1)),
        integer("sentences", "sentences", low=1),
    ),
    key=(*names(*ENCODERS), "tree"),
)

_ACCURACY = number("score", "share of right verbs with the head disabled", "× 100", high=100)
_INTACT = like(_ACCURACY, "`score` of the intact encoder", name="baseline")

AGREEMENT_HEADS = Table(
    "agreement_heads",
    "How often an encoder finds the right one of two verbs in the place of a masked word, without "
    "each of its heads.",
    (
        *MAPS[1:],
        LAYER,
        HEAD,
        _INTACT,
        _ACCURACY,
        number("delta", "`score` − `baseline`", "× 100"),
        *interval("delta", unit="× 100"),
        like(P_VALUE, "McNemar's exact test of no effect on the same pairs"),
        like(Q_VALUE, "false discovery rate over the heads"),
        flag(
            "subject",
            "whether it attends from verbs to subjects or back more than controls, on most tasks "
            "(`token_pairs`)",
        ),
    ),
    key=names(*MAPS[1:], LAYER, HEAD),
    every=("layer", "head"),
    may_be_empty=True,
)


def _group_number(name: str, meaning: str, control_of: str = "") -> Column:
    return number(name, meaning, "× 100", optional=True, control_of=control_of)


AGREEMENT_GROUPS = Table(
    "agreement_groups",
    "Whether the heads that attend between verbs and subjects (`subject` of `agreement_heads`) are "
    "those that agreement needs; empty beyond `heads` if there are none.",
    (
        *MAPS[1:],
        integer("pairs", "pairs of verbs that are one word piece each", low=1),
        *add_ends(share("accuracy", "share of right verbs with all heads", "share")),
        integer("heads", "heads in the group"),
        _group_number("mean_effect", "mean `delta` of disabling each of them alone"),
        _group_number(
            "control",
            "`mean_effect` of random heads, as many of each layer",
            control_of="mean_effect",
        ),
        _group_number("over_control", "`mean_effect` − `control`"),
        *interval("over_control", "over_control", unit="× 100", optional=True),
        like(
            P_VALUE,
            "two-sided permutation test of `over_control`: heads permuted within layers; empty if "
            "they cannot differ",
            optional=True,
        ),
    ),
    key=names(*MAPS[1:]),
    may_be_empty=True,
)

TABLES = (MINIMAL_PAIRS, CLOZE, TREES, AGREEMENT_HEADS, AGREEMENT_GROUPS)


SHOWN = (
    Shown(
        AGREEMENT_HEADS,
        "delta",
        "Right verbs without it",
        "Masked words (4.2)",
        "share of masked verbs that agree with their subjects, with the head disabled, minus that "
        "of the intact encoder",
        beside=("baseline",),
        test="q_value",
        two_sided=True,
        palette="effect",
    ),
)


ANALYSIS = Analysis(
    name="predictions",
    question="What does an encoder predict without a classifier?",
    papers="Goldberg 2019, Petroni et al. 2019, Ettinger 2020, Wu et al. 2020",
    tables={"Section 4.2, further: masked words": TABLES},
    settings=Settings,
    shown=SHOWN,
    check="beyond.predictions.preflight.check",
)
