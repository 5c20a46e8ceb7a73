"""Loss surfaces: against weights added up by hand, resumed rows, and bad input."""

from __future__ import annotations

import copy
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from glue import TASKS
from torch.nn.functional import cross_entropy, mse_loss
from toy_data import save_bert, save_dataset
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import CORNERS, LOSS_SURFACES
from darksecrets.beyond.landscape.declared import Surface as Settings
from darksecrets.beyond.landscape.measure import surface
from darksecrets.beyond.landscape.measure.finetuned import Finetuned, sample
from darksecrets.beyond.landscape.measure.surface import along, measure, spaced_shares
from darksecrets.beyond.landscape.preflight import check_grid
from darksecrets.beyond.landscape.shown import levels
from darksecrets.core.data.batches import EncodedSplit, load_split
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning.evaluation import evaluate

SEED, GRID = 1, 5
SETTINGS = Settings(grid=GRID, examples=20)


def moved(model: PreTrainedModel, seed: int, size: float) -> PreTrainedModel:
    """A copy with noise on all parameters."""
    generator, other = torch.Generator().manual_seed(seed), copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(size * torch.randn(parameter.shape, generator=generator))
    return other


@dataclass(frozen=True)
class Case:
    """Three models of one run."""

    task: Task
    models: dict[str, Path]
    dataset: Path

    @property
    def of(self) -> Finetuned:
        return Finetuned(self.task, "finetuned", SEED, sample=7, max_length=64)

    def split(self, name: str) -> EncodedSplit:
        """The examples of a split whose losses are computed."""
        tokenizer = load_tokenizer(self.models["finetuned"])
        whole = load_split(self.dataset, name, tokenizer, self.task, 64)
        return sample(whole, SETTINGS.examples, 7)

    def load(self, name: str) -> PreTrainedModel:
        return load_classifier(self.models[name], self.task, SEED)[0]

    def measured(self, folder: Path) -> pd.DataFrame:
        where = folder / LOSS_SURFACES.file
        measure(self.models, self.dataset, self.of, SETTINGS, where, threads=1)
        return LOSS_SURFACES.read(where)


@pytest.fixture(scope="module", params=["RTE", "STS-B"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder, task = tmp_path_factory.mktemp("run"), TASKS[request.param]
    save_bert(folder / "pretrained")
    start, _ = load_classifier(folder / "pretrained", task, SEED)
    normal = copy.deepcopy(start)
    draw_from_normal(normal, SEED, 0.3)
    made = {"finetuned": moved(start, 3, 0.2), "finetuned-from-normal": moved(normal, 4, 0.1)}
    for name, model in made.items():
        model.save_pretrained(folder / name)
        load_tokenizer(folder / "pretrained").save_pretrained(folder / name)
    dataset = save_dataset(folder / "data", task, 30, 90)
    return Case(task, {name: folder / name for name in CORNERS}, dataset)


@pytest.fixture(scope="module")
def found(case: Case, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return case.measured(tmp_path_factory.mktemp("surface"))


def loss_of(task: Task, logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean loss by PyTorch, in double precision."""
    outputs, gold = torch.tensor(logits).double(), torch.tensor(labels)
    if task.is_regression:
        return float(mse_loss(outputs[:, 0], gold.double()))
    return float(cross_entropy(outputs, gold))


def test_every_node_is_there_once(found):
    of_plane, of_line = (found[found["plane"] == name] for name in ("models", "line"))
    assert set(of_plane["split"]) == {"train"}
    assert set(of_line["split"]) == {"train", "validation"}
    assert len(of_plane) == GRID**2
    assert len(of_line) == 2 * (2 * GRID - 1)
    assert not found.duplicated(list(LOSS_SURFACES.key)).any()


@pytest.mark.parametrize("plane", ["models", "line"])
def test_losses_are_those_of_adding_up_weights_by_hand(case, found, plane):
    """An ordinary run of a model made in double precision, up to rounding in single precision."""
    states = {name: case.load(name).state_dict() for name in CORNERS}
    rows = found[found["plane"] == plane].iloc[[0, 1, -1]].to_dict("records")
    for row in rows:
        model = case.load("finetuned")
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                pre, end, normal = (states[each][name].double() for each in CORNERS)
                made = {
                    "models": end + row["x"] * (pre - end) + row["y"] * (normal - end),
                    "line": pre + row["x"] * (end - pre),
                }[plane]
                parameter.copy_(made)
        split = case.split(row["split"])
        wanted = loss_of(case.task, evaluate(model, split), split.labels)
        assert math.isclose(row["loss"], wanted, rel_tol=1e-4)
        assert row["ci_low"] < row["loss"] < row["ci_high"]


@pytest.mark.parametrize(
    ("plane", "x", "y", "name"),
    [
        ("models", 1, 0, "pretrained"),
        ("models", 0, 0, "finetuned"),
        ("models", 0, 1, "finetuned-from-normal"),
        ("line", 0, 0, "pretrained"),
        ("line", 1, 0, "finetuned"),
    ],
)
def test_nodes_that_are_a_model_have_its_loss(case, found, plane, x, y, name):
    rows = found[(found["plane"] == plane) & (found["x"] == x) & (found["y"] == y)]
    assert len(rows)
    for row in rows.to_dict("records"):
        split = case.split(row["split"])
        wanted = loss_of(case.task, evaluate(case.load(name), split), split.labels)
        assert math.isclose(row["loss"], wanted, rel_tol=1e-6)


@pytest.mark.parametrize("other", [None, "grid", "examples"])
def test_a_stopped_job_goes_on_with_its_own_rows_only(case, found, tmp_path, monkeypatch, other):
    measured, rows = surface.losses_of, []

    def stopping(row, *given):
        if len(rows) == 2:
            raise KeyboardInterrupt
        rows.append(row)
        return measured(row, *given)

    with monkeypatch.context() as patched:
        patched.setattr(surface, "losses_of", stopping)
        if other:
            changed = replace(SETTINGS, **{other: 7 if other == "grid" else 10})
            patched.setattr(sys.modules[__name__], "SETTINGS", changed)
        with pytest.raises(KeyboardInterrupt):
            case.measured(tmp_path)
    assert list(tmp_path.glob(".loss_surfaces.csv.partial/*.csv")), "a row is finished"
    again: list[object] = []
    monkeypatch.setattr(
        surface, "losses_of", lambda row, *given: again.append(row) or measured(row, *given)
    )
    pd.testing.assert_frame_equal(case.measured(tmp_path), found)
    assert len(again) == GRID + 1 - (2 if other is None else 0)
    assert [path.name for path in tmp_path.iterdir()] == [LOSS_SURFACES.file]


def test_a_loss_that_is_not_finite_stops_with_one_message(case, tmp_path):
    model = case.load("finetuned-from-normal")
    with torch.no_grad():
        next(iter(model.classifier.parameters())).fill_(math.nan)
    model.save_pretrained(tmp_path / "broken")
    models = {**case.models, "finetuned-from-normal": tmp_path / "broken"}
    with pytest.raises(InputError, match=r"on the train examples is not finite.*has diverged"):
        measure(models, case.dataset, case.of, SETTINGS, tmp_path / "x.csv", threads=1)
    assert not list(tmp_path.glob("*x.csv*")), "nothing half-written"


def test_grids_have_the_models_as_nodes():
    for points in range(5, 52, 2):
        for grid in (spaced_shares(points), along(points)):
            assert {0.0, 1.0} <= set(grid)
            assert grid[0] < 0
            assert grid[-1] > 1
        assert len(spaced_shares(points)) == points
    with pytest.raises(InputError, match="is 14, but must be odd"):
        check_grid(14)


def test_colours_are_even_on_a_logarithmic_scale_and_robust():
    losses = np.concatenate([np.linspace(0.1, 1, 99), [1e6]])
    found = levels(losses)
    assert found[0] == pytest.approx(0.1)
    assert found[-1] < 2, "one huge loss does not hide all others"
    assert np.allclose(np.diff(np.log(found)), np.log(found[1] / found[0]))
    assert (np.diff(levels(np.full(9, 0.5))) > 0).all()
    assert (np.diff(levels(np.zeros(9))) > 0).all()
