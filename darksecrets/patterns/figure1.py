"""Figure 1: a typical self-attention map of every pattern, with its tokens (section 4.1)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.patterns import typical
from darksecrets.patterns.tables import TYPICAL_MAPS
from darksecrets.plotting.attention_map import draw_map, saturation
from darksecrets.plotting.drawing import Sources
from darksecrets.plotting.style import (
    GREY,
    MAP,
    PAGE,
    SMALL,
    check_columns,
    colour_bar,
    label_run,
    new_figure,
    style,
)

_COLUMNS = ("label", "model", "task", "state", "layer", "head", "tokens")
_COLUMNS_OF_MAPS = 3


def figure1(
    table: pd.DataFrame, maps: Sequence[npt.NDArray[np.floating]], run_label: str
) -> Figure:
    """Draw one map per pattern. Rows are queries; darker = more attention.

    The scale of each map ends at its L-th greatest weight, as on the labelling page.

    Args:
        table: A row per map: ``label``, ``model``, ``task``, ``state``, ``layer``, ``head``,
            ``tokens`` (separated by spaces).
        maps: The maps, [query, key].
        run_label: The run in a few words, for the small print.

    Raises:
        InputError: When columns are missing.
    """
    check_columns(table, _COLUMNS, "typical_maps.csv")
    rows = -(-len(table) // _COLUMNS_OF_MAPS)
    with style():
        figure = new_figure(PAGE, 2.5 * rows + 0.15)
        axes = figure.subplots(rows, _COLUMNS_OF_MAPS, squeeze=False).ravel()
        for place, row, weights in zip(axes, table.to_dict("records"), maps, strict=False):
            place.set_label(row["label"])
            draw_map(place, weights, row["tokens"].split(), saturation(weights))
            place.set_title(row["label"].capitalize(), fontweight="bold", pad=18)
            _origin(place, row)
        for place in axes[len(table) :]:
            place.set_axis_off()
        if len(table) < len(axes):
            _scale(figure, axes[len(table)])
        label_run(figure, run_label)
    return figure


def draw(sources: Sources) -> Figure:
    """Draw the figure from a run's tables."""
    table = sources.table(TYPICAL_MAPS)
    return figure1(table, typical.read(table, sources.file("maps")), sources.label)


def _origin(axes: Axes, row: Mapping[Hashable, object]) -> None:
    """Write the origin of a map, as far as it is known, below its title."""
    where = [", ".join(str(row[name]) for name in ("task", "state") if row[name])]
    if row["layer"]:
        where.append(f"layer {row['layer']} head {row['head']}")
    text = "\n".join([str(row["model"]), ", ".join(filter(None, where))])
    axes.text(*(0.5, 1.02), text, transform=axes.transAxes, ha="center", fontsize=SMALL, color=GREY)


def _scale(figure: Figure, axes: Axes) -> None:
    """Draw a colour bar for all maps, from weight 0 to the end of each map's scale."""
    from matplotlib.cm import ScalarMappable

    inner = axes.inset_axes((0.1, 0.55, 0.8, 0.05), label="colour bar")
    bar = colour_bar(figure, ScalarMappable(cmap=MAP), cax=inner, orientation="horizontal")
    bar.set_ticks([0, 1], labels=["0", "L-th greatest\nof the map"])
    bar.set_label("Attention weight (darker = greater)", labelpad=1)
    inner.text(
        *(0, 2.2),
        "Row: the token that attends.\nColumn: the token attended to.",
        transform=inner.transAxes,
        fontsize=SMALL,
    )
