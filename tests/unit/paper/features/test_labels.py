"""Dependency labels of both sets, and the paper's negation words."""

import pytest
from glue import TASKS

from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.features import labels


def features_of(*tokens: tuple[str, str, str]) -> list[set[str]]:
    words = [{"text": text, "tag": tag, "dep": dep} for text, tag, dep in tokens]
    return [
        {name for name, has in zip(labels.WORD_FEATURES, row, strict=True) if has}
        for row in labels.word_features(words)
    ]


def test_both_families_give_the_same_features():
    clearnlp = features_of(
        ("She", "PRP", "nsubjpass"),
        ("was", "VBD", "auxpass"),
        ("never", "RB", "neg"),
        ("given", "VBN", "ROOT"),
        ("books", "NNS", "dobj"),
        ("by", "IN", "agent"),
        (".", ".", "punct"),
    )
    universal = features_of(
        ("She", "PRP", "nsubj:pass"),
        ("was", "VBD", "aux:pass"),
        ("never", "RB", "advmod"),
        ("given", "VBN", "root"),
        ("books", "NNS", "obj"),
        ("by", "IN", "case"),
        (".", ".", "punct"),
    )
    expected = [{"pronoun", "subject"}, {"verb"}, {"negation"}, {"verb"}, {"noun", "object"}]
    assert clearnlp == [*expected, {"subject"}, {"punctuation"}]
    assert universal == [*expected, set(), {"punctuation"}]  # UD marks the noun, not "by"
    assert features_of(("Kim", "NNP", "obl:agent")) == [{"noun", "subject"}]


@pytest.mark.parametrize(
    ("label", "feature"),
    [
        *(
            (label, "subject")
            for label in ["nsubj", "nsubjpass", "csubj", "csubjpass", "agent", "expl"]
        ),
        *((label, "subject") for label in ["nsubj:pass", "csubj:pass", "obl:agent"]),
        *((label, "subject") for label in ["nsubj:caus", "nsubj:nc", "csubj:outer", "expl:subj"]),
        *((label, "object") for label in ["dobj", "iobj", "dative", "attr", "oprd", "obj"]),
        *((label, "object") for label in ["obj:agent", "obj:lvc", "iobj:agent"]),
        ("punct:sent", "punctuation"),
    ],
)
def test_the_authors_dependency_labels_and_their_names_in_ud(label, feature):
    assert features_of(("x", "XX", label)) == [{feature}]


@pytest.mark.parametrize(
    "label",
    [
        *("obl", "nmod", "pobj", "nmod:poss", "acl:relcl", "xcomp", "dep"),
        *("expl:pv", "expl:pass", "obl:arg", "nmod:nsubj", "aux:pass", "subj", "object"),
    ],
)
def test_other_labels_are_neither_subject_nor_object(label):
    assert features_of(("x", "XX", label)) == [set()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["I", "do", "n't", "know"], [0, 1, 1, 0]),
        (["I", "don't", "know"], [0, 1, 0]),
        (["I", "ca", "n’t", "know"], [0, 1, 1, 0]),
        (["You", "can", "not", "NOT"], [0, 0, 1, 1]),
        (["It", "does", "n't"], [0, 0, 0]),  # "doesn't" is not on the paper's list
        (["no", "thing", "to", "notice"], [0, 0, 0, 0]),
        (["nothing", "Neither", "nor", "none"], [1, 1, 1, 1]),
        (["n't"], [0]),
        ([], []),
    ],
)
def test_negation_is_whole_words_and_contractions(words, expected):
    assert labels.negation_words(words) == [bool(flag) for flag in expected]


def test_labels_that_are_known():
    assert labels.unknown_dependencies(["ROOT", "root", "dobj", "nmod:poss", "obj", ""]) == []
    assert labels.unknown_dependencies(["sb", "oa", "nsubj"]) == ["oa", "sb"]
    assert labels.unknown_tags(["NN", "VBZ", "-LRB-", "``", "_SP"]) == []
    assert labels.unknown_tags(["NOUN", "NN", "VVFIN"]) == ["NOUN", "VVFIN"]


def test_number_of_pronouns():
    assert labels.agreeing_nouns("She") == {"NN", "NNP"}
    assert labels.agreeing_nouns("their") == {"NNS", "NNPS"}
    assert labels.agreeing_nouns("I") == labels.agreeing_nouns("you") == frozenset()


@pytest.mark.parametrize(
    ("text", "english"),
    [
        (
            "The dog and the cat sleep in the house, which they have not left since it was built.",
            True,
        ),
        ("Der Hund und die Katze schlafen in dem Haus, das sie nicht verlassen haben.", False),
        ("De hond is een van de dieren die we in het huis hebben, of niet.", False),
        ("Le chien et le chat dorment dans la maison, or on ne les voit pas.", False),
        ("Hunden er hjemme, for det er en god by, og han har to katte at se.", False),
        ("Кошка и собака спят в доме, который они не покидали.", False),
        ("猫和狗睡在房子里，它们没有离开过。", False),
    ],
)
def test_texts_look_english_by_their_function_words(text, english):
    assert labels.is_english([text] * 8) == english
    assert labels.is_english([text[:20]]) is None, "too few words"


@pytest.mark.parametrize("name", TASKS)
def test_tasks_in_english_look_so(name):
    lines = (RESOURCES / "corpus" / name / "train.tsv").read_text(encoding="utf-8").splitlines()
    assert labels.is_english(lines[1:40])
    assert labels.is_english(lines[1:])
