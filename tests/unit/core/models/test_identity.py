"""The same encoder is recognised, however it is called or saved, and another one is not."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier
from toy_data import save_bert
from transformers import AutoModel, BertForMaskedLM, BertForSequenceClassification, BertModel

from darksecrets.core.models import loading
from darksecrets.core.models.identity import identify_encoder


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return save_bert(tmp_path / "bert")


@pytest.mark.parametrize("cls", [BertForSequenceClassification, BertForMaskedLM, BertModel])
def test_what_stands_around_an_encoder_does_not_matter(cls, bert, tmp_path):
    model = cls.from_pretrained(bert)
    model.save_pretrained(tmp_path / "other name", max_shard_size="20KB")
    assert len(list((tmp_path / "other name").glob("*.safetensors"))) > 1
    assert identify_encoder(tmp_path / "other name") == identify_encoder(bert)


def test_what_a_run_makes_of_it_is_the_same(bert, tmp_path):
    loading.get_pretrained(
        {"source": "folder", "folder": str(bert)}, tmp_path / "out", max_length=8
    )
    assert identify_encoder(tmp_path / "out") == identify_encoder(bert)


def change_a_weight(folder: Path) -> None:
    model: Any = AutoModel.from_pretrained(folder)
    with torch.no_grad():
        model.encoder.layer[1].output.dense.weight[3, 2] += 1e-6
    model.save_pretrained(folder)


def change_the_heads(folder: Path) -> None:
    """The same weights, cut into other heads."""
    file = folder / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps(config | {"num_attention_heads": 4}))


@pytest.mark.parametrize("change", [change_a_weight, change_the_heads])
def test_another_encoder_is_another(change, bert, tmp_path):
    shutil.copytree(bert, tmp_path / "changed")
    change(tmp_path / "changed")
    assert identify_encoder(tmp_path / "changed") != identify_encoder(bert)


def test_half_precision_and_another_type_of_model(bert, tmp_path):
    """Rounded weights are other weights; so are those of another model."""
    AutoModel.from_pretrained(bert).half().save_pretrained(tmp_path / "half")
    other = save_classifier(tmp_path / "distilbert", "distilbert", TASKS["MRPC"])
    found = {identify_encoder(folder) for folder in (bert, tmp_path / "half", other)}
    assert len(found) == 3
