import numpy as np

from darksecrets.core.data.alignment import tokens_of_span

# [CLS] Don ' t play ##ing [SEP] He sat [SEP]
OFFSETS = np.array(
    [[0, 0], [0, 3], [3, 4], [4, 5], [6, 10], [10, 13], [0, 0], [0, 2], [3, 6], [0, 0]]
)
SEGMENTS = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
SPECIAL = np.array([1, 0, 0, 0, 0, 0, 1, 0, 0, 1], dtype=bool)


def find(sentence, start, end):
    return tokens_of_span(OFFSETS, SEGMENTS, SPECIAL, sentence, start, end).tolist()


def test_a_word_has_all_of_its_pieces():
    assert find(0, 6, 13) == [4, 5]


def test_part_of_a_contraction_takes_only_the_pieces_it_touches():
    assert find(0, 2, 5) == [1, 2, 3]  # "n't" starts inside the piece "don"
    assert find(0, 3, 5) == [2, 3]


def test_the_same_characters_of_the_other_sentence_are_not_taken():
    assert find(1, 0, 3) == [7]
    assert find(1, 3, 6) == [8]


def test_a_span_that_was_cut_off_has_no_tokens_and_special_tokens_are_never_taken():
    assert find(1, 7, 12) == []
    assert find(0, 0, 1) == [1]
