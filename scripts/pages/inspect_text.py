"""Look at a user's text: store the maps of an encoder, classify, measure and draw them."""

import logging
from typing import Any

from darksecrets.core.run.job import Job, script

_log = logging.getLogger("darksecrets")


@script
def main(job: Job) -> dict[str, Any]:
    """Write store, tables and figures; return the model, the parser, and what is left out."""
    import torch

    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.models.loading import fetch_encoder
    from darksecrets.core.models.selectors import Shape
    from darksecrets.core.plotting.drawing import Sources, describe, write
    from darksecrets.pages.inspect import inspect, maps, measuring, texts
    from darksecrets.pages.inspect.tables import EXAMPLES, SHOWN
    from darksecrets.paper.features.measures import TABLES
    from darksecrets.paper.features.parser import identify
    from darksecrets.paper.patterns.tables import PATTERN_MAPS

    torch.set_num_threads(job.threads)
    params, output = job.params, job.output
    examples = texts.read(params.text)
    model = fetch_encoder(params.source, max_length=params.max_length)
    table, details = maps.extract_examples(
        examples, model, output.store, params.max_length, params.batch_size
    )
    EXAMPLES.write(table, output.examples)
    store = AttentionStore.open(output.store)
    patterns = maps.classify_maps(store, job.input.classifier, examples)
    PATTERN_MAPS.write(patterns, output.patterns)
    shape = Shape(store.layers, store.heads)
    SHOWN.write(maps.choose_maps(patterns, params.heads, shape, params.drawn), output.shown)

    nlp, unparsed = measuring.load_parser(params.parse, params.pipeline)
    annotation = measuring.annotate(examples, nlp)
    for name, rows in measuring.measure_heads(store, annotation, examples, params.seed).items():
        TABLES[name].write(rows, getattr(output, name))
    left_out = measuring.left_out(examples, unparsed)
    for what, why in left_out.items():
        _log.info("Left out: %s, because %s", what, why)

    files = {
        "examples": output.examples,
        "shown": output.shown,
        "pattern_maps": output.patterns,
        "head_statistics": output.head_statistics,
        "store": output.store,
    }
    sources = Sources(lambda name: [files[name]] if name in files else [], {}, params.label)
    figures = [path for path in output if path.suffix in (".svg", ".pdf", ".png")]
    described = describe(params.captions["inspect"], params.label)
    write(inspect.draw(sources), figures, script=inspect.__name__, **described)
    return {
        "extraction": details,
        "cut": int(table["cut"].sum()),
        "model": {"source": params.source, "folder": str(model)},
        "pipeline": nlp and identify(nlp),
        "left_out": left_out,
    }
