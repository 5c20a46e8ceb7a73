"""What the analysis of layers refuses before any job."""

import gzip

import pytest

from darksecrets.beyond.layers import preflight
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

SHIPPED = RESOURCES / "corpus" / "treebank.conllu.gz"


def config(path, source="conllu"):
    return {"syntax": {"source": source, "path": str(path)}}


def test_the_treebank_that_ships_is_large_enough():
    preflight.check(config(SHIPPED))


def test_a_small_treebank_is_refused_with_the_number_that_is_needed(tmp_path):
    blocks = gzip.decompress(SHIPPED.read_bytes()).decode().split("\n\n")
    small = tmp_path / "small.conllu"
    small.write_text("\n\n".join(blocks[:20]) + "\n\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"has 20 sentences; .* needs 60 or more"):
        preflight.check(config(small))
    preflight.check(config(small, source="annotation"))
