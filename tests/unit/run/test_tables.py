import gzip

import pandas as pd
import pytest

from darksecrets.run.errors import InputError
from darksecrets.run.files import compressed
from darksecrets.run.tables import identify, join_compressed


def write(path, text):
    with compressed(path) as stream:
        stream.write(text)
    return path


def test_the_same_text_gives_the_same_bytes_and_is_read_back(tmp_path):
    first, second = write(tmp_path / "a.csv.gz", "é,1\n"), write(tmp_path / "b.csv.gz", "é,1\n")
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).decode() == "é,1\n"


def test_nothing_is_left_of_a_text_that_was_not_finished(tmp_path):
    with pytest.raises(KeyError), compressed(tmp_path / "a.csv.gz") as stream:  # noqa: PT012
        stream.write("half")
        raise KeyError
    assert not list(tmp_path.iterdir())


def test_tables_are_joined_under_one_header(tmp_path):
    parts = [
        write(tmp_path / "a.csv.gz", "task,seed\nRTE,\n"),
        write(tmp_path / "b.csv.gz", "task,seed\nMRPC,1\nMRPC,2\n"),
    ]
    join_compressed(parts, tmp_path / "all.csv.gz")
    joined = pd.read_csv(tmp_path / "all.csv.gz", dtype={"seed": "Int64"})
    assert joined["task"].tolist() == ["RTE", "MRPC", "MRPC"]
    assert joined["seed"].isna().tolist() == [True, False, False]
    write(tmp_path / "c.csv.gz", "task\nRTE\n")
    with pytest.raises(InputError, match=r"c.csv.gz: found the columns task, expected those of"):
        join_compressed([*parts, tmp_path / "c.csv.gz"], tmp_path / "none.csv.gz")
    assert not (tmp_path / "none.csv.gz").exists()


@pytest.mark.parametrize(
    ("model", "written"),
    [("pretrained", "RTE,pretrained,,0.5"), ("finetuned/seed-12", "RTE,finetuned,12,0.5")],
)
def test_a_table_says_which_maps_it_is_about(model, written):
    table = identify(pd.DataFrame({"share": [0.5]}), "RTE", model)
    assert table.to_csv(index=False).split() == ["task,state,seed,share", written]
