"""The program that compares two runs, with which a change is shown to move no number."""

from pathlib import Path

import compare_runs
import numpy as np
import pandas as pd
import pytest
from compare_runs import CLOSE, DIFFERENT, EQUAL, GONE, MISSING, NEW, Renames

from darksecrets.paper.ablation.tables import HEAD_ABLATION

HEADS = pd.DataFrame(
    {
        "task": "RTE",
        "state": "finetuned",
        "seed": 1,
        "metric": "accuracy",
        "layer": [1, 1, 2],
        "head": [1, 2, 1],
        "delta": [0.125, -0.5, float("nan")],
        "order": "least important first",
        "text": "2 of 3 heads",
    }
)


def run(folder: Path, heads: pd.DataFrame = HEADS, weights: float = 1.0) -> Path:
    """A run with a table, its Parquet, arrays, JSON, weights, and files that are no results."""
    for name in ("tables", "logs", "maps", "records"):
        (folder / name).mkdir(parents=True)
    heads.to_csv(folder / "tables" / f"{HEAD_ABLATION.name}.csv", index=False)
    heads.to_parquet(folder / "tables" / "many.parquet")
    heads.to_csv(folder / "tables" / "compression_times.csv", index=False)
    np.savez(folder / "maps" / "of.npz", a=np.arange(6.0).reshape(2, 3), b=np.array(["x", "y"]))
    np.save(folder / "maps" / "one.npy", np.full(3, weights, np.float16))
    (folder / "maps" / "of.json").write_text('{"parts": [{"n": 1}, {"n": 2.5}], "of": "x"}')
    (folder / "records" / "of.json").write_text(f'{{"made": "{folder}"}}')
    (folder / "logs" / "a.csv").write_text(f"log\n{folder}\n")
    return folder


def states(old: Path, new: Path, renames: Renames | None = None) -> dict[str, str]:
    """Files that are not equal, with their state."""
    found, _ = compare_runs.compare_runs(old, new, renames or Renames(), 1e-6)
    assert {"maps/of.npz", "maps/of.json"} <= {each.file for each in found}
    return {each.file: each.state for each in found if each.state != EQUAL}


TABLE, MANY = f"tables/{HEAD_ABLATION.name}.csv", "tables/many.parquet"


def test_a_run_equals_itself_although_records_logs_and_times_differ(tmp_path):
    old, new = run(tmp_path / "old"), run(tmp_path / "new")
    (new / "tables" / "compression_times.csv").write_text("seconds\n7\n")
    assert states(old, new) == {}
    _, skipped = compare_runs.compare_runs(old, new, Renames(), 0)
    assert sorted(skipped.values()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("value", "state"),
    [(0.125 * (1 + 1e-9), CLOSE), (0.1251, DIFFERENT), (-0.125, DIFFERENT), (np.nan, DIFFERENT)],
)
def test_one_changed_number_is_found_with_its_size(value, state, tmp_path):
    damaged = HEADS.copy()
    damaged.loc[0, "delta"] = value
    old, new = run(tmp_path / "old"), run(tmp_path / "new", damaged)
    assert states(old, new) == {TABLE: state, MANY: state}


def test_arrays_are_compared_bit_for_bit(tmp_path):
    old, new = run(tmp_path / "old"), run(tmp_path / "new", weights=1.001)
    np.savez(new / "maps" / "of.npz", a=np.zeros((3, 2)), b=np.array(["x", "z"]))
    (new / "maps" / "of.json").write_text('{"parts": [{"n": 1}, {"n": 2}], "of": "x"}')
    changed = ("maps/of.json", "maps/of.npz", "maps/one.npy")
    assert states(old, new) == dict.fromkeys(changed, DIFFERENT)
    zeros = np.zeros(2), np.array([0.0, -0.0])
    assert compare_runs.differences(*zeros).tolist() == [0.0]
    large = np.array([2**60]), np.array([2**60 + 1])  # equal as doubles
    assert len(compare_runs.differences(*large)) == 1


def test_rows_are_paired_by_the_key_of_their_table(tmp_path):
    old, new = run(tmp_path / "old"), run(tmp_path / "new", HEADS.iloc[::-1])
    assert states(old, new) == {MANY: DIFFERENT}  # of which no key is known
    fewer = run(tmp_path / "fewer", HEADS.iloc[[2, 0]])
    assert states(old, fewer)[TABLE] == DIFFERENT
    assert TABLE not in states(fewer, new)  # a new row changes no value


def test_numbers_written_in_another_way_are_the_same():
    texts = [np.array(each, object) for each in (["1", "0.50", "a"], ["1.0", "5e-1", "a"])]
    assert len(compare_runs.differences(*texts)) == 0


def test_renamed_files_columns_and_values_are_the_same(tmp_path):
    renamed = HEADS.assign(order="least important first").rename(columns={"delta": "change"})
    old, new = run(tmp_path / "old"), run(tmp_path / "new", renamed)
    for folder, name in ((old, "second"), (new, "other")):
        (folder / "tables" / "many.parquet").rename(folder / "tables" / f"{name}.parquet")
    renames = Renames(
        files={"second": "other"},
        columns={"delta": "change"},
        values={"order": {"least important first": "least important first"}},
    )
    assert states(old, new, renames) == {}
    assert set(states(old, new).values()) == {DIFFERENT, MISSING, NEW}


def test_a_missing_file_counts_unless_it_is_expected(tmp_path):
    old, new = run(tmp_path / "old"), run(tmp_path / "new")
    (new / MANY).unlink()
    assert states(old, new) == {MANY: MISSING}
    assert states(old, new, Renames(gone={"tables/many*": "not needed"})) == {MANY: GONE}
    assert states(new, old) == {MANY: NEW}


def test_sentences_may_change_their_words_but_not_their_numbers(tmp_path):
    old = run(tmp_path / "old")
    other_words = run(tmp_path / "words", HEADS.assign(text="of 2 heads, 3"))
    other_numbers = run(tmp_path / "numbers", HEADS.assign(text="2 of 4 heads"))
    renames = Renames(sentences=("text",))
    assert states(old, other_words, renames) == {}
    assert states(old, other_numbers, renames) == {TABLE: DIFFERENT, MANY: DIFFERENT}
    assert states(old, other_words) == {TABLE: DIFFERENT, MANY: DIFFERENT}
