"""Which heads the agreement of verbs with their subjects needs: each is disabled in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.beyond.predictions.declared import AGREEMENT_GROUPS, AGREEMENT_HEADS
from darksecrets.beyond.predictions.pairs import Pair
from darksecrets.core.arrays import Flags, Integers
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.backends import Logits, Loop
from darksecrets.core.interventions.disable import UNIFORM
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.sets import sweep_sets
from darksecrets.core.interventions.sweep import result
from darksecrets.core.models.hooks import Intervention, shape_of
from darksecrets.core.run.progress import progress
from darksecrets.core.run.states import PRETRAINED
from darksecrets.core.run.tables import Table
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.ranks import Draws
from darksecrets.core.stats.ratios import share
from darksecrets.paper.ablation.links import compare_group
from darksecrets.paper.ablation.statistics import PLACES, Resampling, bootstrap, effects, kind_rows

NAMES = ("subject_verb_agreement", "distractor_agreement")
"""Parts of BLiMP's names of pairs about verbs; other files count attractors."""

SUBJECT_RELATIONS = ("verb to subject", "subject to verb")
"""Relations of section 4.5 between a verb and its subject, as `features.labels` names them."""

FEWEST = 20
"""Fewest pairs that can say anything of a head."""

ACCURACY = "accuracy"
TASK = Task.from_entry(
    "agreement", {"text": ["sentence"], "labels": ["first", "second"], "metrics": [ACCURACY]}
)
"""Which of two words is right: the first or the second, as a task of two classes."""

_ROWS = 64
_PLACE = PLACES["head"]


@dataclass(frozen=True)
class Gap:
    """A sentence with one piece masked.

    Attributes:
        ids: Its pieces.
        place: Number of the masked one, from 0.
        right: The piece that agrees.
        wrong: The one that does not.
    """

    ids: list[int]
    place: int
    right: int
    wrong: int


def find_gaps(
    tokenizer: PreTrainedTokenizerBase, pairs: Sequence[Pair], max_length: int
) -> list[Gap]:
    """The gaps of pairs about verbs whose sentences differ in one piece that is known.

    Args:
        tokenizer: Of a model that predicts masked words.
        pairs: Pairs; those about something else have no gap.
        max_length: Longest sequence that the model is to read, in tokens; longer ones have no gap.
    """
    gaps = (_gap(tokenizer, pair) for pair in pairs if is_about_verbs(pair))
    return [gap for gap in gaps if gap is not None and len(gap.ids) <= max_length]


def is_about_verbs(pair: Pair) -> bool:
    """Whether a pair is of a verb that agrees with its subject, and one that does not."""
    return pair.attractors is not None or any(name in pair.phenomenon for name in NAMES)


def _gap(tokenizer: PreTrainedTokenizerBase, pair: Pair) -> Gap | None:
    right, wrong = tokenizer([pair.right, pair.wrong], verbose=False)["input_ids"]
    if len(right) != len(wrong) or tokenizer.unk_token_id in (*right, *wrong):
        return None
    places = [place for place, number in enumerate(right) if number != wrong[place]]
    if len(places) != 1:
        return None
    (place,) = places
    masked = [*right[:place], tokenizer.mask_token_id, *right[place + 1 :]]
    return Gap(masked, place, right[place], wrong[place])


@dataclass(frozen=True)
class Choices:
    """Gaps as examples of two classes.

    Attributes:
        split: The sentences; the label says which of the two pieces is right.
        places: [sentences] number of the masked piece.
        options: [sentences, 2] ids of the two pieces, in an order that is drawn: no class is always
            right.
    """

    split: EncodedSplit
    places: Integers
    options: Integers

    @classmethod
    def of(cls, gaps: Sequence[Gap], tokenizer: PreTrainedTokenizerBase, seed: int) -> Choices:
        """The choices that gaps leave.

        Args:
            gaps: At least one.
            tokenizer: The tokenizer that they were found with.
            seed: Draws the order of the pieces.
        """
        labels = np.random.default_rng(seed).integers(2, size=len(gaps))
        options = np.array([(gap.right, gap.wrong) for gap in gaps])
        options[labels == 1] = options[labels == 1, ::-1]
        split = EncodedSplit(
            idx=np.arange(len(gaps)),
            labels=labels,
            starts=np.cumsum([0, *(len(gap.ids) for gap in gaps)]),
            inputs={
                "input_ids": np.concatenate([np.array(gap.ids, dtype=np.int32) for gap in gaps])
            },
            padding={"input_ids": tokenizer.pad_token_id},
        )
        return cls(split, np.array([gap.place for gap in gaps]), options)


class ChoiceLoop(Loop):
    """Runs a model of masked words once per intervention; outputs are those of the two pieces."""

    def __init__(
        self, model: PreTrainedModel, choices: Choices, interventions: Sequence[Intervention | None]
    ) -> None:
        super().__init__(model, choices.split, interventions)
        self.choices = choices

    def empty(self, examples: int) -> Logits:
        """See `Backend.empty`; there are two outputs."""
        shape = (len(self.interventions), examples, 2)
        return torch.full(shape, torch.nan, dtype=self.model.dtype).numpy()

    def run(self, number: int, rows: Sequence[int]) -> Logits:
        """See `Backend.run`."""
        vocabulary = self.outputs(number, rows)
        line = torch.arange(len(rows), device=vocabulary.device)
        places, options = (
            torch.from_numpy(array[list(rows)]).to(vocabulary.device)
            for array in (self.choices.places, self.choices.options)
        )
        return self.checked(vocabulary[line, places].gather(1, options))


def sweep_choices(model: PreTrainedModel, choices: Choices) -> SweepResult:
    """Choose between the two words of every gap with each head disabled.

    Args:
        model: A model that predicts masked words, in evaluation mode, on the device to use.
        choices: The sentences.

    Returns:
        A sweep as section 4.6 has it, of `TASK`.
    """
    split = choices.split
    sets = [each for each in sweep_sets(shape_of(model)) if each.kind != "layer"]
    loop = ChoiceLoop(model, choices, [each.intervention(UNIFORM) for each in sets])
    logits = loop.empty(len(split))
    with (
        progress("Disabling heads, agreement", len(split), "pairs") as advance,
        torch.inference_mode(),
    ):
        for rows in batches_by_length(split.lengths, _ROWS):
            logits[:, rows] = loop.all_logits(rows)
            advance(len(rows))
    return result(TASK, sets, logits, split)


def along_subjects(token_pairs: pd.DataFrame, heads: pd.DataFrame) -> Flags:
    """[heads] which of the encoder's attend between verbs and their subjects, on most tasks.

    Args:
        token_pairs: The paper's table of that name (section 4.5), which says it of every task's
            texts; of the pre-trained encoder, rows with ``q_value`` below .05 count.
        heads: ``layer`` and ``head`` of each.
    """
    rows = token_pairs[
        (token_pairs["state"] == PRETRAINED) & token_pairs["relation"].isin(SUBJECT_RELATIONS)
    ]
    follows = (rows["q_value"] < LEVEL).groupby([rows[name] for name in ("task", *_PLACE)]).any()
    most = follows.groupby(_PLACE).mean() > 1 / 2
    found: Flags = pd.MultiIndex.from_frame(heads[_PLACE]).isin(most[most].index)
    return found


def tables_of(
    swept: SweepResult, token_pairs: pd.DataFrame, resampling: Resampling
) -> dict[Table, pd.DataFrame]:
    """Rows of `AGREEMENT_HEADS` and of `AGREEMENT_GROUPS`, without the columns of the model.

    Args:
        swept: A sweep from `sweep_choices`.
        token_pairs: The table of that name, of the same encoder.
        resampling: Numbers of samples, seed.
    """
    rows, _ = effects(swept, TASK, resampling)
    heads = kind_rows(rows, "head").reset_index(drop=True)
    subject = along_subjects(token_pairs, heads)
    rng = np.random.default_rng(resampling.seed)
    is_head = (swept.sets["kind"] == "head").to_numpy()
    drawn = PERCENT * bootstrap(swept, ACCURACY, resampling.bootstrap, rng)[:, is_head]
    draws = Draws(
        heads["layer"].to_numpy(dtype=np.int64),
        resampling.bootstrap,
        resampling.permutations,
        resampling.seed,
    )
    group = compare_group(heads, subject, drawn, draws)
    once = swept.once()
    right = (once.predictions[0] == once.labels).astype(float)
    intact = share(right, np.ones(len(right))).columns("accuracy", 0, 1)
    about = {"pairs": len(right), **intact}
    return {
        AGREEMENT_HEADS: heads.assign(subject=subject),
        AGREEMENT_GROUPS: pd.DataFrame([about | group]),
    }
