"""What is said of a checkpoint without a masked-word head, and of a wrong file, before any job."""

import pytest
from encoders import FAMILIES
from transformers import AutoConfig, AutoModelForMaskedLM

from darksecrets.beyond.predictions import preflight
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES


def config(folder):
    return {"model": {"source": "folder", "folder": str(folder)}}


@pytest.mark.parametrize("family", ["BERT", "RoBERTa", "DistilBERT", "ELECTRA", "ModernBERT"])
def test_a_checkpoint_without_a_head_is_named_and_one_with_it_is_not(family, tmp_path):
    folder = FAMILIES[family].save(tmp_path / "encoder")
    said = preflight.left_out(config(folder), tmp_path / "none")
    assert "no head that predicts masked words" in said
    assert "impact trees need none" in said
    whole = tmp_path / "masked"
    AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(whole)
    assert preflight.left_out(config(whole), tmp_path / "none") == ""


def test_the_shipped_model_has_a_head(tmp_path):
    assert preflight.left_out(config(RESOURCES / "tiny-bert"), tmp_path) == ""


def test_a_wrong_file_of_pairs_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"Correct predictions\.pairs"):
        preflight.check({"predictions": {"pairs": str(tmp_path / "none.jsonl")}})
