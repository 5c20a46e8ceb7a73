import pytest

from darksecrets.core.run import files


def test_a_file_appears_whole(tmp_path):
    target = tmp_path / "new" / "table.csv"
    with files.atomic(target) as temporary:
        temporary.write_text("a")
        assert temporary.suffix == ".csv"
        assert not target.exists()
    assert target.read_text() == "a"
    assert [p.name for p in target.parent.iterdir()] == ["table.csv"]


def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").touch()

    def write():
        with files.atomic(target) as temporary:
            temporary.mkdir()
            (temporary / "new").touch()
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write()
    assert [p.name for p in tmp_path.rglob("*")] == ["folder", "old"]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    (target / "old").touch()
    with files.atomic(target) as temporary:
        temporary.mkdir()
        (temporary / "new").touch()
    assert [p.name for p in target.iterdir()] == ["new"]


def test_fingerprint_tells_content_and_names_apart_but_not_times(tmp_path):
    for name, content in (("a", "x"), ("b", "x"), ("c", "y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(content)
    one, same, other = (files.fingerprint(tmp_path / name) for name in "abc")
    assert one == same != other
    (tmp_path / "a" / "file").rename(tmp_path / "a" / "renamed")
    assert files.fingerprint(tmp_path / "a") != one
