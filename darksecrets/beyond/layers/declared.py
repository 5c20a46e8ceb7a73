"""Settings, tables and entry of the analysis of what layers know."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import ENCODERS, LAYER, SEED, TASK, names
from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among
from darksecrets.core.run.tables import (
    Column,
    Table,
    add_ends,
    flag,
    integer,
    like,
    number,
    share,
    text,
)

POSITION, SENTENCE = "place in the sentence", "sentence of the pair"
TAG, NUMBER, TENSE = "part of speech", "number", "tense"
RELATION, DISTANCE = "dependency relation", "distance to the head"
LABEL = "label of the task"
SURFACE, SYNTAX = (POSITION, SENTENCE), (TAG, NUMBER, TENSE, RELATION, DISTANCE)
PROPERTIES = (*SURFACE, *SYNTAX, LABEL)
"""What probes are to read from the states of words, or, the last one, from those of [CLS]."""
REMOVED = (TAG,)
"""What is taken out of the states of fine-tuned models, to see whether their task needs it."""


@dataclass(frozen=True)
class Settings(Section):
    """Texts and models whose layers are probed. The treebank is that of `syntax`."""

    sentences: int = setting(
        1000,
        "Sentences of the treebank (`syntax.path`) whose words are probed; all if there are fewer.",
        minimum=60,
        maximum=100_000,
    )
    examples: int = setting(
        1000,
        "Training examples, and validation examples, of a task from whose [CLS] its label is "
        "probed; all if there are fewer.",
        minimum=60,
        maximum=100_000,
    )
    tasks: Tasks = tasks_among("tasks", "Tasks whose fine-tuned models are probed; all for `null`.")
    rank: int = setting(64, "Dimensions in which trees are looked for.", minimum=1, maximum=4096)
    seed: int = constant(2019, "`sampling_seed` of the run: chooses sentences and examples.")


_LAYER = like(LAYER, "layer; 0 is the embeddings", low=0)
_PROPERTY = text(
    "property",
    f"what is read from the states; `{LABEL}`: of a regression, whether it is above the mean",
    values=PROPERTIES,
)
_SENTENCES = integer("sentences", "sentences, or examples, that score", low=1)


def _share(name: str, meaning: str, low: int = 0, **more: object) -> Column:
    return share(name, meaning, "share", low=low, **more)  # type: ignore[arg-type]


LAYER_PROBES = Table(
    "layer_probes",
    "How well linear probes read properties of words from the states of a layer (Liu et al. 2019), "
    "beside what word types alone tell. Probes are trained on a random two thirds of the "
    "sentences, and scored on the others; of the task's label, on training and validation "
    "examples.",
    (
        *ENCODERS,
        _PROPERTY,
        _LAYER,
        *add_ends(_share("accuracy", "share of the items whose class is found")),
        _share(
            "majority",
            "`accuracy` of the most frequent class of the word type (of the task's label: of all "
            "examples)",
            control_of="accuracy",
        ),
        *add_ends(_share("over_majority", "`accuracy` − `majority`", -1)),
        _share(
            "control",
            "accuracy of a probe for random classes of the word types (Hewitt and Liang 2019): "
            "what it memorises; empty for the task's label",
            control_of="accuracy",
            optional=True,
        ),
        number(
            "compression",
            "bits of uniform codes for the labels of training sentences (of the task's label: of "
            "validation examples), divided by those of the online code of probes (Voita and Titov "
            "2020)",
            low=0,
        ),
        integer("items", "items that score", low=1),
        _SENTENCES,
        integer("classes", "classes", low=2),
        text("left_out", "classes that are too rare", optional=True),
    ),
    key=(*names(*ENCODERS), "property", "layer"),
    may_be_empty=True,
)

LAYER_ORDER = Table(
    "layer_order",
    "In which layer a property can be resolved: the expected layer of Tenney et al. (2019), from "
    "probes of weighted means of layers 0 to l. Empty unless the layers above the embeddings add "
    "more than three standard errors. Intervals are over the sentences that score.",
    (
        *ENCODERS,
        _PROPERTY,
        *add_ends(
            number("expected_layer", "expected layer, from 0", "layers", optional=True),
        ),
        *add_ends(_share("gain", "accuracy from all layers, minus that from layer 0", -1)),
        _SENTENCES,
    ),
    key=(*names(*ENCODERS), "property"),
    may_be_empty=True,
)

STRUCTURAL_PROBES = Table(
    "structural_probes",
    "Whether a linear map of the states of a layer has the distances and depths of dependency "
    "trees (Hewitt and Manning 2019), learned on two thirds of the sentences and scored on the "
    "others. Punctuation does not count.",
    (
        *ENCODERS,
        _LAYER,
        *add_ends(
            _share("uuas", "share of the gold arcs that the minimum spanning tree of distances has")
        ),
        _share("chain", "`uuas` of a chain of neighbours", control_of="uuas"),
        *add_ends(_share("over_chain", "`uuas` − `chain`", -1)),
        flag("selected", "whether it has the largest `uuas` on the sentences that it learned"),
        *add_ends(_share("root_accuracy", "share of the sentences whose root is the least deep")),
        *add_ends(
            number(
                "distance_correlation",
                "Spearman's correlation of a word's distances to all others with those in the "
                "tree, mean over words; of sentences with 5 to 50 words",
                low=-1,
                high=1,
                optional=True,
            )
        ),
        *add_ends(
            number(
                "depth_correlation",
                "Spearman's correlation of the depths of a sentence's words",
                low=-1,
                high=1,
                optional=True,
            )
        ),
        _SENTENCES,
    ),
    key=(*names(*ENCODERS), "layer"),
    may_be_empty=True,
)

LAYER_GEOMETRY = Table(
    "layer_geometry",
    "How the states of words lie in space (Ethayarajh 2019). Intervals of `anisotropy` are over "
    "sentences, of `self_similarity` over word types.",
    (
        *ENCODERS,
        _LAYER,
        *add_ends(
            number(
                "anisotropy",
                "mean cosine of the states of words of different sentences",
                low=-1,
                high=1,
            )
        ),
        *add_ends(
            number(
                "self_similarity",
                "mean cosine of the states of a word in different sentences, minus `anisotropy`; "
                "mean over word types",
                low=-2,
                high=2,
                optional=True,
            )
        ),
        integer("outlier", "the dimension with the largest mean square, from 1", low=1),
        _share("outlier_share", "its share of the mean squared length"),
        _share(
            "even_share", "`outlier_share` if all dimensions were alike", control_of="outlier_share"
        ),
        integer("words", "words", low=2),
    ),
    key=(*names(*ENCODERS), "layer"),
)

REMOVED_PROPERTIES = Table(
    "removed_properties",
    "What the score of a fine-tuned model loses if a property is projected out of the states after "
    "a layer (Elazar et al. 2021), beside random subspaces of the same size. The property is found "
    "in the words of the treebank; the scores are of the validation examples, with intervals over "
    "these, and of `over_random` also over random subspaces.",
    (
        TASK,
        SEED,
        _PROPERTY,
        _LAYER,
        integer("dimensions", "dimensions that are projected out", low=0),
        _share("left", "accuracy of a new probe for the property afterwards"),
        _share("majority", "share of the most frequent class of these words", control_of="left"),
        number("intact", "score of the model as it is", "points", low=-100, high=100),
        number("score", "score without the property", "points", low=-100, high=100),
        *add_ends(number("delta", "`score` − `intact`", "points", low=-100, high=100)),
        number(
            "random",
            "`delta` of random subspaces of the same size, mean",
            "points",
            low=-100,
            high=100,
            control_of="delta",
        ),
        *add_ends(number("over_random", "`delta` − `random`", "points")),
    ),
    key=("task", "seed", "property", "layer"),
    may_be_empty=True,
)

TABLES = (LAYER_PROBES, LAYER_ORDER, STRUCTURAL_PROBES, LAYER_GEOMETRY, REMOVED_PROPERTIES)


ANALYSIS = Analysis(
    name="layers",
    question="What do layers know, before and after fine-tuning?",
    papers="Liu et al. 2019, Tenney et al. 2019, Hewitt and Manning 2019, Ethayarajh 2019",
    tables={"Section 4.3, further: what layers know": TABLES},
    settings=Settings,
    check="beyond.layers.preflight.check",
)
