"""What models do that have not learned their task says nothing of it: figures mark such tasks."""

import importlib
import re
from pathlib import Path

import pytest
from drawn import headline_of, written
from made_up_figures import METRICS, sources
from made_up_models import judged
from matplotlib.figure import Figure

from darksecrets.core.plotting import style
from darksecrets.core.plotting.drawing import Given, Sources
from darksecrets.core.run import learned
from darksecrets.paper.finetuning.tables import LEARNED

ROOT = Path(__file__).parents[4]
PACKAGES = {
    **dict.fromkeys(("figure2", "figure2_definitions", "pattern_heads"), "patterns"),
    **dict.fromkeys(("figure5", "figure5_layers"), "finetuning"),
    **dict.fromkeys(("figure6", "figure7", "figure7_controls"), "features"),
    **dict.fromkeys(("stripes_index", "token_pairs", "head_statistics"), "features"),
    **dict.fromkeys(("figure8", "figure9", "ablation_gains", "task_agreement"), "ablation"),
}
OF_ALL_TASKS = ("head_statistics",)
"""Figures of means over tasks, which name none."""
TASKS = [*METRICS]


def drawn(name: str, given: Sources) -> Figure:
    module = importlib.import_module(f"darksecrets.paper.{PACKAGES[name]}.figures.{name}")
    figure: Figure = module.draw(given)
    return figure


def file(name: str, given: Sources, folder: Path) -> bytes:
    """The bytes of the figure."""
    style.save(drawn(name, given), [folder / "figure.svg"], script=name, title=name)
    return (folder / "figure.svg").read_bytes()


def squeezed(text: str) -> str:
    """Text without spaces, line breaks and marks of direction."""
    return re.sub(r"[\s\u200e\u200f]", "", text)


@pytest.mark.parametrize("name", [name for name in PACKAGES if name not in OF_ALL_TASKS])
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


@pytest.mark.parametrize("name", PACKAGES)
def test_a_figure_of_models_that_learned_is_the_same_as_if_nothing_were_said(name, tmp_path):
    given = sources(ROOT, name, tmp_path)
    LEARNED.write(judged(METRICS, []), given.file("learned"))
    silent = Sources(
        lambda key: [] if key == "learned" else given.paths(key),
        *(given.metrics, given.label, given.options),
    )
    assert file(name, given, tmp_path) == file(name, silent, tmp_path)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_headline_is_of_the_tasks_that_were_learned(name, tmp_path):
    given, unlearned = sources(ROOT, name, tmp_path), TASKS[:1]
    LEARNED.write(judged(METRICS, unlearned), given.file("learned"))
    some = {task: metrics for task, metrics in METRICS.items() if task not in unlearned}
    alone = headline_of(drawn(name, Sources(given.paths, some, given.label, given.options)))
    found = headline_of(drawn(name, given))
    assert squeezed(found) == squeezed(f"Learned tasks: {alone[0].lower()}{alone[1:]}")


@pytest.mark.parametrize("name", PACKAGES)
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
