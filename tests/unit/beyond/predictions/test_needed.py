"""Heads that agreement needs, against plain passes with their attention made uniform."""

import copy

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import headline_of

from darksecrets.beyond.predictions.declared import AGREEMENT_GROUPS, AGREEMENT_HEADS
from darksecrets.beyond.predictions.measure.needed import (
    Choices,
    along_subjects,
    find_gaps,
    sweep_choices,
    tables_of,
)
from darksecrets.beyond.predictions.pairs import Pair, read_pairs
from darksecrets.beyond.predictions.shown import draw_agreement_heads
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.models.loading import load_masked
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.plotting.drawing import Given
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import identify
from darksecrets.paper.ablation.statistics import Resampling

TINY = RESOURCES / "tiny-bert"
LONGEST = 128
PAIRS = read_pairs(RESOURCES / "corpus" / "pairs.jsonl")
RESAMPLING = Resampling(bootstrap=300, permutations=300, splits=10, seed=1)
LAYERS, HEADS = 3, 4
BASELINE = {"kind": "baseline", "layer": pd.NA, "head": pd.NA, "name": "baseline"}


@pytest.fixture(scope="module")
def tiny():
    return load_masked(TINY), load_tokenizer(TINY)


def test_gaps_are_of_verbs_that_differ_in_one_known_piece(tiny):
    tokenizer = tiny[1]
    right = Pair("The dogs are old.", "The dogs is old.", "agreement", 0)
    blimp = Pair("The dog was old.", "The dog were old.", "distractor_agreement_relational_noun")
    others = [
        Pair("The dogs are old.", "The dogs is old.", "determiner_noun_agreement_1"),
        Pair("The dogs are old.", "The dogs is new.", "agreement", 0),  # two words
        Pair("The dogs are old.", "The dogs is very old.", "agreement", 0),  # lengths
        Pair("The dogs 犬 are.", "The dogs 犬 is.", "agreement", 0),  # unknown
    ]
    found = find_gaps(tokenizer, [right, *others, blimp], LONGEST)
    assert [tokenizer.decode(gap.ids) for gap in found] == [
        "[CLS] the dogs [MASK] old. [SEP]",
        "[CLS] the dog [MASK] old. [SEP]",
    ]
    words = [tokenizer.convert_ids_to_tokens([gap.right, gap.wrong]) for gap in found]
    assert words == [["are", "is"], ["was", "were"]]
    assert [gap.ids[gap.place] for gap in found] == [tokenizer.mask_token_id] * 2
    longest = max(len(gap.ids) for gap in found)
    assert find_gaps(tokenizer, [right, blimp], longest) == found
    shorter = [gap for gap in found if len(gap.ids) < longest]
    assert find_gaps(tokenizer, [right, blimp], longest - 1) == shorter


def test_choices_are_those_of_single_passes_with_uniform_attention(tiny):
    model, tokenizer = tiny
    gaps = find_gaps(tokenizer, PAIRS[::6], LONGEST)
    choices = Choices.of(gaps, tokenizer, seed=3)
    swept = sweep_choices(model, choices)
    assert set(choices.split.labels) == {0, 1}, "no class is always right"
    size = model.config.hidden_size // model.config.num_attention_heads
    assert swept.sets["kind"].tolist() == ["baseline"] + ["head"] * 36
    for number in (0, 3, 7, 36):
        of = swept.sets.iloc[number]
        changed = copy.deepcopy(model)
        if number:
            attention = changed.bert.encoder.layer[of["layer"] - 1].attention.self
            rows = slice((of["head"] - 1) * size, of["head"] * size)
            with torch.no_grad():  # queries of 0 attend to all tokens equally
                attention.query.weight[rows] = 0
                attention.query.bias[rows] = 0
        for gap, label, predicted in zip(
            gaps, choices.split.labels, swept.predictions[number], strict=True
        ):
            with torch.no_grad():
                logits = changed(input_ids=torch.tensor([gap.ids])).logits[0, gap.place]
            if abs(margin := float(logits[gap.right] - logits[gap.wrong])) > 1e-4:
                assert (predicted == label) == (margin > 0)


def of_pairs(**levels: float) -> pd.DataFrame:
    """Rows of `token_pairs`: the q-values of heads, such as ``h1_2``, on each of two tasks."""
    rows = [
        {"task": task, "state": "pretrained", "seed": pd.NA, "relation": relation}
        | {"layer": int(name[1]), "head": int(name[3]), "q_value": q}
        for name, values in levels.items()
        for (task, relation), q in zip(
            [("A", "verb to subject"), ("B", "subject to verb"), ("B", "noun to pronoun")],
            values,
            strict=True,
        )
    ]
    return pd.DataFrame(rows)


def test_heads_along_subjects_are_so_on_most_tasks_and_before_fine_tuning():
    rows = of_pairs(h1_1=(0.01, 0.04, 1), h1_2=(0.01, 0.06, 0.001), h2_1=(0.06, 0.06, 0.001))
    later = of_pairs(h2_2=(0.01, 0.01, 0.01)).assign(state="finetuned", seed=1)
    heads = pd.DataFrame({"layer": [1, 1, 2, 2], "head": [1, 2, 1, 2]})
    found = along_subjects(pd.concat([rows, later]), heads)
    assert found.tolist() == [True, False, False, False]
    nothing = pd.DataFrame(columns=list(rows))
    assert not along_subjects(nothing, heads).any()


def made_up(rng: np.random.Generator, intact: float, without: np.ndarray) -> SweepResult:
    """A sweep of 200 pairs: the share of right ones with all heads, and without each."""
    sets = [BASELINE] + [
        {"kind": "head", "layer": layer, "head": head, "name": f"{layer}.{head}"}
        for layer in range(1, LAYERS + 1)
        for head in range(1, HEADS + 1)
    ]
    table = pd.DataFrame(sets).astype({"layer": "Int64", "head": "Int64"})
    labels = rng.integers(2, size=200)
    right = rng.random(200) < np.array([intact, *without.ravel()])[:, None]
    return SweepResult(table, np.where(right, labels, 1 - labels), labels, *[np.arange(200)] * 2)


def drawn(tables: dict, tmp_path) -> str:
    """The headline of the figure of written and read tables."""
    read = {}
    for table, rows in tables.items():
        path = tmp_path / f"{table.name}.csv"
        table.write(identify(rows, "", "pretrained").reindex(columns=list(table.names)), path)
        read[table.name] = table.read(path)
    figure = draw_agreement_heads(Given({"A": ("f1",)}, "run", **read))
    return " ".join(headline_of(figure).split())


ALONG = of_pairs(**{f"h{layer}_1": (0.01, 0.01, 1) for layer in range(1, LAYERS + 1)})


@pytest.mark.parametrize(
    ("intact", "first", "others", "said"),
    [
        (0.9, 0.5, 0.9, "without the 3 heads between verbs and subjects, fewer than"),
        (0.7, 0.95, 0.7, "without the 3 heads between verbs and subjects, more than"),
        (0.9, 0.9, 0.9, "no significant difference"),
        (0.5, 0.1, 0.5, "not more than by chance: their heads say nothing"),
    ],
)
def test_a_headline_says_what_the_heads_along_subjects_do(tmp_path, intact, first, others, said):
    without = np.full((LAYERS, HEADS), others)
    without[:, 0] = first
    tables = tables_of(made_up(np.random.default_rng(0), intact, without), ALONG, RESAMPLING)
    assert said in drawn(tables, tmp_path)
    rows, row = tables[AGREEMENT_HEADS], tables[AGREEMENT_GROUPS].iloc[0]
    named = rows["head"] == 1
    assert rows["subject"].tolist() == named.tolist()
    layers = rows.groupby("layer")["delta"].mean().mean()
    assert row["over_control"] == pytest.approx(rows.loc[named, "delta"].mean() - layers)
    assert row["accuracy"] == pytest.approx(intact, abs=0.1)


def test_heads_that_matter_whatever_they_attend_to_are_no_finding(tmp_path):
    # Heads differ, but not by what they attend to: the interval, over pairs alone, excludes 0.
    said, draws = 0, 100
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        without = rng.uniform(0.4, 0.9, size=(LAYERS, HEADS))
        tables = tables_of(made_up(rng, 0.9, without), ALONG, RESAMPLING)
        row = tables[AGREEMENT_GROUPS].iloc[0]
        beyond = row["over_control_high"] < 0 or row["over_control_low"] > 0
        said += beyond and row["p_value"] < 0.05
    assert said <= 10


def test_without_heads_along_subjects_or_pairs_the_figure_says_so(tmp_path):
    without = np.full((LAYERS, HEADS), 0.9)
    nothing = pd.DataFrame(columns=list(ALONG))
    tables = tables_of(made_up(np.random.default_rng(0), 0.9, without), nothing, RESAMPLING)
    assert "no head attends between verbs and subjects" in drawn(tables, tmp_path)
    empty = {table: pd.DataFrame() for table in tables}
    written = {t: pd.DataFrame(columns=list(t.names)) for t in empty}
    for table, rows in written.items():
        table.write(rows, tmp_path / f"{table.name}.csv")
    read = {t.name: t.read(tmp_path / f"{t.name}.csv") for t in written}
    figure = draw_agreement_heads(Given({"A": ("f1",)}, "run", **read))
    assert "Too few pairs" in headline_of(figure)
