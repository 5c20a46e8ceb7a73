import copy
from pathlib import Path

import jsonschema
import pytest
import yaml
from shipped import DATA, MODEL
from snakemake.utils import update_config

from darksecrets.beyond import analyses
from darksecrets.beyond.landscape import declared as landscape
from darksecrets.core.run.errors import InputError
from tools import reference
from workflow.lib import configuration, origins
from workflow.lib.configuration import load_schema, resolve
from workflow.lib.tasks import shipped

SHIPPED = Path(__file__).resolve().parents[3] / "config"
MINIMAL = {"run": "r", "data": DATA, "model": MODEL}


def test_the_schema_is_a_valid_schema():
    jsonschema.Draft202012Validator.check_schema(load_schema())


def test_the_default_is_every_task_that_ships():
    assert load_schema()["properties"]["tasks"]["default"] == list(shipped())


@pytest.mark.parametrize("file", sorted(path.stem for path in SHIPPED.glob("*.yaml")))
def test_shipped_configurations_are_valid(file):
    config = yaml.safe_load((SHIPPED / f"{file}.yaml").read_text())
    if file.startswith("real"):  # what is on the disk comes from the command line
        config["data"]["folder"] = config["model"]["folder"] = "somewhere"
    if "syntax" in config:
        config["syntax"]["path"] = "treebank.conllu"
    assert resolve(config)["run"] == {"config": "demo"}.get(file, file)


def test_a_run_of_one_seed_is_a_part_of_the_paper():
    part, whole = (
        resolve(yaml.safe_load((SHIPPED / f"{name}.yaml").read_text()))
        for name in ("paper-one", "paper")
    )
    own = {key: value | {"seeds": [1]} for key, value in whole["tasks"].items()}
    assert part["tasks"] == {task: own[task] for task in ("MRPC", "STS-B", "RTE")}
    for section in ("data", "model", "fine_tuning", "samples", "framenet", "attention"):
        assert part[section] == whole[section]
    assert origins.is_paper_run(part)


def test_paper_configuration_is_the_protocol_of_the_paper(root):
    config = resolve(yaml.safe_load((root / "config" / "paper.yaml").read_text()))
    assert list(config["tasks"]) == ["MRPC", "STS-B", "SST-2", "QQP", "RTE", "QNLI", "MNLI"]
    tuning = config["fine_tuning"]
    assert (tuning["batch_size"], tuning["epochs"], tuning["max_length"]) == (32, 3, 128)
    assert tuning["learning_rate"] == 2e-5
    assert config["samples"]["size"] == 1000
    assert origins.is_paper_run(config)


def test_only_bert_base_on_glue_is_compared_with_the_paper():
    assert not origins.is_paper_run(resolve(MINIMAL))
    other = {**MINIMAL, "data": {"source": "hub"}, "model": {"source": "hub", "id": "a/other"}}
    assert not origins.is_paper_run(resolve(other))


def test_defaults_fill_every_key_and_resolving_twice_changes_nothing():
    once = resolve(MINIMAL)
    assert once["fine_tuning"]["epochs"] == 3
    assert once["samples"] == {"size": 1000, "seed": 2019}
    assert resolve(once) == once
    assert MINIMAL["data"] == DATA, "the input is left alone"


def test_tasks_without_seeds_have_those_of_the_run():
    config = resolve({**MINIMAL, "seeds": [3, 1], "tasks": {"RTE": {"seeds": [3]}, "MRPC": None}})
    assert {name: entry["seeds"] for name, entry in config["tasks"].items()} == {
        "RTE": [3],
        "MRPC": [3, 1],
    }


def test_tasks_without_epochs_have_those_of_fine_tuning():
    config = resolve({**MINIMAL, "tasks": {"RTE": {"epochs": 20}, "MRPC": None}})
    assert {name: entry["epochs"] for name, entry in config["tasks"].items()} == {
        "RTE": 20,
        "MRPC": 3,
    }


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
            if "properties" in part:
                walk(part)
            elif "default" in part:
                jsonschema.validate(part["default"], part)

    walk(load_schema())


def test_numbers_given_on_the_command_line_arrive_as_text_and_count():
    config = resolve(
        {**MINIMAL, "seeds": ["1", "2"], "fine_tuning": {"learning_rate": "5e-4", "epochs": "2"}}
    )
    assert config["seeds"] == [1, 2]
    assert config["fine_tuning"]["learning_rate"] == 5e-4
    assert config["fine_tuning"]["epochs"] == 2


@pytest.mark.parametrize(
    ("given", "path", "expected"),
    [
        ({"subnetworks": {"retrain": "true"}}, "subnetworks.retrain", True),
        ({"subnetworks": {"retrain": "False"}}, "subnetworks.retrain", False),
        ({"tasks": {"RTE": {"flawed": "true"}}}, "tasks.RTE.flawed", True),
        ({"tasks": {"RTE": "null"}}, "tasks.RTE.label", "label"),
        ({"seed_grid": {"tasks": "null"}}, "seed_grid.tasks", ["RTE"]),
        ({"gpu": "0"}, "gpu", 0),
        ({"gpu": "auto"}, "gpu", "auto"),
        ({"annotation": {"conllu": ["null"]}}, "annotation.conllu", ["null"]),
    ],
    ids=str,
)
def test_every_type_may_be_given_as_text(given, path, expected):
    """Snakemake passes what is nested in `--config` as text."""
    value = resolve({**MINIMAL, "tasks": ["RTE"], **given})
    for key in path.split("."):
        value = value[key]
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize("written", ["on", "off", '"on"', "'off'", "auto"])
def test_words_that_yaml_takes_for_truth_values_may_be_written_without_quotes(written):
    config = resolve({**MINIMAL, "inspect": yaml.safe_load(f"parse: {written}")})
    assert config["inspect"]["parse"] == written.strip("\"'")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (["paper", "landscap"], ["'landscap'", "did you mean 'landscape'?", "syntax", "norms"]),
        (["paper", "paper"], ["paper stands there more than once"]),
        (["norms"], ["is [norms]", "lacks 'paper'", "[paper, norms]"]),
        ([], ["analyses", "[]"]),
        ("norms", ["analyses", "norms"]),
    ],
)
def test_wrong_analyses_are_named(named, words):
    with pytest.raises(InputError) as caught:
        resolve({**MINIMAL, "analyses": named})
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_run_makes_the_paper_and_what_it_names_with_what_that_needs():
    assert resolve(MINIMAL)["analyses"] == ["paper"]
    assert resolve({**MINIMAL, "analyses": ["all"]})["analyses"] == ["paper", *analyses.find()]
    found = resolve({**MINIMAL, "analyses": ["compression", "paper"]})["analyses"]
    assert found == ["paper", "importance", "compression"]
    assert analyses.switch_on(["paper", "compression"])[1] == {"importance": "compression"}


def test_constants_stand_beside_keys_and_only_with_their_values():
    config = resolve({**MINIMAL, "sampling_seed": 3})
    assert config["ablation"]["bootstrap"] == 10000
    assert {config[section]["seed"] for section in ("data", "samples", "syntax")} == {3}
    assert resolve(config) == config
    assert resolve({**MINIMAL, "samples": {"seed": 2019}}) == resolve(MINIMAL), "the default"
    with pytest.raises(InputError, match=r"samples\.seed is 4, use `sampling_seed`"):
        resolve({**MINIMAL, "samples": {"seed": 4}})


def test_sections_of_analyses_are_their_settings():
    config = resolve({**MINIMAL, "landscape": {"examples": 50, "flatness": {"directions": 3}}})
    for name, one in analyses.find().items():
        if one.settings:
            assert one.settings.of({}) == one.settings()
            assert one.settings.of(config[name]).schema() == one.settings.schema()
    read = landscape.Settings.of(config["landscape"])
    assert (read.examples, read.flatness.directions, read.surface) == (50, 3, landscape.Surface(()))
    with pytest.raises(TypeError, match="colour"):
        landscape.Settings.of({"colour": 1})


def test_a_truth_value_is_no_number():
    with pytest.raises(InputError, match=r"sampling_seed is True"):
        resolve({**MINIMAL, "sampling_seed": True})


def test_a_results_folder_of_another_origin_is_refused(tmp_path):
    config = resolve(MINIMAL)
    origins.check_results_folder(config, tmp_path)  # nothing there yet
    record = tmp_path / "origin.json"
    origins.record_origin(origins.origin(config), record)
    more_epochs = resolve({**MINIMAL, "fine_tuning": {"epochs": 5}, "seeds": [1, 2]})
    origins.check_results_folder(more_epochs, tmp_path)
    other_model = resolve({**MINIMAL, "model": {"source": "folder", "folder": "mine"}})
    with pytest.raises(InputError, match="another configuration") as caught:
        origins.check_results_folder(other_model, tmp_path)
    assert "mine" in str(caught.value)

    for damaged in (record.read_text().replace("source", "Source", 1), "[]", "{}", "", '{"data":'):
        record.write_text(damaged)
        with pytest.raises(InputError, match=r"origin\.json: .*Remove the file"):
            origins.check_results_folder(config, tmp_path)


def test_every_key_and_analysis_is_in_the_reference(root):
    text = (root / "config" / "README.md").read_text()
    assert text == reference.page(text), "run python -m tools.reference"
    for key, part, _ in reference.leaves(load_schema()):
        assert f"| `{key}` |" in text
        assert part["description"] in text
    assert all(f"| `{name}` |" in text for name in analyses.find())


FILE = {
    "model": {"source": "folder", "folder": "tiny", "name": "tiny BERT"},
    "data": {"source": "hub", "repository": "nyu-mll/glue", "revision": "abc", "name": "GLUE"},
    "fine_tuning": {"learning_rate": 3e-4, "epochs": 2},
}


@pytest.mark.parametrize(
    ("asked", "gone"),
    [
        (
            {"model": {"folder": "mine"}},
            ["fine_tuning.epochs", "fine_tuning.learning_rate", "model.name"],
        ),
        (
            {"model": {"folder": "mine", "name": "mine"}, "fine_tuning": {"epochs": 1}},
            ["fine_tuning.learning_rate"],
        ),
        (
            {"model": {"source": "hub", "id": "owner/bert"}},
            ["fine_tuning.epochs", "fine_tuning.learning_rate", "model.folder", "model.name"],
        ),
        ({"data": {"repository": "owner/glue"}}, ["data.name", "data.revision"]),
        (
            {"data": {"source": "tsv", "folder": "x"}},
            ["data.name", "data.repository", "data.revision"],
        ),
        ({"data": {"revision": "def"}}, []),
        ({"model": {"source": "folder", "folder": "tiny"}}, []),
        ({"model": {"name": "another name"}}, []),
        ({"model": "no section"}, []),
        ({"seeds": [2]}, []),
        ({}, []),
    ],
)
def test_no_description_of_another_model_or_of_other_data_is_kept(asked, gone):
    merged = copy.deepcopy(FILE)
    update_config(merged, asked)
    left, found = origins.leave_out_other_origins(merged, [FILE], asked, demonstration=True)
    assert found == gone
    for key in gone:
        section, name = key.split(".")
        del merged[section][name]
    assert left == merged


def test_a_name_is_kept_where_only_the_command_line_has_the_folder():
    file = {"model": {"source": "folder", "name": "six layers"}}
    asked = {"model": {"folder": "mine"}}
    merged = {"model": {"source": "folder", "name": "six layers", "folder": "mine"}}
    found = origins.leave_out_other_origins(merged, [file], asked, demonstration=False)
    assert found == (merged, [])


def test_the_later_file_counts_and_training_is_kept_outside_the_demonstration():
    asked = {"model": {"folder": "mine"}}
    merged = copy.deepcopy(FILE)
    merged["model"]["folder"] = "mine"
    later = {"model": {"folder": "mine"}}
    both, last = [FILE, later], [later, FILE]
    assert origins.leave_out_other_origins(merged, both, asked, demonstration=False)[1] == []
    gone = origins.leave_out_other_origins(merged, last, asked, demonstration=False)[1]
    assert gone == ["model.name"]


def test_a_section_of_a_workflow_that_uses_this_one_is_not_touched():
    asked = {"model": {"folder": "a section of theirs"}}
    written = [{"model": {"folder": "another"}}]
    found = origins.leave_out_other_origins(FILE, written, asked, demonstration=True)
    assert found == (FILE, [])


@pytest.mark.parametrize("path", ["", "config", "darksecrets/resources"])
def test_a_path_of_the_project_is_one_from_this_folder(path, tmp_path, monkeypatch):
    """The project's folder itself, too."""
    monkeypatch.chdir(tmp_path)
    assert Path(configuration._relative(path)).samefile(SHIPPED.parent / path)
