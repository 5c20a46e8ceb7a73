"""All that a figure is made of, under one name: ``from darksecrets.core.plotting import kit``."""

# mypy: implicit-reexport
# ruff: noqa: F401, F403

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure

from darksecrets.core.plotting.attention_map import darkest, draw_map
from darksecrets.core.plotting.colours import *
from darksecrets.core.plotting.drawing import Sources, pick
from darksecrets.core.plotting.intervals import intervals
from darksecrets.core.plotting.lines import (
    ENDS_OF_BAND,
    average_over_tasks,
    dot,
    hollow,
    line,
    lines,
    means_in_words,
)
from darksecrets.core.plotting.matrices import (
    LEAST_DIFFERENCE,
    cells,
    end_of_differences,
    end_of_weights,
    grid,
    largest,
    mark,
    matrix,
    scale,
)
from darksecrets.core.plotting.page import MOST, Bar, Grid, Panel, page, rows
from darksecrets.core.plotting.shares import shares
from darksecrets.core.plotting.style import COLUMN, PAGE, SIZE, blocks, say, ticks, wrapped
