"""Tables of section 4.1: labelled maps, quality of the classifier, patterns of all maps."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.patterns.classes import NUMBERS, PATTERNS, READINGS, STRENGTHS
from darksecrets.run.columns import HEAD, IDX, LAYER, MAPS, STATE_OF_MAPS, names
from darksecrets.run.tables import Column, Table, interval

CLASSIFIERS = SHIPPED, NETWORK, COMBINED, MAJORITY, AGAIN = (
    "hand-made features",
    "convolutional network",
    "network and features",
    "majority class",
    "second labelling",
)
"""What the cross-validation compares. The first one classifies a run's maps. The last one is no
classifier, but the second labelling pass compared with the first: what can be hoped for."""
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
_PATTERN = Column("pattern", "text", "class of the map", values=_CLASSES)
_SHARE = Column("share", "number", "", "share of maps", low=0, high=1)
_MAP = Column("map", "text", "identity of the map, unique in its set")
_LABEL = Column("label", "text", "class that an annotator gave", values=_CLASSES)
_CLASSIFIER = Column("classifier", "text", "what classified", values=CLASSIFIERS)

_ORIGIN = (
    _MAP,
    Column("model", "text", "pre-trained model, in words"),
    Column("task", "text", "task; empty if unknown, like the next two", optional=True),
    replace(STATE_OF_MAPS, optional=True),
    replace(MAPS[-1], optional=True),
    replace(IDX, meaning="number of the example in the validation split"),
    replace(LAYER, meaning="layer, from 1; 0 if unknown", low=0),
    replace(HEAD, meaning="head of the layer, from 1; 0 if unknown", low=0),
    Column("tokens", "text", "tokens, separated by spaces"),
    Column("segments", "text", "a digit per token: sentence 0 or 1"),
    Column("special", "text", "a digit per token: 1 for special tokens such as [CLS] and [SEP]"),
)
"""Where a labelled map comes from."""

LABELLED_MAPS = Table(
    "maps",
    "Single maps to label; their arrays, in this order, are in `maps.npz`. A file without the last "
    "column is read, too.",
    (
        *_ORIGIN,
        Column(
            "earlier",
            "text",
            "identity under which the map was labelled before; empty if it was not",
            optional=True,
        ),
    ),
    key=("map",),
    by_hand=True,
)

_GIVEN = (
    Column("annotator", "text", "name of the annotator"),
    Column("pass", "integer", "1 or 2; 3 settles maps on which 1 and 2 disagree", low=1, high=3),
)
_TIME = Column("time", "text", "when it was given (UTC)")
_ANSWERS = (
    replace(_LABEL, meaning="class in the wide reading"),
    Column(
        "columns",
        "text",
        "tokens of the columns that run dark through about two thirds of the rows, the strongest "
        "first: `s` special tokens, `p` punctuation, `w` other words or word pieces; `-`: no such "
        "column; empty if not asked, like the next two",
        optional=True,
    ),
    Column(
        "number",
        "integer",
        "how many such columns: " + ", ".join(f"{n} {name}" for n, name in NUMBERS.items()),
        low=min(NUMBERS),
        high=max(NUMBERS),
        optional=True,
    ),
    Column(
        "diagonal",
        "integer",
        "how plain a diagonal is: " + ", ".join(f"{n} {name}" for n, name in STRENGTHS.items()),
        low=min(STRENGTHS),
        high=max(STRENGTHS),
        optional=True,
    ),
)

LABELS = Table(
    "labels",
    "Labels of a set of maps, in the order in which they were given. A file with the columns of "
    "`earlier_labels` is read, too; its second answers are unknown.",
    (
        _MAP,
        *_ANSWERS,
        *_GIVEN,
        Column(
            "tokens",
            "text",
            "whether the annotator saw the tokens; empty if unknown",
            values=TOKENS,
            optional=True,
        ),
        _TIME,
    ),
    may_be_empty=True,
    by_hand=True,
)

EARLIER_LABELS = Table(
    "earlier_labels",
    "Labels given before second answers were asked for. Nothing is trained on them.",
    (_MAP, _LABEL, *_GIVEN, _TIME),
    may_be_empty=True,
    by_hand=True,
)

_PAIR = (
    Column("first", "text", "annotator and pass"),
    Column("second", "text", "annotator and pass compared with it"),
    Column("maps_of", "text", "`all`, a model, or a model and its state"),
    Column(
        "question",
        "text",
        "the class in a reading, or a second answer (of `columns`, whichever is the strongest)",
        values=(*READINGS, "columns", "number", "diagonal"),
    ),
)

AGREEMENT = Table(
    "agreement",
    "Agreement of two labelling passes.",
    (
        *_PAIR,
        Column(
            "value",
            "text",
            "`all`; an answer; or two classes, such as `vertical and block`: over the maps that "
            "both passes gave one of the two",
        ),
        Column("maps", "integer", "maps that both labelled; for one answer: labels with it", low=0),
        Column(
            "agreement",
            "number",
            "share of maps with the same answer; for one answer: share of its labels that the "
            "other pass confirms; empty if neither used it",
            low=0,
            high=1,
            optional=True,
        ),
        Column(
            "kappa",
            "number",
            "Cohen's kappa; empty for one answer, or if both passes gave all maps the same",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("kappa", bounds=(-1, 1), optional=True),
    ),
    key=("first", "second", "maps_of", "question", "value"),
)

CONFUSION = Table(
    "confusion",
    "Answers that two labelling passes confuse; only those that occur.",
    (
        *_PAIR,
        Column("value_first", "text", "answer of the first pass"),
        Column("value_second", "text", "answer of the second pass"),
        Column("maps", "integer", "maps with these two answers", low=1),
    ),
    key=("first", "second", "maps_of", "question", "value_first", "value_second"),
)

_READING = Column(
    "reading",
    "text",
    "`wide`: columns count whichever tokens they are; `strict`: special tokens only",
    values=READINGS,
)

PATTERN_PREDICTIONS = Table(
    "pattern_predictions",
    "Predictions of the cross-validated classifiers for every labelled map.",
    (
        _CLASSIFIER,
        Column(
            "left_out",
            "text",
            "left out of the training: `example`, the maps of the same fold; `model`, all maps of "
            "the encoder",
            values=LEFT_OUT,
        ),
        Column(
            "repetition",
            "integer",
            "training with other composed maps, from 1; only of `hand-made features`",
            low=1,
        ),
        _READING,
        Column("fold", "integer", "maps that were tested together, from 1", low=1),
        _MAP,
        Column(
            "encoder",
            "text",
            "pre-trained model, in words; where weights were drawn from a normal distribution, "
            "with the state",
        ),
        replace(STATE_OF_MAPS, optional=True),
        Column("example", "integer", "group of examples that share sentences", low=0),
        replace(_LABEL, meaning="class under this reading; for `second labelling`, the first one"),
        replace(_LABEL, name="predicted", meaning="class that the classifier predicts"),
        *(
            Column(
                f"probability_{name}",
                "number",
                "calibrated probability",
                low=0,
                high=1,
                decimals=4,
                optional=True,
            )
            for name in PATTERNS
        ),
        Column(
            "temperature",
            "number",
            "divided the log probabilities to calibrate them; fitted to other maps",
            low=0,
            decimals=4,
            optional=True,
        ),
    ),
    key=("classifier", "left_out", "repetition", "reading", "map"),
)

PATTERN_CV = Table(
    "pattern_cv",
    "Scores of the cross-validated classifiers.",
    (
        Column(
            "maps_of",
            "text",
            "`all`; if the maps are of several encoders, each; "
            "`unseen <encoder>`: after training on the other encoders' maps only",
        ),
        _READING,
        _CLASSIFIER,
        Column("metric", "text", "score", values=(*OVERALL, *BY_CLASS)),
        replace(_PATTERN, meaning="class; empty for all together", optional=True),
        Column("score", "number", "value of the score", "× 100", low=0, high=100),
        *interval("score", unit="× 100", bounds=(0, 100), optional=True),
        Column("maps", "integer", "maps that the score is about", low=0),
    ),
    key=("maps_of", "reading", "classifier", "metric", "pattern"),
)

_PROBABILITY = Column(
    "probability", "number", "calibrated probability of that class", low=0, high=1, decimals=4
)

PATTERN_MAPS = Table(
    "pattern_maps",
    "The pattern of every map; a row group for each model.",
    (
        *MAPS,
        IDX,
        LAYER,
        HEAD,
        replace(_PATTERN, meaning="class in the wide reading"),
        _PROBABILITY,
        replace(_PATTERN, name="strict", meaning="class in the strict reading"),
        replace(_PROBABILITY, name="strict_probability"),
    ),
    key=names(*MAPS, IDX, LAYER, HEAD),
    every=("layer", "head"),
    row_group=names(*MAPS),
)

PATTERN_SHARES = Table(
    "patterns",
    "Shares of the patterns among all maps of a model (Figure 2).",
    (
        *MAPS,
        _READING,
        _PATTERN,
        replace(_SHARE, meaning="as classified"),
        *interval("share", unit="share of maps", bounds=(0, 1)),
        replace(
            _SHARE,
            name="corrected",
            meaning="corrected for the classifier's confusions; as classified for `other models`",
        ),
        *interval(
            "corrected", "corrected_low", "corrected_high", unit="share of maps", bounds=(0, 1)
        ),
        Column(
            "confusions_of",
            "text",
            "the run's encoder, as labelled maps name it; `other models`: none of its maps is "
            "labelled",
        ),
    ),
    key=(*names(*MAPS), "reading", "pattern"),
)

PATTERN_HEADS = Table(
    "pattern_heads",
    "Shares of the patterns in the maps of every head, in the wide reading.",
    (*MAPS, LAYER, HEAD, _PATTERN, replace(_SHARE, meaning="as classified")),
    key=(*names(*MAPS, LAYER, HEAD), "pattern"),
    every=("layer", "head"),
)

TYPICAL_MAPS = Table(
    "typical_maps",
    "A typical labelled map of each pattern (Figure 1); arrays, by `map`, in `typical_maps.npz`.",
    (
        *_ORIGIN,
        _LABEL,
        Column("agreed", "flag", "whether all of its labels are the same"),
        Column("probability", "number", "cross-validated probability of that class", low=0, high=1),
    ),
    key=("label",),
)

TABLES = (
    PATTERN_CV,
    PATTERN_PREDICTIONS,
    PATTERN_SHARES,
    PATTERN_HEADS,
    PATTERN_MAPS,
    TYPICAL_MAPS,
)
LABELLING = (LABELLED_MAPS, LABELS, EARLIER_LABELS, AGREEMENT, CONFUSION)
"""Tables of a set of labelled maps, not of a run."""
