"""Store the maps of an encoder on a user's text, and classify their patterns."""

from typing import Any

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> dict[str, Any]:
    """Write the store, the examples, the patterns, and which maps to draw large."""
    import torch

    from darksecrets.core.attention.store import AttentionStore
    from darksecrets.core.models.selectors import Shape
    from darksecrets.pages.inspect import maps, texts
    from darksecrets.pages.inspect.tables import EXAMPLES, SHOWN
    from darksecrets.paper.patterns.tables import PATTERN_MAPS

    torch.set_num_threads(job.threads)
    params, output = job.params, job.output
    examples = texts.read(params.text)
    table, details = maps.extract_examples(
        examples, job.input.model, output.store, params.max_length, params.batch_size
    )
    store = AttentionStore.open(output.store)
    patterns = maps.classify_maps(store, job.input.classifier, examples)
    shape = Shape(store.layers, store.heads)
    shown = maps.choose_maps(patterns, params.heads, shape, params.drawn)
    EXAMPLES.write(table, output.examples)
    PATTERN_MAPS.write(patterns, output.patterns)
    SHOWN.write(shown, output.shown)
    return {"extraction": details, "cut": int(table["cut"].sum())}
