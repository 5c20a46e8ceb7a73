"""Figure 4: a sentence with its frame-semantic annotation (section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from darksecrets.core.plotting import kit
from darksecrets.core.plotting.style import HEADLINE, label_run, new_figure, style, width_of
from darksecrets.core.plotting.user_text import drawable
from darksecrets.core.run.errors import InputError
from darksecrets.paper.framenet.links import Annotation, Span, read_table, words_of

# In points, the unit of the drawing.
TEXT = 8.5
HEIGHT, MARGIN, GAP = 102.0, 8.0, 3.2
BASELINE, BOX, ARC = 43.0, 13.0, 9.0


def draw(sources: kit.Sources) -> kit.Figure:
    """Draw one of the sentences: predicate and elements as labelled spans, connected by arcs."""
    chosen = choose(read_table(sources.file("framenet_links")))
    with style():
        words = _layout(chosen.sentence)
        width = kit.COLUMN if words[-1][1] + MARGIN < kit.COLUMN * 72 else kit.PAGE
        figure = new_figure(width, HEIGHT / 72)
        figure.set_layout_engine("none")  # one unit of the axes is one point
        spare = width * 72 - words[-1][1] - MARGIN
        axes = figure.add_axes((0, 0, 1, 1), label="sentence")
        axes.set(xlim=(-spare / 2, width * 72 - spare / 2), ylim=(0, HEIGHT))
        axes.set_axis_off()
        _draw(axes, chosen)
        look: dict[str, Any] = {"fontsize": HEADLINE, "fontweight": "bold", "va": "top"}
        figure.text(0.01, 1 - 3 / HEIGHT, describe(chosen), **look)
        label_run(figure, sources.label)
    return figure


def describe(annotation: Annotation) -> str:
    """The links of a sentence, in words."""
    predicate = annotation.sentence[slice(*annotation.predicate)]
    count = len(annotation.elements)
    links = "its core element" if count == 1 else f"its {count} core elements"
    return f"“{predicate}” is linked to {links}"


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


def _layout(sentence: str) -> list[tuple[float, float]]:
    """Left and right end of every word."""
    ends, left = [], MARGIN
    for start, end in words_of(sentence):
        right = left + width_of(sentence[start:end], TEXT)
        ends.append((left, right))
        left = right + GAP
    return ends


def _extent(sentence: str, span: Span) -> tuple[float, float]:
    """Left and right end of a span of characters, which may begin or end within a word."""
    lefts, rights = [], []
    for (start, end), (left, _) in zip(words_of(sentence), _layout(sentence), strict=True):
        if start < span[1] and end > span[0]:
            lefts.append(left + width_of(sentence[start : max(start, span[0])], TEXT))
            rights.append(left + width_of(sentence[start : min(end, span[1])], TEXT))
    return min(lefts), max(rights)


def _draw(axes: kit.Axes, annotation: Annotation) -> None:
    """Draw boxes behind the spans, the words, labels below and arcs above."""
    sentence = annotation.sentence
    source = _extent(sentence, annotation.predicate)
    name = f"predicate ({annotation.frame})" if annotation.frame else "predicate"
    spans = [(source, name, kit.PALE_ORANGE)]
    spans += [
        (_extent(sentence, element.span), element.role or "core element", kit.PALE_BLUE)
        for element in annotation.elements
    ]
    rows: list[float] = [0.0, 0.0, 0.0]  # right end of the last label of every row
    for extent, label, colour in sorted(spans):
        box = (extent[0], BASELINE - 3), extent[1] - extent[0], BOX - 2
        shape: dict[str, Any] = {"boxstyle": "round,pad=1,rounding_size=2", "edgecolor": "none"}
        axes.add_patch(FancyBboxPatch(*box, facecolor=colour, **shape))
        _label(axes, extent, label, rows)
    for (start, end), (left, _) in zip(words_of(sentence), _layout(sentence), strict=True):
        axes.text(left, BASELINE, drawable(sentence[start:end]), fontsize=TEXT, color=kit.INK)
    for extent, _, _ in spans[1:]:
        _arc(axes, sum(source) / 2, sum(extent) / 2)


def _label(axes: kit.Axes, extent: tuple[float, float], text: str, rows: list[float]) -> None:
    """Write a label below its span, in the first row where it does not touch another."""
    width = width_of(text, kit.SIZE)
    left = max(MARGIN / 2, sum(extent) / 2 - width / 2)
    row = next((i for i, end in enumerate(rows) if left > end + GAP or not end), len(rows) - 1)
    rows[row] = left + width
    axes.text(left, BASELINE - 13 - row * 9, text, fontsize=kit.SIZE, color=kit.INK)


def _arc(axes: kit.Axes, start: float, end: float) -> None:
    """Draw an arrow from the predicate to an element; longer arrows are higher."""
    bottom = BASELINE + BOX - 1
    top = bottom + ARC + 0.06 * abs(end - start)
    curve = [(start, bottom), (start, top), (end, top), (end, bottom)]
    path = Path(curve, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 5, "linewidth": 0.7}
    axes.add_patch(FancyArrowPatch(path=path, color=kit.INK, **look))
