"""Helpers that draw figures from tables in memory, and read values back from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from glue import TASKS
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from darksecrets.core.plotting.drawing import Given, Sources
from darksecrets.core.plotting.style import HEADLINE

ALL = list(TASKS)
LABEL = "run demo · tiny BERT · generated corpus (not comparable with the paper)"


def draw_with(
    draw: Callable[[Sources], Figure],
    tasks: Sequence[str] | Mapping[str, Sequence[str]],
    files: Mapping[str, Path] | None = None,
    options: Mapping[str, str] | None = None,
    **tables: pd.DataFrame,
) -> Figure:
    """Draw a figure of some tasks from its tables, and from files that are no tables."""
    metrics = tasks if isinstance(tasks, Mapping) else {n: metrics_of(n) for n in tasks}
    given, found = Given(metrics, LABEL, **tables), dict(files or {})
    object.__setattr__(given, "paths", lambda name: [found[name]] if name in found else [])
    object.__setattr__(given, "options", {**given.options, **(options or {})})
    return draw(given)


def draw_from_file(
    draw: Callable[[Sources], Figure], task: str, table: pd.DataFrame, path: Path
) -> Figure:
    """Draw a figure from a file with a table, which is checked."""
    table.to_csv(path, index=False)
    files = {path.stem: [path]}
    return draw(Sources(lambda name: files.get(name, []), {task: metrics_of(task)}, LABEL))


def metrics_of(task: str) -> Sequence[str]:
    return TASKS[task].metrics if task in TASKS else ("accuracy",)


def headline_of(figure: Figure) -> str:
    """The sentence above a figure."""
    (headline,) = (
        text.get_text()
        for text in figure.findobj(Text)
        if text.get_fontsize() == HEADLINE and text.get_text()
    )
    return str(headline)


def axes_named(figure: Figure, name: str) -> Axes:
    return next(axes for axes in figure.axes if axes.get_label() == name)


def line_named(axes: Axes, label: str) -> Line2D:
    return next(line for line in axes.lines if line.get_label() == label)


def mesh_of(axes: Axes) -> QuadMesh:
    return next(part for part in axes.collections if isinstance(part, QuadMesh))


def cells_of(figure: Figure, name: str) -> npt.NDArray[np.float64]:
    """[rows, columns] of the matrix on the axes of this name; NaN where a cell is grey."""
    values = mesh_of(axes_named(figure, name)).get_array()
    return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)


def marked(axes: Axes, label: str) -> set[tuple[int, int]]:
    """Row and column, from 1, of the cells of a matrix that have this mark."""
    line = line_named(axes, label)
    return {(int(y) + 1, int(x) + 1) for x, y in zip(*line.get_data(), strict=True)}


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


def check_layout(figure: Figure, apart: float = 0.5) -> None:
    """No text is cut off, and none overlaps another by more pixels than `apart`."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    shown = [
        (text, text.get_window_extent()) for text in written(figure) if text.get_text().strip()
    ]
    for number, (text, box) in enumerate(shown):
        inside = (box.x0 >= -1, box.y0 >= -1, box.x1 <= width + 1, box.y1 <= height + 1)
        assert all(inside), f"{text} is cut off"
        if text.get_rotation() % 90:
            continue  # the box of slanted text is larger than its letters
        for other, its in shown[:number]:
            wide = min(box.x1, its.x1) - max(box.x0, its.x0)
            high = min(box.y1, its.y1) - max(box.y0, its.y0)
            slanted = other.get_rotation() % 90
            assert slanted or not (wide > apart and high > apart), f"{text} overlaps {other}"


def labels(texts: Iterable[Text]) -> list[str]:
    return [text.get_text() for text in texts]
