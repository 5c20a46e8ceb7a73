"""Figure 4: a sentence with its frame-semantic annotation (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path
from matplotlib.textpath import TextPath

from darksecrets.framenet.links import Annotation, read_table, words_of
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import COLUMN, INK, PAGE, label_run, new_figure, style
from darksecrets.plotting.user_text import drawable
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from darksecrets.framenet.links import Span

PREDICATE, ELEMENT = "#F6D3AE", "#CBE1F2"
"""Colours behind the words; labels give the same information without colour."""

# In points, the unit of the drawing.
TEXT, LABEL = 8.5, 6.0
HEIGHT, MARGIN, GAP = 88.0, 8.0, 3.2
BASELINE, BOX, ARC = 43.0, 13.0, 9.0


def figure4(annotations: Sequence[Annotation], run_label: str) -> Figure:
    """Draw one of the sentences: predicate and elements as labelled spans, connected by arcs.

    Args:
        annotations: The sentences of ``framenet_links.csv``.
        run_label: The run, its model and its data in a few words, for the small print.

    Raises:
        InputError: There is no sentence.
    """
    chosen = choose(annotations)
    with style():
        words = _layout(chosen.sentence)
        width = COLUMN if words[-1][1] + MARGIN < COLUMN * 72 else PAGE
        figure = new_figure(width, HEIGHT / 72)
        figure.set_layout_engine("none")  # one unit of the axes is one point
        spare = width * 72 - words[-1][1] - MARGIN
        axes = figure.add_axes((0, 0, 1, 1), label="sentence")
        axes.set(xlim=(-spare / 2, width * 72 - spare / 2), ylim=(0, HEIGHT))
        axes.set_axis_off()
        _draw(axes, chosen)
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    return figure4(read_table(sources.file("table")), sources.label)


def choose(annotations: Sequence[Annotation]) -> Annotation:
    """Choose the sentence with most elements; of several, the longest; of these, the first.

    Sentences in which the word of the predicate occurs only once are preferred, so that the
    predicate is unambiguous.

    Raises:
        InputError: There is no sentence.
    """
    if not annotations:
        raise InputError("The table framenet_links.csv has no sentence. Make the table again.")
    return max(annotations, key=lambda a: (_is_plain(a), len(a.elements), len(a.sentence)))


def _is_plain(annotation: Annotation) -> bool:
    return annotation.sentence.count(annotation.sentence[slice(*annotation.predicate)]) == 1


def _width(text: str, size: float) -> float:
    """Width of a text in points."""
    if not text:
        return 0.0
    text = drawable(text)
    return float(TextPath((0, 0), text, size=size, prop=FontProperties()).get_extents().x1)


def _layout(sentence: str) -> list[tuple[float, float]]:
    """Left and right end of every word."""
    ends, left = [], MARGIN
    for start, end in words_of(sentence):
        right = left + _width(sentence[start:end], TEXT)
        ends.append((left, right))
        left = right + GAP
    return ends


def _extent(sentence: str, span: Span) -> tuple[float, float]:
    """Left and right end of a span of characters, which may begin or end within a word."""
    lefts, rights = [], []
    for (start, end), (left, _) in zip(words_of(sentence), _layout(sentence), strict=True):
        if start < span[1] and end > span[0]:
            lefts.append(left + _width(sentence[start : max(start, span[0])], TEXT))
            rights.append(left + _width(sentence[start : min(end, span[1])], TEXT))
    return min(lefts), max(rights)


def _draw(axes: Axes, annotation: Annotation) -> None:
    """Draw boxes behind the spans, the words, labels below and arcs above."""
    sentence = annotation.sentence
    source = _extent(sentence, annotation.predicate)
    name = f"predicate ({annotation.frame})" if annotation.frame else "predicate"
    spans = [(source, name, PREDICATE)]
    spans += [
        (_extent(sentence, element.span), element.role or "core element", ELEMENT)
        for element in annotation.elements
    ]
    rows: list[float] = [0.0, 0.0, 0.0]  # right end of the last label of every row
    for extent, label, colour in sorted(spans):
        _box(axes, extent, colour)
        _label(axes, extent, label, rows)
    for (start, end), (left, _) in zip(words_of(sentence), _layout(sentence), strict=True):
        axes.text(left, BASELINE, drawable(sentence[start:end]), fontsize=TEXT, color=INK)
    for extent, _, _ in spans[1:]:
        _arc(axes, sum(source) / 2, sum(extent) / 2)


def _box(axes: Axes, extent: tuple[float, float], colour: str) -> None:
    left, right = extent
    box = FancyBboxPatch(
        (left, BASELINE - 3),
        right - left,
        BOX - 2,
        boxstyle="round,pad=1,rounding_size=2",
        facecolor=colour,
        edgecolor="none",
    )
    axes.add_patch(box)


def _label(axes: Axes, extent: tuple[float, float], text: str, rows: list[float]) -> None:
    """Write a label below its span, in the first row where it does not touch another."""
    width = _width(text, LABEL)
    left = max(MARGIN / 2, sum(extent) / 2 - width / 2)
    row = next((i for i, end in enumerate(rows) if left > end + GAP or not end), len(rows) - 1)
    rows[row] = left + width
    axes.text(left, BASELINE - 13 - row * 8, text, fontsize=LABEL, color=INK)


def _arc(axes: Axes, start: float, end: float) -> None:
    """Draw an arrow from the predicate to an element; longer arrows are higher."""
    bottom = BASELINE + BOX - 1
    top = bottom + ARC + 0.06 * abs(end - start)
    curve = [(start, bottom), (start, top), (end, top), (end, bottom)]
    path = Path(curve, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    arrow = FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=5, linewidth=0.7, color=INK)
    axes.add_patch(arrow)
