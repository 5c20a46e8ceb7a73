"""Sources of frame-semantic links and the paper's selection."""

import itertools
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.framenet import folder, sources
from darksecrets.paper.framenet.links import (
    Annotation,
    Element,
    links_table,
    read_table,
    require_some,
    selected,
    tokens_between,
    words_of,
)

FRAMENET = Path(__file__).parents[3] / "framenet_v17"


def annotate(sentence: str, predicate: str, **elements: str) -> Annotation:
    """Annotate by phrases; a role in lower case is not core."""

    def span(phrase: str) -> tuple[int, int]:
        start = sentence.index(phrase)
        return start, start + len(phrase)

    found = tuple(
        Element(span(phrase), role, role[0].isupper()) for role, phrase in elements.items()
    )
    return Annotation(sentence, span(predicate), found)


def keeps(annotation: Annotation) -> list[str]:
    """Texts of the elements that the selection keeps."""
    kept = selected(annotation, words_of(annotation.sentence))
    return [kept.sentence[slice(*element.span)] for element in kept.elements] if kept else []


def test_words_lie_between_spaces():
    assert words_of(" I ca  n't  see ") == [(1, 2), (3, 5), (7, 10), (12, 15)]
    assert words_of("a a") == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [((0, 2), (4, 5), 2), ((4, 5), (0, 2), 2), ((0, 1), (1, 2), 0), ((0, 3), (1, 2), -1)],
)
def test_tokens_between_two_runs(one, other, expected):
    assert tokens_between(one, other) == expected


def test_a_link_needs_two_tokens_between():
    assert keeps(annotate("Kim sat still and blinked .", "blinked", Agent="Kim")) == ["Kim"]
    assert keeps(annotate("Kim then once blinked .", "blinked", Agent="Kim")) == ["Kim"]
    assert keeps(annotate("Kim then blinked .", "blinked", Agent="Kim")) == []
    assert keeps(annotate("Blinked at me , Kim", "Blinked", Agent="Kim")) == ["Kim"]


def test_one_near_core_element_is_enough_to_leave_the_sentence_out():
    sentence = "Kim looked up and closed her eyes ."
    assert keeps(annotate(sentence, "closed", Agent="Kim", Part="her eyes")) == []
    assert keeps(annotate(sentence, "closed", Agent="Kim", part="her eyes")) == ["Kim"]


def test_every_element_has_at_most_three_tokens():
    assert keeps(annotate("My two cats sat and slept .", "slept", Agent="My two cats"))
    assert not keeps(annotate("My two old cats sat and slept .", "slept", Agent="My two old cats"))
    sentence = "Kim sat and slept all through the night"
    assert keeps(annotate(sentence, "slept", Agent="Kim"))
    assert not keeps(annotate(sentence, "slept", Agent="Kim", time="all through the night"))


def test_a_sentence_has_at_most_twelve_tokens():
    assert keeps(annotate("Kim sat there and slept and so did you and I .", "slept", Agent="Kim"))
    assert not keeps(annotate("Kim sat there and slept and so did you , and I .", "slept", A="Kim"))


def test_a_sentence_without_a_core_element_is_left_out():
    assert not keeps(annotate("Today there was much sleep .", "sleep", time="Today"))


def test_the_table_gives_back_what_it_was_made_from(tmp_path):
    made = [
        annotate('Kim , "the old" one , slept .', "slept", Agent="Kim", Other='"the old"'),
        annotate("NA sat there and slept", "slept", Agent="NA"),
    ]
    table = links_table(made)
    assert table["idx"].tolist() == [0, 0, 1]
    table.to_csv(tmp_path / "links.csv", index=False)
    assert read_table(tmp_path / "links.csv") == made


# --- FrameNet ---------------------------------------------------------------------------------


def test_nltk_reads_framenet_and_the_selection_keeps_what_it_should():
    found = sources.read_nltk(folder.locate(FRAMENET))
    rows = [
        (
            a.frame,
            a.sentence[slice(*a.predicate)],
            [(element.role, a.sentence[slice(*element.span)]) for element in a.elements],
        )
        for a in found
    ]
    # Each other sentence of the folder breaks one condition: an element too long or too near, a
    # sentence too long, no core element, or a target in two parts.
    assert rows == [
        ("Emotion_state", "agitated", [("Experiencer", "My neighbour")]),
        ("Body_gesture", "shrugged", [("Agent", "Zoë")]),
        ("Body_gesture", "put up", [("Body_part", "What"), ("Agent", "Mina")]),
    ]


def test_framenet_is_found_in_an_nltk_data_folder(tmp_path):
    inside = tmp_path / "corpora" / "framenet_v17"
    shutil.copytree(FRAMENET, inside)
    assert folder.locate(tmp_path) == inside
    assert folder.locate(inside) == inside
    assert len(sources.collect({"source": "nltk", "path": str(tmp_path)})) == 3
    assert len(sources.collect({"source": "nltk", "path": None}, downloaded=tmp_path)) == 3


def test_a_framenet_folder_without_an_index_is_refused(tmp_path):
    shutil.copytree(FRAMENET, tmp_path / "fn")
    (tmp_path / "fn" / "luIndex.xml").unlink()
    config = {"source": "nltk", "path": str(tmp_path / "fn")}
    with pytest.raises(InputError, match=r"has no luIndex\.xml.*framenet\.path"):
        sources.check(config)
    with pytest.raises(InputError, match="no such folder"):
        sources.check({"source": "nltk", "path": str(tmp_path / "none")})
    sources.check({"source": "nltk", "path": str(FRAMENET)})


def test_a_framenet_folder_without_a_frame_is_refused(tmp_path):
    shutil.copytree(FRAMENET, tmp_path / "fn")
    (tmp_path / "fn" / "lu" / "lu102.xml").unlink()
    with pytest.raises(InputError, match=r"cannot read it.*102"):
        sources.read_nltk(tmp_path / "fn")


def test_a_download_that_fails_says_what_to_do_and_leaves_nothing(tmp_path, monkeypatch):
    import nltk

    def refuse(*_, **__):
        raise ValueError("no answer")

    monkeypatch.setattr(nltk, "download", refuse)
    with pytest.raises(InputError, match=r"no answer.*framenet\.path"):
        folder.download(tmp_path / "nltk_data")
    assert not list(tmp_path.iterdir())


def test_a_download_is_what_nltk_puts_there(tmp_path, monkeypatch):
    import nltk

    def copy(package, download_dir, **_):
        assert package == "framenet_v17"
        shutil.copytree(FRAMENET, Path(download_dir) / "corpora" / package)
        return True

    monkeypatch.setattr(nltk, "download", copy)
    folder.download(tmp_path / "nltk_data")
    config = {"source": "nltk", "path": None}
    assert len(sources.collect(config, tmp_path / "nltk_data")) == 3


# --- A file -----------------------------------------------------------------------------------


def write(path: Path, *lines: str, header: str = "sentence\ttarget\tcore_elements") -> Path:
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def found(path: Path) -> list[list[str]]:
    """Texts up to the end of each span, which distinguish occurrences."""
    return [
        [a.sentence[:end] for _, end in (a.predicate, *(e.span for e in a.elements))]
        for a in sources.read_tsv(path)
    ]


def test_spans_are_found_by_whole_words(tmp_path):
    path = write(tmp_path / "f", "The he-man said he often smiled .\tsmiled\the-man")
    assert found(path) == [["The he-man said he often smiled", "The he-man"]]
    with pytest.raises(InputError, match="'man' is not among"):
        sources.read_tsv(write(tmp_path / "g", "The he-man said he smiled .\tsmiled\tman"))


def test_of_several_places_the_nearest_with_enough_between_are_taken(tmp_path):
    path = write(
        tmp_path / "f",
        "he said to me he was rather sad\tsad\the",
        "She smiled and chewed and chewed on\tchewed\tShe",
        "He grinned , and the porter grinned back .\tgrinned\tthe porter",
    )
    assert found(path) == [
        ["he said to me he was rather sad", "he said to me he"],
        ["She smiled and chewed", "She"],
        ["He grinned", "He grinned , and the porter"],
    ]


def test_a_sentence_whose_links_are_too_near_is_left_out(tmp_path):
    path = write(tmp_path / "f", "Kim slept .\tslept\tKim", "Kim sat and slept\tslept\tKim")
    assert len(sources.read_tsv(path)) == 1


def test_a_line_and_a_source_without_a_link_are_refused(tmp_path):
    """`tests/inputs/data.py` has other lines and files."""
    path = write(tmp_path / "links.tsv", "Kim sat and slept .\tslept\tKim", "Kim slept .\t\tKim")
    with pytest.raises(InputError, match=r"links\.tsv, line 3.*tab between"):
        sources.check({"source": "tsv", "path": str(path)})
    with pytest.raises(InputError, match="here: no sentence passes"):
        require_some([], "here")


def test_all_473_sentences_of_the_authors_are_found(test_data):
    path = test_data / "framenet" / "links_473.tsv"
    annotations = sources.read_tsv(path)
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    assert len(annotations) == len(lines) == 473
    for annotation, line in zip(annotations, lines, strict=True):
        sentence, target, elements = line.split("\t")
        spans = [annotation.predicate, *(element.span for element in annotation.elements)]
        assert [sentence[slice(*span)] for span in spans] == [target, *elements.split("|")]
        assert annotation.sentence == sentence


def test_punctuation_and_contractions_are_words_of_their_own(tmp_path):
    """In a sentence as people write it, links are as in one with spaces between all words."""
    header = "sentence\ttarget\tcore_elements\troles"
    natural = "Kim's dogs didn't, as ever, bark.\tbark\tKim's dogs\tSound_source"
    spaced = "Kim 's dogs did n't , as ever , bark .\tbark\tKim 's dogs\tSound_source"
    (one,) = sources.read_tsv(write(tmp_path / "one", natural, header=header))
    (other,) = sources.read_tsv(write(tmp_path / "other", spaced, header=header))
    assert one.sentence[slice(*one.predicate)] == "bark"
    assert one.sentence[slice(*one.elements[0].span)] == "Kim's dogs"
    assert other.sentence[slice(*other.elements[0].span)] == "Kim 's dogs"
    assert one.elements[0].role == other.elements[0].role == "Sound_source"
    three_words = "Kim's dogs bark.\tbark\tKim\tSound_source"  # 's and dogs are between
    assert len(sources.read_tsv(write(tmp_path / "near", three_words, header=header))) == 1


def test_roles_are_as_many_as_elements(tmp_path):
    header = "sentence\ttarget\tcore_elements\troles"
    path = write(tmp_path / "f", "Kim sat and slept .\tslept\tKim\tSleeper|Place", header=header)
    with pytest.raises(InputError, match="line 2: 1 core elements but 2 roles"):
        sources.read_tsv(path)


# --- The file that ships ----------------------------------------------------------------------


def test_no_link_of_the_shipped_sentences_comes_twice():
    found = sources.read_tsv(RESOURCES / "corpus" / "frames.tsv")
    assert len({(each.sentence, each.predicate) for each in found}) == len(found) > 500


def test_the_nearest_occurrences_are_those_of_trying_all_combinations():
    """With up to three elements, each of which occurs several times."""
    rng = random.Random(7)
    found = Counter()
    for _ in range(3000):
        words = rng.choices("abcde", k=rng.randint(4, 12))
        words[:2] = "ab"  # at least two different ones
        target, *elements = rng.sample(sorted({*words}), k=min(len({*words}), rng.randint(2, 4)))
        sentence = " ".join(words)
        roles = dict.fromkeys(elements, "")
        places = [[i for i, word in enumerate(words) if word == w] for w in (target, *elements)]
        totals = {}
        for target_place, *others in itertools.product(*places):
            gaps = [abs(place - target_place) - 1 for place in others]
            if min(gaps) >= 2:
                totals[target_place, *others] = sum(gaps)
        nearest = [some for some in totals if totals[some] == min(totals.values())]
        if len(nearest) > 1:
            with pytest.raises(InputError, match="equally near"):
                sources._find(sentence, words_of(sentence), target, roles, "here")
        else:
            annotation = sources._find(sentence, words_of(sentence), target, roles, "here")
            starts = [2 * place for place in nearest[0]] if nearest else None
            spans = annotation and [annotation.predicate, *(e.span for e in annotation.elements)]
            assert (spans and [start for start, _ in spans]) == starts
        found[len(nearest[:2])] += 1
    assert min(found[count] for count in (0, 1, 2)) > 100
