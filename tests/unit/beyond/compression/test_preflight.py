"""What is known of compressed models before the first job."""

import json

import pytest
from shipped import MODEL

from darksecrets.beyond.compression.preflight import KNOWN, left_out
from darksecrets.core.models import layers


def test_the_types_are_those_of_the_layers():
    assert set(KNOWN) == {each.config_class.model_type for each in layers.KNOWN}


@pytest.mark.parametrize(("kind", "said"), [("bert", ""), ("albert", "not with 'albert'")])
def test_an_encoder_that_lacks_rows_is_named(kind, said, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}))
    model = {"source": "folder", "folder": str(tmp_path)}
    found = left_out({"model": model}, tmp_path / "none")
    assert said in found
    assert bool(found) == bool(said)
    assert left_out({"model": MODEL}, tmp_path) == ""
