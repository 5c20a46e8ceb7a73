"""The table of probes that parse by attention (Clark et al. 2019, section 5)."""

from __future__ import annotations

from darksecrets.beyond.syntax.coreference_tables import MODEL
from darksecrets.beyond.syntax.tables import estimate
from darksecrets.core.run.columns import names
from darksecrets.core.run.tables import Table, integer, text

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
            "the same if the words of every tree are exchanged",
            control_of="uas",
            optional=True,
        ),
        *estimate(
            "random",
            "the same with the attention of the encoder with random weights",
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

TABLES = (ATTENTION_PROBES,)
