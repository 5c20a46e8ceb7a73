"""Trees of other analyses, as rows of the table that has those of impact."""

from __future__ import annotations

import pandas as pd

from darksecrets.beyond.predictions.declared import ATTENTION, EMBEDDINGS, PROBE


def from_attention(attention_trees: pd.DataFrame) -> pd.DataFrame:
    """Trees of the head that half of the sentences selected, scored on the others.

    Args:
        attention_trees: The table of that name.
    """
    return attention_trees[attention_trees["selected"]].assign(task=None, tree=ATTENTION)


def from_states(structural_probes: pd.DataFrame) -> pd.DataFrame:
    """Trees of the layer that the probes' own sentences selected, and of the embeddings.

    Args:
        structural_probes: The table of that name; both are scored on other sentences.
    """
    selected = structural_probes[structural_probes["selected"]].assign(tree=PROBE)
    embeddings = structural_probes[structural_probes["layer"] == 0].assign(tree=EMBEDDINGS)
    return pd.concat([selected, embeddings], ignore_index=True)
