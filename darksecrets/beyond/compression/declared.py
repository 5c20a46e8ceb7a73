"""Settings, tables and entry of the analysis of smaller models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import MODEL, names
from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among
from darksecrets.core.run.tables import (
    Column,
    Table,
    flag,
    integer,
    interval,
    like,
    number,
    share,
    text,
)

Method = Literal["heads", "heads_and_mlps", "weights", "layers", "rank"]


@dataclass(frozen=True)
class Settings(Section):
    """Which models are compressed, and how much by each method."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models are compressed; those of `importance.pruning.tasks` if not "
        "given. Heads are removed only for these.",
        like="importance.pruning.tasks",
    )
    amounts: Mapping[Method, tuple[float, ...]] = setting(
        {
            "heads": (0.2, 0.4),
            "heads_and_mlps": (0.2, 0.4),
            "weights": (0.4, 0.7),
            "layers": (0.25, 0.5),
            "rank": (0.5, 0.25),
        },
        "Methods, and how much by each, as shares: `heads` that are removed for good; "
        "`heads_and_mlps`, both removed together; `weights` of all linear maps of the encoder, set "
        "to 0; `layers` dropped from the top; `rank` to which word embeddings are reduced, of "
        "their width. A method that is not named is not used.",
        items={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    )
    repetitions: int = setting(
        20, "How often every compressed model is timed.", minimum=6, maximum=10_000
    )


METHODS = WHOLE, HEADS, HEADS_AND_MLPS, WEIGHTS, LAYERS, EMBEDDINGS, EIGHT_BITS, RANDOM = (
    "none",
    "heads removed",
    "heads and MLPs removed",
    "weights set to 0",
    "layers dropped",
    "embeddings factorised",
    "8 bits",
    "random weights",
)
"""Ways to compress a model, none first; a model with random weights is the control."""

INPUTS = SINGLE, BATCH = ("one example", "batch")
"""What is timed: the example of median length, and several examples together."""

_METHOD = text(
    "method",
    f"`{WHOLE}`: the model as it is; `{HEADS}`: for good, the least important ones on training "
    f"examples; `{HEADS_AND_MLPS}`: the same share of both; `{WEIGHTS}`: the smallest of all "
    f"linear maps of the encoder; `{LAYERS}`: the top ones; `{EMBEDDINGS}`: those of word pieces, "
    f"a product of two matrices; `{EIGHT_BITS}`: all linear maps and embeddings; `{RANDOM}`: the "
    "control, a model that learned nothing",
    values=METHODS,
)
_AMOUNT = share(
    "amount",
    "as configured: the share of heads (and of MLPs), weights or layers, or the rank as a share "
    "of the width; 0 where there is nothing to choose",
)
_DETAIL = text("detail", "what was removed, in numbers, such as `14 of 36 heads`", optional=True)
_VARIANT = (_METHOD, _AMOUNT, _DETAIL)
_COUNT = integer("parameters", "numbers of the model, those of units included", low=1)
_SCORE = number("score", "score of the compressed model", "× 100", high=100)
_SHARE = number("retention", "", "%", optional=True)

COMPRESSION = Table(
    "compression",
    "Compressed models of a task: size, and score on the validation examples, which choose "
    "nothing. Nothing is trained again. Intervals: bootstrap over examples, the same for all rows.",
    (
        *MODEL,
        *_VARIANT,
        _COUNT,
        like(_COUNT, "those that are not 0", name="nonzero"),
        integer("bytes", "weights as saved (safetensors), ready to run", low=1),
        integer(
            "packed_bytes",
            "`bytes` without zeros: a bit for each number of a matrix says whether it is 0",
            low=1,
        ),
        number("smaller", f"`bytes` of `{WHOLE}`, divided by `bytes`", low=0),
        METRIC,
        like(_SCORE, "score of the whole model", name="baseline"),
        _SCORE,
        *interval("score", "score", unit="× 100"),
        number("delta", "`score` − `baseline`, on the same examples", "× 100"),
        *interval("delta", unit="× 100"),
        like(_SHARE, "`score` as a share of `baseline`; empty unless `baseline` is above 0"),
        *interval("retention", "retention", unit="%", optional=True),
        number(
            "chance",
            "score of always predicting the most frequent label; 0 for a correlation",
            "× 100",
            control_of="score",
        ),
        like(
            _SHARE,
            "what is retained of the difference between `baseline` and `chance`; empty unless the "
            "whole model is better than chance in every bootstrap sample",
            name="above_chance",
        ),
        *interval("above_chance", "above_chance", unit="%", optional=True),
        share(
            "agreement",
            "share of the examples on which both models decide alike; empty for a regression",
            optional=True,
        ),
        share(
            "agreement_by_chance",
            "`agreement` if the decisions of one model belonged to other examples",
            optional=True,
            control_of="agreement",
        ),
        number("tolerance", "largest drop that is tolerated", "× 100", low=0),
        flag(
            "retained",
            "whether the drop is significantly smaller (`ci_low` ≥ −`tolerance`), and the score "
            "significantly above `chance`",
        ),
        integer("examples", "examples of the validation split", low=1),
    ),
    key=(*names(*MODEL), "method", "amount", METRIC.name),
)

COMPRESSION_TIMES = Table(
    "compression_times",
    "Time that compressed models take on the CPU of the machine that made the run. In each "
    "repetition all models take turns in random order. These numbers differ from run to run; other "
    "work on the machine adds noise, which the row of the whole model shows.",
    (
        *MODEL,
        *_VARIANT,
        text("inputs", "what is timed", values=INPUTS),
        integer("examples", "examples of the input", low=1),
        integer("tokens", "its tokens, padding included", low=1),
        integer("threads", "threads of the CPU", low=1),
        number("seconds", "median", "s", low=0),
        number(
            "speedup",
            "time of the whole model, divided by that of the compressed one in the same "
            f"repetition: median. `{WHOLE}` is timed twice: 1 except for noise",
            low=0,
        ),
        *interval("speedup", bounds=(0, float("inf"))),
        integer("repetitions", "repetitions; the interval is over them", low=6),
    ),
    key=(*names(*MODEL), "method", "amount", "inputs"),
)

PUBLISHED = Table(
    "compression_rogers2020",
    "Table 1 of A Primer in BERTology: compressed models of others, on other machines and data.",
    (
        text("kind", "what is done"),
        text("model", "the model"),
        Column("layers", "integer", "its layers; empty if it is no transformer", optional=True),
        number("smaller", "factor; empty if it is a range", low=0, optional=True),
        number("retention", "mean score as a share of BERT's", "%", optional=True),
        number("speedup", "factor; empty if none is given", low=0, optional=True),
        text("data", "what it is evaluated on"),
        text("source", "the model's paper; the numbers are as the survey gives them"),
        text("note", "what the numbers need to be understood", optional=True),
    ),
    key=("model",),
    by_hand=True,
)

TABLES = (COMPRESSION, COMPRESSION_TIMES)


ANALYSIS = Analysis(
    name="compression",
    question="How small can a model of a task be made?",
    papers="Rogers et al. 2020",
    tables={"Section 5, further: smaller models": TABLES},
    settings=Settings,
    needs=("importance",),
)
