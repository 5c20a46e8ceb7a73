"""Which token the stripe is: the table against plain loops, and on columns at random tokens."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import METRICS, SEEDS, YES, decide

from darksecrets.claims import deciding
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.columns import stripe_tokens
from darksecrets.patterns.tables import SPECIAL, STRIPE_KINDS, STRIPE_TOKENS, WITH_COLUMNS
from darksecrets.run.columns import FIRST, SEPARATOR, TOKEN_KINDS
from darksecrets.run.errors import InputError

LAYERS, HEADS = 2, 3
Model = tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, examples: int, *, alike: bool = False) -> Model:
    """A model whose strongest columns are random tokens; in an example, all the same if `alike`."""
    tokens = rng.dirichlet([2, 3, 2, 6], size=examples)
    shape = (examples, LAYERS, HEADS)
    at = rng.random((examples, 1, 1) if alike else shape)
    kinds = (at[..., None] > tokens.cumsum(axis=1)[:, None, None, :-1]).sum(axis=-1)
    columns = np.eye(4)[np.broadcast_to(kinds, shape)]
    idx = rng.permutation(100)[:examples]
    rows = pd.DataFrame(
        [(i, layer + 1, head + 1) for i in idx for layer in range(LAYERS) for head in range(HEADS)],
        columns=["idx", "layer", "head"],
    )
    rows["pattern"] = rng.choice(list(PATTERNS), size=len(rows), p=[0.5, 0.1, 0.1, 0.1, 0.2])
    return rows, idx, tokens, columns


def in_kind(values: np.ndarray, kind: str) -> float:
    wanted = (FIRST, SEPARATOR) if kind == SPECIAL else (kind,)
    return sum(values[TOKEN_KINDS.index(name)] for name in wanted)


def test_the_table_is_the_loops():
    rng = np.random.default_rng(1)
    maps, idx, tokens, columns = drawn(rng, 12)
    columns[0, 0, 0] = [0.5, 0, 0, 0.5]  # two equally strong columns
    table = stripe_tokens(maps.sample(frac=1, random_state=0), idx, tokens, columns)
    model = pd.DataFrame({"task": ["RTE"], "state": ["finetuned"], "seed": [1]})
    STRIPE_TOKENS.check(model.merge(table, how="cross"), "table", "")
    assert len(table) == (1 + LAYERS) * len(WITH_COLUMNS) * len(STRIPE_KINDS)
    for row in table.itertuples():
        hits, chances, examples = [], [], set()
        for one in maps.itertuples():
            if one.pattern == row.pattern and (pd.isna(row.layer) or one.layer == row.layer):
                example = idx.tolist().index(one.idx)
                hits.append(in_kind(columns[example, one.layer - 1, one.head - 1], row.kind))
                chances.append(in_kind(tokens[example], row.kind))
                examples.add(one.idx)
        assert (row.maps, row.examples) == (len(hits), len(examples))
        assert row.share == pytest.approx(np.mean(hits))
        assert row.control == pytest.approx(np.mean(chances))
        assert row.over_control == pytest.approx(np.mean(hits) - np.mean(chances))
        if row.examples > 1:
            assert row.ci_low <= row.share <= row.ci_high
            assert row.over_control_low <= row.over_control <= row.over_control_high


def test_a_model_without_such_maps_has_no_share():
    maps, idx, tokens, columns = drawn(np.random.default_rng(2), 5)
    table = stripe_tokens(maps.assign(pattern="block"), idx, tokens, columns)
    assert (table["maps"] == 0).all()
    assert table[["share", "control", "over_control", "ci_low"]].isna().all(axis=None)
    model = pd.DataFrame({"task": ["RTE"], "state": ["random"], "seed": [1]})
    STRIPE_TOKENS.check(model.merge(table, how="cross"), "table", "")


def test_maps_of_another_run_are_refused():
    maps, idx, tokens, columns = drawn(np.random.default_rng(3), 5)
    with pytest.raises(InputError, match="patterns of 24 maps, and the strongest columns of 30"):
        stripe_tokens(maps[maps["idx"] != idx[0]], idx, tokens, columns)
    with pytest.raises(InputError, match="expected the same maps"):
        stripe_tokens(maps, idx + 1000, tokens, columns)


@pytest.mark.parametrize("alike", [False, True])
def test_columns_at_random_tokens_seldom_seem_to_be_of_a_kind(alike):
    """A test of each kind at each end of its interval; all heads of an example may be alike."""
    rng = np.random.default_rng(4)
    ends = []
    for _ in range(100):
        table = stripe_tokens(*drawn(rng, 40, alike=alike))
        rows = table[table["layer"].isna() & (table["pattern"] == "vertical")]
        ends.append((rows["over_control_low"] > 0, rows["over_control_high"] < 0))
    above, below = np.mean(ends, axis=0)
    assert above.max() < 0.025 + 3.5 * np.sqrt(0.025 / 100)
    assert below.max() < 0.025 + 3.5 * np.sqrt(0.025 / 100)


def claimed(special: float, rng: np.random.Generator) -> deciding.Finding:
    """Claim 13 in a run in whose maps columns are special tokens this often, else random ones."""
    parts = []
    for task in METRICS:
        for seed in SEEDS:
            maps, idx, tokens, columns = drawn(rng, 40)
            columns[rng.random(columns.shape[:3]) < special] = [0, 1, 0, 0]
            table = stripe_tokens(maps, idx, tokens, columns)
            parts.append(table.assign(task=task, state="finetuned", seed=seed))
    frames = {"stripe_tokens": pd.concat(parts, ignore_index=True)}
    return decide("13", frames)


def test_the_claim_holds_for_special_tokens_and_not_for_random_ones():
    rng = np.random.default_rng(5)
    assert claimed(0.8, rng).answer == YES
    found = claimed(0.0, rng)
    assert found.answer != YES
