"""Which heads that know nothing of meaning pass the tests of heads, family by family?

    DARKSECRETS_TEST_DATA=FOLDER python benchmarks/ignorant_heads.py [FAMILIES ...]

Every head of the registry (``tests/unit/adversarial/maps.py``) attends by itself, on the 473 links
of the paper and 500 pairs of STS-B, annotated by the spaCy pipeline of the folder, and on 500
sentences, 250 pairs or 100 texts of the corpus that ships. Words are whole tokens. Beside them are
20 heads of each kind of noise, and heads that follow what is looked for in a share of the cases.
With names of families, or beginnings of names, only these are tried and printed, and no page is
written.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import spacy
from spacy.language import Language
from spacy.tokens import Doc

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from _machine import describe, write_results
from adversarial import families, maps
from adversarial.families import Heads, text_of
from adversarial.maps import Text
from glue import TASKS, in_folder
from made_up_coreference import knowing, right
from made_up_syntax import guesses, read, relation
from shipped_sentences import CORPUS, draw_stories

from darksecrets.beyond.syntax.measure import coreference, heads
from darksecrets.beyond.syntax.measure.coreference_statistics import tables
from darksecrets.beyond.syntax.measure.distractors import choices
from darksecrets.core.data.prepare import prepare
from darksecrets.paper.features.annotation import annotate
from darksecrets.paper.features.parser import parse
from darksecrets.paper.features.tokens import Tokens, describe_example
from darksecrets.paper.framenet.heads import Link
from darksecrets.paper.framenet.links import Annotation, words_of
from darksecrets.paper.framenet.sources import read_tsv

FOLDER = Path(os.environ.get("DARKSECRETS_TEST_DATA", "."))
LEVEL, NOISES, COUNT = 0.05, 20, 500
PAIRS = 250
"""Examples of STS-B that ship, annotated."""
EQUAL, RELATED = "equal_words", "token_pairs"
IGNORANT: Heads = (
    maps.IGNORANT
    | maps.LETTERS
    | maps.HASHES
    | maps.WORDS
    | {f"{name} {number}": head for name, head in maps.NOISES.items() for number in range(NOISES)}
)
Row = dict[str, Any]


POWERS = ((1.0, 0.5), (2 / 3, 0.5), (2 / 3, 0.25), (1.0, 0.1))


def followers(pairs: dict[int, list[tuple[int, int]]]) -> Heads:
    """Heads that follow pairs, and how much."""
    return {f"follows {s:.0%}, {w:.0%}": maps.planted(pairs, s, w) for s, w in POWERS}


def pipeline() -> Language:
    """The parser of real sentences."""
    return spacy.load(FOLDER / "en_ewt")


def links(annotations: list[Annotation]) -> list[tuple[Text, list[Link]]]:
    """Sentences with links, a token per word."""
    nlp, found = pipeline(), []
    spans = [words_of(one.sentence) for one in annotations]
    words = [[a.sentence[slice(*s)] for s in of] for a, of in zip(annotations, spans, strict=True)]
    counts = families.counted(words)
    for one, of, own in zip(annotations, spans, words, strict=True):
        doc = nlp(Doc(nlp.vocab, own))
        text = text_of(own, [word.tag_ for word in doc], counts)
        predicate = _tokens_in(one.predicate, of)
        found.append((text, [(_tokens_in(each.span, of), predicate) for each in one.elements]))
    return found


def _tokens_in(span: tuple[int, int], words: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Tokens, after [CLS], of the words in a span of characters."""
    inside = [i for i, (first, last) in enumerate(words) if first < span[1] and last > span[0]]
    return 1 + np.array(inside)


def of_links(every: list[tuple[Text, list[Link]]]) -> Iterator[Row]:
    """Frame-semantic links: directions in which a head exceeds all controls."""
    pairs = {
        id(text): [
            (int(i), int(j)) for e, p in of for q, k in ((e, p), (p, e)) for i in q for j in k[:1]
        ]
        for text, of in every
    }
    found = families.of_links(
        every, IGNORANT | followers(pairs), np.random.default_rng(1), draws=1999
    )
    for kind, own in found.groupby("kind", sort=False):
        best = own.loc[own["p_family"].idxmin()]
        yield row(kind, own["exceeds_controls"].sum(), len(own), best["p_family"])


def stsb() -> list[tuple[Text, Tokens]]:
    """Real pairs of sentences."""
    table = pd.read_csv(FOLDER / "glue/STS-B/dev.tsv", sep="\t", quoting=3).iloc[:COUNT]
    columns = {name: table[name].astype(str).tolist() for name in ("sentence1", "sentence2")}
    return [*tokens(parse(range(len(table)), columns, pipeline()))]


def generated_stsb() -> list[tuple[Text, Tokens]]:
    """Pairs of the corpus that ships."""
    with tempfile.TemporaryDirectory() as folder:
        data, words = Path(folder) / "data", Path(folder) / "words.jsonl"
        prepare(in_folder("STS-B", CORPUS), data)
        settings = {"source": "conllu", "conllu": [str(CORPUS / "words.conllu.gz")]}
        annotate(data, range(PAIRS), words, TASKS["STS-B"], settings)
        return [*tokens(map(json.loads, words.read_text().splitlines()))]


def tokens(examples: Iterable[dict[str, Any]]) -> Iterator[tuple[Text, Tokens]]:
    """Pairs of sentences, a token per word."""
    every = [(one["idx"], [one[f"sentence{n}"]["tokens"] for n in (1, 2)]) for one in examples]
    counts = families.counted([w["text"] for of in both for w in of] for _, both in every)
    for idx, both in every:
        words = [word for of in both for word in of]
        text = text_of([w["text"] for w in words], [w["tag"] for w in words], counts, len(both[0]))
        offsets = np.zeros((len(text.words), 2), dtype=np.int64)
        offsets[text.places] = [(word["start"], word["end"]) for word in words]
        own = describe_example(idx, both, offsets, np.array(text.segments), ~text.usable, counts)
        yield text, own


def of_pairs(every: list[tuple[Text, Tokens]], table: str) -> Iterator[Row]:
    """Equal words of both sentences, or related tokens of each."""
    of = {
        id(text): own.equal if table == EQUAL else np.concatenate(own.pairs) for text, own in every
    }
    pairs = {text: own.tolist() for text, own in of.items()}
    tables = families.of_pairs(every, IGNORANT | followers(pairs), np.random.default_rng(2))
    for kind, own in tables[table].groupby("kind", sort=False):
        passed = own["q_value"] < LEVEL
        names = "" if table == EQUAL else ", ".join(own["relation"][passed])
        yield row(kind, passed.sum(), len(own), own["q_value"].min(), names)


def of_relations() -> Iterator[Row]:
    """Syntactic relations, by label."""
    sentences = read(COUNT, 1)
    found = families.of_relations(sentences, IGNORANT, np.random.default_rng(3), 1)
    for kind, own in found.groupby("kind", sort=False):
        passed = own[own["syntactic"] != "no"]
        names = ", ".join(sorted(set(passed["label"])))
        yield row(kind, len(passed), len(own), own["q_value"].min(), names)


def of_syntax_power() -> Iterator[Row]:
    """Heads that follow one relation in a share of its arcs: how many labels are found."""
    sentences = read(COUNT, 1)
    labels = [
        label
        for label, n in pd.Series([label for one in sentences for label in one.sentence.labels])
        .value_counts()
        .items()
        if n >= 80 and label not in ("punct", "root", "ROOT")
    ]
    for share in (0.5, 0.7, 1.0):
        passed, names = 0, []
        for label in labels:
            rng = np.random.default_rng(4)
            found = heads.table(sentences, guesses(sentences, [relation(label, share)], rng), 1)
            own = found[(found["label"] == label) & (found["direction"] == "dependent_to_head")]
            passed += (ok := bool((own["syntactic"] != "no").any()))
            names += [label] * (not ok)
        yield row(f"follows one label, {share:.0%}", passed, len(labels), np.nan, ", ".join(names))


def of_trees() -> Iterator[Row]:
    """Trees of a head's maps."""
    found = families.of_trees(read(200, 1), IGNORANT, np.random.default_rng(5), 1)
    for kind, own in found.groupby("kind", sort=False):
        yield row(kind, (own["q_value"] < LEVEL).sum(), len(own), own["q_value"].min())


def of_subjects() -> Iterator[Row]:
    """Attention from verbs to their subjects."""
    sentences = read(COUNT, 1)
    texts = families.texts_of(sentences)
    of = zip(texts, sentences, strict=True)
    pairs = {
        id(text): [(c.verb + 1, c.subject + 1) for c in choices(one.sentence, one.apart)]
        for text, one in of
    }
    every = IGNORANT | followers(pairs)
    found = families.of_subjects(sentences, texts, every, np.random.default_rng(6))
    for kind, passed in zip(found["kind"], families.exceeds_controls(found), strict=True):
        yield row(kind, passed, 1, np.nan)


def of_coreference() -> Iterator[Row]:
    """Antecedents of mentions, by kind."""
    texts = coreference.texts_of(draw_stories(100, 1))
    found = families.of_texts(texts, IGNORANT, np.random.default_rng(7), 1)
    for kind, own in found.groupby("kind", sort=False):
        best = own.loc[own["p_family"].idxmin()]
        names = ", ".join(own["kind_of"][own["p_family"] < LEVEL])
        yield row(kind, (own["p_family"] < LEVEL).sum(), len(own), best["p_family"], names)
    table, _ = tables(families.resolved(texts, {}, np.random.default_rng(8), (knowing, right)), 1)
    for number, name in enumerate(("knows a little", "knows all"), start=1):
        own = table[table["head"] == number]
        yield row(name, (own["p_family"] < LEVEL).sum(), len(own), own["p_family"].min())


def row(kind: object, passed: object, of: int, p: float, what: str = "") -> Row:
    """A row of the table: in how many of its tests a head passed."""
    return {"head": kind, "passed": int(passed), "of": of, "least p or q": p, "what": what}


FAMILIES: dict[str, Callable[[], Iterator[Row]]] = {
    "framenet_heads, 473": lambda: of_links(links(read_tsv(FOLDER / "framenet/links_473.tsv"))),
    "framenet_heads, generated": lambda: of_links(links(read_tsv(CORPUS / "frames.tsv")[:COUNT])),
    "equal_words, STS-B": lambda: of_pairs(stsb(), EQUAL),
    "equal_words, generated": lambda: of_pairs(generated_stsb(), EQUAL),
    "token_pairs, STS-B": lambda: of_pairs(stsb(), RELATED),
    "token_pairs, generated": lambda: of_pairs(generated_stsb(), RELATED),
    "syntactic_heads": of_relations,
    "syntactic_heads, power": of_syntax_power,
    "attention_trees": of_trees,
    "distractors": of_subjects,
    "coreference_heads": of_coreference,
}


NOTES = (
    "A row is a head, a column a family of tests, with the number of tests that a head can pass: "
    "directions, relations, labels or kinds of expressions. A cell: how many of them it passed; "
    "for noise, the sum over {noises} heads. Blank: none; –: not tried. Texts are those of the "
    "program's docstring. The last rows are heads that follow what is looked for, in a share of "
    "the texts, with a share of the weight. {silent} heads passed nothing: they are in "
    "[ignorant_heads.csv](ignorant_heads.csv)."
)


def write_page(found: pd.DataFrame) -> None:
    """Write the table of all families, and what its heads passed as a page."""
    heads_of = found["head"].str.replace(r"^(random weights|Dirichlet) \d+$", r"\1", regex=True)
    tests = found.groupby("table")["of"].max()
    passed = found.groupby([heads_of, "table"], sort=False)["passed"].sum().unstack()
    # Heads that follow what is looked for come last.
    knows = passed.index.str.startswith(("follows", "knows"))
    passed = pd.concat([passed[~knows], passed[knows]])[[*FAMILIES]]
    cells = passed.map(lambda n: "–" if np.isnan(n) else f"{n:.0f}" if n else "")
    cells = cells.rename(columns={name: f"{name} ({tests[name]})" for name in FAMILIES})
    silent = cells.isin(["", "–"]).all(axis="columns")
    write_results(
        "ignorant_heads",
        "Ignorant heads, by family of tests",
        cells.reset_index(),
        describe("numpy", "scipy"),
        NOTES.format(noises=NOISES, silent=silent.sum()),
        cells[~silent].reset_index().to_markdown(index=False),
    )


def main() -> None:
    """Try all families and write the page, or print what some of them give."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", metavar="FAMILIES", help=", ".join(FAMILIES))
    names = parser.parse_args().families
    rows = [
        {"table": name, **one}
        for name, of in FAMILIES.items()
        if not names or name.startswith(tuple(names))
        for one in of()
    ]
    found = pd.DataFrame(rows)
    if names:
        found.to_csv(sys.stdout, index=False)
    else:
        write_page(found)


if __name__ == "__main__":
    main()
