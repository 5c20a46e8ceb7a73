"""Helpers that read values back from drawn figures."""

from collections.abc import Iterable

from glue import TASKS
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.text import Text

ALL = list(TASKS)
LABEL = "run demo · tiny BERT · built-in corpus (not comparable with the paper)"


def main_metrics(tasks: Iterable[str]) -> dict[str, str]:
    """The main metric of each task."""
    return {name: TASKS[name].metrics[0] for name in tasks}


def axes_named(figure: Figure, name: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == name)


def mesh_of(axes: Axes) -> QuadMesh:
    return next(part for part in axes.collections if isinstance(part, QuadMesh))


def written(figure: Figure) -> list[Text]:
    """All texts of a figure, without tick labels outside the axes' limits."""
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for place, tick in zip(axis.get_majorticklocs(), axis.get_major_ticks(), strict=True):
                if not low - 1e-9 <= place <= high + 1e-9:
                    hidden |= {tick.label1, tick.label2}
    texts = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    return [text for text in texts if text not in hidden]
