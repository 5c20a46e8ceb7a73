"""What sets of disabled heads share: the layers below those in which they differ."""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Integers


class Sharing:
    """Sets of heads as a tree, which branches off the model without the heads that all disable.

    Ranks order the sets so that those with equal lower layers follow each other, and those that
    leave the trunk at a lower layer come first.

    Args:
        selected: [sets, layers, heads], which heads each set disables.

    Attributes:
        common: [layers, heads], the heads that every set disables, and therefore the trunk.
        own: [ranks, layers, heads], which others each set disables.
        rank: [sets], the rank of each set.
        first: [ranks], the layer at which each leaves the trunk, from 0; the last if it never does.
    """

    def __init__(self, selected: Flags) -> None:
        self.common: Flags = np.logical_and.reduce(selected, axis=0)
        own: Flags = selected & ~self.common
        touched: Flags = np.logical_or.reduce(own, axis=2)
        layers = touched.shape[1]
        first = np.where(touched.any(axis=1), touched.argmax(axis=1), layers - 1)
        order = np.lexsort([*own.reshape(len(own), -1).T[::-1], first])
        self.own: Flags = own[order]
        self.rank: Integers = np.argsort(order)
        self.first: Integers = first[order]
        self._stems = [self._stem(number) for number in range(layers)]

    def _stem(self, number: int) -> Integers:
        """[ranks], the lowest rank with the same heads up to a layer."""
        flags = self.own[:, : number + 1].reshape(len(self.own), -1)
        _, lowest, same = np.unique(flags, axis=0, return_index=True, return_inverse=True)
        return lowest[same.reshape(-1)]

    def nodes(self, number: int, ranks: Integers, rows: Integers) -> tuple[Integers, Integers]:
        """What has to be computed of a layer for pairs of a set and an input.

        Args:
            number: The layer, from 0.
            ranks: [pairs], ranks of the sets, ascending.
            rows: [pairs], numbers of the inputs.

        Returns:
            For each node, by the lowest rank that shares it and by input, the number of one of its
            pairs; and the node of every pair that has left the trunk, which are the first ones.
        """
        left = np.searchsorted(self.first[ranks], number, side="right")
        keys = self._stems[number][ranks[:left]] * (rows.max(initial=0) + 1) + rows[:left]
        _, pairs, nodes = np.unique(keys, return_index=True, return_inverse=True)
        return pairs, nodes
