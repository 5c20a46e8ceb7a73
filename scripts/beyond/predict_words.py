"""Ask an encoder for masked words: which of two sentences is right, and what belongs in a gap."""

from _tables import write_of_models

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write the tables of the pre-trained model, and of one with random weights."""
    from datasets import load_from_disk

    from darksecrets.beyond.predictions.cloze import read_items
    from darksecrets.beyond.predictions.declared import CLOZE, MINIMAL_PAIRS, Settings
    from darksecrets.beyond.predictions.measure.answering import answerable, answers, cloze_rows
    from darksecrets.beyond.predictions.measure.judging import choose_pairs, judge
    from darksecrets.beyond.predictions.measure.likelihoods import NGrams
    from darksecrets.beyond.predictions.pairs import read_pairs
    from darksecrets.core.data.tasks import sentence_columns
    from darksecrets.core.models.devices import place
    from darksecrets.core.models.loading import Draw, draw_from_normal, load_masked
    from darksecrets.core.models.tokenizing import load_tokenizer

    params, settings = job.params, Settings.of(job.params.settings)
    tokenizer = load_tokenizer(job.input.model)
    pairs = choose_pairs(read_pairs(job.input.pairs), settings.most, settings.seed)
    items, left_out = answerable(tokenizer, read_items(job.input.cloze), params.max_length)
    texts: list[str] = []
    for dataset in job.input.all("datasets"):
        split = load_from_disk(str(dataset))["train"]
        texts += [text for name in sentence_columns(split.column_names) for text in split[name]]
    counts, found = NGrams(tokenizer, texts), []
    for name in params.models:
        model = load_masked(job.input.model)
        if draw := Draw.of(name, params.std):
            draw_from_normal(model, draw.seed, draw.std)
        model = place(model)
        rows = cloze_rows(answers(model, tokenizer, items), left_out)
        judged = judge(model, tokenizer, counts, pairs, params.max_length)
        found.append((name, {MINIMAL_PAIRS: judged, CLOZE: rows}))
    write_of_models(job, [MINIMAL_PAIRS, CLOZE], "", found)
