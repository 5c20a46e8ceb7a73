"""What ships is checked before the first job."""

import shutil
import subprocess

import pytest

from darksecrets.core.run import shipped
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "resources"
    shutil.copytree(RESOURCES, folder)
    return folder


def test_what_ships_is_as_its_digests_say():
    """If this fails after a wanted change: python -m darksecrets.core.run.shipped."""
    shipped.check()
    listed = (RESOURCES / shipped.SUMS).read_text(encoding="utf-8").splitlines()
    assert len(listed) == len(shipped.digests(RESOURCES)) > 25
    checked = subprocess.run(
        ["sha256sum", "--check", "--quiet", shipped.SUMS],
        cwd=RESOURCES,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    "name", ["tiny-bert/model.safetensors", "patterns/labels.csv", "corpus/words.conllu.gz"]
)
def test_a_flipped_bit_is_named_with_the_command_that_restores_the_file(copy, name):
    file = copy / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"{name} is not as it was .*git checkout -- \S*{name}"):
        shipped.check(copy)
    shipped.write(copy)
    shipped.check(copy)


def test_a_missing_file_is_named(copy):
    (copy / "corpus" / "frames.tsv").unlink()
    with pytest.raises(InputError, match=r"corpus/frames\.tsv is missing"):
        shipped.check(copy)
