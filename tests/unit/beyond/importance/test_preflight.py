"""What importance and removal of heads need is checked before anything is trained."""

import pytest
from shipped import DATA, MODEL

from darksecrets.beyond.importance import preflight
from darksecrets.core.run.errors import InputError
from workflow.lib.configuration import resolve


def config_of(model=MODEL, states=("finetuned",), **importance):
    given = {"run": "r", "data": DATA, "model": model, "importance": importance}
    return resolve({**given, "ablation": {"states": list(states)}})


@pytest.mark.parametrize(
    ("part", "words"),
    [("", "measures no"), ("pruning.", "removes no"), ("learned_gates.", "trains no")],
)
def test_targets_of_what_a_run_leaves_out(part, words):
    key, whole = f"importance.{part}tasks", {"learned_gates": {"tasks": ["RTE"]}}
    preflight.check_tasks(config_of(**whole), key)
    empty = {part.rstrip("."): {"tasks": []}} if part else {"tasks": []}
    with pytest.raises(InputError, match=rf"{words}.*{key} is \[\]"):
        preflight.check_tasks(config_of(**empty), key)
    with pytest.raises(InputError, match=r"disables no heads: ablation.states is \[\]"):
        preflight.check_tasks(config_of(states=[]), key)
    with pytest.raises(InputError, match=r"no interface\. Figures 8 and 9"):
        preflight.check_tasks(config_of(), key, left_out="Found no interface.")


def test_gates_that_learn_need_fine_tuned_models():
    gates = {"learned_gates": {"tasks": ["RTE"]}}
    preflight.check(config_of(**gates))
    preflight.check(config_of(states=[]))
    with pytest.raises(InputError, match=r"\[RTE\], but ablation\.states is \[\]"):
        preflight.check(config_of(states=[], **gates))
