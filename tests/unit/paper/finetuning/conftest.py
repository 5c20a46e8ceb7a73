"""A small training, which several files of tests look at."""

from pathlib import Path

import pytest
from small_training import finetune, save_inputs


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of ``model`` and of a data set per task."""
    return save_inputs(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def uninterrupted(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was not interrupted."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    finetune(inputs, folder)
    return folder
