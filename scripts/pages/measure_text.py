"""Measure what every head of an encoder attends to in a user's text."""

import logging
from typing import Any

from darksecrets.core.run.job import Job, script

_log = logging.getLogger("darksecrets")


@script
def main(job: Job) -> dict[str, Any]:
    """Write the tables of all measures; return the parser, and what is left out."""
    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.pages.inspect import measuring, texts
    from darksecrets.pages.inspect.tables import EXAMPLES
    from darksecrets.paper.features.measures import TABLES
    from darksecrets.paper.features.parser import identify

    examples = texts.read_table(EXAMPLES.read(job.input.examples))
    nlp, unparsed = measuring.load_parser(job.params.parse, job.params.pipeline)
    store, annotation = AttentionStore.open(job.input.store), measuring.annotate(examples, nlp)
    measures = measuring.measure_heads(store, annotation, examples, job.params.seed)
    for name, rows in measures.items():
        TABLES[name].write(rows, getattr(job.output, name))
    left_out = measuring.left_out(examples, unparsed)
    for what, why in left_out.items():
        _log.info("Left out: %s, because %s", what, why)
    return {"pipeline": nlp and identify(nlp), "left_out": left_out}
