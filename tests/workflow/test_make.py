"""What `make` asks Snakemake for: maps of a configuration's run, and analyses by name."""

import shlex
import subprocess

import pytest
import yaml

from darksecrets.beyond import analyses


@pytest.mark.parametrize("run", ["my-run.2", '"my-run.2"', "my-run.2 # a name"])
def test_make_label(root, tmp_path, run):
    config = tmp_path / "config.yaml"
    config.write_text(f"# mine\nrun: {run}\ntasks: [RTE]\n")
    made = subprocess.run(
        ["make", "-n", "label", f"CONFIG={config}", "ANNOTATOR=Zoë O", "PASS=2"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    text = made.stdout.replace("\\\n", "")
    commands = [shlex.split(line) for line in text.splitlines() if "sample_maps" in line]
    commands += [shlex.split(line) for line in text.splitlines() if "patterns label" in line]
    sample, label = commands
    assert sample[sample.index("--configfile") + 1] == str(config)
    options = dict(zip(label[4::2], label[5::2], strict=True))
    assert options == {
        "--maps": "results/my-run.2/patterns/maps",
        "--annotations": "annotations/my-run.2",
        "--annotator": "Zoë O",
        "--pass": "2",
    }


@pytest.mark.parametrize("asked", ["norms", "norms, syntax", "all"])
def test_analyses_come_beside_the_paper(root, asked):
    made = subprocess.run(
        ["make", "-n", "demo", f"ANALYSES={asked}"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    (command,) = (line for line in made.stdout.splitlines() if line.startswith("snakemake "))
    chosen = yaml.safe_load(shlex.split(command)[-1].removeprefix("analyses="))
    on, _ = analyses.switch_on(chosen)
    assert analyses.PAPER in on
    assert {*on} >= ({*analyses.find()} if asked == "all" else {*asked.split(", ")})
