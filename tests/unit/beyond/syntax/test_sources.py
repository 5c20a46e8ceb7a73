"""Where treebanks come from."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from shipped_sentences import draw_sentences

from darksecrets.beyond.syntax.declared import Settings
from darksecrets.beyond.syntax.measure import sources
from darksecrets.core.data.sentences import ROOT
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

WORDS = (
    *(("Stop", 0, "VB", 0, "ROOT"), ("!", 4, ".", 0, "punct"), ("Tom", 7, "NNP", 4, "poss")),
    *(("'s", 10, "POS", 2, "case"), ("dogs", 13, "NNS", 5, "nsubj")),
    *(("bark", 18, "VBP", 5, "ROOT"), (".", 22, ".", 5, "punct")),
)
TOKENS: list[dict[str, object]] = [
    {"text": text, "start": start, "end": start + len(text), "tag": tag, "head": head, "dep": dep}
    for text, start, tag, head, dep in WORDS
]
TEXT: dict[str, object] = {"text": "Stop!  Tom's dogs bark.", "tokens": TOKENS}


def annotation(path: Path, *texts: dict[str, object]) -> Path:
    lines = [json.dumps({"idx": n, "sentence1": text}) + "\n" for n, text in enumerate(texts)]
    path.write_text("".join(lines))
    return path


def test_a_text_is_split_into_trees(tmp_path):
    """One sentence of each text is drawn; both are found over a few seeds."""
    path = annotation(tmp_path / "RTE.jsonl", TEXT)
    found = {s.text: s for seed in range(20) for s in sources.annotated([path], seed)}
    assert set(found) == {"Stop!", "Tom's dogs bark."}
    second = found["Tom's dogs bark."]
    assert second.heads == (2, 0, 3, ROOT, 3)
    assert second.labels == ("poss", "case", "nsubj", "root", "punct")
    places = zip(second.starts, second.ends, strict=True)
    assert tuple(second.text[start:end] for start, end in places) == second.words
    assert (second.name, second.mentions) == ("RTE 0", None)


def test_equal_texts_count_once(tmp_path):
    one: dict[str, object] = {"text": "Stop!", "tokens": TOKENS[:2]}
    paths = [annotation(tmp_path / f"{name}.jsonl", one, one) for name in ("RTE", "MRPC")]
    assert [each.text for each in sources.annotated(paths, 1)] == ["Stop!"]


def test_as_many_sentences_as_configured(tmp_path):
    lines = [
        "".join(
            f"{n + 1}\t{word}\t_\tX\t_\t_\t{head + 1}\tdep\t_\t_\n"
            for n, (word, head) in enumerate(zip(s.words, s.heads, strict=True))
        )
        for s in draw_sentences(30, 1)
    ]
    path = tmp_path / "bank.conllu"
    path.write_text("\n".join(lines))
    settings = Settings(source="conllu", path=str(path), sentences=20, seed=1)
    read = sources.everything(settings, [])
    found = sources.some(read, settings)
    assert len(found) == 20
    assert [each.document for each in found] == [0] * 20
    assert found != sources.some(read, replace(settings, seed=2))
    assert sources.some(read, replace(settings, sentences=1000)) == read
    assert sources.describe(settings) == "bank.conllu"
    shipped = Settings(path=str(RESOURCES / "corpus" / "treebank.conllu.gz"))
    assert sources.describe(shipped) == "generated sentences (treebank.conllu.gz)"
    texts = Settings(source="annotation")
    assert sources.describe(texts) == "texts of the tasks"


def test_no_sentence_is_refused(tmp_path):
    with pytest.raises(InputError, match="annotated texts of the run's tasks have no sentence"):
        sources.annotated([annotation(tmp_path / "RTE.jsonl", {"text": " ", "tokens": []})], 1)
