"""Tables of section 4.1: labelled maps, quality of the classifier, patterns of all maps."""

from __future__ import annotations

from darksecrets.core.run.columns import (
    HEAD,
    IDX,
    LAYER,
    MAPS,
    P_VALUE,
    Q_VALUE,
    STATE_OF_MAPS,
    TASK,
    names,
)
from darksecrets.core.run.tables import (
    Table,
    integer,
    interval,
    like,
    number,
    share,
    text,
)
from darksecrets.paper.patterns.classes import (
    DEFINITIONS,
    FIRST_THREE,
    NUMBERS,
    PATTERNS,
    STRENGTHS,
)

CLASSIFIERS = FEATURES, CNN, AGAIN = "features", "cnn", "second labelling"
"""What the cross-validation compares: a regression on hand-made features, which teaches the
network; the paper's convolutional network, which classifies a run's maps; and, as if it were a
classifier, the second labelling pass, which shows what can be hoped for."""
LEFT_OUT = EXAMPLE, MODEL = "example", "model"
"""What the cross-validation leaves out of the training."""
OVERALL = ("accuracy", "weighted_f1", "macro_f1", "calibration_error")
BY_CLASS = ("precision", "recall", "f1")
"""Metrics of the classifier: over all classes, and of each class."""

ALL = "all"
"""All maps, or all classes."""
TOKENS = SHOWN, HIDDEN = "shown", "hidden"
"""Whether an annotator saw the tokens of a map."""

_CLASSES = tuple(PATTERNS)
_PATTERN = text("pattern", "class of the map", values=_CLASSES)
_SHARE = share("share", "", "share of maps")
_MAP = text("map", "identity of the map, unique in its set")
_LABEL = text("label", "class that an annotator gave", values=_CLASSES)
_TOKENS = text("tokens", "tokens, separated by spaces")
_CLASSIFIER = text("classifier", "what classified", values=CLASSIFIERS)

_ORIGIN = (
    _MAP,
    text("model", "pre-trained model, in words"),
    text("task", "task; empty if unknown, like the next two", optional=True),
    like(STATE_OF_MAPS, optional=True),
    like(MAPS[-1], optional=True),
    like(IDX, "number of the example in the validation split"),
    like(LAYER, "layer, from 1; 0 if unknown", low=0),
    like(HEAD, "head of the layer, from 1; 0 if unknown", low=0),
    _TOKENS,
    text("segments", "a digit per token: sentence 0 or 1"),
    text("special", "a digit per token: 1 for special tokens such as [CLS] and [SEP]"),
)
"""Where a labelled map comes from."""

LABELLED_MAPS = Table(
    "maps",
    "Single maps to label; their arrays, in this order, are in `maps.npz`.",
    (
        *_ORIGIN,
        text(
            "earlier",
            "identity under which the map was labelled before; empty if it was not",
            optional=True,
        ),
    ),
    key=("map",),
    by_hand=True,
)

_GIVEN = (
    text("annotator", "name of the annotator"),
    integer("pass", "1 or 2; 3 settles maps on which 1 and 2 disagree", low=1, high=3),
)
_TIME = text("time", "when it was given (UTC)")
_ANSWERS = (
    like(_LABEL, "class under the lenient definition"),
    text(
        "columns",
        "tokens of the columns that run dark through about two thirds of the rows, the strongest "
        "first: `s` special tokens, `p` punctuation, `w` other words or word pieces; `-`: no such "
        "column; empty if not asked, like the next two",
        optional=True,
    ),
    integer(
        "number",
        "how many such columns: " + ", ".join(f"{n} {name}" for n, name in NUMBERS.items()),
        low=min(NUMBERS),
        high=max(NUMBERS),
        optional=True,
    ),
    integer(
        "diagonal",
        "how plain a diagonal is: " + ", ".join(f"{n} {name}" for n, name in STRENGTHS.items()),
        low=min(STRENGTHS),
        high=max(STRENGTHS),
        optional=True,
    ),
)

LABELS = Table(
    "labels",
    "Labels of a set of maps, in the order in which they were given.",
    (
        _MAP,
        *_ANSWERS,
        *_GIVEN,
        text(
            "tokens",
            "whether the annotator saw the tokens; empty if unknown",
            values=TOKENS,
            optional=True,
        ),
        _TIME,
    ),
    may_be_empty=True,
    by_hand=True,
)

_DEFINITION = text(
    "definition",
    "`lenient`: columns count whichever tokens they are; `strict`: special tokens only",
    values=DEFINITIONS,
)

AGREEMENT = Table(
    "agreement",
    "Agreement of two labelling passes.",
    (
        text("first", "annotator and pass"),
        text("second", "annotator and pass compared with it"),
        text("maps_of", "`all`, or a model"),
        _DEFINITION,
        integer("maps", "maps that both labelled"),
        share("agreement", "share of maps with the same class"),
        number(
            "kappa",
            "Cohen's kappa; empty if both passes gave all maps the same class",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("kappa", bounds=(-1, 1), optional=True),
    ),
    key=("first", "second", "maps_of", "definition"),
)

PATTERN_PREDICTIONS = Table(
    "pattern_predictions",
    "Predictions of the cross-validated classifiers for every labelled map.",
    (
        _CLASSIFIER,
        text(
            "left_out",
            "left out of the training: `example`, the maps of the same fold; `model`, all maps of "
            "the encoder",
            values=LEFT_OUT,
        ),
        _DEFINITION,
        integer("fold", "maps that were tested together, from 1", low=1),
        _MAP,
        text(
            "encoder", "pre-trained model, in words; with the state if it was randomly initialized"
        ),
        like(STATE_OF_MAPS, optional=True),
        integer("example", "group of examples that share sentences"),
        like(_LABEL, "class by this definition; for `second labelling`, the first one"),
        like(_LABEL, "class that the classifier predicts", name="predicted"),
        *(
            share(f"probability_{name}", "calibrated probability", decimals=4, optional=True)
            for name in PATTERNS
        ),
        number(
            "temperature",
            "divided the log probabilities to calibrate them; fitted to other maps",
            low=0,
            decimals=4,
            optional=True,
        ),
    ),
    key=("classifier", "left_out", "definition", "map"),
)

PATTERN_CV = Table(
    "pattern_cv",
    "Scores of the cross-validated classifiers.",
    (
        text(
            "maps_of",
            "`all`; if the maps are of several encoders, each; "
            "`unseen <encoder>`: after training on the other encoders' maps only",
        ),
        _DEFINITION,
        _CLASSIFIER,
        text("metric", "score", values=(*OVERALL, *BY_CLASS)),
        like(_PATTERN, "class; empty for all together", optional=True),
        number("score", "value of the score", "× 100", low=0, high=100),
        *interval("score", unit="× 100", bounds=(0, 100), optional=True),
        integer("maps", "maps that the score is about"),
    ),
    key=("maps_of", "definition", "classifier", "metric", "pattern"),
)

PATTERN_MAPS = Table(
    "pattern_maps",
    "The pattern of every map; a row group for each model.",
    (
        *MAPS,
        IDX,
        LAYER,
        HEAD,
        like(_PATTERN, "class under the paper's definition (`strict`)"),
        share("probability", "calibrated probability of that class", decimals=4),
        like(_PATTERN, "class under the lenient definition", name="lenient"),
    ),
    key=names(*MAPS, IDX, LAYER, HEAD),
    every=("layer", "head"),
    row_group=names(*MAPS),
)

PATTERN_SHARES = Table(
    "patterns",
    "Shares of the patterns among all maps of a model (Figure 2); intervals are as wide as the "
    "network's errors on encoders that it had not seen.",
    (
        *MAPS,
        _DEFINITION,
        text(
            "pattern",
            "class of the map; or any of the first three",
            values=(*_CLASSES, *FIRST_THREE),
        ),
        like(_SHARE, "as classified"),
        *interval("share", unit="share of maps", bounds=(0, 1)),
    ),
    key=(*names(*MAPS), "definition", "pattern"),
)

PATTERN_HEADS = Table(
    "pattern_heads",
    "Shares of the patterns in the maps of every head, under the paper's definition.",
    (*MAPS, LAYER, HEAD, _PATTERN, like(_SHARE, "as classified")),
    key=(*names(*MAPS, LAYER, HEAD), "pattern"),
    every=("layer", "head"),
)

COMPARED = OF_TASKS, OF_SEEDS = "tasks", "seeds"
"""What the models differ in whose heads are compared."""


PATTERN_AGREEMENT = Table(
    "pattern_agreement",
    "Whether heads keep their patterns on other tasks and with other seeds.",
    (
        STATE_OF_MAPS,
        text(
            "compared",
            f"what the models differ in: `{OF_TASKS}`, with all seeds of both; `{OF_SEEDS}` of "
            "one task",
            values=COMPARED,
        ),
        like(TASK, "task of the models; empty for the mean of the rows", optional=True),
        like(TASK, "task compared with it", name="other_task", optional=True),
        integer("pairs", "pairs of models whose mean it is", low=1),
        integer(
            "seeds", "seeds of each task, the fewest; empty for `pretrained`", low=1, optional=True
        ),
        integer("heads", "heads of the model", low=1),
        share(
            "agreement",
            "probability that two maps of a head, one of each model, have the same pattern; mean "
            "over heads",
            "probability",
        ),
        *interval("agreement", unit="probability", bounds=(0, 1)),
        share(
            "expected",
            "`agreement` of two random heads of a layer",
            "probability",
            control_of="agreement",
        ),
        like(
            P_VALUE,
            "p-value of no agreement beyond what layers explain, one-sided: heads permuted within "
            "their layers",
        ),
        like(
            Q_VALUE,
            "false discovery rate over the rows with the same `state` and `compared`; empty for "
            "the mean",
            optional=True,
        ),
        number(
            "kappa",
            "Cohen's kappa of the heads' most frequent patterns, mean over pairs of models; empty "
            "if all heads have the same one",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("kappa", "kappa", bounds=(-1, 1), optional=True),
    ),
    key=("state", "compared", "task", "other_task"),
    may_be_empty=True,
)

TYPICAL_MAPS = Table(
    "typical_maps",
    "The run's map of each pattern that the network is surest of (Figure 1); arrays, by `pattern`, "
    "in `typical_maps.npz`.",
    (
        like(_PATTERN, "class under the paper's definition"),
        *MAPS,
        IDX,
        LAYER,
        HEAD,
        share("probability", "calibrated probability of that class", decimals=4),
        _TOKENS,
    ),
    key=("pattern",),
)

TABLES = (
    PATTERN_CV,
    PATTERN_PREDICTIONS,
    PATTERN_SHARES,
    PATTERN_HEADS,
    PATTERN_MAPS,
    PATTERN_AGREEMENT,
    TYPICAL_MAPS,
)
LABELLING = (LABELLED_MAPS, LABELS, AGREEMENT)
"""Tables of a set of labelled maps, not of a run."""
