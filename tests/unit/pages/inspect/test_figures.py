"""Text of users is drawn as it is written."""

from darksecrets.core.plotting import user_text


def test_characters_without_a_font_are_written_as_code_points(monkeypatch):
    known = {"a", "b", " "}
    monkeypatch.setattr(user_text, "font_of", lambda letter: letter in known and user_text.FONT)
    assert user_text.drawable("a \u4e2d\U0001f9ff") == "a <U+4E2D><U+1F9FF>"


def test_lines_keep_the_direction_of_the_whole_text():
    assert user_text.lines("a b c", 40) == ["a b c"]
    assert user_text.lines("abc \u05e9\u05dc", 40) == ["\u200eabc \u05e9\u05dc"]
    first, second = user_text.lines("\u05e9\u05dc " * 4 + "abc", 10)
    assert first[0] == second[0] == "\u200f"
    assert len(user_text.lines("word " * 500, 60)) <= 3
