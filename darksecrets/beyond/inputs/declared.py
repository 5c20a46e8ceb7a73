"""Settings, table and entry of the analysis of inputs that should not make sense."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import SEED, TASK
from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among
from darksecrets.core.run.tables import Table, add_ends, integer, share, text

SHUFFLED, HALVED, NO_SUBJECT = "words shuffled", "second half cut", "subjects removed"
FIRST_ALONE, OTHER_NAMES, EMPTY = "first sentence alone", "other names", "no words"
CHANGES = (SHUFFLED, HALVED, NO_SUBJECT, FIRST_ALONE, OTHER_NAMES, EMPTY)
"""What is done to the sentences of an example."""

TOLERANCE = 0.1
"""Share of the range of labels within which a regression counts as unchanged."""


@dataclass(frozen=True)
class Settings(Section):
    """Tasks whose models read changed inputs."""

    tasks: Tasks = tasks_among(
        "tasks", "Tasks whose fine-tuned models read changed inputs; all for `null`."
    )
    examples: int = setting(
        1000,
        "Validation examples whose inputs are changed, of those that `samples` draws; all if there "
        "are fewer.",
        minimum=20,
        maximum=100_000,
    )
    hans: str | None = setting(
        None,
        "A file of HANS (McCoy et al. 2019), tab-separated with `gold_label`, `sentence1`, "
        "`sentence2` and `heuristic`: models of tasks with the label `entailment` are asked.",
    )
    seed: int = constant(2019, "`sampling_seed` of the run: orders of words, names.")


CHANGED_INPUTS = Table(
    "changed_inputs",
    "How many decisions of a fine-tuned model stay the same if its input no longer makes sense, "
    f"beside a bag of words. A regression stays the same within {TOLERANCE:.0%} of the range of "
    "labels. Intervals are over examples. Examples without a subject or a name have no such "
    "change.",
    (
        TASK,
        SEED,
        text("change", "what is done to the sentences", values=CHANGES),
        *add_ends(share("unchanged", "share of the decisions that stay the same", "share")),
        share(
            "by_chance",
            "`unchanged` if the new decisions belonged to random examples",
            "share",
            control_of="unchanged",
        ),
        share(
            "bag_of_words",
            "`unchanged` of a bag of words that is trained on the same examples",
            "share",
            control_of="unchanged",
        ),
        *add_ends(
            share(
                "confidence_kept",
                "mean probability of the decision on changed inputs, divided by that on intact "
                "ones; empty for regressions",
                "share",
                high=float("inf"),
                optional=True,
            )
        ),
        integer("examples", "examples with such a change", low=1),
    ),
    key=("task", "seed", "change"),
    may_be_empty=True,
)


HANS = Table(
    "hans",
    "How often models of entailment are right where a heuristic is right, and where it is wrong "
    "(McCoy et al. 2019). Other labels than entailment count as one.",
    (
        TASK,
        SEED,
        text("heuristic", "what says that the first sentence entails the second"),
        text("label", "whether it does", values=("entailment", "non-entailment")),
        *add_ends(share("accuracy", "share of the examples that are right", "share")),
        share(
            "bag_of_words",
            "`accuracy` of a bag of words that is trained on the task",
            "share",
            control_of="accuracy",
        ),
        integer("examples", "examples", low=1),
    ),
    key=("task", "seed", "heuristic", "label"),
)


ANALYSIS = Analysis(
    name="inputs",
    question="What do fine-tuned models do with inputs that make no sense?",
    papers="Ettinger 2020, Balasubramanian et al. 2020, McCoy et al. 2019",
    tables={"Section 5, further: inputs that make no sense": (CHANGED_INPUTS, HANS)},
    settings=Settings,
    check="beyond.inputs.hans.check",
)
