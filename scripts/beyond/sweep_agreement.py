"""Disable each head while an encoder chooses between a right and a wrong verb."""

import logging

from _tables import write_of_models

from darksecrets.core.run.job import Job, script

_log = logging.getLogger(__name__)


@script
def main(job: Job) -> None:
    """Write the effects of the heads, and of those between verbs and subjects together."""
    import pandas as pd

    from darksecrets.beyond.predictions.declared import AGREEMENT_GROUPS, AGREEMENT_HEADS, Settings
    from darksecrets.beyond.predictions.measure.judging import choose_pairs
    from darksecrets.beyond.predictions.measure.needed import (
        FEWEST,
        Choices,
        find_gaps,
        sweep_choices,
        tables_of,
    )
    from darksecrets.beyond.predictions.pairs import read_pairs
    from darksecrets.core.models.devices import place
    from darksecrets.core.models.loading import load_masked
    from darksecrets.core.models.tokenizing import load_tokenizer
    from darksecrets.core.run.states import PRETRAINED
    from darksecrets.paper.ablation.statistics import Resampling
    from darksecrets.paper.features.tables import TOKEN_PAIRS

    params, settings = job.params, Settings.of(job.params.settings)
    tokenizer = load_tokenizer(job.input.model)
    pairs = choose_pairs(read_pairs(job.input.pairs), settings.most, settings.seed)
    gaps = find_gaps(tokenizer, pairs, params.max_length)
    found = []
    if len(gaps) < FEWEST:
        _log.warning(
            "%d pairs differ in one verb that is one piece of the encoder's vocabulary; at least "
            "%d are needed to disable heads. Give more pairs with their number of attractors "
            "(predictions.pairs).",
            *(len(gaps), FEWEST),
        )
    else:
        model = place(load_masked(job.input.model))
        swept = sweep_choices(model, Choices.of(gaps, tokenizer, settings.seed))
        related = [TOKEN_PAIRS.read(path) for path in job.input.all("token_pairs")]
        token_pairs = pd.concat([pd.DataFrame(columns=list(TOKEN_PAIRS.names)), *related])
        rows = tables_of(swept, token_pairs, Resampling(**params.resampling))
        found.append((PRETRAINED, rows))
    write_of_models(job, [AGREEMENT_HEADS, AGREEMENT_GROUPS], "", found)
