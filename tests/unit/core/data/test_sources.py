"""Classic GLUE files against a naive reader, malformed files, and the Hub end to end."""

import io
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import DatasetDict
from glue import GLUE, GLUE_COMMIT, in_folder, on_hub
from glue import TASKS as SHIPPED
from hub import content
from hub.client import Client
from hub.standin import Hub, Repository

from darksecrets.core.data.sources import check_files, features, paths_of, read_files
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError

TASKS = {name: in_folder(name, Path()) for name in SHIPPED}
# Headers of the published training files.
CLASSIC = {
    "MRPC": "Quality|#1 ID|#2 ID|#1 String|#2 String",
    "STS-B": "index|genre|filename|year|old_index|source1|source2|sentence1|sentence2|score",
    "SST-2": "sentence|label",
    "QQP": "id|qid1|qid2|question1|question2|is_duplicate",
    "RTE": "index|sentence1|sentence2|label",
    "QNLI": "index|question|sentence|label",
    "MNLI": "index|promptID|pairID|genre|sentence1_binary_parse|sentence2_binary_parse|"
    "sentence1_parse|sentence2_parse|sentence1|sentence2|label1|gold_label",
}
# A label as spelled in the task's published file.
WRITTEN = {
    "MRPC": ["0", "1"],
    "STS-B": ["0.000", "2.5", "5.000"],
    "SST-2": ["0", "1"],
    "QQP": ["0", "1"],
    "RTE": ["entailment", "not_entailment"],
    "QNLI": ["entailment", "not_entailment"],
    "MNLI": ["entailment", "neutral", "contradiction"],
}


def line(task: Task, number: int, label: str, **replaced: str) -> str:
    """A line of a classic file: columns contain their name and the number, except the label."""
    fields = {column: f"{column} {number}" for column in CLASSIC[task.name].split("|")}
    fields[task.label] = label
    return "\t".join((fields | replaced).values())


def write(task: Task, folder: Path, lines: list[str], dev: list[str] | None = None) -> Path:
    """A classic folder with the given training lines; validation is well formed if not given."""
    first, *_, last = WRITTEN[task.name]
    dev = [line(task, 0, first), line(task, 1, last)] if dev is None else dev
    header = CLASSIC[task.name].replace("|", "\t")
    for path, body in zip(tsv_files(task, folder).values(), (lines, dev), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([header, *body]) + "\n", encoding="utf-8", newline="")
    return folder


def tsv_files(task: Task, folder: Path) -> dict[str, Path]:
    return paths_of(in_folder(task.name, folder))


def check_tsv(task: Task, folder: Path) -> None:
    check_files(in_folder(task.name, folder))


def from_tsv(task: Task, folder: Path) -> DatasetDict:
    return read_files(in_folder(task.name, folder))


@pytest.fixture
def rte() -> Task:
    return TASKS["RTE"]


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
def test_classic_layout_of_every_task(task, tmp_path):
    labels = WRITTEN[task.name]
    write(task, tmp_path, [line(task, i, label) for i, label in enumerate(labels)])
    dataset = from_tsv(task, tmp_path)
    train = dataset["train"]
    assert list(dataset) == ["train", "validation"]
    assert train.features == dataset["validation"].features == features(task)
    assert train["idx"] == list(range(len(labels)))
    for ours, theirs in zip(task.columns, task.text, strict=True):
        assert train[ours] == [f"{theirs} {i}" for i in range(len(labels))]
    expected = [float(label) for label in labels] if task.is_regression else [0, 1, 2]
    assert train["label"] == expected[: len(labels)]


def test_texts_are_taken_as_they_are(rte, tmp_path):
    # Quotes (also a single one), separators that are no line ends, and a stray carriage return.
    odd = ['"quoted', 'a "b" c', "''", "a\x0bb\x85c\u2028d", "naïve — 東京", " spaces "]
    lines = [line(rte, i, "entailment", sentence1=text) for i, text in enumerate(odd)]
    lines.append(line(rte, 9, "entailment", sentence1="cut\rhere"))
    train = from_tsv(rte, write(rte, tmp_path, lines))["train"]
    assert train["sentence1"] == [*odd, "cut here"]


def test_line_ends_and_byte_order_mark_of_windows(tmp_path):
    task = TASKS["SST-2"]  # the mark precedes a required column
    write(task, tmp_path, [line(task, 0, "0"), line(task, 1, "1")])
    path = tsv_files(task, tmp_path)["train"]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    train = from_tsv(task, tmp_path)["train"]
    assert train["sentence1"] == ["sentence 0", "sentence 1"]
    assert train["label"] == [0, 1]


def test_columns_are_found_by_name(rte, tmp_path):
    write(rte, tmp_path, [])
    path = tsv_files(rte, tmp_path)["train"]
    path.write_text("label\textra\tsentence2\tsentence1\nnot_entailment\tx\tsecond\tfirst\n")
    row = from_tsv(rte, tmp_path)["train"][0]
    assert row == {"idx": 0, "sentence1": "first", "sentence2": "second", "label": 1}


# `tests/inputs/data.py` has more that a check refuses.
MALFORMED = {
    "blank line": ("RTE", ["", "a\tb\tc\tentailment"], ["1 tab-separated fields instead of 4"]),
    "unlabelled": ("MNLI", ["\t".join("abcdefghijk-")], ["label '-'", "'gold_label'"]),
    "no number": ("STS-B", ["\t".join("abcdefghij")], ["label 'j'", "number from 0 to 5"]),
}


@pytest.mark.parametrize("which", [0, 1], ids=["train", "validation"])
@pytest.mark.parametrize(("name", "lines", "parts"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_line_is_named(tmp_path, name, lines, parts, which):
    task = TASKS[name]
    good = [line(task, i, WRITTEN[name][0]) for i in range(3)]
    bodies = [good, good]
    bodies[which] = good + lines
    write(task, tmp_path, *bodies)
    path = list(tsv_files(task, tmp_path).values())[which]
    for function in (check_tsv, from_tsv):
        with pytest.raises(InputError) as caught:
            function(task, tmp_path)
        assert str(caught.value).startswith(f"{path}, line 5: ")
        for part in parts:
            assert part in str(caught.value)


def broken_qqp(examples: int, broken: list[int]) -> list[str]:
    """QQP's lines, some cut in two inside the second question as in the published file."""
    lines = []
    for i in range(examples):
        whole = line(TASKS["QQP"], i, str(i % 2))
        lines += [whole[:-12], whole[-12:]] if i in broken else [whole]
    return lines


def test_known_flaws_of_qqp_are_skipped_and_counted(tmp_path, caplog):
    task = TASKS["QQP"]
    lines = broken_qqp(4000, [100, 2000])
    train = from_tsv(task, write(task, tmp_path, lines))["train"]
    # Naive reference: the lines with six fields, numbered as they stand in the file.
    expected = [i for i, text in enumerate(lines) if len(text.split("\t")) == 6]
    assert len(expected) == 3998
    assert train["idx"] == expected
    assert "skipped 4 of 4002 examples, the first: line 102: " in caplog.text


def test_too_many_flaws_of_qqp_are_refused(tmp_path):
    task = TASKS["QQP"]
    write(task, tmp_path, broken_qqp(1000, [100, 200]))
    with pytest.raises(InputError) as caught:
        check_tsv(task, tmp_path)
    for part in (
        "QQP/train.tsv: 4 of 1002",
        "line 102: ",
        "instead of 6",
        "0.1%",
        "Download the data",
    ):
        assert part in str(caught.value)


def test_unknown_label_of_qqp_is_no_known_flaw(tmp_path):
    task = TASKS["QQP"]
    lines = [*broken_qqp(4000, []), line(task, 1, "yes")]
    with pytest.raises(InputError, match="line 4002: label 'yes'"):
        check_tsv(task, write(task, tmp_path, lines))


def test_check_loads_no_heavy_library(rte, tmp_path):
    write(rte, tmp_path, [line(rte, i, word) for i, word in enumerate(rte.labels)])
    code = f"""
import sys
from pathlib import Path
from darksecrets.core.data.sources import check_files
from darksecrets.core.data.tasks import Task
from workflow.lib.tasks import resolve
data = {{"source": "tsv", "folder": {str(tmp_path)!r}}}
check_files(Task.from_entry("RTE", resolve(["RTE"], data)["RTE"]))
print(sorted({{"datasets", "huggingface_hub", "pandas", "pyarrow", "torch"}} & set(sys.modules)))
"""
    root = Path(__file__).parents[4]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "sizes"), [("MRPC", (3668, 408)), ("RTE", (3367, 277)), ("SST-2", (6920, 872))]
)
def test_real_files(test_data, name, sizes):
    task = TASKS[name]
    dataset = from_tsv(task, test_data / "glue")
    assert (len(dataset["train"]), len(dataset["validation"])) == sizes
    for split, file in (("train", "train.tsv"), ("validation", "dev.tsv")):
        text = (test_data / "glue" / name / file).read_bytes().decode()
        names, *rows = [row.split("\t") for row in text.rstrip("\n").split("\n")]
        for ours, theirs in zip(task.columns, task.text, strict=True):
            place = names.index(theirs)
            assert dataset[split][ours] == [row[place] for row in rows]
        counts = Counter(row[names.index(task.label)] for row in rows)
        words = task.labels if name == "RTE" else ("0", "1")
        assert Counter(dataset[split]["label"]) == {i: counts[w] for i, w in enumerate(words)}


# --- The Hub ----------------------------------------------------------------------------------

LOAD = f"""
import json, sys
from darksecrets.core.data import sources
from darksecrets.core.run import errors
from darksecrets.core.data.tasks import Task
from workflow.lib.tasks import resolve
data = {{"source": "hub", "repository": {GLUE!r}, "revision": {GLUE_COMMIT!r}}}
try:
    for name in sys.argv[1:] or {list(SHIPPED)!r}:
        task = Task.from_entry(name, resolve([name], data)[name])
        dataset = sources.read_hub(task)
        splits = {{split: dataset[split].to_list() for split in dataset}}
        assert all(dataset[s].features == sources.features(task) for s in dataset)
        print(json.dumps({{"task": name, **splits}}))
except errors.InputError as error:
    print("InputError:", error)
"""


def load(client: Client, *names: str, **settings: str) -> str:
    return client.run(LOAD.replace("sys.argv[1:]", repr(list(names))), **settings)


def expected_rows(task: Task, split: str, size: int) -> list[dict[str, object]]:
    """The served rows in the project's columns, without the example that has no text."""
    served = content.rows(task, split, size)
    kept = [row for row in served if all(str(row[c]).strip() for c in task.text)]
    names = dict(zip(task.text, task.columns, strict=True))
    return [{names.get(key, key): value for key, value in row.items()} for row in kept]


def test_all_tasks_from_the_hub_online_and_offline(hub, client):
    online = load(client)
    loaded = [json.loads(text) for text in online.splitlines()]
    assert [answer["task"] for answer in loaded] == list(TASKS)
    for answer, task in zip(loaded, map(on_hub, TASKS), strict=True):
        for split, name, size in (
            ("train", "train", content.TRAIN),
            ("validation", task.data.validation, content.VALIDATION),
        ):
            expected = expected_rows(task, name, size)
            for row, reference in zip(answer[split], expected, strict=True):
                # STS-B's labels are rounded to single precision: 5 · 2⁻²⁴ at most.
                assert row.pop("label") == pytest.approx(reference.pop("label"), abs=3e-7)
                assert row == reference
    # Of each task, the files of the two splits and nothing else.
    assert len(hub.downloads()) == 14
    assert not any("test" in path or "mismatched" in path for path in hub.downloads())
    hub.requests.clear()
    assert load(client, HF_HUB_OFFLINE="1") == online
    assert hub.requests == []


@pytest.fixture
def changed(hub: Hub, glue_repository: Repository) -> dict[str, bytes]:
    """The files of RTE, to be changed before they are served."""
    files = {path: data for path, data in glue_repository.files.items() if path.startswith("rte/")}
    hub.repositories[:] = [Repository("datasets", GLUE, GLUE_COMMIT, files)]
    return files


def test_columns_and_classes_on_the_hub_are_checked_without_a_download(
    hub, client, changed, glue_repository
):
    check = LOAD.replace("sources.read_hub(task)", "sources.check_hub_columns([task])")
    check = check.replace("        splits = ", "        continue\n        splits = ")
    code = check.replace("sys.argv[1:]", "['RTE']")
    assert client.run(code) == ""
    ranges = [asked for _, path, asked in hub.requests if path.startswith("/large/")]
    assert ranges
    assert all(asked.startswith("bytes=") for asked in ranges)
    train = "rte/train-00000-of-00001.parquet"
    for other, message in (
        ("qnli", "train: no column sentence1, sentence2"),
        ("mrpc", "labels are not_equivalent, equivalent; expected entailment, not_entailment"),
    ):
        changed[train] = glue_repository.files[train.replace("rte", other)]
        assert message in client.run(code)
    load(client, "RTE")  # what is in the cache is not asked for again
    hub.requests.clear()
    assert message in client.run(code, HF_HUB_OFFLINE="1")
    assert hub.requests == []


def test_many_examples_without_text_on_the_hub(hub, client, changed, rte):
    rte = on_hub("RTE")
    rows = content.rows(rte, "train", 100)
    rows[3]["sentence1"] = ""
    changed["rte/train-00000-of-00001.parquet"] = content.parquet(rte, rows)
    error = load(client, "RTE")
    assert "train: 1 of 100 examples cannot be used, the first of them: idx 3" in error


def test_shard_that_the_repository_lacks(hub, client, changed):
    content = changed.pop("rte/train-00000-of-00001.parquet")
    changed["rte/train-00000-of-00002.parquet"] = content
    error = load(client, "RTE")
    assert "has 1 of the 2 files of rte/train-*.parquet" in error


def serve(
    files: dict[str, bytes],
    values: pa.Array,
    names: list[str] | None,
    *paths: str,
) -> None:
    """Put a task of three texts on the Hub; with names, its labels are a `ClassLabel`."""
    label = {"names": names, "_type": "ClassLabel"} if names else None
    features = {"t": {"dtype": "string", "_type": "Value"}}
    features["y"] = label or {"dtype": str(values.type), "_type": "Value"}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    schema = pa.schema([("t", pa.string()), ("y", values.type)], metadata)
    stream = io.BytesIO()
    pq.write_table(pa.table([pa.array(["a", "b", "c"]), values], schema=schema), stream)
    for path in paths or (f"{split}-00000-of-00001" for split in ("train", "validation")):
        files[f"data/{path}.parquet"] = stream.getvalue()


def loads_own(client: Client, **entry: object) -> str:
    """What loading a task of such an entry prints."""
    entry = {"text": "t", "label": "y", "metrics": "accuracy", **entry}
    entry |= {"hub": {"repository": GLUE, "revision": GLUE_COMMIT}}
    code = LOAD.replace("resolve([name], data)", f"resolve({{name: {entry!r}}}, data)")
    return client.run(code.replace("sys.argv[1:]", "['own']"))


@pytest.mark.parametrize("kind", ["names", "codes", "words"])
def test_labels_on_the_hub_are_mapped_as_the_entry_says(hub, client, changed, kind):
    """A `ClassLabel` of other names, whole numbers, and text."""
    labels = {"names": ["bad", "good"], "codes": [1, 2], "words": ["no", "yes"]}[kind]
    values = pa.array([0, 1, 1] if kind == "names" else [labels[i] for i in (0, 1, 1)])
    serve(changed, values, labels if kind == "names" else None)
    answer = json.loads(loads_own(client, labels=dict(zip(labels, ("low", "high"), strict=True))))
    assert [row["label"] for row in answer["train"]] == [0, 1, 1]
    assert [row["idx"] for row in answer["train"]] == [0, 1, 2]
    error = loads_own(client, labels={"other": "low", labels[0]: "high"})
    assert error.startswith("InputError: ")
    assert "tasks.own" in error


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["bad", "fine", "good"], [0, 1, 2]),  # as in training
        (["fine", "good"], [0, 1, 1]),  # encoded by itself, without the class that it lacks
        (["good", "fine", "bad"], [2, 1, 0]),
        (["fine", "bad", "good"], [1, 0, 2]),
    ],
)
def test_each_split_on_the_hub_says_what_its_own_numbers_mean(hub, client, changed, names, numbers):
    classes = ["bad", "fine", "good"]
    serve(changed, pa.array([0, 1, 2]), classes, "train-00000-of-00001")
    serve(changed, pa.array(numbers), names, "validation-00000-of-00001")
    found = json.loads(loads_own(client, labels=classes))
    assert [row["label"] for row in found["train"]] == [0, 1, 2]
    meant = [classes.index(names[number]) for number in numbers]
    assert [row["label"] for row in found["validation"]] == meant


def test_classes_of_both_splits_are_checked_before_any_job(hub, client, changed):
    serve(changed, pa.array([0, 1, 1]), ["bad", "good"], "train-00000-of-00001")
    serve(changed, pa.array([0, 1, 1]), ["awful", "good"], "validation-00000-of-00001")
    check = LOAD.replace("sources.read_hub(task)", "sources.check_hub_columns([task])")
    entry = {"text": "t", "label": "y", "metrics": "accuracy", "labels": ["bad", "good"]}
    entry |= {"hub": {"repository": GLUE, "revision": GLUE_COMMIT}}
    code = check.replace("resolve([name], data)", f"resolve({{name: {entry!r}}}, data)")
    error = client.run(code.replace("sys.argv[1:]", "['own']"))
    assert "validation: the labels are awful, good; expected bad, good" in error


def test_files_of_a_split_that_number_their_classes_differently_are_refused(hub, client, changed):
    serve(changed, pa.array([0, 1, 1]), ["bad", "good"])
    del changed["data/train-00000-of-00001.parquet"]
    serve(changed, pa.array([0, 1, 1]), ["bad", "good"], "train-00000-of-00002")
    serve(changed, pa.array([0, 1, 1]), ["good", "bad"], "train-00001-of-00002")
    error = loads_own(client, labels=["bad", "good"])
    assert "train: the files name the classes differently: bad, good in " in error


@pytest.mark.parametrize("labels", [["good", "bad"], ["bad", "good"]], ids=["same", "other"])
@pytest.mark.parametrize("wrong", [-1, 2, None])
def test_examples_on_the_hub_without_a_label_are_refused(hub, client, changed, labels, wrong):
    """−1 is how the Hub says that there is no label; it is not the last class."""
    serve(changed, pa.array([0, 1, wrong]), ["good", "bad"])
    error = loads_own(client, labels=labels)
    assert error.startswith("InputError: ")
    assert "1 of 3 examples have no label, the first of them idx 2" in error
    assert "tasks.own.hub" in error
