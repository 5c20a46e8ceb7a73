"""Look at a user's text: one page of all heads, and tables of their patterns and measures."""

from dataclasses import replace
from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the page and the tables; return the model, the parser, and what is left out."""
    import torch

    from darksecrets.core.models import checkpoints
    from darksecrets.core.run.files import write_text
    from darksecrets.pages.inspect.inspecting import inspect
    from darksecrets.pages.inspect.measuring import load_parser
    from darksecrets.pages.inspect.tables import EXAMPLES
    from darksecrets.paper.features.measures import TABLES
    from darksecrets.paper.features.parser import identify
    from darksecrets.paper.patterns.tables import PATTERN_MAPS

    torch.set_num_threads(job.threads)
    params, output = job.params, job.output
    folder = checkpoints.fetch(params.source)
    nlp = load_parser(params.parse, params.pipeline)
    found = inspect(
        params.text,
        folder,
        classifier=job.input.classifier,
        pipeline=nlp,
        max_length=params.max_length,
        seed=params.seed,
    )
    EXAMPLES.write(found.examples, output.examples)
    assert found.patterns is not None  # as there is a classifier
    PATTERN_MAPS.write(found.patterns, output.patterns)
    for name, rows in found.measures.items():
        TABLES[name].write(rows, getattr(output, name))
    write_text(replace(found, model=params.label).page(), output.page)
    return {
        "cut": int(found.examples["cut"].sum()),
        "model": {"source": params.source, "folder": str(folder)},
        "pipeline": nlp and identify(nlp),
        "left_out": found.left_out,
    }
