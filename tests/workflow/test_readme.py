"""The README is short, its example runs as it stands, and its numbers are those of the real run."""

import re
import shutil

import pandas as pd
import pytest
from toy_pipeline import save_pipeline

from darksecrets.core.run.files import RESOURCES

WORDS = 500
EXAMPLES = {"train": 300, "validation": 60}


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


@pytest.fixture(scope="module")
def folder(readme, tmp_path_factory):
    """What the reader of the README's example has: a model, a CSV file, a configuration."""
    folder = tmp_path_factory.mktemp("mine")
    shutil.copytree(RESOURCES / "tiny-bert", folder / "my-bert")
    save_pipeline(folder / "pipeline")
    words = {"negative": ("dull", "sad"), "positive": ("good", "funny")}
    for split, examples in EXAMPLES.items():
        rows = []
        for number in range(examples):
            label = ("negative", "positive")[number % 2]
            rows.append({"text": f"a {words[label][number // 2 % 2]} film .", "label": label})
        pd.DataFrame(rows).to_csv(folder / f"{split}.csv", index=False)
    (configuration,) = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    (folder / "mine.yaml").write_text(configuration)
    return folder


def test_the_example_of_the_readme_draws_its_figure(readme, folder, call_snakemake, root):
    (command,) = re.findall(r"^snakemake (.*mine\.yaml)$", readme, re.MULTILINE)
    arguments = [*command.split(), "--snakefile", root / "Snakefile", "--directory", folder]
    pipeline = "annotation={pipeline: pipeline}"  # instead of a download
    done = call_snakemake([*arguments, "--config", pipeline], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    results = folder / "results" / "mine"
    assert (results / "figures" / "figure7.png").stat().st_size > 5000
    table = pd.read_csv(results / "tables" / "cls_attention.csv")
    assert set(table["task"]) == {"reviews"}
    assert set(table["state"]) == {"pretrained", "finetuned", "random"}
