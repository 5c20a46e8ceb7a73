import csv
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from darksecrets.core.run import columns, tables
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import Column, Table

HEADS = Table(
    "heads",
    "A table with every kind of column.",
    (
        *columns.MAPS,
        columns.LAYER,
        columns.HEAD,
        Column("word", "text", "a word", optional=True),
        Column("metric", "text", "a score", values=("accuracy", "pearson")),
        Column("weight", "number", "a weight", low=0, high=1),
        *tables.interval("weight", bounds=(0, 1), optional=True),
        Column("control", "number", "by chance", low=0, high=1, control_of="weight"),
        Column("sure", "flag", "whether"),
    ),
    key=("task", "state", "seed", "layer", "head"),
    every=("layer", "head"),
)
MAPS = replace(HEADS, name="maps", row_group=("task", "state", "seed"))
HEADER = "task,state,seed,layer,head,word,metric,weight,ci_low,ci_high,control,sure"


def part(task="RTE", seed=None, layers=2, heads=2):
    """One model's rows."""
    layer, head = (numbers.ravel() + 1 for numbers in np.indices((layers, heads)))
    weight = np.linspace(0, 1, len(layer)) / 3
    return pd.DataFrame(
        {
            "task": task,
            "state": "finetuned" if seed else "pretrained",
            "seed": pd.array([seed] * len(layer), dtype="Int64"),
            "layer": layer,
            "head": head,
            "word": ["null", "", 'a "b", c', "NA"][: len(layer)],
            "metric": "pearson",
            "weight": weight,
            "ci_low": [np.nan, *weight[1:] / 2],
            "ci_high": [np.nan, *weight[1:] * 2],
            "control": np.float32(1) / 3,
            "sure": [True, False, True, True][: len(layer)],
        }
    )


@pytest.fixture
def path(tmp_path):
    HEADS.write(part(), tmp_path / "heads.csv")
    return tmp_path / "heads.csv"


def refused(path, message, table=HEADS):
    """A file is refused; the message names it, what is wrong, the contract and the remedy."""
    with pytest.raises(InputError) as error:
        table.read(path)
    text = str(error.value)
    assert text.startswith(str(path)), text
    assert message in text
    assert f"(table `{table.name}` of the reference)" in text
    assert text.endswith("Remove the file and run again.")


def change(path, old, new, count=1):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def test_values_are_read_back_words_like_null_too_and_written_to_the_same_bytes(path, tmp_path):
    assert path.read_text().splitlines()[:3] == [
        HEADER,
        "RTE,pretrained,,1,1,null,pearson,0,,,0.3333333,True",
        "RTE,pretrained,,1,2,,pearson,0.1111111,0.05555556,0.2222222,0.3333333,False",
    ]
    read = HEADS.read(path)
    assert read["word"].tolist() == ["null", "", 'a "b", c', "NA"]
    assert read["seed"].isna().all()
    assert [str(dtype) for dtype in read.dtypes] == [c.dtype for c in HEADS.columns]
    assert np.isnan(read["ci_low"][0])
    HEADS.write(read, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    some = HEADS.read(path, ["weight", "task"])
    pd.testing.assert_frame_equal(some, read[["task", "weight"]])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            ",word",
            ",token",
            f"the columns are {HEADER.replace('word', 'token')} instead of {HEADER},",
        ),
        (",layer,head", ",head,layer", "the columns are task,state,seed,head,layer"),
        (",sure\n", ",sure,more\n", "sure,more instead of"),
        (",1,2,", ",one,2,", "`one` in column `layer`, row 2 instead of integers"),
        (",1,2,", ",1.5,2,", "`1.5` in column `layer`, row 2 instead of integers"),
        (",0.1111111,", ",much,", "`much` in column `weight`, row 2 instead of numbers"),
        (",0.1111111,", ",inf,", "`inf` in column `weight`, row 2 instead of a number 0 to 1"),
        (",0.1111111,", ",1.2,", "`1.2` in column `weight`, row 2 instead of a number 0 to 1"),
        (",0.1111111,", ",,", "no value in column `weight`, row 2 instead of one in every row"),
        (",0.1111111,", ",nan,", "`nan` in column `weight`, row 2 instead of numbers"),
        ("RTE,", ",", "no value in column `task`, row 1"),
        (",1,2,", ",0,2,", "`0` in column `layer`, row 2 instead of a number ≥ 1"),
        (",1,2,", ",,2,", "no value in column `layer`, row 2"),
        (
            "pearson",
            "pearso",
            "`pearso` in column `metric`, row 1 instead of one of accuracy",
        ),
        ("False", "Fals", "`Fals` in column `sure`, row 2 instead of True or False"),
        (
            "pretrained",
            "trained",
            "`trained` in column `state`, row 1 instead of one of pre",
        ),
        (
            ",1,2,",
            ",1,1,",
            "two rows of task RTE, state pretrained, layer 1, head 1 instead of",
        ),
        (
            ",2,2,",
            ",2,3,",
            "4 rows of task RTE, state pretrained instead of 6, one for every",
        ),
        ("0.05555556,0.2222222", "0.3,0.2", "`ci_low` above `ci_high`, row 2 instead of"),
    ],
)
def test_a_damaged_value_is_named(path, old, new, message):
    change(path, old, new)
    refused(path, message)


def test_a_line_with_too_many_fields_is_refused(path):
    path.write_text(path.read_text() + "RTE,pretrained,,1,2,,pearson,0.1,,,0.3,False,7,8\n")
    with pytest.raises(InputError, match=r"heads\.csv: cannot be read as CSV: .* run again\."):
        HEADS.read(path)


def test_a_file_that_was_cut_off_is_refused_wherever_it_was_cut(path, tmp_path):
    """Cut between lines, it can look like a smaller model until it is gathered with others."""
    other = tmp_path / "other.csv"
    HEADS.write(part(seed=1), other)
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        if whole[:end].endswith(b"\n"):
            with pytest.raises(InputError, match=r"(no|\d) rows"):
                HEADS.gather([path, other], tmp_path / "all.csv")
        else:
            with pytest.raises(InputError, match=r"heads\.csv.* Remove the file and run"):
                HEADS.read(path)


def test_lines_that_people_wrote_may_lack_the_last_break_and_are_not_to_be_removed(path):
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    by_hand = replace(HEADS, by_hand=True)
    assert len(by_hand.read(path)) == 4
    refused(path, "there is no line break at its end")
    change(path, "pearson", "spearman")
    with pytest.raises(InputError, match=r"`spearman` .*Correct or restore the file\.$"):
        by_hand.read(path)


def test_values_are_rounded_as_declared(path):
    rounded = [replace(c, decimals=4) if c.name == "control" else c for c in HEADS.columns]
    rows = part()
    replace(HEADS, columns=tuple(rounded)).write(rows, path)
    assert HEADS.read(path)["control"].tolist() == [0.3333] * 4
    assert rows["control"][0] == np.float32(1) / 3


def test_no_rows_are_a_result_only_where_they_are_declared_to_be(path):
    path.write_text(HEADER + "\n")
    refused(path, "no rows instead of at least one")
    maybe = replace(HEADS, may_be_empty=True)
    read = maybe.read(path)
    assert [str(dtype) for dtype in read.dtypes] == [c.dtype for c in HEADS.columns]
    maybe.write(pd.DataFrame(columns=list(HEADS.names)), path)
    assert path.read_text() == HEADER + "\n"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (part().drop(columns="word"), "the columns task, state, seed, layer, head, metric,"),
        (part()[[*reversed(HEADS.names)]], "the columns sure, control"),
        (part().assign(task=1), "values of the type int64 in column `task` instead of text"),
        (part().assign(layer=1.5), "`1.5` in column `layer`, row 1 instead of integers"),
        (part().assign(weight=True), "True or False in column `weight` instead of numbers"),
        (part().assign(weight=np.inf), "`inf` in column `weight`"),
        (part().assign(sure="yes"), "`yes` in column `sure`, row 1 instead of True or False"),
        (pd.concat([part(), part()]), "two rows of task RTE"),
        (part().iloc[::-1].iloc[1:], "3 rows of task RTE, state pretrained instead of 4"),
    ],
)
def test_nothing_is_written_that_could_not_be_read(path, changed, message):
    before = path.read_bytes()
    with pytest.raises(InputError) as error:
        HEADS.write(changed, path)
    assert str(error.value).startswith(f"{path}: {message}")
    assert str(error.value).endswith("correct the code that makes this table, or its declaration.")
    assert path.read_bytes() == before
    assert len(list(path.parent.iterdir())) == 1


def test_sums_of_half_precision_attention_may_exceed_1_by_rounding(path):
    HEADS.write(part().assign(weight=1.0009, ci_high=1.0009), path)
    assert HEADS.read(path)["weight"].max() == 1.0009


@pytest.mark.parametrize("table", [HEADS, MAPS])
def test_parts_are_gathered_in_order_and_each_once(table, tmp_path):
    parts = [part("RTE"), part("MRPC", 1), part("MRPC", 2)]
    paths = [tmp_path / f"{n}{table.suffix}" for n in range(3)]
    for rows, path in zip(parts, paths, strict=True):
        table.write(rows, path)
    target = tmp_path / table.file
    table.gather(paths, target)
    read = table.read(target)
    expected = pd.concat([table.read(path) for path in paths], ignore_index=True)
    pd.testing.assert_frame_equal(read, expected, check_exact=True)
    assert read["task"].tolist() == 4 * ["RTE"] + 8 * ["MRPC"]
    before = target.read_bytes()
    with pytest.raises(InputError, match=r".*rows of .*MRPC"):
        table.gather([*paths, paths[1]], target)
    assert target.read_bytes() == before


def test_a_part_of_another_shape_is_noticed_when_all_are_together(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    HEADS.write(part("RTE"), paths[0])
    HEADS.write(part("MRPC", layers=1), paths[1])
    with pytest.raises(InputError, match=r"2 rows of task MRPC, .* instead of 4, one for every"):
        HEADS.gather(paths, tmp_path / "heads.csv")


def test_a_gathered_parquet_table_has_a_row_group_per_model_and_its_columns_are_read_alone(
    tmp_path,
):
    paths = [tmp_path / f"{seed}.parquet" for seed in (1, 2, 3)]
    for seed, path in enumerate(paths, start=1):
        MAPS.write(part(seed=seed), path)
    target = tmp_path / "maps.parquet"
    MAPS.gather(paths, target)
    file = pq.ParquetFile(target)
    groups = [file.read_row_group(n).to_pandas() for n in range(file.num_row_groups)]
    assert [group["seed"].unique().tolist() for group in groups] == [[1], [2], [3]]
    assert MAPS.read(target, ["layer", "seed"]).columns.tolist() == ["seed", "layer"]
    first = target.read_bytes()
    MAPS.gather(paths, target)
    assert target.read_bytes() == first
    assert b"pandas" not in first  # its version would change the file


def test_a_parquet_file_of_two_models_is_no_part_and_a_damaged_one_is_named(tmp_path):
    path = tmp_path / "part.parquet"
    with pytest.raises(InputError, match=r"part\.parquet has rows of 2 different task, state"):
        MAPS.write(pd.concat([part(seed=1), part(seed=2)]), path)
    assert not path.exists()
    MAPS.write(part(), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"part\.parquet: cannot be read as Parquet: .* run again"):
        MAPS.read(path)
    pd.DataFrame({"task": ["RTE"]}).to_parquet(path)
    refused(path, "the columns are task (", MAPS)


@pytest.mark.parametrize(
    "changed",
    [
        {"key": ("layers",)},
        {"every": ("weight",)},
        {"row_group": ("weight",)},
        {"columns": (columns.LAYER, columns.LAYER)},
        {"columns": (columns.LAYER, replace(columns.HEAD, control_of="weight"))},
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(changed):
    plain = {"key": (), "every": (), "columns": HEADS.columns, **changed}
    with pytest.raises(ValueError, match="heads: repeated columns, or undeclared ones"):
        replace(HEADS, **plain)


@pytest.mark.parametrize(
    ("model", "written"),
    [("pretrained", "RTE,pretrained,,0.5"), ("finetuned/seed-12", "RTE,finetuned,12,0.5")],
)
def test_a_table_says_which_maps_it_is_about(model, written):
    table = tables.identify(pd.DataFrame({"share": [0.5]}), "RTE", model)
    assert table.to_csv(index=False).split() == ["task,state,seed,share", written]


def test_text_is_written_as_it_is(tmp_path):
    """Tables are read by programs, to which a quote before a sign is another text."""
    words = ["=1+1", "@user", "-LRB-", "+cmd|' /C calc'!A0", "'=1", "--", "＝1", "'tis", "-1"]
    table = Table("t", "Any text.", (Column("word", "text", "a word"),), key=("word",))
    table.write(pd.DataFrame({"word": words}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as stream:
        assert [row[0] for row in csv.reader(stream)] == ["word", *words]
    assert list(table.read(tmp_path / "t.csv")["word"]) == words
