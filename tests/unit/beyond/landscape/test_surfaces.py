"""Loss surfaces: identities, distances, directions, precision, and bad input."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from glue import TASKS
from scipy.stats import norm
from torch.nn.functional import cross_entropy, mse_loss
from toy_data import save_bert, save_dataset
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import CORNERS, SURFACE_TABLES
from darksecrets.beyond.landscape.declared import Surface as Settings
from darksecrets.beyond.landscape.measure import surfaces
from darksecrets.beyond.landscape.measure.finetuned import Finetuned, sample
from darksecrets.beyond.landscape.measure.surface import Surface, along, spaced_shares, tables
from darksecrets.beyond.landscape.measure.surfaces import Losses, Model, measure
from darksecrets.beyond.landscape.measure.vectors import Frame, Vectors, frame_of, project
from darksecrets.beyond.landscape.preflight import check_grid
from darksecrets.beyond.landscape.shown import levels
from darksecrets.core.data.batches import EncodedSplit, load_split
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.loading import draw_from_normal, load_classifier, load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning.evaluation import evaluate, write_results

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
    """Three models of one run, with what it has stored of them."""

    task: Task
    models: dict[str, Model]
    dataset: Path

    @property
    def of(self) -> Finetuned:
        return Finetuned(self.task, "finetuned", SEED, sample=7, max_length=64)

    def split(self, name: str) -> EncodedSplit:
        """All examples of a split."""
        tokenizer = load_tokenizer(self.models["finetuned"].folder)
        return load_split(self.dataset, name, tokenizer, self.task, 64)

    def load(self, name: str) -> PreTrainedModel:
        return load_classifier(self.models[name].folder, self.task, SEED)[0]

    def measured(self, folder: Path, in_precision: str = "float32") -> Surface:
        options = {"threads": 1, "in_precision": in_precision}
        where = folder / "surface.npz"
        return measure(self.models, self.dataset, self.of, SETTINGS, where, **options)[0]


@pytest.fixture(scope="module", params=["RTE", "STS-B"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder, task = tmp_path_factory.mktemp("run"), TASKS[request.param]
    save_bert(folder / "pretrained")
    start, _ = load_classifier(folder / "pretrained", task, SEED)
    normal = copy.deepcopy(start)
    draw_from_normal(normal, SEED, 0.3)
    made = {"finetuned": moved(start, 3, 0.2), "finetuned-from-normal": moved(normal, 4, 0.1)}
    dataset = save_dataset(folder / "data", task, 30, 90)
    models = {}
    for name in CORNERS:
        if name in made:
            made[name].save_pretrained(folder / name)
            load_tokenizer(folder / "pretrained").save_pretrained(folder / name)
        models[name] = Model(folder / name, folder / f"{name}.csv")
    found = Case(task, models, dataset)
    for name in CORNERS:
        split = found.split("validation")
        logits = evaluate(found.load(name), split)
        files = {"scores": folder / "scores.csv", "predictions": models[name].predictions}
        write_results(logits, split, task, name, SEED, **files)
    return found


@pytest.fixture(scope="module")
def surface(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Surface:
    return case.measured(tmp_path_factory.mktemp("surface"))


def loss_of(task: Task, logits: np.ndarray, labels: np.ndarray) -> float:
    """Mean loss by PyTorch, in double precision."""
    outputs, gold = torch.tensor(logits).double(), torch.tensor(labels)
    if task.is_regression:
        return float(mse_loss(outputs[:, 0], gold.double()))
    return float(cross_entropy(outputs, gold))


def test_corners_have_the_losses_of_the_stored_outputs(case, surface):
    """Of validation examples exactly; of training ones, those of running the model as usual."""
    chosen = sample(case.split("validation"), 20, 7)
    train = sample(case.split("train"), 20, 7)
    for place, name in enumerate(CORNERS):
        stored = pd.read_csv(case.models[name].predictions).set_index("idx")
        columns = [column for column in stored if str(column).startswith("logit_")]
        outputs = stored.loc[chosen.idx, columns].to_numpy(dtype=np.float32)
        wanted = loss_of(case.task, outputs, chosen.labels)
        assert math.isclose(surface.corners.losses[0, place], wanted, rel_tol=1e-12)
        ordinary = evaluate(case.load(name), train)
        wanted = loss_of(case.task, ordinary, train.labels)
        assert math.isclose(surface.corners.losses[1, place], wanted, rel_tol=1e-12)


def outputs_with_skewed_losses(rng: np.random.Generator, size: int) -> np.ndarray:
    """[examples, 2] logits of a sure model, wrong on every sixth example; labels are 0."""
    lead = 4 * rng.normal(1, 1, size)
    return np.stack([lead, np.zeros(size)], axis=1).astype(np.float32)


@pytest.mark.parametrize("size", [24, 100])
def test_intervals_of_losses_cover_the_mean_of_all_examples(size):
    """Mean ± 1.96 standard errors does in 82 % with 24 examples, in 92 % with 100."""
    rng, trials = np.random.default_rng(size), 2000
    labels = np.zeros(size, dtype=np.int64)
    # the mean loss by the sum over a million evenly spaced quantiles of the lead
    leads = 4 * (1 + norm.ppf((np.arange(10**6) + 0.5) / 10**6))
    truth = np.logaddexp(0, -leads).mean()
    losses = Losses(None, None, {"train": SimpleNamespace(labels=labels)}, TASKS["RTE"])
    found = [
        losses.losses_of_outputs({"train": outputs_with_skewed_losses(rng, size)})
        for _ in range(trials)
    ]
    mean, low, high = np.array(found)[..., 0].T
    above, below = (low > truth).mean(), (high < truth).mean()
    assert ((low >= 0) & (low < mean) & (mean < high)).all()
    # 95 %, less 3.1 standard errors of 2000 trials; no side has nearly all
    assert 1 - above - below > 0.935
    assert max(above, below) < 0.06


def test_nodes_that_are_a_model_have_its_loss(surface):
    for name, shares in zip(CORNERS, surface.corners.shares, strict=True):
        exact = surface.corners.losses[:, CORNERS.index(name)]
        grid = surface.grids["models"]
        row, column = list(grid.y).index(shares[1]), list(grid.x).index(shares[0])
        assert np.array_equal(grid.losses[:, row, column], exact)
        if name != "finetuned-from-normal":
            place = {"pretrained": 0.0, "finetuned": 1.0}[name]
            line = surface.grids["line"]
            assert np.array_equal(line.losses[:, 0, list(line.x).index(place)], exact)


@pytest.mark.parametrize("plane", ["models", "line"])
def test_losses_are_those_of_adding_up_weights_by_hand(case, surface, plane):
    """An ordinary run of a model made in double precision, up to rounding in single precision."""
    grid, states = surface.grids[plane], {n: case.load(n).state_dict() for n in CORNERS}
    fine_tuned = case.load("finetuned")
    split = sample(case.split("validation"), 20, 7)
    for row, column in ((0, 0), (0, len(grid.x) - 1), (len(grid.y) - 1, 1)):
        x, y = grid.x[column], grid.y[row]
        model = copy.deepcopy(fine_tuned)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                pre, end, normal = (states[each][name].double() for each in CORNERS)
                made = {
                    "models": end + x * (pre - end) + y * (normal - end),
                    "line": pre + x * (end - pre),
                }[plane]
                parameter.copy_(made)
        wanted = loss_of(case.task, evaluate(model, split), split.labels)
        assert math.isclose(grid.losses[0, row, column], wanted, rel_tol=1e-4)


def test_places_are_those_of_gram_schmidt(case, surface):
    flat = {
        name: torch.cat([each.detach().double().flatten() for each in case.load(name).parameters()])
        for name in CORNERS
    }
    first, second = (flat[name] - flat["finetuned"] for name in (CORNERS[0], CORNERS[2]))
    axis = first / first.norm()
    across = second - (second @ axis) * axis
    wanted = [[float(first.norm()), 0.0], [0.0, 0.0], [float(second @ axis), float(across.norm())]]
    assert np.allclose(surface.corners.distances, wanted, rtol=1e-9)
    assert not surface.corners.beside.any()


def test_paths_are_projected_at_right_angles(case, tmp_path):
    """A point of the plane has its own place; what is beside the plane does not move it."""
    vectors = Vectors()
    for name in CORNERS:
        vectors.keep(name, case.load(name))
    frame = frame_of(vectors, ("pretrained", "finetuned-from-normal"), "finetuned", "plane")
    states = {name: dict(case.load(name).named_parameters()) for name in CORNERS}
    pre, end, normal = (
        torch.cat([states[name][key].detach().double().flatten() for key in vectors.shapes])
        for name in CORNERS
    )
    point = end + 0.3 * (pre - end) + 0.1 * (normal - end)
    basis, _ = torch.linalg.qr(torch.stack([pre - end, normal - end], dim=1))
    aside = torch.randn(len(point), generator=torch.Generator().manual_seed(2)).double()
    aside -= basis @ (basis.T @ aside)
    for added in (torch.zeros_like(aside), aside):
        flat, changes, start = point + added - pre, {}, 0
        for name, shape in vectors.shapes.items():
            changes[name] = flat[start : start + math.prod(shape)].view(shape)
            start += math.prod(shape)
        shares, beside = project(vectors, frame, changes)
        assert np.allclose(shares, [0.3, 0.1], atol=1e-7)
        assert math.isclose(beside, float(added.norm()), rel_tol=1e-6, abs_tol=1e-4)
    assert np.allclose(project(vectors, frame, {})[0], [1, 0])


def test_bfloat16_is_near_float32_and_corners_stay_exact(case, surface, tmp_path):
    fast = case.measured(tmp_path, "bfloat16")
    assert np.array_equal(fast.corners.losses, surface.corners.losses)
    assert surface.rounding == 0
    assert 0 < fast.rounding < 0.1
    for plane, grid in surface.grids.items():
        assert np.allclose(fast.grids[plane].losses, grid.losses, rtol=0.1, atol=0.05)


def test_a_stopped_job_goes_on_to_the_same_numbers(case, surface, tmp_path, monkeypatch):
    at, calls = Losses.measure, [0]

    def stopping(self: Losses, weights: dict[str, float], *, exact: bool = False) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 9:
            raise KeyboardInterrupt
        return at(self, weights, exact=exact)

    monkeypatch.setattr(Losses, "measure", stopping)
    with pytest.raises(KeyboardInterrupt):
        case.measured(tmp_path)
    first = calls[0]
    again = case.measured(tmp_path)
    assert calls[0] - first < GRID**2 + 2 * GRID - 1, "finished rows are not computed again"
    for plane, grid in surface.grids.items():
        assert np.array_equal(again.grids[plane].losses, grid.losses)
    assert [path.name for path in tmp_path.iterdir()] == ["surface.npz"]


@pytest.mark.parametrize("other", ["columns", "axes", "examples"])
def test_rows_of_another_surface_are_not_gone_on_with(case, surface, tmp_path, monkeypatch, other):
    """Those of an earlier version, without intervals; of another grid; of other examples."""
    at, calls = Losses.measure, [0]

    def stopping(self: Losses, weights: dict[str, float], *, exact: bool = False) -> np.ndarray:
        calls[0] += 1
        if calls[0] == 9:
            raise KeyboardInterrupt
        found = at(self, weights, exact=exact)
        return found[:1] if other == "columns" else found

    with monkeypatch.context() as patched:
        patched.setattr(Losses, "measure", stopping)
        if other == "columns":
            patched.setattr(surfaces.declared, "LOSS_SURFACES", surfaces.declared.SURFACE_POINTS)
            patched.setattr(
                surfaces, "_measure_point", lambda losses_at, point, _: losses_at.measure(point)
            )
        if other == "axes":
            patched.setattr(surfaces, "spaced_shares", lambda points: 2 * spaced_shares(points))
        if other == "examples":
            patched.setattr(sys.modules[__name__], "SETTINGS", replace(SETTINGS, examples=10))
        with pytest.raises(KeyboardInterrupt):
            case.measured(tmp_path)
    assert list(tmp_path.glob(".surface.npz.partial/*.npz")), "a row is finished"
    again = case.measured(tmp_path)
    for plane, grid in surface.grids.items():
        assert np.array_equal(again.grids[plane].losses, grid.losses)
        assert np.array_equal(again.grids[plane].ends, grid.ends)


def test_it_is_read_as_it_was_written_and_fits_its_tables(case, surface, tmp_path):
    surface.save(tmp_path / "loss_surface.npz")
    found = Surface.load(tmp_path / "loss_surface.npz")
    for plane, grid in surface.grids.items():
        assert all(
            np.array_equal(vars(found.grids[plane])[key], of) for key, of in vars(grid).items()
        )
    assert np.array_equal(found.corners.losses, surface.corners.losses)
    rows = tables(found, case.task.name, SEED)
    for table in SURFACE_TABLES:
        table.write(rows[table.name], tmp_path / table.file)
        assert len(table.read(tmp_path / table.file)) == len(rows[table.name])
    nodes = GRID**2 + 2 * GRID - 1
    assert len(rows["loss_surfaces"]) == 2 * nodes
    with pytest.raises(InputError, match="no arrays that can be read"):
        Surface.load(tmp_path / "none.npz")


def broken(case: Case, folder: Path, change: Callable[[PreTrainedModel], None]) -> dict[str, Model]:
    """The models, the last of them changed."""
    model = case.load("finetuned-from-normal")
    change(model)
    model.save_pretrained(folder / "broken")
    load_tokenizer(case.models["pretrained"].folder).save_pretrained(folder / "broken")
    stored = case.models["finetuned-from-normal"].predictions
    return {**case.models, "finetuned-from-normal": Model(folder / "broken", stored)}


def test_models_that_do_not_fit_stop_with_one_message(case, tmp_path):
    def to_line(model: PreTrainedModel) -> None:
        pre, end = (dict(case.load(name).named_parameters()) for name in CORNERS[:2])
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(2 * pre[name] - end[name])

    def to_fine_tuned(model: PreTrainedModel) -> None:
        model.load_state_dict(case.load("finetuned").state_dict())

    def diverge(model: PreTrainedModel) -> None:
        with torch.no_grad():
            next(iter(model.classifier.parameters())).fill_(math.nan)

    def other_run(model: PreTrainedModel) -> None:
        with torch.no_grad():
            next(iter(model.classifier.parameters())).add_(1)

    for change, message in (
        (to_line, "directions are parallel"),
        (to_fine_tuned, "both must be above 0"),
        (diverge, "have diverged"),
        (other_run, "must be of one run"),
    ):
        models = broken(case, tmp_path, change)
        with pytest.raises(InputError, match=message):
            measure(models, case.dataset, case.of, SETTINGS, tmp_path / "x.npz", threads=1)
        assert not list(tmp_path.glob("*x.npz*")), "nothing half-written"


def test_models_of_other_shapes_and_losses_that_are_not_finite(case, tmp_path):
    vectors, model = Vectors(), case.load("finetuned")
    vectors.keep("finetuned", model)
    other = copy.deepcopy(model)
    other.classifier.weight = torch.nn.Parameter(torch.zeros(7, 16))
    with pytest.raises(InputError, match=r"classifier\.weight: the pretrained model has 7 × 16"):
        vectors.keep("pretrained", other)
    losses = Losses(model, vectors, {"train": case.split("train")}, case.task)
    with pytest.raises(InputError, match="on the train examples is not finite"):
        losses.measure({"finetuned": 1e38})


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


def test_a_frame_has_right_angled_coordinates():
    frame = Frame(np.array([[4.0, 2.0], [2.0, 10.0]]), "plane")
    assert np.allclose(frame.distances(np.eye(2)), [[2, 0], [1, 3]])
    assert np.allclose(frame.shares(np.array([4.0, 2.0])), [1, 0])
