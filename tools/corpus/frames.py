"""Frame-semantic links of the grammar's sentences, as a file of them (section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator

from darksecrets.paper.framenet.links import Annotation, Element, selected
from darksecrets.paper.framenet.sources import HEADER, ROLES
from tools.corpus.grammar import Sentence
from tools.corpus.tasks import NAMES, generate

EXAMPLES = 2000
"""Examples of each task whose sentences are looked through."""


def collect(seed: int) -> list[Annotation]:
    """Generate sentences and select from them, by their gold annotation, as the paper does.

    Each predicate of each distinct sentence is one annotation. Elements have FrameNet's names.

    Args:
        seed: Seed of the sentences.
    """
    sentences: dict[str, Sentence] = {}
    for task in NAMES:
        for example in generate(task, {"framenet": EXAMPLES}, seed)["framenet"]:
            for sentence in (example.sentence1, example.sentence2):
                if sentence is not None:
                    sentences.setdefault(sentence.text, sentence)
    return [
        annotation
        for sentence in sentences.values()
        for whole in _annotations(sentence)
        if (annotation := selected(whole, [(t.start, t.end) for t in sentence.tokens]))
    ]


def _annotations(sentence: Sentence) -> Iterator[Annotation]:
    """One annotation per predicate of a sentence."""
    tokens = sentence.tokens
    for predicate in sorted({link.predicate for link in sentence.links}):
        elements = tuple(
            Element((tokens[link.start].start, tokens[link.end - 1].end), link.role)
            for link in sentence.links
            if link.predicate == predicate
        )
        yield Annotation(sentence.text, (tokens[predicate].start, tokens[predicate].end), elements)


def links(seed: int) -> str:
    """Sentences with targets, core elements and their roles: a file that the workflow reads."""
    lines = ["\t".join([*HEADER, ROLES])]
    for annotation in collect(seed):
        sentence = annotation.sentence
        elements = [sentence[slice(*element.span)] for element in annotation.elements]
        roles = [element.role for element in annotation.elements]
        target = sentence[slice(*annotation.predicate)]
        lines.append("\t".join([sentence, target, "|".join(elements), "|".join(roles)]))
    return "\n".join(lines) + "\n"
