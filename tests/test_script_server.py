"""Scripts of rules that tests run are forks, which differ from new processes in time alone."""

import importlib
import json
import os
import sys

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="scripts are forks on Linux only"),
]

SCRIPT = """
import json, os, sys
state = {
    "imported": "torch" in sys.modules,
    "of the project": [name for name in sys.modules if name.startswith("darksecrets")],
    "arguments": len(sys.argv),
    "variable": os.environ.get("GIVEN"),
}
import numpy, torch
state["drawn"] = [numpy.random.random(), torch.rand(1).item()]
state["threads"] = torch.get_num_threads()
with open(snakemake.output[0], "w") as file:
    json.dump(state, file)
print("the script says this")
if snakemake.wildcards.name == "failing":
    sys.exit(3)
"""
SNAKEFILE = """
rule draw:
    output: "{name}.json"
    threads: 2
    script: "draw.py"
"""


@pytest.fixture
def call(call_snakemake, tmp_path):
    """Make files by the script above."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "draw.py").write_text(SCRIPT)

    def call(*names: str, **variables: str):
        files = [f"{name}.json" for name in names]
        arguments = ["--cores", "2", "--snakefile", tmp_path / "Snakefile", *files]
        done = call_snakemake(arguments, tmp_path, {**os.environ, **variables})
        made = [json.loads((tmp_path / file).read_text()) for file in files if done.returncode == 0]
        return done, made

    return call


def test_a_fork_has_the_libraries_and_nothing_else_of_another_script(call):
    done, (first, second) = call("first", "second", GIVEN="now")
    assert done.stdout.count("the script says this") == 2
    for made in (first, second):
        expected = {"imported": True, "of the project": [], "arguments": 1, "variable": "now"}
        assert {key: made[key] for key in expected} == expected
        assert made["threads"] == 2
    assert not {*first["drawn"]} & {*second["drawn"]}, "what is not seeded differs"


def test_a_variable_that_is_read_at_import_gets_a_process_of_its_own(call):
    _, (made,) = call("own", HF_HOME="another")
    assert not made["imported"]


def test_what_the_libraries_set_when_they_are_imported_is_no_difference(call):
    before = dict(os.environ)
    importlib.import_module("transformers.models.bert.modeling_bert")
    assert os.environ != before or "TORCHINDUCTOR_CACHE_DIR" in before
    _, (made,) = call("again")
    assert made["imported"]


def test_a_script_that_fails_ends_the_run(call):
    done, _ = call("failing")
    assert done.returncode == 1
    assert "draw.py" in done.stderr
