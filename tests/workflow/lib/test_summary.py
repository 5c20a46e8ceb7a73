"""What a finished run ends with in the terminal."""

import pytest

from workflow.lib import summary

PAGE = """\
| Task    | Metric   |   randomly initialized, fine-tuned |   fine-tuned |
|:--------|:---------|-----------------------------------:|-------------:|
| reviews | Acc      |                        61.0 ± 9.5† |  59.0 ± 9.6‡ |
|         | F1       |                         1.0 ± 0.5  |   9.0 ± 9.6‡ |

- † Predicts the same for every example: randomly initialized, fine-tuned on reviews.
- ‡ Has not learned the task: reviews.
- The paper has other numbers.

| Task    | difference |
|:--------|-----------:|
| reviews | 2.0        |
"""
LEARNED = """\
task,seed,score,majority,bag_of_words,learned,texts_cut,words_unknown
reviews,,59.0,58.0,53.0,False,0.831,0.0499
mails,,90.0,58.0,53.0,True,0.01,0
letters,,90.0,58.0,53.0,True,0.051,0.2
letters,1,90.0,58.0,53.0,True,0.051,0.2
"""


@pytest.fixture
def results(tmp_path):
    """A folder like that of a run that made Table 1."""
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "table1.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "learned.csv").write_text(LEARNED)
    return tmp_path


def test_table_1_has_narrow_columns_and_all_its_cells(results):
    lines = summary.summarize(results, {str(results / "figures" / "table1.md")}).splitlines()
    start = lines.index("Table 1") + 2
    end = lines.index("", start)
    found = [" ".join(line.split()) for line in lines[start:end] if not line.startswith("-")]
    assert found == [
        "randomly",
        "initialized,",
        "Task Metric fine-tuned fine-tuned",
        "reviews Acc 61.0 ± 9.5† 59.0 ± 9.6‡",
        "F1 1.0 ± 0.5 9.0 ± 9.6‡",
    ]
    assert max(map(len, lines[start:end])) == len("reviews  Metric  initialized,  59.0 ± 9.6‡")


def test_marks_are_explained_once_and_what_was_learned_is_not_named(results):
    said = summary.summarize(results, {str(results / "figures" / "table1.md")})
    assert "† Predicts the same for every example: randomly initialized, fine-tuned on" in said
    assert (
        "‡ reviews is not learned: 59.0, majority class 58.0, bag of words 53.0; "
        "83% of the texts are cut (`fine_tuning.max_length`)." in said
    )
    assert said.count("letters") == 1
    assert (
        "letters: 5% of the texts are cut (`fine_tuning.max_length`), 20% of the words are unknown "
        "to the encoder." in said
    )
    assert "mails" not in said
    assert "The paper" not in said
    assert said.count("‡ ") == 1


def test_a_run_without_table_1_names_its_figures_and_says_what_was_not_learned(results):
    figure = results / "figures" / "figure7.svg"
    figure.touch()
    made = {str(figure), str(figure.with_suffix(".png")), str(results / "figures" / "gone.svg")}
    said = summary.summarize(results, made)
    assert "‡ reviews is not learned" in said
    assert "Table 1" not in said
    end = said.splitlines()[said.splitlines().index("Results:") :]
    assert [line.strip() for line in end[1:]] == [
        *(str(figure), str(results / "figures"), str(results / "tables"))
    ]


def test_many_figures_are_named_by_their_folder(results):
    made = set()
    for number in range(summary.FEW_FIGURES + 1):
        path = results / "figures" / f"figure{number}.svg"
        path.touch()
        made.add(str(path))
    said = summary.summarize(results, made)
    assert ".svg" not in said


def test_a_page_that_a_target_made_is_named_first(results):
    page = results / "inspect" / "1a2b" / "heads.html"
    page.parent.mkdir(parents=True)
    page.touch()
    atlas = results / "atlas.html"
    atlas.touch()
    drawn = results / "figures" / "claims.html"
    drawn.touch()
    said = summary.summarize(results, {str(page), str(atlas), str(drawn)}).splitlines()
    named = [line.strip() for line in said[said.index("Results:") + 1 :]]
    assert named == [str(page), str(atlas), str(results / "figures"), str(results / "tables")]


def test_a_terminal_of_ascii_has_the_same_columns(results):
    said = summary.summarize(results, {str(results / "figures" / "table1.md")})
    plain = summary.readable(said, "ascii")
    assert plain.isascii()
    assert [len(line) for line in plain.splitlines()] == [len(line) for line in said.splitlines()]
    assert "61.0 ~ 9.5+" in plain
    assert "# reviews is not learned" in plain
    assert summary.readable(said, "utf-8") == said
    assert summary.readable(said, None) == plain
