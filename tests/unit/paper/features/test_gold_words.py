"""Words from CoNLL-U files, aligned with texts as people write them."""

import gzip
import random
import unicodedata
from pathlib import Path

import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.paper.features import gold_words
from darksecrets.paper.features.labels import word_features

FRENCH = """\
# text = Elle parle du chat.
1\tElle\til\tPRON\t_\tNumber=Sing|PronType=Prs\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\t_\t_\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tchat\tchat\tNOUN\t_\tNumber=Sing\t2\tobl\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# text = Ils dorment.
1\tIls\til\tPRON\t_\tNumber=Plur|PronType=Prs\t2\tnsubj\t_\t_
2\tdorment\tdormir\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_
"""


def corpus(folder: Path, text: str, name: str = "words.conllu") -> gold_words.Corpus:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return gold_words.read([path])


def written(words: list[dict], *keys: str) -> list[tuple]:
    return [tuple(word[key] for key in keys) for word in words]


def test_two_sentences_of_a_file_are_a_text_with_other_spaces(tmp_path):
    text = "  Elle\u00a0parle du  chat . Ils dorment."
    words = corpus(tmp_path, FRENCH, "words.conllu.gz").words(text)
    assert [text[word["start"] : word["end"]] for word in words] == [w["text"] for w in words]
    assert written(words, "text", "tag", "head", "dep") == [
        ("Elle", "PRP", 1, "nsubj"),
        ("parle", "VB", 1, "root"),
        ("du", "IN", 3, "case"),
        ("chat", "NN", 1, "obl"),
        (".", ".", 1, "punct"),
        ("Ils", "PRP", 6, "nsubj"),
        ("dorment", "VB", 6, "root"),
        (".", ".", 6, "punct"),
    ]
    assert {word["antecedent"] for word in words} == {None}, "English pronouns only are guessed"
    features = word_features(words)
    assert features[0].tolist() == [False, False, True, True, False, False, False]


def test_a_text_that_the_files_lack_is_named(tmp_path):
    found = corpus(tmp_path, FRENCH)
    assert found.lacks(["Ils dorment.", "Ils dorment", "Elle parle du chat."]) == ["Ils dorment"]
    with pytest.raises(InputError, match=r"lack 1 of the texts, such as 'Ils dorment'; expected"):
        found.words("Ils dorment")


def test_a_run_of_sentences_is_found_among_equal_beginnings(tmp_path):
    """The text is looked for at every sentence that it may begin with."""
    line = "1\t{}\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    rng = random.Random(3)
    sequence = [rng.choice("ab") for _ in range(60)]
    found = corpus(tmp_path, "".join(line.format(word) for word in sequence))
    joined = "".join(sequence)
    for length in range(1, 12):
        for text in ("".join(rng.choices("ab", k=length)) for _ in range(20)):
            assert bool(found.lacks([text])) == (text not in joined)


def test_penn_tags_of_the_file_are_kept_and_others_follow_from_the_universal_ones(tmp_path):
    penn = FRENCH.replace("NOUN\t_", "NOUN\tNNP").replace("PRON\t_", "PRON\tPRP")
    penn = penn.replace("VERB\t_", "VERB\tVBZ").replace("ADP\t_", "ADP\tIN")
    penn = penn.replace("DET\t_", "DET\tDT").replace("PUNCT\t_", "PUNCT\t.")
    tags = [word["tag"] for word in corpus(tmp_path, penn).words("Elle parle du chat.")]
    assert tags == ["PRP", "VBZ", "IN", "NNP", "."]
    german = penn.replace("VBZ", "VVFIN")
    tags = [word["tag"] for word in corpus(tmp_path, german).words("Elle parle du chat.")]
    assert tags == ["PRP", "VB", "IN", "NN", "."]


@pytest.mark.parametrize(
    ("part", "features", "tag"),
    [
        ("PROPN", "Number=Plur", "NNPS"),
        ("NOUN", "Number=Plur", "NNS"),
        ("DET", "Poss=Yes|PronType=Prs", "PRP$"),
        ("DET", "Poss=Yes", "PRP$"),
        ("DET", "PronType=Art", "DT"),
        ("PRON", "_", "PRP"),
        ("PRON", "PronType=Rel", "DT"),
        ("AUX", "_", "VB"),
    ],
)
def test_penn_tags_of_universal_parts_of_speech(tmp_path, part, features, tag):
    line = f"1\tx\t_\t{part}\t_\t{features}\t0\troot\t_\t_\n"
    assert corpus(tmp_path, line).words("x")[0]["tag"] == tag


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("VERB", "V", "has the parts of speech V, which are not Universal Dependencies"),
        ("obl", "comp:obj", "has the dependency labels comp:obj. Use those of"),
    ],
)
def test_labels_that_are_not_known_are_refused(tmp_path, old, new, message):
    with pytest.raises(InputError, match=message):
        corpus(tmp_path, FRENCH.replace(old, new))


def test_a_pronoun_stands_for_the_nearest_noun_of_its_entity(tmp_path):
    rows = [
        ("Kim", "PROPN", 2, "nsubj", "Entity=(e1-1)"),
        ("told", "VERB", 0, "root", "_"),
        ("Ann", "PROPN", 2, "obj", "Entity=(e2-1)"),
        ("that", "SCONJ", 6, "mark", "_"),
        ("she", "PRON", 6, "nsubj", "Entity=(e1-1)"),
        ("lost", "VERB", 2, "ccomp", "_"),
        ("her", "PRON", 8, "nmod:poss", "Entity=(e3-2(e1-1)"),
        ("way", "NOUN", 6, "obj", "Entity=e3)"),
        ("it", "PRON", 6, "dep", "Entity=(e4-1)"),
    ]
    lines = [
        f"{number}\t{word}\t_\t{part}\t_\t_\t{head}\t{label}\t_\t{misc}"
        for number, (word, part, head, label, misc) in enumerate(rows, start=1)
    ]
    text = "# global.Entity = eid-head\n" + "\n".join(lines) + "\n"
    words = corpus(tmp_path, text).words("Kim told Ann that she lost her way it")
    assert [word["antecedent"] for word in words] == [
        *(None, None, None, None, 0, None, 0, None, None)
    ]


def test_without_mentions_the_noun_of_a_pronoun_is_guessed(tmp_path):
    rows = [("Kim", "PROPN", 2), ("said", "VERB", 0), ("she", "PRON", 4), ("slept", "VERB", 2)]
    lines = [
        f"{number}\t{word}\t_\t{part}\t_\tNumber=Sing\t{head}\t{'dep' if head else 'root'}\t_\t_"
        for number, (word, part, head) in enumerate(rows, start=1)
    ]
    words = corpus(tmp_path, "\n".join(lines) + "\n").words("Kim said she slept")
    assert [word["antecedent"] for word in words] == [None, None, 0, None]


GERMAN = """\
# text = Die Frau sieht den Hund nicht, weil er schläft.
1\tDie\t_\tDET\tART\tNumber=Sing\t2\tdet\t_\t_
2\tFrau\t_\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\t_
3\tsieht\t_\tVERB\tVVFIN\tNumber=Sing|Person=3\t0\troot\t_\t_
4\tden\t_\tDET\tART\tNumber=Sing\t5\tdet\t_\t_
5\tHund\t_\tNOUN\tNN\tNumber=Sing\t3\tobj\t_\t_
6\tnicht\t_\tPART\tPTKNEG\tPolarity=Neg\t3\tadvmod\t_\tSpaceAfter=No
7\t,\t_\tPUNCT\t$,\t_\t10\tpunct\t_\t_
8\tweil\t_\tSCONJ\tKOUS\t_\t10\tmark\t_\t_
9\ter\t_\tPRON\tPPER\tNumber=Sing|Person=3|PronType=Prs\t10\tnsubj\t_\t_
10\tschläft\t_\tVERB\tVVFIN\tNumber=Sing|Person=3\t3\tadvcl\t_\tSpaceAfter=No
11\t.\t_\tPUNCT\t$.\t_\t3\tpunct\t_\t_

# text = Ich habe Hunde in Not gesehen, sie schliefen.
1\tIch\t_\tPRON\tPPER\tNumber=Sing|Person=1|PronType=Prs\t6\tnsubj\t_\t_
2\thabe\t_\tAUX\tVAFIN\tNumber=Sing|Person=1\t6\taux\t_\t_
3\tHunde\t_\tNOUN\tNN\tNumber=Plur\t6\tobj\t_\t_
4\tin\t_\tADP\tAPPR\t_\t5\tcase\t_\t_
5\tNot\t_\tNOUN\tNN\tNumber=Sing\t3\tnmod\t_\t_
6\tgesehen\t_\tVERB\tVVPP\t_\t0\troot\t_\tSpaceAfter=No
7\t,\t_\tPUNCT\t$,\t_\t9\tpunct\t_\t_
8\tsie\t_\tPRON\tPPER\tNumber=Plur|Person=3|PronType=Prs\t9\tnsubj\t_\t_
9\tschliefen\t_\tVERB\tVVFIN\tNumber=Plur|Person=3\t6\tparataxis\t_\tSpaceAfter=No
10\t.\t_\tPUNCT\t$.\t_\t6\tpunct\t_\t_
"""
TEXTS = (
    "Die Frau sieht den Hund nicht, weil er schläft.",
    "Ich habe Hunde in Not gesehen, sie schliefen.",
)


@pytest.mark.parametrize("times", [1, 10], ids=["few words", "many"])
def test_negation_and_number_come_from_the_features_of_other_languages(tmp_path, times):
    found = corpus(tmp_path, "\n".join([GERMAN] * times))
    first, second = map(found.words, TEXTS)
    negations = [word["text"] for word in first + second if word["negation"]]
    assert negations == ["nicht"], "'Not' is a German noun"
    assert word_features(first)[5].tolist() == [False] * 5 + [True, False]
    assert not word_features(second)[:, 5].any()
    assert [word["antecedent"] for word in first] == [None] * 8 + [4, None, None]
    assert [word["antecedent"] for word in second] == [None] * 7 + [2, None, None]


def test_a_contraction_has_the_features_of_its_parts(tmp_path):
    lines = GERMAN.splitlines()
    lines[6:6] = ["6-7\tnicht,\t_\t_\t_\t_\t_\t_\t_\t_"]
    words = corpus(tmp_path, "\n".join(lines) + "\n").words(TEXTS[0])
    assert [word["text"] for word in words if word["negation"]] == ["nicht,"]


def test_what_a_language_lacks_is_said(tmp_path, caplog):
    bare = "\n".join([GERMAN.replace("Polarity=Neg", "_").replace("Person=3", "Person=2")] * 10)
    words = corpus(tmp_path, bare).words(TEXTS[1])
    assert not any(word["negation"] for word in words), "not by the English list"
    said = " ".join(caplog.messages)
    assert "Polarity=Neg: there are no negations" in said
    assert "Person=3: there are no nouns of pronouns" in said


def test_english_files_keep_the_lists_of_the_paper(tmp_path):
    """Whatever their features say: 'never' is on the list, 'no' is not."""
    words = ["She", "never", "saw", "the", "cat", "that", "it", "was", "not", "with", "no", "."]
    lines = [
        f"{n}\t{word}\t_\tX\t_\t{'Polarity=Neg' if word in ('not', 'no') else '_'}\t{n - 1}\t"
        f"{'root' if n == 1 else 'dep'}\t_\t_"
        for n, word in enumerate(words, start=1)
    ]
    found = corpus(tmp_path, "\n".join(["\n".join(lines) + "\n"] * 9))
    text = " ".join(words)
    negations = word_features(found.words(text))[:, 5]
    assert [word for word, flag in zip(words, negations, strict=True) if flag] == ["never", "not"]


@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_accents_may_be_composed_or_not(tmp_path, forms):
    text = "Élise a été là."
    rows = ["Élise", "a", "été", "là", "."]
    lines = [
        f"{n}\t{word}\t_\tX\t_\t_\t{n - 1}\t{'root' if n == 1 else 'dep'}\t_\t"
        + ("SpaceAfter=No" if word == "là" else "_")
        for n, word in enumerate(rows, start=1)
    ]
    in_file, in_text = forms
    content = unicodedata.normalize(in_file, "\n".join(lines) + "\n")
    given = unicodedata.normalize(in_text, text)
    found = corpus(tmp_path, content).words(given)
    assert [word["text"] for word in found] == [unicodedata.normalize(in_text, row) for row in rows]
    assert [given[word["start"] : word["end"]] for word in found] == [w["text"] for w in found]
