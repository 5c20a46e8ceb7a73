"""The programs under benchmarks/ that count the project's budgets and compare two runs."""

from pathlib import Path

import budgets
import compare_runs
import numpy as np
import pandas as pd
import pytest
from compare_runs import CLOSE, DIFFERENT, EQUAL, GONE, MISSING, NEW, Renames

from darksecrets.ablation.tables import HEAD_ABLATION


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""Module."""\n\n# comment\nx = 1  # why\n', 1),
        ('def f():\n    """Of\n\n    two."""\n    return """a\nb"""\n', 3),
        ('X = 1\n"""What X is."""\n', 1),
        ("call(\n    1,\n\n    # comment\n    2,\n)\n", 4),
        ('rule a:\n    """Do it."""\n    output:\n        "a.csv",\n', 3),
        ("", 0),
    ],
)
def test_net_lines_are_lines_of_code(text, lines):
    assert budgets.net_lines(text) == lines


def test_keys_are_leaves_and_the_entries_of_a_mapping_are_one():
    leaf = {"type": "integer"}
    entries = {"additionalProperties": {"properties": {"a": leaf, "b": leaf}}}
    section = {"properties": {"inner": {"properties": {"a": leaf, "b": leaf}}, "c": leaf}}
    assert budgets.keys({"properties": {"run": leaf, "tasks": entries, "s": section}}) == 5


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project: two packages, a rule file of one, a script of one, and one of both."""
    files = {
        "Snakefile": 'include: "workflow/rules/a.smk"\n',
        "workflow/Snakefile": 'include: "../Snakefile"\n',
        "workflow/rules/a.smk": (
            'rule x:\n    script:\n        "../../scripts/own.py"\n\n\n'
            'rule y:\n    script:\n        "../../scripts/both.py"\n'
        ),
        "workflow/rules/b.smk": 'rule z:\n    script:\n        "../../scripts/both.py"\n',
        "workflow/lib/plan.py": "x = 1\n",
        "scripts/own.py": "x = 1\ny = 2\n",
        "scripts/both.py": "x = 1\n",
        "darksecrets/__init__.py": '"""The project."""\nv = 1\n',
        "darksecrets/a/__init__.py": '"""A."""\n',
        "darksecrets/a/deep/one.py": "x = 1\n",
        "darksecrets/b/__init__.py": "x = 1\n",
        "README.md": "five words, and one more\n",
        "docs/contracts.md": "made by a program\n",
        "benchmarks/results/a.md": "made by a program\n",
        "docs/own.md": "two words\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_lines_go_to_the_package_that_owns_rules_and_scripts(tree):
    assert budgets.code(tree) == {
        "a": 6 + 2 + 1,
        "b": 3 + 1,
        "shared": 2 + 1,  # both Snakefiles, and the script of both
        "darksecrets": 1,
        "workflow/lib": 1,
    }


def test_words_leave_out_pages_that_programs_make(tree):
    assert budgets.words(tree) == 5 + 2


def test_every_module_and_rule_of_the_project_is_counted_once(root):
    files = [*(root / "darksecrets").rglob("*.py"), *(root / "scripts").glob("*.py")]
    files += [*(root / "workflow").rglob("*.smk"), *(root / "workflow" / "lib").rglob("*.py")]
    files += [root / "Snakefile", root / "workflow" / "Snakefile"]
    counted = budgets.code(root)
    assert counted.total() == sum(budgets.net_lines(path.read_text("utf-8")) for path in files)
    assert set(counted) <= {
        *("shared", "darksecrets", "workflow/lib"),
        *(path.name for path in (root / "darksecrets").iterdir()),
    }


HEADS = pd.DataFrame(
    {
        **{
            "task": "RTE",
            "state": "finetuned",
            "seed": 1,
            "metric": "accuracy",
            "layer": [1, 1, 2],
            "head": [1, 2, 1],
        },
        **{
            "delta": [0.125, -0.5, float("nan")],
            "order": "least important first",
            "text": "2 of 3 heads",
        },
    }
)


def run(folder: Path, heads: pd.DataFrame = HEADS, weights: float = 1.0) -> Path:
    """A run with a table, its Parquet, arrays, JSON, weights, and files that are no results."""
    for name in ("tables", "logs", "maps"):
        (folder / name).mkdir(parents=True)
    heads.to_csv(folder / "tables" / f"{HEAD_ABLATION.name}.csv", index=False)
    heads.to_parquet(folder / "tables" / "many.parquet")
    heads.to_csv(folder / "tables" / "compression_times.csv", index=False)
    np.savez(folder / "maps" / "of.npz", a=np.arange(6.0).reshape(2, 3), b=np.array(["x", "y"]))
    np.save(folder / "maps" / "one.npy", np.full(3, weights, np.float16))
    (folder / "maps" / "of.json").write_text('{"parts": [{"n": 1}, {"n": 2.5}], "of": "x"}')
    (folder / "maps" / "of.provenance.json").write_text(f'{{"made": "{folder}"}}')
    (folder / "logs" / "a.csv").write_text(f"log\n{folder}\n")
    return folder


def states(old: Path, new: Path, renames: Renames | None = None) -> dict[str, str]:
    """Files that are not equal, with their state."""
    found, _ = compare_runs.compare_runs(old, new, renames or Renames(), 1e-6)
    assert {"maps/of.npz", "maps/of.json"} <= {each.file for each in found}
    return {each.file: each.state for each in found if each.state != EQUAL}


TABLE, MANY = f"tables/{HEAD_ABLATION.name}.csv", "tables/many.parquet"


def test_a_run_equals_itself_although_provenance_logs_and_times_differ(tmp_path):
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
