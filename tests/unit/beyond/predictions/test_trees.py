"""Trees of three analyses in one table, and what its figure says of them."""

import pandas as pd
import pytest

from darksecrets.beyond import analyses
from darksecrets.beyond.predictions import shown
from darksecrets.beyond.predictions.declared import ATTENTION, EMBEDDINGS, PROBE, PROJECTIVE, TREES
from darksecrets.beyond.predictions.trees import from_attention, from_states
from darksecrets.core.run.columns import names
from darksecrets.core.run.states import PRETRAINED, RANDOM

CHAIN = 0.4


def rows_of(uuas: dict[str, tuple[float, float]]) -> pd.DataFrame:
    """Shares of both encoders, by kind of tree, with half an interval of .03."""
    rows = [
        {"task": None, "state": state, "seed": None, "tree": tree, "uuas": share, "chain": CHAIN}
        | {"uuas_low": share - 0.03, "uuas_high": share + 0.03}
        | {"over_chain": share - CHAIN, "over_chain_low": share - CHAIN - 0.03}
        for tree, shares in uuas.items()
        for state, share in zip((PRETRAINED, RANDOM), shares, strict=True)
    ]
    return pd.DataFrame(rows)


def test_the_selected_head_stands_for_attention_even_if_another_scores_more():
    table = pd.DataFrame(
        {"state": PRETRAINED, "layer": [1, 2], "head": [3, 4], "uuas": [0.6, 0.5]}
        | {"selected": [False, True]}
    )
    (row,) = from_attention(table).to_dict("records")
    assert (row["layer"], row["head"], row["uuas"], row["tree"]) == (2, 4, 0.5, ATTENTION)


def test_the_selected_layer_and_the_embeddings_stand_for_states():
    table = pd.DataFrame(
        {"state": PRETRAINED, "layer": [0, 1, 2], "uuas": [0.3, 0.6, 0.5]}
        | {"selected": [False, False, True]}
    )
    found = from_states(table).set_index("tree")
    assert found.loc[PROBE, ["layer", "uuas"]].tolist() == [2, 0.5]
    assert found.loc[EMBEDDINGS, ["layer", "uuas"]].tolist() == [0, 0.3]


@pytest.mark.parametrize("name", ["attention_trees", "structural_probes"])
def test_other_tables_have_the_columns_of_this_one(name):
    """But for the task and the kind of tree, and what the table leaves empty."""
    optional = {column.name for column in TREES.columns if column.optional}
    own = set(names(*analyses.tables()[name].columns))
    assert set(TREES.names) - optional - own <= {"tree"}


@pytest.mark.parametrize(
    ("uuas", "said"),
    [
        ({PROJECTIVE: (0.5, 0.3)}, "Trees from masked words have more gold arcs"),
        ({PROJECTIVE: (0.42, 0.3)}, "No trees have significantly more"),
        ({PROJECTIVE: (0.5, 0.47)}, "No trees have significantly more"),
        (
            {PROJECTIVE: (0.3, 0.2), ATTENTION: (0.6, 0.4), PROBE: (0.7, 0.4)},
            "Trees from attention of the best head and states of the best layer have more",
        ),
    ],
)
def test_the_headline_names_trees_above_chains_and_random_weights(uuas, said):
    names_of = {tree: shown._TREES[tree] for tree in uuas}
    assert shown._headline_of_trees(rows_of(uuas), names_of).startswith(said)
