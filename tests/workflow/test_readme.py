"""The README is short, its example runs as it stands, and its numbers are those of the real run."""

import re
import shutil

import pandas as pd
import pytest
import yaml

WORDS = 540


@pytest.fixture(scope="module")
def readme(root) -> str:
    return (root / "README.md").read_text()


def test_the_readme_is_short(readme):
    shown = re.sub("<!--.*?-->", "", readme)
    assert len(shown.split()) <= WORDS


def test_every_linked_file_is_there(readme, root):
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", readme)
    local = [target for target in targets if "://" not in target]
    assert len(local) > 10
    assert not [target for target in local if not (root / target).is_file()]


def test_the_example_of_the_readme_draws_its_figure(readme, call_snakemake, root, tmp_path):
    """As it stands, from a clone; and the tiny BERT learns the task."""
    (command,) = re.findall(r"^snakemake (figure7 .*mine\.yaml)$", readme, re.MULTILINE)
    shutil.copytree(root / "examples", tmp_path / "examples")
    arguments = [*command.split(), "--snakefile", root / "Snakefile", "--directory", tmp_path]
    done = call_snakemake(arguments, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout + done.stderr
    results = tmp_path / "results" / "mine"
    assert (results / "figures" / "figure7.png").stat().st_size > 5000
    assert "results/mine/figures/figure7.svg" in said
    assert "models seldom learn" not in said
    table = pd.read_csv(results / "tables" / "cls_attention.csv")
    assert set(table["task"]) == {"reviews"}
    assert set(table["state"]) == {"pretrained", "finetuned", "random"}
    learned = pd.read_csv(results / "tables" / "learned.csv")
    assert learned["learned"].all()


def test_what_the_pages_show_of_the_example_is_in_its_file(readme, root):
    """The task and its keys; the paths are of the reader's own files."""
    file = yaml.safe_load((root / "examples" / "reviews" / "mine.yaml").read_text())
    for page in (readme, (root / "docs" / "one-figure.md").read_text()):
        (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
        shown = yaml.safe_load(text)
        assert shown.keys() <= file.keys()
        ours, theirs = shown["tasks"]["reviews"], file["tasks"]["reviews"]
        assert ours | {"files": theirs["files"]} == theirs


def test_little_training_is_said_before_any_job(call_snakemake, root, tmp_path):
    text = (root / "examples" / "reviews" / "mine.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("epochs: 10", "epochs: 3"))
    arguments = ["figure5", "-n", "--configfile", "mine.yaml", "--snakefile", root / "Snakefile"]
    done = call_snakemake([*arguments, "--directory", tmp_path], tmp_path)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0, said
    assert "444 training examples in batches of 32, 3 times, are 42 updates" in said
    assert "Set tasks.reviews.epochs to 5 or more" in said
