"""What models do that have not learned their task says nothing of it: figures mark such tasks."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from drawn import headline_of, written
from made_up_figures import METRICS, drawing, sources
from made_up_models import judged
from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase

from darksecrets.core.plotting import style
from darksecrets.core.plotting.drawing import Given, Sources
from darksecrets.core.run import learned
from darksecrets.paper.finetuning.tables import LEARNED

ROOT = Path(__file__).parents[4]
NAMES = (
    *("figure2", "figure2_definitions", "pattern_heads"),
    *("figure5", "figure5_layers"),
    *("figure6", "figure7", "figure7_controls", "stripes_index", "token_pairs"),
    *("figure8", "figure9", "ablation_gains", "task_agreement"),
    *("importance_agreement", "pruning_curves", "learned_gates"),
    *("surviving_parts", "subnetwork_scores", "compression", "compression_times"),
    *("reset_layers", "loss_surfaces", "seed_variance", "faithfulness", "attention_gradients"),
)
"""Figures that say something of fine-tuned models, task by task."""
OF_MEANS = ("head_statistics", "weights_and_norms", "stripes_by_measure")
"""Figures of means over tasks, which name none."""
EVERY = (*NAMES, *OF_MEANS)
TASKS = [*METRICS]


def drawn(name: str, given: Sources) -> Figure:
    figure: Figure = drawing(ROOT, name)(given)
    return figure


def axes_of(figure: FigureBase) -> list[Axes]:
    """All axes with lines, those of subfigures among them."""
    own = [axes for axes in figure.get_axes() if axes.lines]
    return [*own, *(axes for part in figure.subfigs for axes in axes_of(part))]


def file(name: str, given: Sources) -> bytes:
    """The bytes of the figure; not laid out, which takes most of the time."""
    figure, content = drawn(name, given), io.BytesIO()
    figure.set_layout_engine(None)
    with style.style():
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


def squeezed(text: str) -> str:
    """Text without spaces, line breaks and marks of direction."""
    return re.sub(r"[\s\u200e\u200f]", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_tasks_that_are_not_learned_are_marked_and_the_foot_says_why(name, tmp_path):
    given, unlearned = sources(ROOT, name, tmp_path), TASKS[::2]
    LEARNED.write(judged(METRICS, unlearned), given.file("learned"))
    texts = [text.get_text() for text in written(drawn(name, given))]
    (foot,) = [text for text in texts if learned.NOTE in " ".join(text.split())]
    assert f"\n{learned.NOTE[:9]}" in foot, "a line of its own"
    titles = squeezed("".join(text for text in texts if text != foot))
    for task in TASKS:
        named = titles.count(squeezed(task))
        marked = titles.count(squeezed(f"{task}{learned.MARK}"))
        assert named >= 1
        assert marked == (named if task in unlearned else 0), task


@pytest.mark.parametrize("name", OF_MEANS)
def test_means_are_of_the_tasks_that_were_learned(name, tmp_path):
    given, unlearned = sources(ROOT, name, tmp_path), TASKS[:1]
    LEARNED.write(judged(METRICS, unlearned), given.file("learned"))
    some = {task: metrics for task, metrics in METRICS.items() if task not in unlearned}
    alone = drawn(name, Sources(given.paths, some, given.label, given.options))
    found = drawn(name, given)
    pairs = [*zip(axes_of(found), axes_of(alone), strict=True)]
    assert pairs
    for mine, theirs in pairs:
        assert mine.lines
        for line, other in zip(mine.lines, theirs.lines, strict=True):
            assert np.array_equal(line.get_xydata(), other.get_xydata(), equal_nan=True)
    said = squeezed("".join(text.get_text() for text in written(found)))
    assert squeezed(f"{unlearned[0]} {learned.LEFT_OUT}") in said
    assert learned.MARK not in said


@pytest.mark.parametrize("name", EVERY)
def test_a_figure_of_models_that_learned_is_the_same_as_if_nothing_were_said(name, tmp_path):
    given = sources(ROOT, name, tmp_path)
    LEARNED.write(judged(METRICS, []), given.file("learned"))
    silent = Sources(
        lambda key: [] if key == "learned" else given.paths(key),
        *(given.metrics, given.label, given.options),
    )
    assert file(name, given) == file(name, silent)


@pytest.mark.parametrize("name", EVERY)
def test_a_headline_is_of_the_tasks_that_were_learned(name, tmp_path):
    given, unlearned = sources(ROOT, name, tmp_path), TASKS[:1]
    LEARNED.write(judged(METRICS, unlearned), given.file("learned"))
    some = {task: metrics for task, metrics in METRICS.items() if task not in unlearned}
    alone = headline_of(drawn(name, Sources(given.paths, some, given.label, given.options)))
    found = headline_of(drawn(name, given))
    assert squeezed(found) == squeezed(f"Learned tasks: {alone[0].lower()}{alone[1:]}")


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_said_of_models_that_learned_nothing(name, tmp_path):
    given = sources(ROOT, name, tmp_path)
    LEARNED.write(judged(METRICS, TASKS), given.file("learned"))
    assert headline_of(drawn(name, given)).startswith("No task was learned")


def test_only_tasks_that_are_drawn_count_and_tables_in_memory_do():
    table = judged(METRICS, TASKS[:1])
    others = Given({TASKS[1]: METRICS[TASKS[1]]}, learned=table)
    assert (others.unlearned, others.marked(TASKS[0])) == (set(), TASKS[0])
    assert Given(METRICS, learned=table).marked(TASKS[0]) == f"{TASKS[0]}{learned.MARK}"
    assert not Given(METRICS).unlearned
