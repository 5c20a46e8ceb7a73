"""Disabling heads of a classifier that is given, against a plain loop and what it cannot use."""

import itertools
import json
import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import headline_of
from tiny_models import WORDS, bert_tokenizer, save_classifier
from transformers import AutoModelForSequenceClassification

from darksecrets import ablate
from darksecrets.__main__ import main
from darksecrets.core.interventions.disable import disable
from darksecrets.core.models.checkpoints import SHIPPED
from darksecrets.core.run.errors import InputError

CLASSES = ("no", "yes")
LENGTH = 32
KNOWN = [word for word in WORDS if not word.startswith("##")]


def texts(count: int) -> list[str]:
    rng = random.Random(1)
    return [" ".join(rng.choices(KNOWN, k=rng.randint(2, 9))) for _ in range(count)]


def predict(model, sentences: list[str]) -> list[int]:
    """Classes of examples, each alone."""
    tokenizer, found = bert_tokenizer(), []
    for sentence in sentences:
        with torch.inference_mode():
            logits = model(**tokenizer(sentence, return_tensors="pt")).logits
        found.append(int(logits.argmax()))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return save_classifier(
        tmp_path_factory.mktemp("model"), "bert", SimpleNamespace(labels=CLASSES)
    )


@pytest.fixture(scope="module")
def model(folder):
    return AutoModelForSequenceClassification.from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def known(model) -> pd.DataFrame:
    """Examples that the model mostly gets right."""
    sentences = texts(80)
    codes = predict(model, sentences)
    assert len(set(codes)) == 2
    codes[::9] = [1 - code for code in codes[::9]]
    return pd.DataFrame({"words": sentences, "class": [CLASSES[code] for code in codes]})


@pytest.fixture(scope="module")
def found(folder, known):
    return ablate(folder, known, text="words", label="class", max_length=LENGTH)


def test_scores_are_those_of_disabling_one_head_after_another(found, model, known):
    gold = known["class"].map(CLASSES.index)
    for layer, head in itertools.product((1, 2), (1, 2, 3, 4)):
        with disable(model, {layer: [head]}):
            score = 100 * np.mean(predict(model, known["words"].tolist()) == gold)
        row = found.heads.query("layer == @layer and head == @head").iloc[0]
        assert row["score"] == pytest.approx(score)
        assert row["delta"] == pytest.approx(score - found.baseline)
    for layer in (1, 2):
        with disable(model, {layer: "all"}):
            score = 100 * np.mean(predict(model, known["words"].tolist()) == gold)
        assert found.layers.query("layer == @layer")["score"].item() == pytest.approx(score)
    assert found.learned
    assert headline_of(found.figure()).startswith("Without one head the score")
    assert f"accuracy {found.baseline:.1f} on 80 examples" in found.summary()
    assert "Best head to lose: layer" in found.summary()


def test_a_loaded_model_a_file_and_other_names_of_classes_give_the_same(
    found, model, known, tmp_path
):
    numbered = known.replace({"class": {"no": "0", "yes": "1"}})
    numbered.to_csv(tmp_path / "numbered.tsv", sep="\t", index=False)
    named = known.replace({"class": {"no": "wrong", "yes": "right"}})
    others = {"text": ["words"], "label": "class", "max_length": LENGTH}
    for again in (
        ablate(model, known, tokenizer=bert_tokenizer(max_length=LENGTH), **others),
        ablate(model, tmp_path / "numbered.tsv", tokenizer=bert_tokenizer(LENGTH), **others),
        ablate(model, named, labels=["wrong", "right"], tokenizer=bert_tokenizer(LENGTH), **others),
    ):
        pd.testing.assert_frame_equal(again.heads, found.heads)


def test_nothing_is_said_of_the_heads_of_a_model_that_has_not_learned(folder, known):
    """Labels of other examples, and labels in the wrong order."""
    shuffled = known.assign(**{"class": known["class"].sample(frac=1, random_state=3).tolist()})
    for data, labels in ((shuffled, []), (known, ["yes", "no"])):
        found = ablate(folder, data, text="words", label="class", labels=labels, max_length=LENGTH)
        assert not found.learned
        assert "nothing is said" in found.summary()
        assert "Best" not in found.summary()
        assert headline_of(found.figure()).startswith("No task was learned")


def test_labels_without_relation_are_seldom_taken_for_learned(folder, model, known):
    """The rate of the paired test on permuted labels, by its own code."""
    from darksecrets.core.interventions.results import SweepResult
    from darksecrets.pages.ablate import _is_better_than_constant, _task_of

    task = _task_of(folder, Path("x.csv"), ["words"], "class", (), ())
    predictions = np.array([predict(model, known["words"].tolist())])
    gold = known["class"].map(CLASSES.index).to_numpy()
    sets = pd.DataFrame({"kind": ["baseline"], "layer": pd.NA, "head": pd.NA, "name": ""})
    rng, passed = np.random.default_rng(5), 0
    for _ in range(400):
        result = SweepResult(sets, predictions, rng.permutation(gold), np.arange(80), np.arange(80))
        passed += _is_better_than_constant(result, task)
    assert passed / 400 < 0.05


def test_a_regression_is_scored_by_correlation(tmp_path):
    folder = save_classifier(tmp_path / "model", "bert", SimpleNamespace(labels=("score",)))
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    sentences, tokenizer = texts(40), bert_tokenizer()
    with torch.inference_mode():
        outputs = [
            model(**tokenizer(each, return_tensors="pt")).logits.item() for each in sentences
        ]
    noise = np.random.default_rng(2).normal(0, 0.5 * np.std(outputs), 40)
    data = pd.DataFrame({"text": sentences, "label": np.array(outputs) + noise})
    found = ablate(folder, data, max_length=LENGTH)
    expected = 100 * np.corrcoef(outputs, data["label"])[0, 1]
    assert found.metrics == ("pearson",)
    assert found.baseline == pytest.approx(expected, abs=1e-3)
    assert found.learned


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"text": "missing"}, "missing"),
        ({"label": "missing"}, "missing"),
        ({"labels": ["a", "b", "c"]}, "3 classes, but the model is of 2"),
        ({"labels": ["a", "b"]}, "--labels"),
        ({"metric": "pearson"}, "no metric pearson"),
        ({"text": ["words"] * 3}, "3 columns"),
        ({"data": "no-such.csv"}, "no file no-such.csv"),
        ({"data": Path(__file__)}, "expected a file that ends in"),
        ({"model": SHIPPED}, "no trained classifier"),
        ({"model": "no/such/folder"}, "no folder no/such/folder"),
    ],
)
def test_what_cannot_be_used_is_said(change, words, folder, known):
    given = {"model": folder, "data": known, "text": "words", "label": "class"} | change
    data = given["data"]
    if isinstance(data, pd.DataFrame) and given["model"] == SHIPPED:
        given["data"] = data.replace({"class": {"no": "0", "yes": "1"}})
    with pytest.raises(InputError, match=words):
        ablate(given.pop("model"), given.pop("data"), **given, max_length=LENGTH)


def test_a_model_of_several_labels_an_example_is_refused(folder, known, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "model")
    config = json.loads((copy / "config.json").read_text())
    config["problem_type"] = "multi_label_classification"
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="any number of labels"):
        ablate(copy, known, text="words", label="class", max_length=LENGTH)


def test_the_command_writes_tables_and_a_figure_and_goes_on(folder, known, tmp_path, capsys):
    known.to_csv(tmp_path / "known.csv", index=False)
    output = tmp_path / "made" / "here"
    arguments = ["ablate", str(folder), str(tmp_path / "known.csv"), "--text", "words"]
    arguments += ["--label", "class", "--max-length", str(LENGTH), "-o", str(output)]
    assert main(arguments) == 0
    assert "Intact model: accuracy" in capsys.readouterr().out
    heads = pd.read_csv(output / "heads.csv")
    assert len(heads) == 8
    assert (output / "heads.svg").is_file()
    assert {"layers.csv", "best.csv", "heads.png"} <= {path.name for path in output.iterdir()}
    assert main([*arguments, "--metric", "f1", "accuracy"]) == 0, "again, into the same folder"
    assert set(pd.read_csv(output / "heads.csv")["metric"]) == {"f1", "accuracy"}
    assert main([*arguments[:2], "no.csv"]) == 2
    assert "Traceback" not in capsys.readouterr().err
