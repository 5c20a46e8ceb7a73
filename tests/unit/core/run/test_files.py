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


@pytest.mark.parametrize("name", ["table.csv", "seed-1", "a.b.svg"])
def test_what_a_killed_process_left_goes_when_the_result_is_made_again(name, tmp_path):
    target = tmp_path / name
    left = tmp_path / f".{target.stem}.4711.tmp{target.suffix}"
    folder = tmp_path / f".{target.stem}.99.tmp{target.suffix}"
    folder.mkdir()
    for file in (left, folder / "model.safetensors"):
        file.write_text("half")
    others = [".other.4711.tmp.csv", f".{target.stem}.x.tmp{target.suffix}", ".snakemake_timestamp"]
    others += [f".{target.stem}.2.4711.tmp{target.suffix}"]
    for other in others:
        (tmp_path / other).touch()
    files.write_text("whole", target)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, *others])
    assert target.read_text() == "whole"
