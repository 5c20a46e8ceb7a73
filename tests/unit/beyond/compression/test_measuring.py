"""Sizes against plain counts and files; decisions against the models themselves; times."""

import numpy as np
import pytest
import torch
from compressed import AMOUNTS, classifier, examples
from safetensors.torch import load_file, save_file

from darksecrets.beyond.compression import declared
from darksecrets.beyond.compression.measure import running, storage, timing, variants
from darksecrets.core.interventions.disable import disable
from darksecrets.core.models.hooks import Intervention, intervene
from darksecrets.core.models.loading import Draw

MLPS = [2, 1]
"""Layers by how little they need their MLPs."""


def first(count: int) -> dict[int, frozenset[int]]:
    """Heads of the first layer."""
    return {1: frozenset(range(1, count + 1))}


def all_variants(model):
    return variants.variants(model, AMOUNTS, first, MLPS, Draw(1, 0.02))


def test_sizes_are_those_of_plain_counts_and_of_files(tmp_path):
    model, _ = classifier(tmp_path)
    found, models = running.measure(model, examples(), all_variants(model))
    assert [one.variant.method for one in found] == list(declared.METHODS)
    for one, changed in zip(found, models, strict=True):
        state = changed.state_dict()
        assert one.parameters == sum(len(tensor.flatten()) for tensor in state.values())
        assert one.nonzero == sum(int((tensor != 0).sum()) for tensor in state.values())
        save_file({name: t.contiguous() for name, t in state.items()}, tmp_path / "file")
        assert one.saved == (tmp_path / "file").stat().st_size
    sizes = {one.variant.method: one for one in found}
    assert sizes["8 bits"].saved < sizes["none"].saved / 2
    zeros = sizes["weights set to 0"]
    assert zeros.saved == pytest.approx(sizes["none"].saved, rel=0.01)
    assert zeros.packed < zeros.saved * 0.85
    for smaller in (
        "heads removed",
        "heads and MLPs removed",
        "layers dropped",
        "embeddings factorised",
    ):
        assert sizes[smaller].parameters < sizes["none"].parameters


def test_decisions_are_those_of_the_models_one_by_one(tmp_path):
    model, _ = classifier(tmp_path)
    split = examples()
    found, models = running.measure(model, split, all_variants(model))
    for one, changed in zip(found, models, strict=True):
        if one.variant.method == "8 bits":
            continue  # inputs are rounded by rows, which padding does not change: see below
        for row in range(len(split)):
            batch = split.batch([row])
            del batch["labels"]
            with torch.no_grad():
                expected = changed(**batch).logits[0].numpy()
            assert one.logits[row] == pytest.approx(expected, abs=1e-4)


def test_the_control_leaves_the_whole_model_alone(tmp_path):
    model, _ = classifier(tmp_path)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    (control,) = (each for each in all_variants(model) if each.is_control)
    drawn = running.compress(model, control)
    assert not torch.equal(drawn.classifier.weight, model.classifier.weight)
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())


@pytest.mark.parametrize("family", ["distilbert", "albert"])
def test_other_encoders_lack_rows_and_say_why(family, tmp_path):
    """Of ALBERT, all layers share their weights: all other rows are made, and count these once."""
    model, _ = classifier(tmp_path, family)
    ways = all_variants(model)
    lacking = {"heads removed", "heads and MLPs removed", "layers dropped"}
    assert [way.method for way in ways] == [m for m in declared.METHODS if m not in lacking]
    why = variants.left_out(model, first, MLPS)
    assert set(why) == lacking
    assert all(type(model).__name__ in each for each in why.values())
    measured, _ = running.measure(model, examples(), ways)
    assert measured[0].parameters == sum(t.numel() for t in model.parameters())
    assert all(np.isfinite(one.logits).all() for one in measured)


def test_rows_lack_what_the_run_does_not_order(tmp_path):
    own, _ = classifier(tmp_path)
    of_heads = {"heads removed", "heads and MLPs removed"}
    assert set(variants.left_out(own, None, MLPS)) == of_heads
    assert variants.left_out(own, first, []) == {
        "heads and MLPs removed": "the run does not order the MLPs of this task by importance"
    }
    for heads, mlps, less in ((None, MLPS, of_heads), (first, [], {"heads and MLPs removed"})):
        without = variants.variants(own, AMOUNTS, heads, mlps, Draw(1, 0.02))
        assert {each.method for each in without} == set(declared.METHODS) - less


class Disabled(Intervention):
    """The MLP of one layer adds nothing."""

    def __init__(self, layer: int) -> None:
        self.layer = layer

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        return output * (layer != self.layer)


@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
def test_without_heads_and_mlps_a_model_is_as_with_both_disabled(family, tmp_path):
    """Within 1e-5 of gates that are 0; exactly the parameters of both are gone."""
    model, _ = classifier(tmp_path, family)
    split = examples()
    (way,) = (each for each in all_variants(model) if each.method == declared.HEADS_AND_MLPS)
    batch = split.batch(list(range(len(split))))
    del batch["labels"]
    with torch.no_grad(), disable(model, first(4), "zero"), intervene(model, Disabled(MLPS[0])):
        expected = model(**batch).logits
    with torch.no_grad():
        intact = model(**batch).logits
        changed = running.compress(model, way)
        found = changed(**batch).logits
        assert torch.equal(model(**batch).logits, intact), "the whole model is left as it is"
    assert torch.allclose(found, expected, rtol=0, atol=1e-5)
    assert not torch.allclose(found, intact, atol=1e-3)
    hidden, wide = model.config.hidden_size, model.config.intermediate_size
    of_heads = 4 * hidden * hidden + 3 * hidden  # all four of layer 1, but the last bias
    of_mlp = 2 * hidden * wide + hidden + wide
    counts = [sum(p.numel() for p in each.parameters()) for each in (model, changed)]
    assert counts[0] - counts[1] == of_heads + of_mlp


def test_numbers_come_back_from_the_file_without_zeros(tmp_path):
    torch.manual_seed(1)
    many, few = torch.randn(7, 9), torch.randn(40, 3)
    many[many.abs() < 1] = 0
    few[3, 1] = 0
    tensors = {"many": many, "few": few, "whole": torch.zeros(4, dtype=torch.int8)}
    packed = storage.pack_zeros(tensors)
    assert set(packed) == {"many.bits", "many.values", "few", "whole"}
    save_file(packed, tmp_path / "file")
    assert storage.saved_bytes(packed) == (tmp_path / "file").stat().st_size
    read = load_file(tmp_path / "file")
    bits = [(int(byte) >> place) & 1 for byte in read["many.bits"] for place in range(7, -1, -1)]
    values = iter(read["many.values"].tolist())
    found = [next(values) if bit else 0.0 for bit in bits[: many.numel()]]
    assert torch.equal(torch.tensor(found).view_as(many), many)
    assert torch.equal(read["few"], few)


class Clock:
    """A clock that only models move; the machine is slower in every further repetition."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, 0

    def perf_counter(self) -> float:
        return self.now


class Moving(torch.nn.Module):
    """A model that takes a time of the clock."""

    def __init__(self, clock: Clock, seconds: float, models: int) -> None:
        super().__init__()
        self.clock, self.seconds, self.models = clock, seconds, models

    def forward(self, x):
        slower = 1 + self.clock.calls // self.models
        self.clock.now += self.seconds * slower
        self.clock.calls += 1
        return x


def test_speed_is_relative_to_the_whole_model_in_the_same_repetition(monkeypatch):
    """All models take turns, so a machine that becomes slower changes no ratio."""
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    models = [Moving(clock, seconds, 3) for seconds in (6.0, 6.0, 2.0)]
    taken = timing.seconds(models, {"x": torch.zeros(1)}, 9, np.random.default_rng(1))
    assert clock.calls == 30, "the first time of each does not count"
    assert taken == pytest.approx(np.outer(np.arange(2, 11), [6.0, 6.0, 2.0]))
    fast, same = (
        timing.speedup(taken[:, 0], taken[:, 2]),
        timing.speedup(taken[:, 0], taken[:, 1]),
    )
    assert tuple(fast.values()) == pytest.approx((3, 3, 3))
    assert same == {"speedup": 1, "ci_low": 1, "ci_high": 1}
    noisy = timing.speedup(np.array([1.0, 1, 9, 1, 1, 1, 1, 1, 1]), np.full(9, 0.5))
    assert tuple(noisy.values()) == (2, 2, 2), "one repetition with other work"


def test_times_are_of_all_but_the_control(tmp_path):
    model, _ = classifier(tmp_path)
    ways = all_variants(model)
    models = [running.compress(model, way) for way in ways]
    found = timing.times(models, ways, examples(), repetitions=6, threads=1, seed=1)
    assert found["method"].tolist() == 2 * list(declared.METHODS[:-1])
    table = found.assign(task="RTE", state="finetuned", seed=1)
    columns = list(declared.COMPRESSION_TIMES.names)
    declared.COMPRESSION_TIMES.check(table[columns], "made", "Correct it.")
    single = found[found["inputs"] == "one example"]
    assert (single["examples"] == 1).all()
    assert (single["tokens"] == sorted(examples().lengths)[3]).all(), "the median of 7"
    assert (found.loc[found["inputs"] == "batch", "examples"] == 7).all()
    assert (found["ci_low"] <= found["speedup"]).all()
