import json

import jsonschema
import pytest
import yaml

from darksecrets.run.errors import InputError
from workflow.lib import configuration
from workflow.lib.configuration import load_schema, resolve, settings_for_claims
from workflow.lib.tasks import shipped

MINIMAL = {"run": "r", "data": {"source": "builtin"}, "model": {"source": "builtin"}}


def test_the_schema_is_a_valid_schema():
    jsonschema.Draft202012Validator.check_schema(load_schema())


def test_the_default_is_every_task_that_ships():
    assert load_schema()["properties"]["tasks"]["default"] == list(shipped())


@pytest.mark.parametrize("file", ["config", "paper", "real"])
def test_shipped_configurations_are_valid(file, root):
    config = yaml.safe_load((root / "config" / f"{file}.yaml").read_text())
    if file == "real":  # what is on the disk comes from the command line
        config["data"]["folder"] = config["model"]["folder"] = "somewhere"
        config["framenet"]["file"] = "links.tsv"
    assert resolve(config)["run"] == {"config": "demo"}.get(file, file)


def test_paper_configuration_is_the_protocol_of_the_paper(root):
    config = resolve(yaml.safe_load((root / "config" / "paper.yaml").read_text()))
    assert list(config["tasks"]) == ["MRPC", "STS-B", "SST-2", "QQP", "RTE", "QNLI", "MNLI"]
    tuning = config["fine_tuning"]
    assert (tuning["batch_size"], tuning["epochs"], tuning["max_length"]) == (32, 3, 128)
    assert tuning["learning_rate"] == 2e-5
    assert config["samples"]["size"] == 1000
    assert configuration.is_paper_run(config)


def test_only_bert_base_on_glue_is_compared_with_the_paper():
    assert not configuration.is_paper_run(resolve(MINIMAL))
    other = {**MINIMAL, "data": {"source": "hub"}, "model": {"source": "hub", "id": "a/other"}}
    assert not configuration.is_paper_run(resolve(other))


def test_a_run_is_described_by_its_model_and_data():
    assert "tiny BERT" in configuration.describe(resolve(MINIMAL))
    assert "not comparable" in configuration.describe(resolve(MINIMAL))
    own = {
        "data": {"source": "tsv", "folder": "some/glue"},
        "model": {"source": "folder", "folder": "site-packages/encoder/model"},
    }
    assert configuration.describe(resolve({**MINIMAL, **own})) == "encoder/model · glue (TSV)"


def test_defaults_fill_every_key_and_resolving_twice_changes_nothing():
    once = resolve(MINIMAL)
    assert once["fine_tuning"]["epochs"] == 3
    assert once["samples"] == {"size": 1000, "seed": 2019}
    assert resolve(once) == once
    assert MINIMAL["data"] == {"source": "builtin"}, "the input is left alone"


def test_tasks_without_seeds_have_those_of_the_run():
    config = resolve({**MINIMAL, "seeds": [3, 1], "tasks": {"RTE": {"seeds": [3]}, "MRPC": None}})
    assert {name: entry["seeds"] for name, entry in config["tasks"].items()} == {
        "RTE": [3],
        "MRPC": [3, 1],
    }


def test_numbers_that_may_be_left_out_may_be_text():
    config = resolve({**MINIMAL, "fine_tuning": {"warmup_steps": "5"}})
    assert config["fine_tuning"]["warmup_steps"] == 5
    assert resolve({**MINIMAL, "model": {"source": "builtin", "folder": "5"}})["model"] == {
        **config["model"],
        "folder": "5",
    }


def test_tasks_without_epochs_have_those_of_fine_tuning():
    config = resolve({**MINIMAL, "tasks": {"RTE": {"epochs": 20}, "MRPC": None}})
    assert {name: entry["epochs"] for name, entry in config["tasks"].items()} == {
        "RTE": 20,
        "MRPC": 3,
    }
    assert settings_for_claims(config)["epochs"] == 20
    assert None not in settings_for_claims(config).values()


@pytest.mark.parametrize("task", ["RTE", "SST-2"])
@pytest.mark.parametrize("file", ["config.yaml", "paper.yaml"])
def test_a_run_narrowed_to_one_task_keeps_what_its_sections_name_of_it(file, task, root):
    config = yaml.safe_load((root / "config" / file).read_text("utf-8"))
    narrowed = resolve(config | {"tasks": [task]})
    named = task in config["importance"]["pruning"]["tasks"]
    assert narrowed["importance"]["tasks"] == narrowed["ablation"]["tasks"] == [task]
    assert narrowed["importance"]["pruning"]["tasks"] == [task] * named


def test_every_default_is_valid():
    def walk(schema):
        for part in schema["properties"].values():
            if part.get("type") == "object":
                walk(part)
            elif "default" in part:
                jsonschema.validate(part["default"], part)

    walk(load_schema())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"runs": "x"}, ["unknown key 'runs'", "did you mean 'run'"]),
        ({"fine_tuning": {"epoch": 1}}, ["fine_tuning", "'epoch'", "'epochs'"]),
        ({"fine_tuning": {"epochs": "three"}}, ["fine_tuning.epochs", "'three' (str)", "integer"]),
        ({"tasks": ["CoLA"]}, ["tasks", "'CoLA'", "MRPC"]),
        ({"tasks": []}, ["tasks", "[]", "minItems 1"]),
        ({"seeds": [1, 1]}, ["seeds", "uniqueItems"]),
        ({"tasks": {"RTE": {"seeds": [2]}}}, ["tasks.RTE.seeds", "[2]", "expected 1 among them"]),
        ({"run": "a b"}, ["run", "'a b'"]),
        ({"data": {"source": "tsv"}}, ["data.folder", "expected a folder"]),
        ({"model": {"source": "folder"}}, ["model.folder", "expected a folder"]),
        ({"data": {}}, ["tasks.MRPC", "neither files nor hub", "data.source"]),
    ],
)
def test_mistakes_are_named_with_what_was_expected(change, words):
    with pytest.raises(InputError) as caught:
        resolve({**MINIMAL, **change})
    for word in words:
        assert word in str(caught.value)


def test_numbers_given_on_the_command_line_arrive_as_text_and_count():
    config = resolve(
        {**MINIMAL, "seeds": ["1", "2"], "fine_tuning": {"learning_rate": "5e-4", "epochs": "2"}}
    )
    assert config["seeds"] == [1, 2]
    assert config["fine_tuning"]["learning_rate"] == 5e-4
    assert config["fine_tuning"]["epochs"] == 2


@pytest.mark.parametrize("written", ["on", "off", '"on"', "'off'", "auto"])
def test_words_that_yaml_takes_for_truth_values_may_be_written_without_quotes(written):
    config = resolve({**MINIMAL, "ablation": yaml.safe_load(f"screening: {written}")})
    assert config["ablation"]["screening"] == written.strip("\"'")


def test_a_truth_value_is_no_number():
    with pytest.raises(InputError, match=r"ablation\.seed: found True"):
        resolve({**MINIMAL, "ablation": {"seed": True}})


def test_all_mistakes_are_named_at_once():
    with pytest.raises(InputError) as caught:
        resolve({"run": 3, "colour": "red"})
    for word in ("run", "colour", "data", "model"):
        assert word in str(caught.value)


def test_a_results_folder_of_another_origin_is_refused(tmp_path):
    config = resolve(MINIMAL)
    configuration.check_results_folder(config, tmp_path)  # nothing there yet
    record = tmp_path / "origin.json"
    configuration.record_origin(configuration.origin(config), record)
    more_epochs = resolve({**MINIMAL, "fine_tuning": {"epochs": 5}, "seeds": [1, 2]})
    configuration.check_results_folder(more_epochs, tmp_path)
    other_model = resolve({**MINIMAL, "model": {"source": "folder", "folder": "mine"}})
    with pytest.raises(InputError, match="another configuration") as caught:
        configuration.check_results_folder(other_model, tmp_path)
    assert "mine" in str(caught.value)

    for damaged in (record.read_text().replace("source", "Source", 1), "[]", "{}", "", '{"data":'):
        record.write_text(damaged)
        with pytest.raises(InputError, match=r"origin\.json: found .*Remove the file"):
            configuration.check_results_folder(config, tmp_path)


def _documented(root):
    """Rows of the key table in config/README.md: key -> (value, default, meaning)."""
    lines = (root / "config" / "README.md").read_text().splitlines()
    start = lines.index("| key | value | default | meaning |") + 2
    rows = {}
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        key, *rest = (cell.strip() for cell in line.strip("|").split("|"))
        rows[key.strip("`")] = rest
    return rows


def _keys(schema, prefix="", required=()):
    for key, part in schema["properties"].items():
        if part.get("type") == "object":
            yield from _keys(part, f"{prefix}{key}.", part.get("required", ()))
        else:
            yield f"{prefix}{key}", part, key in (required or schema.get("required", ()))


def test_documentation_schema_and_defaults_agree(root):
    documented = _documented(root)
    keys = list(_keys(load_schema()))
    assert list(documented) == [key for key, _, _ in keys]
    for key, part, required in keys:
        value, default, meaning = documented[key]
        assert meaning == part["description"], key
        if required:
            assert default == "required", key
        elif part["default"] is None:
            assert default == "none", key
        elif key == "tasks":
            assert default == "all seven"
            assert part["default"] == list(shipped())
        else:
            assert json.loads(default.strip("`")) == part["default"], key
        for allowed in {*part.get("enum", ())} - {None}:
            assert f"`{allowed}`" in value, key
        for bound in ("minimum", "exclusiveMinimum", "maximum"):
            assert bound not in part or str(part[bound]) in value, key


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"run: a\ndata: {source: x\ntasks: [y]\n", ["line 3", "no valid YAML", "from line 2"]),
        (b"run: a\n\tdata: b\n", ["line 2", r"character '\t'"]),
        (b"run: a\ndata: caf\xe9\n", ["line 2", "0xe9", "expected UTF-8"]),
        (b"run: a\nrun: b\n", ["line 2", "'run', which is already in line 1", "Remove one"]),
        (b"a: 1\nb: {c: 1, d: 2, c: 3}\n", ["line 2", "'c', which is already in line 2"]),
        (b"- run\n", ["found no keys"]),
        (b"only words\n", ["found no keys"]),
        (b"", ["found no keys"]),
    ],
    ids=["bracket", "tab", "encoding", "twice", "nested", "list", "words", "empty"],
)
def test_a_file_that_is_no_configuration(tmp_path, content, words):
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        configuration.read(file)
    for word in (str(file), *words):
        assert word in str(error.value)


@pytest.mark.parametrize(("name", "found"), [("none", "no such file"), (".", "a folder")])
def test_a_configuration_that_is_not_there(tmp_path, name, found):
    with pytest.raises(InputError, match=f"found {found}, expected a YAML file with the keys"):
        configuration.read(tmp_path / name)


def test_files_are_read_as_yaml_and_json_are(tmp_path):
    file = tmp_path / "mine.yaml"
    for text in (
        "base: &base {x: 1, y: 2}\nuse:\n  <<: *base\n  x: 3\n",
        '{\n\t"base": {"x": 1, "y": 2},\n\t"use": {"x": 3, "y": 2}\n}',
    ):
        file.write_text(text)
        assert configuration.read(file) == {"base": {"x": 1, "y": 2}, "use": {"x": 3, "y": 2}}
