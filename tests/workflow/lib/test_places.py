from workflow.lib.places import name_lines

TEXT = """\
run: a
seeds:
- 1
- 1.0
fine_tuning: {epochs: 0}
tasks:
  my.task:
    label: x
"""
GIVEN = {
    "run": "a",
    "seeds": [1, 1.0],
    "fine_tuning": {"epochs": 0},
    "tasks": {"my.task": {"label": "x"}},
}


def _named(tmp_path, message, given=None):
    file = tmp_path / "c.yaml"
    file.write_text(TEXT)
    return name_lines(message, given or GIVEN, [file]).replace(str(file), "c.yaml")


def test_every_mistake_has_the_line_of_its_key(tmp_path):
    message = "Not valid:\n  - seeds.1: found 1.0\n  - fine_tuning.epochs: found 0\nSee: there"
    assert _named(tmp_path, message) == (
        "Not valid:\n  - c.yaml, line 4: seeds.1: found 1.0\n"
        "  - c.yaml, line 5: fine_tuning.epochs: found 0\nSee: there"
    )


def test_a_key_that_is_missing_has_the_line_of_what_it_belongs_to(tmp_path):
    assert _named(tmp_path, "tasks.my.task: expected text").startswith("c.yaml, line 7: ")
    assert _named(tmp_path, "tasks.my.task.text: none").startswith("c.yaml, line 7: ")


def test_unknown_keys_and_checks_of_sections(tmp_path):
    unknown = "  - top level: found the unknown key 'run'; x"
    assert _named(tmp_path, unknown).startswith("  - c.yaml, line 1: top level")
    assert _named(tmp_path, "seeds in the configuration: x").startswith("c.yaml, line 2: ")


def test_a_value_of_the_command_line_is_in_no_file(tmp_path):
    given = GIVEN | {"fine_tuning": {"epochs": -1}}
    assert _named(tmp_path, "fine_tuning.epochs: found -1", given) == "fine_tuning.epochs: found -1"


def test_other_messages_stay_as_they_are(tmp_path):
    message = "/some/file.tsv, line 3: found x\nhttps://x.y: z"
    assert _named(tmp_path, message) == message
