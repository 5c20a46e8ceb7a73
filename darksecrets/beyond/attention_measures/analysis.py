"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.attention_measures import shown, tables
from darksecrets.beyond.attention_measures.settings import Settings

ANALYSIS = Analysis(
    name="attention_measures",
    question="Do the conclusions about attention hold by norms and by effective attention?",
    papers="Kobayashi et al. 2020, Brunner et al. 2020",
    tables={"Sections 4.2 to 5, further: alternative attention measures": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
    requires=("values", "words"),
)
