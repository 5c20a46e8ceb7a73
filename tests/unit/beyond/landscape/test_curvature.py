"""Hessian products, traces, eigenvalues and sharpness: against closed forms and brute force."""

import dataclasses
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from glue import TASKS
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from tiny_models import save_classifier
from torch.func import functional_call

from darksecrets.beyond.landscape.measure import flatness
from darksecrets.beyond.landscape.measure import objective as of_objective
from darksecrets.beyond.landscape.measure.directions import (
    encoder_parameters,
    filter_normalised,
    filter_norms,
    filter_scale,
)
from darksecrets.beyond.landscape.measure.objective import Objective
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.run.errors import InputError

WORDS, EXAMPLES = 6, 40


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


class BagOfWords(torch.nn.Module):
    """Logistic regression on how often each word occurs; its weights count as an encoder."""

    base_model_prefix = "words"

    def __init__(self, weights: np.ndarray) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(len(weights), 1, dtype=torch.float64)
        self.words.weight.data[:, 0] = torch.from_numpy(weights)
        self.config = SimpleNamespace(
            num_hidden_layers=1, hidden_size=1, num_attention_heads=1, pad_token_id=0
        )
        self.device = torch.device("cpu")

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
        score = (self.words(input_ids) * attention_mask[..., None]).sum(dim=1)
        return SimpleNamespace(logits=torch.cat([torch.zeros_like(score), score], dim=1))


@pytest.fixture(scope="module")
def logistic() -> tuple[Objective, np.ndarray, np.ndarray]:
    """The loss of a fitted regression, [examples, words] counts, and [words] its weights."""
    rng = np.random.default_rng(1)
    texts = [rng.integers(0, WORDS, rng.integers(3, 9)) for _ in range(EXAMPLES)]
    counts = np.stack([np.bincount(text, minlength=WORDS) for text in texts]).astype(float)
    labels = (counts @ rng.normal(size=WORDS) + rng.normal(size=EXAMPLES) > 0).astype(np.int64)
    fitted = LogisticRegression(C=1.0, fit_intercept=False).fit(counts, labels)
    split = EncodedSplit(
        idx=np.arange(EXAMPLES),
        labels=labels,
        starts=np.cumsum([0, *map(len, texts)]),
        inputs={"input_ids": np.concatenate(texts).astype(np.int32)},
        padding={"input_ids": 0},
    )
    model = BagOfWords(fitted.coef_[0])
    return Objective(model, split, TASKS["RTE"]), counts, fitted.coef_[0]  # type: ignore[arg-type]


def exact_hessian(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Xᵀ diag(p (1 − p)) X / n."""
    p = 1 / (1 + np.exp(-counts @ weights))
    return counts.T @ (counts * (p * (1 - p))[:, None]) / len(counts)


def test_hessian_of_logistic_regression_is_that_of_the_formula(logistic):
    objective, counts, weights = logistic
    columns = [objective.product(row).numpy() for row in torch.eye(WORDS, dtype=torch.float64)]
    exact = exact_hessian(counts, weights)
    assert np.allclose(columns, exact, rtol=1e-12, atol=1e-14)
    scaled = [objective.scaled_product(row).numpy() for row in torch.eye(WORDS).double()]
    lengths = np.abs(weights)  # a filter is the embedding of a word, here one number
    assert np.allclose(scaled, exact * np.outer(lengths, lengths), rtol=1e-12, atol=1e-14)


def test_eigenvalue_and_trace_of_logistic_regression(logistic):
    objective, counts, weights = logistic
    exact = exact_hessian(counts, weights)
    found = flatness.top_eigenvalue(objective.product, objective.start, 50, generator())
    values, vectors = np.linalg.eigh(exact)
    assert found.value == pytest.approx(values[-1], abs=found.residual + 1e-12)
    assert abs(found.vector.numpy() @ vectors[:, -1]) == pytest.approx(1, abs=1e-4)
    draws = flatness.draws_of_trace(objective.product, objective.start, 400, generator())
    error = draws.std(ddof=1) / np.sqrt(len(draws))
    assert abs(draws.mean() - np.trace(exact)) < 3 * error


def symmetric(size: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(size, size))
    return (made + made.T) / 2


def as_product(matrix: np.ndarray, dtype: torch.dtype = torch.float64):
    whole = torch.from_numpy(matrix).to(dtype)
    return lambda vector: whole @ vector


@pytest.mark.parametrize("seed", range(5))
def test_lanczos_finds_the_greatest_eigenvalue(seed):
    """Also where another one is greater without its sign."""
    matrix = symmetric(60, seed) - 3 * np.eye(60)
    exact = np.linalg.eigvalsh(matrix)
    assert abs(exact[0]) > abs(exact[-1])
    like = torch.zeros(60, dtype=torch.float64)
    found = flatness.top_eigenvalue(as_product(matrix), like, 60, generator(seed))
    assert found.value == pytest.approx(exact[-1], abs=max(found.residual, 1e-9))
    assert found.residual <= 2e-3 * abs(found.value)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 10, 20])
def test_an_eigenvalue_is_within_the_residual(steps):
    """However few steps; and the estimate is never above the greatest."""
    for seed in range(20):
        matrix = symmetric(40, seed)
        exact = np.linalg.eigvalsh(matrix)
        like = torch.zeros(40, dtype=torch.float64)
        found = flatness.top_eigenvalue(as_product(matrix), like, steps, generator(seed))
        assert np.abs(exact - found.value).min() <= found.residual + 1e-12
        assert found.value <= exact[-1] + 1e-12
        assert len(found.basis) == len(found.along) <= steps


@pytest.mark.slow
@pytest.mark.parametrize(("lanczos", "largest"), [(0, 0.32), (4, 0.17), (16, 0.15)])
def test_the_trace_beside_lanczos_vectors_is_unbiased_with_half_the_error(lanczos, largest):
    """Of a matrix with the spectrum of a fine-tuned model's Hessian: a third of the trace is one
    eigenvalue. By three random vectors alone, the trace was wrong by a quarter on average."""
    rng = np.random.default_rng(3)
    values = np.concatenate([[147, 27, 24, 17, 16, 14], rng.normal(0.11, 1.6, 1500)])
    turned, _ = np.linalg.qr(rng.normal(size=(len(values), len(values))))
    product = as_product(turned @ np.diag(values) @ turned.T)
    like = torch.zeros(len(values), dtype=torch.float64)
    known = flatness.top_eigenvalue(product, like, lanczos, generator(1)) if lanczos else None
    draws = flatness.draws_of_trace(product, like, 300, generator(2), known)
    error = draws.std(ddof=1) / len(draws) ** 0.5
    assert abs(draws.mean() - values.sum()) < 3 * error
    of_three = draws.std(ddof=1) / 3**0.5 / values.sum()
    assert of_three < largest
    assert lanczos or of_three > 0.2


def test_intervals_of_the_trace_beside_lanczos_vectors_cover_it():
    """Of random matrices with a large eigenvalue, by 10 random vectors."""
    covered = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        matrix = symmetric(60, seed) + 40 * np.outer(*[rng.normal(size=60) / 8] * 2)
        like = torch.zeros(60, dtype=torch.float64)
        known = flatness.top_eigenvalue(as_product(matrix), like, 4, generator(seed))
        draws = flatness.draws_of_trace(as_product(matrix), like, 10, generator(seed + 1), known)
        found = flatness.estimate(draws)
        covered.append(found["ci_low"] <= np.trace(matrix) <= found["ci_high"])
    assert 0.92 <= np.mean(covered) <= 0.98


def test_a_trace_is_exact_where_lanczos_vectors_span_everything():
    matrix = symmetric(12, 1)
    like = torch.zeros(12, dtype=torch.float64)
    known = dataclasses.replace(
        flatness.top_eigenvalue(as_product(matrix), like, 1, generator()),
        basis=list(torch.eye(12).double()),
        along=np.diag(matrix).tolist(),
    )
    draws = flatness.draws_of_trace(as_product(matrix), like, 2, generator(), known)
    assert draws == pytest.approx(np.trace(matrix), abs=1e-12)


def test_lanczos_ends_where_its_space_is_exhausted():
    like = torch.zeros(5, dtype=torch.float64)
    found = flatness.top_eigenvalue(as_product(np.zeros((5, 5))), like, 5, generator())
    assert (found.value, found.residual) == (0, 0)
    found = flatness.top_eigenvalue(as_product(2 * np.eye(5)), like, 5, generator())
    assert (found.value, len(found.basis)) == (pytest.approx(2), 1)


MODELS = [("bert", "RTE"), ("roberta", "STS-B"), ("distilbert", "MNLI")]
LENGTHS = (7, 4, 9, 4, 6)


@pytest.fixture(scope="module", params=MODELS, ids="-".join)
def encoder(request, tmp_path_factory):
    """A random encoder of two layers in double precision, with examples of several lengths."""
    family, name = request.param
    task = TASKS[name]
    folder = save_classifier(tmp_path_factory.mktemp(family) / "model", family, task)
    model, _ = load_classifier(folder, task, 1, attention="eager")
    rng, starts = np.random.default_rng(1), np.cumsum([0, *LENGTHS])
    labels = np.arange(len(LENGTHS)) % 2
    if task.is_regression:
        labels = rng.normal(size=len(LENGTHS)).astype(np.float32)
    inputs = {"input_ids": rng.integers(4, 7, starts[-1]).astype(np.int32)}
    padding = {"input_ids": model.config.pad_token_id}
    return model, EncodedSplit(np.arange(len(LENGTHS)), labels, starts, inputs, padding), task


def plain_loss(model, split, task, weights):
    """The mean loss of examples run one by one, with other weights."""
    total = 0
    for row in range(len(split)):
        batch = split.batch([row])
        labels = batch.pop("labels")
        (logits,) = functional_call(model, weights, kwargs=batch).logits
        if task.is_regression:
            total = total + (logits[0] - labels[0]) ** 2
        else:
            total = total - torch.log_softmax(logits, dim=0)[labels[0]]
    return total / len(split)


def test_hessian_of_an_encoder_is_that_of_pytorch(encoder, monkeypatch):
    """Blocks of the embeddings' and a layer's norm and of queries, in double precision."""
    model, split, task = encoder
    model = model.double()
    monkeypatch.setattr(of_objective, "BATCH_SIZE", 2)
    objective = Objective(model, split, task)
    parameters = {n: p.detach() for n, p in encoder_parameters(model).items()}
    chosen = [
        next(n for n in parameters if "embeddings" in n and "norm" in n.lower()),
        next(n for n in parameters if ("query" in n or "q_lin" in n) and n.endswith("bias")),
        [n for n in parameters if "norm" in n.lower() and n.endswith("bias")][-1],
    ]

    def value(*moved):
        return plain_loss(
            model, split, task, {**parameters, **dict(zip(chosen, moved, strict=True))}
        )

    given = tuple(parameters[name] for name in chosen)
    blocks = torch.autograd.functional.hessian(value, given)
    places = dict(
        zip(
            parameters,
            itertools.pairwise(np.cumsum([0, *(p.numel() for p in parameters.values())])),
            strict=True,
        )
    )
    rng = np.random.default_rng(0)
    for number, name in enumerate(chosen):
        vector = torch.zeros_like(objective.start)
        own = torch.from_numpy(rng.normal(size=given[number].numel()))
        vector[slice(*places[name])] = own
        image = objective.product(vector)
        for other, also in enumerate(chosen):
            block = blocks[other][number].reshape(given[other].numel(), -1)
            found = image[slice(*places[also])]
            assert torch.allclose(found, block @ own, rtol=1e-9, atol=1e-12)
    model.float()


def test_products_in_single_precision_agree_with_double(encoder):
    model, split, task = encoder
    single = Objective(model, split, task)
    vector = torch.randn(single.start.shape, generator=generator())
    found, slope = single.product(vector).double(), single.gradient().double()
    exact = Objective(model.double(), split, task)
    assert exact.value == pytest.approx(single.value, rel=1e-5)
    image = exact.product(vector.double())
    assert torch.linalg.vector_norm(found - image) < 1e-4 * torch.linalg.vector_norm(image)
    along = exact.gradient()
    assert torch.linalg.vector_norm(slope - along) < 1e-4 * torch.linalg.vector_norm(along)
    step = 1e-5 * vector.double()
    differences = (exact.gradient(step) - exact.gradient(-step)) / 2e-5
    assert torch.linalg.vector_norm(differences - image) < 1e-5 * torch.linalg.vector_norm(image)
    model.float()


def test_the_model_is_left_as_it_was(encoder):
    model, split, task = encoder
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    objective = Objective(model, split, task)
    objective.loss(torch.ones_like(objective.start))
    objective.gradient(torch.ones_like(objective.start))
    assert objective.loss(torch.full_like(objective.start, torch.nan)) == float("inf")
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert objective.loss(torch.zeros_like(objective.start)) == objective.value


def test_directions_have_filters_as_long_as_those_of_the_weights():
    weights = torch.randn(4, 3, generator=generator(1))
    found = filter_normalised(weights, generator())
    assert torch.allclose(found.norm(dim=1), weights.norm(dim=1))
    assert torch.allclose(filter_norms(weights)[:, 0], weights.norm(dim=1))
    assert torch.allclose(filter_scale(weights).norm(dim=1), weights.norm(dim=1))
    assert not filter_normalised(torch.zeros(2, 3), generator()).any()
    for made in (filter_normalised(weights[0], generator()), filter_scale(weights[0])):
        assert not made.any()


class Quadratic:
    """½ xᵀ A x + bᵀ x above 1, in the place of an objective; 3 filters of 2 weights."""

    def __init__(self, matrix: np.ndarray, slope: np.ndarray) -> None:
        self.matrix, self.slope = torch.from_numpy(matrix), torch.from_numpy(slope)
        self.start = torch.tensor([1.0, 2, -1, 0.5, 3, -2], dtype=torch.float64)
        norms = self.start.view(3, 2).norm(dim=1, keepdim=True)
        self.scale = (norms / 2**0.5).expand(3, 2).reshape(-1)
        self.value = 1.0

    def loss(self, moved: torch.Tensor) -> float:
        return float(1 + self.slope @ moved + moved @ self.matrix @ moved / 2)

    def gradient(self, moved: torch.Tensor) -> torch.Tensor:
        return self.slope + self.matrix @ moved

    def product(self, vector: torch.Tensor) -> torch.Tensor:
        return self.matrix @ vector

    def filters(self, vector: torch.Tensor):
        return iter([vector.view(3, 2)])


def quadratic(seed: int, slope: float) -> Quadratic:
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(6, 6))
    return Quadratic(made @ made.T, slope * rng.normal(size=6))


def top_of(made: Quadratic) -> torch.Tensor:
    return flatness.top_eigenvalue(made.product, made.start, 6, generator()).vector


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_sharpness_by_filters_against_scipy(slope):
    exact = 0
    for seed in range(8):
        made = quadratic(seed, slope)
        radii = 0.1 * made.start.view(3, 2).norm(dim=1).numpy()
        best = 100 * (_greatest(made, radii) - 1) / 2
        found = flatness.sharpness(made, flatness.balls(made, 0.1), 30, [top_of(made)])  # type: ignore[arg-type]
        assert found <= best * (1 + 1e-6)
        exact += found == pytest.approx(best, rel=1e-3)
    assert exact >= 7


def _greatest(made: Quadratic, radii: np.ndarray) -> float:
    """The greatest loss on all filters' circles, on which a convex one is: by their angles."""

    def point(angles: np.ndarray) -> torch.Tensor:
        circles = np.stack([np.cos(angles), np.sin(angles)], axis=1) * radii[:, None]
        return torch.from_numpy(circles.reshape(-1))

    starts = np.random.default_rng(0).uniform(0, 2 * np.pi, (30, 3))
    return max(-minimize(lambda a: -made.loss(point(a)), start).fun for start in starts)


def test_sharpness_follows_the_formula_of_keskar():
    """Without curvature, the rise is Σ ‖slope‖ ε ‖filter‖ over filters, divided by 1 + loss."""
    made = Quadratic(np.zeros((6, 6)), np.arange(6) - 2.5)
    found = flatness.sharpness(made, flatness.balls(made, 0.01), 3)  # type: ignore[arg-type]
    lengths, slopes = (each.view(3, 2).norm(dim=1) for each in (made.scale, made.slope))
    rise = float((slopes * 0.01 * lengths).sum())
    assert found == pytest.approx(100 * rise / 2)


def test_mean_rise_is_half_the_trace_of_the_normalised_hessian(logistic):
    """For a small radius; a filter is one weight here, so that directions are signs."""
    objective, counts, weights = logistic
    matrix = exact_hessian(counts, weights) * np.outer(np.abs(weights), np.abs(weights))
    radius = 1e-3
    found = flatness.rises(objective, radius, 400, generator())
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - radius**2 * np.trace(matrix) / 2) < 3 * error
    again = flatness.rises(objective, radius, 400, generator())
    assert (found == again).all()


def test_a_loss_that_is_no_number_is_refused(encoder):
    model, split, task = encoder
    weights = next(iter(encoder_parameters(model).values()))
    kept = weights.detach().clone()
    with torch.no_grad():
        weights.fill_(torch.nan)
    try:
        with pytest.raises(InputError, match=r"the loss on .* not a finite number"):
            Objective(model, split, task)
    finally:
        with torch.no_grad():
            weights.copy_(kept)


def test_rescaled_queries_and_keys_change_plain_numbers_only(encoder):
    """Dinh et al. (2017): queries × 4 and keys / 4 compute the same."""
    model, split, task = encoder
    model = model.double()
    before = Objective(model, split, task)
    numbers = [_numbers(before)]
    kept = {name: p.detach().clone() for name, p in model.named_parameters()}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            factor = 4.0 if (".query." in name or ".q_lin." in name) else 1.0
            factor /= 4.0 if (".key." in name or ".k_lin." in name) else 1.0
            parameter.mul_(factor)
    after = Objective(model, split, task)
    assert after.value == pytest.approx(before.value, rel=1e-12)
    numbers.append(_numbers(after))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(kept[name])
    model.float()
    plain, scaled = (np.array([each[kind] for each in numbers]) for kind in ("plain", "filter"))
    assert np.allclose(scaled[0], scaled[1], rtol=1e-6)
    assert (np.abs(plain[1] / plain[0] - 1) > 0.005).any()


def _numbers(objective: Objective) -> dict[str, list[float]]:
    """Trace and eigenvalue, plain and filter-normalised; sharpness and mean rise."""
    found = {}
    products = {"plain": objective.product, "filter": objective.scaled_product}
    for scale, product in products.items():
        top = flatness.top_eigenvalue(product, objective.start, 8, generator())
        trace = flatness.draws_of_trace(product, objective.start, 4, generator()).mean()
        found[scale] = [top.value, float(trace)]
    found["filter"].append(flatness.sharpness(objective, flatness.balls(objective, 5e-3), 3))
    found["filter"].append(float(flatness.rises(objective, 0.05, 3, generator()).mean()))
    return found
