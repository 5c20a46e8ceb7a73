"""The table of claims."""

from __future__ import annotations

from darksecrets.core.run.columns import MEASURE
from darksecrets.core.run.tables import Table, integer, interval, number, text
from darksecrets.pages.claims.answers import Answer

ANSWERS = tuple(str(answer) for answer in Answer)
UNDECIDED, NOT_COMPARABLE = "undecided here", "not comparable"
VERDICTS = (Answer.YES, Answer.NO, UNDECIDED, NOT_COMPARABLE)

CLAIMS = Table(
    "claims",
    "What papers claim, and whether it holds in this run; `darksecrets/resources/claims/` says how "
    "each claim is decided.",
    (
        text("paper", "the paper, by the name of its registry"),
        text("id", "number of the claim"),
        text("section", "section of the paper"),
        text("claim", "the claim, in our words"),
        text("published", "the paper's number; empty if it gives none", optional=True),
        number(
            "value",
            "our number: the one that decides, such as the smallest of all tasks; empty if there "
            "is none",
            optional=True,
        ),
        *interval("value", optional=True),
        text("unit", "unit of both numbers; empty for a plain number", optional=True),
        text("of", "what our number is of, such as a task", optional=True),
        integer(
            "seeds",
            "fine-tuning seeds behind it; empty if it depends on none",
            low=1,
            optional=True,
        ),
        text("verdict", "whether the claim holds in this run", values=ANSWERS),
        text(
            "verdict_on_learned_tasks",
            "whether it holds in this run on the paper's tasks that its fine-tuned models "
            "have learned",
            values=ANSWERS,
        ),
        text(
            "verdict_on_random_weights",
            "whether it also holds of an encoder that was never trained, by the same rules; empty "
            "if its tables have no rows of one, or were not kept",
            values=ANSWERS,
            optional=True,
        ),
        text(
            "verdict_on_paper",
            "verdict on the paper: `verdict` if the run has its model and data",
            values=VERDICTS,
        ),
        text("reason", "why, in words"),
        text(
            "needs",
            "what would decide it: what the run lacks, more seeds, more examples, or that nothing "
            "in a run can; empty if it is decided",
            optional=True,
        ),
        text("estimates", "all numbers compared, with intervals", optional=True),
        text("tables", "tables that decide, separated by spaces", optional=True),
    ),
    key=("paper", "id"),
)

COMPARABLE = "yes"
SIGNS = ("yes", "no", "open")
PLACES = ("greatest", "least")

BESIDE_PAPER = Table(
    "beside_paper",
    "Numbers that the paper prints, beside the run's: in sections 4.1 and 4.6, and Table 1.",
    (
        text("section", "section of the paper"),
        text("quantity", "what the numbers are of"),
        text("task", "the task"),
        text("metric", "metric of a score; empty for other numbers", optional=True),
        text("unit", "unit of all numbers of the row"),
        number("paper", "the paper's number"),
        number("value", "the run's number; empty if there is none", optional=True),
        *interval("value", optional=True),
        integer("seeds", "fine-tuning seeds behind it", low=1, optional=True),
        text(
            "same_sign",
            "of effects: whether the run's interval has the paper's sign; `open` if it has both",
            values=SIGNS,
            optional=True,
        ),
        text(
            "place",
            "whether the paper says that the task has the largest or smallest number of all",
            values=PLACES,
            optional=True,
        ),
        text(
            "place_in_run",
            "place of the task among the run's tasks, from that end, such as `2 of 7`",
            optional=True,
        ),
        text(
            "comparable",
            "`yes` if the run has the paper's model and data, and its models have learned the "
            "task; else why not",
        ),
    ),
    key=("section", "quantity", "task", "metric"),
)

AGREEMENTS = SAME, NOT_CONTRADICTED, CONTRADICTED = (
    "same answer",
    "undecided by some",
    "contradicted",
)

_BY_MEASURE = {
    "claim",
    "unit",
    "value",
    "ci_low",
    "ci_high",
    "of",
    "seeds",
    "verdict",
    "reason",
    "needs",
    "estimates",
}

CLAIMS_BY_MEASURE = Table(
    "claims_by_measure",
    "Claims about what heads attend to, decided by each measure of attention: by the same rules, "
    "from the numbers of that measure in place of attention weights.",
    (
        *(column for column in CLAIMS.columns if column.name in ("paper", "id", "section")),
        MEASURE,
        text(
            "agreement",
            "of all measures: whether they give the same answer; or some leave open what others "
            "decide; or the claim holds by one and does not hold by another",
            values=AGREEMENTS,
        ),
        *(column for column in CLAIMS.columns if column.name in _BY_MEASURE),
    ),
    key=("paper", "id", MEASURE.name),
)

TABLES = (CLAIMS, BESIDE_PAPER, CLAIMS_BY_MEASURE)
