"""An encoder of one head leaves out the distances between heads, before any job."""

import json
from pathlib import Path

import pytest

from darksecrets.beyond.redundancy import preflight
from darksecrets.core.run.errors import InputError


def of_folder(folder: Path, layers: int, heads: int) -> dict[str, dict[str, str]]:
    sizes = {"hidden_size": 8, "intermediate_size": 8, "vocab_size": 9}
    settings = {"num_hidden_layers": layers, "num_attention_heads": heads} | sizes
    (folder / "config.json").write_text(json.dumps(settings))
    return {"model": {"source": "folder", "folder": str(folder)}}


@pytest.mark.parametrize(("layers", "heads", "alone"), [(1, 1, True), (1, 2, False), (2, 1, False)])
def test_only_one_head_in_all_is_too_few(tmp_path, layers, heads, alone):
    config = of_folder(tmp_path, layers, heads)
    assert preflight.has_one_head(config, tmp_path / "models") == alone
    if alone:
        with pytest.raises(InputError, match="this encoder has one head"):
            preflight.check_heads(config)
    else:
        preflight.check_heads(config)
