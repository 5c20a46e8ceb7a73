"""Entries of tasks, completed; `tests/inputs/` has more that are wrong."""

import pytest
import yaml
from shipped import DATA, MODEL

from darksecrets.core.data import preflight
from darksecrets.core.data.tasks import Files, Task
from darksecrets.core.run.errors import InputError
from workflow.lib.configuration import resolve

TOPICS = {
    "text": "text",
    "label": "topic",
    "labels": ["one", "two", "three"],
    "metrics": "accuracy",
    "files": {"train": "train.csv", "validation": "validation.csv"},
}
SCORE = {**TOPICS, "range": [1, 5], "metrics": ["pearson"]}
del SCORE["labels"]


def resolved(tasks, **data):
    """Entries of a resolved configuration."""
    data = {"data": data} if data else {}
    return resolve({"run": "r", "model": MODEL, "tasks": tasks, **data})["tasks"]


def refused(tasks, **data):
    with pytest.raises(InputError) as caught:
        resolved(tasks, **data)
    return str(caught.value)


def test_a_list_and_a_mapping_of_names_are_the_same():
    names = ["RTE", "MRPC"]
    assert resolved(names, **DATA) == resolved(dict.fromkeys(names), **DATA)
    assert list(resolved(names, **DATA)) == names


def test_parts_of_a_run_are_for_some_tasks():
    base = {"run": "r", "model": MODEL, "tasks": ["MRPC", "RTE"]}
    base["data"] = DATA
    found = resolve(base | {"landscape": {"tasks": [], "flatness": {"tasks": None}}})["landscape"]
    assert (found["tasks"], found["flatness"]["tasks"]) == ([], ["MRPC", "RTE"])
    wrong = {"importance": {"tasks": [], "pruning": {"tasks": ["RTE"]}}}
    with pytest.raises(InputError, match=r"'RTE'\. There are no tasks to choose"):
        resolve(base | wrong)


@pytest.mark.parametrize("source", ["tsv", "hub"])
def test_resolving_a_resolved_configuration_changes_nothing(source):
    config = {"run": "r", "data": {"source": source, "folder": "glue"}}
    config |= {"model": MODEL, "tasks": {"RTE": None, "own": TOPICS, "STS-B": {}}}
    once = resolve(config)
    assert resolve(once) == once
    assert yaml.safe_load(yaml.safe_dump(once, sort_keys=False)) == once


def test_single_keys_of_a_task_that_ships_can_be_replaced():
    entry = resolved({"RTE": {"metrics": ["f1", "accuracy"]}}, **DATA)["RTE"]
    assert entry["metrics"] == ["f1", "accuracy"]
    assert entry["labels"] == ["entailment", "not_entailment"]


def test_data_of_an_entry_come_before_those_of_the_run():
    tasks = resolved({"RTE": None, "topics": TOPICS}, source="tsv", folder="glue")
    assert Task.from_entry("RTE", tasks["RTE"]).data.train.as_posix() == "glue/RTE/train.tsv"
    assert Task.from_entry("topics", tasks["topics"]).data.train.as_posix() == "train.csv"
    assert "hub" not in resolved({"RTE": {"files": TOPICS["files"]}}, source="hub")["RTE"]


def test_a_task_of_the_hub_has_the_repository_of_the_run_or_its_own():
    own = {key: value for key, value in TOPICS.items() if key != "files"}
    entry = resolved({"CoLA": own}, source="hub", revision="abc")["CoLA"]
    assert entry["hub"]["repository"] == "nyu-mll/glue"
    assert entry["hub"]["config"] == "cola"
    assert entry["hub"]["revision"] == "abc"
    hub = {"repository": "me/mine", "revision": "def"}
    data = Task.from_entry("CoLA", resolved({"CoLA": {**own, "hub": hub}})["CoLA"]).data
    assert (data.repository, data.config, data.train) == ("me/mine", "data", "train")


def test_codes_mean_what_the_entry_says():
    names = Task.from_entry("a", {**TOPICS, "text": ["text"], "labels": ["no", "yes"]})
    assert names.codes == {"no": 0, "yes": 1, "0": 0, "1": 1}
    digits = resolved({"a": {**TOPICS, "labels": [1, 2, 3]}})["a"]
    assert Task.from_entry("a", digits).codes == {"1": 0, "2": 1, "3": 2}  # names, not numbers
    coded = resolved({"a": {**TOPICS, "labels": {-1: "bad", 1: "good"}}})["a"]
    task = Task.from_entry("a", coded)
    assert task.codes == {"-1": 0, "1": 1}
    assert task.labels == ("bad", "good")


def without(key, entry=TOPICS):
    return {name: value for name, value in entry.items() if name != key}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({**TOPICS, "metrics": "acuracy"}, ["did you mean 'accuracy'"]),
        (
            {**TOPICS, "metrics": "f1"},
            ["'f1' is a metric of two classes and does not fit a task with 3", "f1_macro"],
        ),
        (
            {**SCORE, "metrics": "accuracy"},
            ["a metric of classes and does not fit a regression", "pearson"],
        ),
        ({**TOPICS, "labels": []}, ["labels has 0 class"]),
        ({**TOPICS, "labels": {0: False, 1: True}}, ["labels has false, true", "in quotes"]),
        ({**TOPICS, "text": ["text", "text"]}, ["use different ones"]),
    ],
)
def test_a_wrong_entry_is_named_with_what_was_expected(entry, words):
    message = refused({"t": entry})
    for word in words:
        assert word in message


def test_a_task_that_does_not_ship_needs_an_entry():
    assert "'CoLA' has no entry" in refused(["CoLA"], **DATA)
    files = resolved({"CoLA": without("files")}, source="tsv", folder="glue")["CoLA"]["files"]
    assert files == {"train": "glue/CoLA/train.tsv", "validation": "glue/CoLA/dev.tsv"}


def test_all_mistakes_are_named_at_once():
    message = refused({"a b": without("text"), "c": {**TOPICS, "metrics": "mcc"}, "nothing": None})
    for word in ("'a b'", "tasks.a b lacks the key text", "'mcc'", "'nothing'"):
        assert word in message


# --- The data ---------------------------------------------------------------------------------

HEADER = "text,topic\n"
GOOD = HEADER + "".join(f"text {i},{label}\n" for i, label in enumerate(TOPICS["labels"]))


def checked(folder, *, suffix="csv", entry=TOPICS, **texts):
    """Check a task with these files."""
    files = {}
    for split in ("train", "validation"):
        files[split] = str(folder / f"{split}.{suffix}")
        if (text := texts.get(split, texts.get("both", GOOD))) is not None:
            (folder / f"{split}.{suffix}").write_text(text, newline="")
    config = {"run": "r", "model": MODEL, "tasks": {"t": {**entry, "files": files}}}
    preflight.check(resolve(config))


def test_a_wrong_row_is_named_with_its_line_also_after_rows_of_several_lines(tmp_path):
    with pytest.raises(InputError, match=r"train\.csv, line 7: 1 comma-separated fields"):
        checked(tmp_path, train=GOOD + '"a\nb",one\nc\n')


def test_labels_of_json_lines_may_be_numbers_and_truth_values(tmp_path):
    labels = {"true": "yes", "false": "no", 2: "maybe"}
    values = ("true", "false", "2")
    lines = "".join(f'{{"text": "is {value}", "topic": {value}}}\n' for value in values)
    checked(tmp_path, suffix="jsonl", entry={**TOPICS, "labels": labels}, both=lines)


def test_a_folder_with_fewer_tasks_suggests_those_that_it_has(tmp_path):
    (tmp_path / "RTE").mkdir()
    header = "sentence1\tsentence2\tlabel\n"
    for name in ("train.tsv", "dev.tsv"):
        (tmp_path / "RTE" / name).write_text(f"{header}a\tb\tentailment\na\tc\tnot_entailment\n")
    config = {"run": "r", "model": MODEL}
    config["data"] = {"source": "tsv", "folder": str(tmp_path)}
    with pytest.raises(InputError, match=r"no files of MRPC, STS-B, .*Set tasks: \[RTE\]"):
        preflight.check(resolve(config))
    preflight.check(resolve({**config, "tasks": ["RTE"]}))
    config["data"]["folder"] = str(tmp_path / "none")
    with pytest.raises(InputError, match="no such folder"):
        preflight.check(resolve(config))


def test_real_files_are_read_with_an_entry_of_ones_own(test_data):
    """The classic RTE as if it were a new task, found with the names of its columns."""
    folder = test_data / "glue" / "RTE"
    files = {"train": str(folder / "train.tsv"), "validation": str(folder / "dev.tsv")}
    entry = {"text": ["sentence1", "sentence2"], "label": "label", "files": files}
    entry |= {"labels": ["not_entailment", "entailment"], "metrics": ["matthews_corrcoef"]}
    config = resolve({"run": "r", "model": MODEL, "tasks": {"mine": entry}})
    preflight.check(config)
    assert isinstance(Task.from_entry("mine", config["tasks"]["mine"]).data, Files)
