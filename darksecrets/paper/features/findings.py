"""What a run found about attention to special tokens, in a sentence (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

TOKENS = ("[SEP]", "[CLS]")


def describe_special_tokens(stripes: pd.DataFrame, tasks: Sequence[str]) -> str:
    """The greatest mean weight that a head of a fine-tuned model gives [SEP] and [CLS].

    Args:
        stripes: The table `stripes`.
        tasks: Tasks that are described; weights are means over seeds.
    """
    rows = stripes[(stripes["state"] == "finetuned") & stripes["task"].isin(list(tasks))]
    means = rows.groupby(["feature", "task", "layer", "head"])["weight"].mean()
    first, second = (f"{100 * means[name].max():.0f}%" for name in TOKENS)
    return f"Heads give up to {first} of their attention to [SEP], up to {second} to [CLS]"
