"""Null simulations of alternative attention measures: norms and effective attention."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from adversarial import frames, maps, pairs
from adversarial.maps import Head, Text
from adversarial.trials import LEVEL, LIMIT, NULL, POWER, Size, Trial, by_kind, once
from darksecrets.beyond.attention_measures.measure.definitions import OF
from darksecrets.paper.features.labels import RELATIONS
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.framenet.heads import Sentence

SIZE = 4
"""Size of a head: texts are longer, so that there is a null space."""
MEASURES = ("norms", "effective")
_ALIKE = "random weights, words treated alike in all sentences"
_NOISES = 10

Floats = npt.NDArray[np.float64]

_LIMITS = {
    ("framenet_heads", "norms"): {"farthest pronoun before, over uniform"},
    ("token_pairs", "norms"): {"nearest noun before, over noise"},
    ("token_pairs", "effective"): {"pronouns attend"},
}
"""Kinds of heads whose single p-values are below .05 too often: the controls cancel sums and
products of effects on weights, and these measures are not linear in weights. Corrected for all
heads, they keep their rate."""


def of_links(size: Size, folder: Path) -> Iterator[Trial]:
    """FrameNet's links (section 4.2)."""
    of, kinds = maps.registry(_NOISES)
    heads = [*of.values()]
    follower = "50% of the weight follows links in 67% of the sentences"
    for name in MEASURES:
        rng = np.random.default_rng(51)
        test, stands = (
            f"framenet_heads by {name}: {said}" for said in ("p_value < 0.05", "exceeds_controls")
        )
        p, out, alike = [], [], []
        for number in range(size.corpora):
            found = frames.measured(_sentences(name, heads, rng), 999, number)
            flags = found.sort_values(["head", "direction"])[
                ["p_value", "exceeds_controls"]
            ].to_numpy()
            p.append((flags[:, 0] < LEVEL).reshape(-1, 2))
            out.append(flags[:, 1].astype(np.bool_).reshape(-1, 2))
            alike.append(frames.measured(_alike(name, rng), 499, number))
        limits = _LIMITS.get(("framenet_heads", name), set())
        yield from _by_kind_with_limits(test, kinds, [one[:-1] for one in p], limits)
        yield once(f"{stands}, any head", "all of these heads", [one[:-1] for one in out], LEVEL)
        yield from by_kind(stands, POWER, [follower], [one[-1:] for one in out], LEVEL)
        passed = [(one["p_value"] < LEVEL).to_numpy()[None] for one in alike]
        yield from by_kind(test, NULL, [_ALIKE], passed, LEVEL)
        yield once(f"{stands}, any head", _ALIKE, [one["exceeds_controls"] for one in alike], LEVEL)


def of_pairs(size: Size, folder: Path) -> Iterator[Trial]:
    """Related tokens (section 4.5)."""
    of, kinds = maps.registry(_NOISES)
    heads = [*of.values()]
    for name in MEASURES:
        rng, p, q = np.random.default_rng(52), [], []
        for number in range(size.corpora):
            every, tokens = [], []
            for idx, length in enumerate(sorted(rng.integers(9, 20, size=80).tolist())[::-1]):
                text, one = pairs.sentence(idx, length, rng)
                related = one.pairs[RELATIONS.index(pairs.RELATION)]
                own = [head(text, rng) for head in heads]
                own.append(pairs.planted(text, related, rng))
                every.append(_measured(name, np.array(own)[None], _vectors(text, len(own), rng)))
                tokens.append(one)
            store = pairs.save(folder / f"{name}-{number}", every)
            table = measure(store, tokens, number)["token_pairs"].sort_values("head")
            p.append((table["p_value"] < LEVEL).to_numpy())
            q.append((table["q_value"] < LEVEL).to_numpy())
        said = f"token_pairs by {name}: {{}} < 0.05"
        limits = _LIMITS.get(("token_pairs", name), set())
        own_p = [one[:-1] for one in p]
        yield from _by_kind_with_limits(said.format("p_value"), kinds, own_p, limits)
        passed = [one[:-1].any() and not one[-1] for one in q]
        yield once(said.format("q_value"), "all of these heads", passed, LEVEL)
        planted = ["50% of the weight follows pairs"]
        yield from by_kind(said.format("q_value"), POWER, planted, [one[-1:] for one in q], LEVEL)


def _by_kind_with_limits(
    inference: str,
    kinds: Sequence[str],
    passed: Sequence[npt.NDArray[np.bool_]],
    limits: set[str],
) -> Iterator[Trial]:
    """`trials.by_kind` for null heads, and for those of kinds that are stated limits."""
    limited = np.array([kind in limits for kind in kinds])
    for truth, chosen in ((NULL, ~limited), (LIMIT, limited)):
        own = [kind for kind, mine in zip(kinds, chosen, strict=True) if mine]
        if own:
            yield from by_kind(inference, truth, own, [one[chosen] for one in passed], LEVEL)


def _sentences(
    name: str, heads: Sequence[Head], rng: np.random.Generator, count: int = 60
) -> list[Sentence]:
    """Sentences with the maps of the heads, then of one that follows links, by a measure."""
    made = []
    for _ in range(count):
        text, links = frames.sentence(rng)
        every = [head(text, rng) for head in heads]
        every.append(frames.planted(text, links, rng))
        found = _measured(name, np.array(every)[None], _vectors(text, len(every), rng))
        made.append(Sentence(found, links, text.usable))
    return made


def _vectors(text: Text, heads: int, rng: np.random.Generator) -> Floats:
    """[head, token, size] vectors of the tokens: those of a class are alike, [CLS] and [SEP] short.

    The classes' vectors are the same in all texts.
    """
    classes = np.random.default_rng(5).standard_normal((heads, 5, SIZE))
    classes[:, 3:] *= 0.2
    kinds = np.where(text.pronouns, 0, np.where(text.nouns, 1, 2))
    kinds[0], kinds[-1] = 3, 4
    noise = 0.3 * rng.standard_normal((heads, len(kinds), SIZE))
    return np.asarray(classes[:, kinds] + noise)


def _alike(name: str, rng: np.random.Generator, heads: int = 40) -> list[Sentence]:
    """`frames.alike`, with a vector for each word and head that is the same in all sentences."""
    of_words = rng.standard_normal((heads, frames.VOCABULARY, SIZE))
    made = []
    for sentence, words in frames.alike_with_words(rng, heads):
        found = _measured(name, sentence.maps.astype(np.float64), of_words[:, words])
        made.append(Sentence(found, sentence.links, sentence.usable, sentence.elements))
    return made


def _measured(name: str, weights: Floats, vectors: Floats) -> npt.NDArray[np.float16]:
    """[1, head, L, L] a measure of maps of one layer, rounded as stored ones."""
    found = OF[name](torch.tensor(weights), torch.tensor(vectors)[None], None)
    return found.numpy().astype(np.float16)
