"""Maximum spanning arborescences of many small graphs at once (Chu and Liu 1965; Edmonds 1967).

All graphs take each step together, as array operations. Every node takes its best head; of every
graph in which this makes a circle, one circle becomes a single node, until no graph has any. Then
the circles are opened again, the last one first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]


@dataclass
class Graphs:
    """Graphs in which circles have become single nodes; such a node has the number of a member.

    Attributes:
        scores: [graph, node, head] score of a node's head; −∞ for no arc, and for nodes that have
            become part of others.
        nodes: [graph, node, head] the original node of the best arc between what both stand for.
        heads: The same: its original head.
        owner: [graph, node] the node that stands for each original node.
    """

    scores: Floats
    nodes: Numbers
    heads: Numbers
    owner: Numbers


@dataclass(frozen=True)
class Circles:
    """A circle of each of some graphs, before it became one node.

    Attributes:
        graphs: [circles] the graphs that have one.
        name: [circles] the member that stands for it afterwards.
        members: [circles, node] its nodes.
        nodes: [circles, node] original node of the arc that enters a member within the circle.
        heads: [circles, node] the original head of that arc.
        owner: [circles, node] see `Graphs`, before.
    """

    graphs: Numbers
    name: Numbers
    members: Flags
    nodes: Numbers
    heads: Numbers
    owner: Numbers


def arborescences(scores: Floats, roots: Numbers) -> Numbers:
    """The trees with the greatest sums of scores, with given roots.

    Args:
        scores: [graph, node, head] score of every arc; finite, but −∞ for arcs that no tree may
            have. What is on the diagonal and of the roots' heads does not matter.
        roots: [graph] the root of each.

    Returns:
        [graph, node] the head of every node; a root is its own.
    """
    count, size = scores.shape[:2]
    places = np.arange(size)
    work = scores.astype(np.float64, copy=True)
    work[:, places, places] = -np.inf
    work[np.arange(count), roots] = -np.inf
    shape = (count, size, size)
    graphs = Graphs(
        work,
        np.broadcast_to(places[:, None], shape).copy(),
        np.broadcast_to(places, shape).copy(),
        np.broadcast_to(places, (count, size)).copy(),
    )
    best = _best(graphs, np.arange(count))
    opened: list[Circles] = []
    todo = np.arange(count)
    while len(todo):
        circles = _circles(graphs, todo, best)
        if len(circles.graphs):
            opened.append(circles)
            _contract(graphs, circles, best)
            best[circles.graphs] = _best(graphs, circles.graphs)
        todo = circles.graphs
    return _expanded(graphs, best, opened)


def _best(graphs: Graphs, todo: Numbers) -> Numbers:
    """[todo, node] the best head of every node; roots, and parts of others, are their own."""
    scores = graphs.scores[todo]
    best = scores.argmax(axis=-1)
    alone = np.isneginf(scores.max(axis=-1))
    found: Numbers = np.where(alone, np.arange(scores.shape[1]), best)
    return found


def _circles(graphs: Graphs, todo: Numbers, best: Numbers) -> Circles:
    """One circle of every graph that has any."""
    heads = best[todo]
    size = heads.shape[1]
    ends = heads
    for _ in range(size.bit_length()):  # all ends are then in circles, or alone
        ends = np.take_along_axis(ends, ends, axis=1)
    alone = np.take_along_axis(heads, ends, axis=1) == ends
    has = ~alone.all(axis=1)
    todo, heads, ends = todo[has], heads[has], ends[has]
    rows = np.arange(len(todo))
    name = ends[rows, (~alone[has]).argmax(axis=1)]
    members = np.zeros((len(todo), size), dtype=np.bool_)
    place = name
    for _ in range(size):
        members[rows, place] = True
        place = heads[rows, place]
    arcs = (todo[:, None], np.arange(size), heads)
    return Circles(
        todo, name, members, graphs.nodes[arcs], graphs.heads[arcs], graphs.owner[todo].copy()
    )


def _contract(graphs: Graphs, circles: Circles, best: Numbers) -> None:
    """Make each circle a single node."""
    todo, name, members = circles.graphs, circles.name, circles.members
    rows, places = np.arange(len(todo)), np.arange(members.shape[1])
    scores, nodes, heads = (each[todo] for each in (graphs.scores, graphs.nodes, graphs.heads))
    inside = np.where(members, scores[rows[:, None], places, best[todo]], 0.0)
    # Entering at a member takes away its arc within the circle.
    entering = np.where(members[:, :, None], scores - inside[:, :, None], -np.inf)
    into = entering.argmax(axis=1)
    leaving = np.where(members[:, None, :], scores, -np.inf)
    out = leaving.argmax(axis=2)
    arrived = np.take_along_axis(entering, into[:, None], axis=1)[:, 0]
    left = np.take_along_axis(leaving, out[..., None], axis=2)[..., 0]
    grid = rows[:, None]
    arriving_edges = [each[grid, into, places] for each in (nodes, heads)]
    leaving_edges = [each[grid, places, out] for each in (nodes, heads)]
    outside = ~members
    scores[members] = -np.inf
    scores.transpose(0, 2, 1)[members] = -np.inf
    scores[rows, name] = np.where(outside, arrived, -np.inf)
    scores[rows, :, name] = np.where(outside, left, -np.inf)
    for each, arriving, going in zip((nodes, heads), arriving_edges, leaving_edges, strict=True):
        each[rows, name], each[rows, :, name] = arriving, going
    graphs.scores[todo], graphs.nodes[todo], graphs.heads[todo] = scores, nodes, heads
    inner = np.take_along_axis(members, circles.owner, axis=1)
    graphs.owner[todo] = np.where(inner, name[:, None], circles.owner)


def _expanded(graphs: Graphs, best: Numbers, opened: list[Circles]) -> Numbers:
    """The original arcs: those between what is left, then those within circles."""
    count, size = best.shape
    rows, places = np.arange(count)[:, None], np.arange(size)
    entered = graphs.nodes[rows, places, best]
    above = graphs.heads[rows, places, best]
    alone = best == places
    found = np.broadcast_to(places, (count, size)).copy()
    graph, place = np.nonzero(~alone)
    found[graph, entered[graph, place]] = above[graph, place]
    for circles in reversed(opened):
        first = entered[circles.graphs, circles.name]
        line = np.arange(len(first))
        inlet = circles.owner[line, first]
        kept = circles.members.copy()
        kept[line, inlet] = False
        row, place = np.nonzero(kept)
        found[circles.graphs[row], circles.nodes[row, place]] = circles.heads[row, place]
        entered[circles.graphs[row], place] = circles.nodes[row, place]
        entered[circles.graphs, inlet] = first
    return found
