"""What importance and removal of heads need is checked before anything is trained."""

import pytest
from transformers import AutoConfig

from darksecrets.importance import preflight
from darksecrets.run.errors import InputError
from darksecrets.run.files import RESOURCES
from workflow.lib.configuration import resolve

BUILTIN = {"source": "builtin"}
TINY = {"source": "folder", "folder": str(RESOURCES / "tiny-bert")}


def config_of(model=BUILTIN, states=("finetuned",), **importance):
    given = {"run": "r", "data": BUILTIN, "model": model, "importance": importance}
    return resolve({**given, "ablation": {"states": list(states)}})


@pytest.mark.parametrize("family", ["albert", "distilbert", "modernbert"])
def test_smaller_models_of_encoders_whose_heads_cannot_be_removed(family, tmp_path):
    """ALBERT's layers share their weights; of the others, removal does not know the layers."""
    small = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
    if family == "distilbert":
        small = {"dim": 32, "n_heads": 4, "n_layers": 2}
    AutoConfig.for_model(family, **small).save_pretrained(tmp_path)
    config = config_of({"source": "folder", "folder": str(tmp_path)})
    with pytest.raises(InputError, match=r"cannot be removed, only disabled.*`pruned_models`"):
        preflight.check_removable(config)


def test_smaller_models_of_encoders_whose_heads_can_be_removed():
    preflight.check_removable(config_of())
    preflight.check_removable(config_of(TINY))


@pytest.mark.parametrize(
    ("part", "words"),
    [("", "measures no"), ("pruning.", "removes no"), ("learned_gates.", "trains no")],
)
def test_targets_of_what_a_run_leaves_out(part, words):
    key, whole = f"importance.{part}tasks", {"learned_gates": {"tasks": ["RTE"]}}
    preflight.check_tasks(config_of(**whole), key)
    empty = {part.rstrip("."): {"tasks": []}} if part else {"tasks": []}
    with pytest.raises(InputError, match=rf"{words}.*found {key}: \[\]"):
        preflight.check_tasks(config_of(**empty), key)
    with pytest.raises(InputError, match=r"disables no heads: found ablation.states: \[\]"):
        preflight.check_tasks(config_of(states=[]), key)
    with pytest.raises(InputError, match=r"no interface\. Figures 8 and 9"):
        preflight.check_tasks(config_of(), key, left_out="Found no interface.")


def test_gates_that_learn_need_fine_tuned_models():
    gates = {"learned_gates": {"tasks": ["RTE"]}}
    preflight.check(config_of(**gates))
    preflight.check(config_of(states=[]))
    with pytest.raises(InputError, match=r"\[RTE\], but ablation\.states: \[\]"):
        preflight.check(config_of(states=[], **gates))
