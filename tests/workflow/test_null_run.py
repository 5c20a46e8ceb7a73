"""A run in which there is nothing to find: shuffled labels, and an encoder that was never trained.

It goes through Snakemake like any other. No claim may hold, no head may be special, and no figure
may have a finding as its headline.
"""

import base64
import json
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from glue import TASKS, in_folder
from transformers import AutoConfig, AutoModelForMaskedLM

from darksecrets.core.data.sources import read_files
from darksecrets.core.run.files import RESOURCES

pytestmark = pytest.mark.thorough

ROWS = {"train": 160, "validation": 80}
SAYS_NOTHING = "No task was learned, so nothing is said of"
ANALYSES = ("norms", "syntax", "layers", "predictions", "inputs")
OF_NO_MODEL = {
    *("figure1", "figure3", "figure3_controls", "figure4", "pattern_quality", "cloze"),
    *("attention_trees", "attention_to_subjects", "attention_probes", "syntactic_heads"),
    *("coreference_heads", "layer_geometry", "layer_probes", "minimal_pairs"),
    "structural_probes",
    "trees",
    "agreement_heads",
}
"""Figures whose headline is about no fine-tuned model."""
NOTHING_FOUND = {
    "figure3": "above all controls: none",
    "syntactic_heads": r"None of \d+ relations have a head that exceeds all controls",
    "layer_probes": "not significantly more than word types alone",
    "trees": "No trees have significantly more gold arcs than chains",
    "agreement_heads": "not more than by chance: their heads say nothing of agreement",
}
"""Part of a headline, by figure."""
HARMLESS = re.compile(
    r"(mostly|no dominant pattern) .*% of its maps\)"
    r"|hardly changed by fine-tuning \(cosine [\d.]+\)"
    r"|no significant effect on [\w ]+ when disabled",
    re.IGNORECASE,
)
"""What the atlas may say of a head."""


@pytest.fixture(scope="module")
def smoke_config(tmp_path_factory) -> str:
    """All tasks of the paper, on their own texts with others' labels; weights as they are drawn."""
    folder = tmp_path_factory.mktemp("null")
    shuffle_labels(folder / "data")
    shutil.copytree(RESOURCES / "tiny-bert", folder / "untrained")
    torch.manual_seed(5)
    model = AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained(folder / "untrained"))
    model.save_pretrained(folder / "untrained")
    config = {
        "run": "smoke",
        "tasks": {
            name: {"text": [*task.columns], "label": "label", "files": files_of(name, folder)}
            for name, task in TASKS.items()
        },
        "seeds": [1, 2],
        "model": {"source": "folder", "folder": str(folder / "untrained")},
        "annotation": {"source": "conllu", "conllu": [str(RESOURCES / "corpus/words.conllu.gz")]},
        "fine_tuning": {"epochs": 1, "learning_rate": 3e-4},
        "samples": {"size": 30},
        "analyses": ["paper", *ANALYSES],
        "syntax": {"sentences": 300, "probed": 60, "coreference": {"texts": 60}},
        "layers": {"tasks": ["MRPC"], "sentences": 150, "examples": 100},
        "predictions": {"tasks": ["MRPC"], "most": 30, "sentences": 60},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    return str(path)


def files_of(name: str, folder: Path) -> dict[str, str]:
    """The files of a task."""
    return {split: str(folder / "data" / name / f"{split}.csv") for split in ROWS}


def shuffle_labels(folder: Path) -> None:
    """Write the first rows of the corpus that ships, every label in another row."""
    rng = np.random.default_rng(11)
    for name, task in TASKS.items():
        data = read_files(in_folder(name, RESOURCES / "corpus"))
        for split, rows in ROWS.items():
            table = data[split].to_pandas().drop(columns="idx")[:rows]
            labels = table["label"] if task.is_regression else np.take(task.labels, table["label"])
            table["label"] = rng.permutation(labels)
            path = folder / name / f"{split}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            table.to_csv(path, index=False)


@pytest.fixture(scope="module")
def unlearned(run) -> bool:
    """Whether no task was learned by chance; at most one of seven may be."""
    learned = pd.read_csv(run / "tables" / "learned.csv").query("seed != seed")["learned"]
    assert len(learned) == len(TASKS)
    assert learned.sum() <= 1
    return not learned.any()


def test_no_claim_holds_but_of_random_weights_too(run):
    """Three hold, and say that they are not about training: what no head does, and narrow cones."""
    claims = pd.read_csv(run / "tables" / "claims.csv")
    for verdict in ("verdict", "verdict_on_learned_tasks"):
        held = claims[claims[verdict] == "holds"]
        assert {*held["id"]} <= {"S1", "T1", "A1"}
        assert {*held["verdict_on_random_weights"]} <= {"holds"}
    findings = pd.read_csv(run / "tables" / "findings.csv")["sentence"]
    assert findings.str.contains("are not about training: random weights do, too").any()


def test_no_head_exceeds_the_controls(run):
    for name in ("framenet_heads", "token_pairs", "equal_words"):
        table = pd.read_csv(run / "tables" / f"{name}.csv")
        passed = (
            table["exceeds_controls"] if "exceeds_controls" in table else table["q_value"] < 0.05
        )
        assert passed.mean() < 0.005, name


def test_no_figure_has_a_finding_as_its_headline(run, unlearned):
    drawn = {path.stem: path.read_text() for path in (run / "figures").glob("*.svg")}
    assert set(drawn) > OF_NO_MODEL
    silent = {name for name, svg in drawn.items() if SAYS_NOTHING in svg}
    assert silent == (set(drawn) - OF_NO_MODEL if unlearned else set())
    texts = {name: re.sub(r"\s*</text>\s*<text[^>]*>\s*", " ", svg) for name, svg in drawn.items()}
    assert not [name for name, said in NOTHING_FOUND.items() if not re.search(said, texts[name])]


def test_the_atlas_says_of_no_head_that_it_is_special(run):
    (data,) = re.findall(
        r'<script[^>]*type="application/json"[^>]*>(.*?)</script>',
        (run / "atlas.html").read_text(),
        re.DOTALL,
    )
    said = json.loads(zlib.decompress(base64.b64decode(json.loads(data)["sentences"])))["texts"]
    parts = {part.rstrip(".") for sentence in said for part in sentence.split("; ")}
    assert parts
    assert not {part for part in parts if not HARMLESS.match(part)}
