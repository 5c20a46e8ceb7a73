"""Bad input is refused with one message, before any job; strange input that is right is not.

The cases are in `tests/inputs/`. They are checked in-process, as a run does before its first job;
`test_bad_input.py` starts the workflow itself.
"""

import time
from pathlib import Path

import pytest
from inputs import configurations, data, models, right
from inputs.cases import message_of

from workflow.lib import preflight

LIMIT = 10.0  # seconds of CPU time
RIGHT = {case.name: case for case in right.CASES}
CASES = {case.name: case for module in (configurations, data, models) for case in module.CASES}


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    """Inputs are beside the folder that the run works in."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    shipped = preflight.patterns.check

    def check(config):
        if config["patterns"]["annotations"] or config["patterns"]["folds"] != 5:
            shipped(config)

    looks = tuple(check if each is shipped else each for each in preflight.OF_A_LOOK)
    plans = tuple(check if each is shipped else each for each in preflight.OF_A_PLAN)
    monkeypatch.setattr(preflight, "OF_A_LOOK", looks)
    monkeypatch.setattr(preflight, "OF_A_PLAN", plans)
    return folder


def _message(case, folder: Path) -> str:
    files = folder / "input"
    files.mkdir()
    start = time.process_time()
    message = message_of(case.make(files), looking=case.looking)
    assert time.process_time() - start < LIMIT
    return message


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused(name, tmp_path, working_folder):
    case = CASES[name]
    message = _message(case, tmp_path)
    assert message, "accepted"
    for word in case.words:
        assert word in message, message
    assert len(message) < 2500
    assert not list(working_folder.iterdir()), "something is left behind"


@pytest.mark.parametrize("name", RIGHT)
def test_strange_input_that_is_right_is_not_refused(name, tmp_path, working_folder):
    assert _message(RIGHT[name], tmp_path) == ""
    assert not list(working_folder.iterdir()), "something is left behind"


def test_no_case_has_the_name_of_another():
    modules = (configurations, data, models)
    assert len(CASES) == sum(len(module.CASES) for module in modules)
    assert len(RIGHT) == len(right.CASES)
