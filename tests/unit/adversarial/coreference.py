"""Trials of what is said of heads that resolve pronouns, and of probes (section 4.2)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from made_up_coreference import knowing, right
from made_up_syntax import story_texts

from adversarial import families, maps
from adversarial.trials import LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.syntax.declared import ALL, PROBES
from darksecrets.beyond.syntax.measure.coreference_statistics import tables
from darksecrets.beyond.syntax.measure.probing import Scores, table_of

_TEXTS = 30


def of_heads(size: Size, folder: Path) -> Iterator[Trial]:
    """Ignorant heads, and heads that know a little."""
    ignorant, knowing_some, rng = Statements(), Statements(), np.random.default_rng(71)
    of, _ = maps.registry(size.noises)
    for draw in range(size.sweeps):
        texts = story_texts(_TEXTS, 1000 + draw)
        heads = families.of_texts(texts, of, rng, draw)
        ignorant.any("coreference_heads: p_family below 5 %", heads["p_family"] < LEVEL)
        heads, _ = tables(families.resolved(texts, {}, rng, (knowing, right)), draw)
        some = heads[heads["kind"] == ALL]
        knowing_some.each("coreference_heads: p_family below 5 %", some["p_family"] < LEVEL)
    yield from ignorant.trials("heads without coreference")
    yield from knowing_some.trials("heads with coreference", POWER)


def of_methods(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads and methods that are right equally often, and more so in some texts than in others."""
    made, rng = Statements(), np.random.default_rng(72)
    for draw in range(size.sweeps):
        base = families.resolved(story_texts(_TEXTS, 2000 + draw), {}, rng, (knowing,))
        chances = rng.beta(4, 4, size=_TEXTS)[base.text][:, None]
        heads = (rng.random((len(chances), 12)) < chances).reshape(-1, 2, 6).astype(float)
        methods = (rng.random(base.methods.shape) < chances).astype(float)
        of_heads = dict.fromkeys(("heads", "other_query", "same_kind"), heads)
        form = {"form": np.zeros(heads.shape, np.int64), "of_form": heads[:, None]}
        drawn = replace(base, **of_heads, **form, methods=methods)
        _, found = tables(drawn, draw)
        rows = found[(found["kind"] == ALL) & found["method"].isin(["nearest", "rules"])]
        made.interval("coreference_methods", "gain", rows)
    yield from made.trials("heads as good as methods", NULL)


def of_probes(size: Size, folder: Path) -> Iterator[Trial]:
    """Probes that find equally many heads, each more in documents of its own."""
    made, rng = Statements(), np.random.default_rng(73)
    units = np.arange(90) // 3
    for _ in range(size.sweeps):
        sizes = rng.integers(4, 15, size=90)

        def drawn(sizes: np.ndarray = sizes) -> Scores:
            chances = rng.beta(6, 4, size=30)[units]
            return Scores(rng.binomial(sizes, chances).astype(float), sizes.astype(float))

        scores, untrained = ({name: drawn() for name in PROBES} for _ in range(2))
        found = table_of(scores, untrained, untrained, units)
        for column in ("over_random", "over_offset", "over_words"):
            made.interval("attention_probes", column, found[found["probe"].isin(PROBES[:2])])
    yield from made.trials("probes that find the same")
