"""Several threads that each work on their own items, instead of together on one operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def apply(
    function: Callable[[Item], Result], items: Iterable[Item], device: torch.device
) -> Iterator[Result]:
    """Apply a function to every item; on a CPU, to as many at a time as PyTorch has threads.

    Each item is computed by a single thread, so results do not depend on how many there are, and
    no thread waits for another in every operation. On a GPU, one item follows the other.

    Args:
        function: Must be safe to call from several threads; it runs in inference mode if the
            caller does.
        items: What to apply it to.
        device: Where the function computes.

    Yields:
        The results, in the order of the items.
    """
    threads, inference = torch.get_num_threads(), torch.is_inference_mode_enabled()
    if device.type != "cpu" or threads == 1:
        yield from map(function, items)
        return

    def alone(item: Item) -> Result:
        with torch.inference_mode(inference):
            return function(item)

    try:
        with ThreadPoolExecutor(threads, "item", torch.set_num_threads, (1,)) as pool:
            yield from pool.map(alone, items)
    finally:
        torch.set_num_threads(threads)  # what threads that are yet to come begin with
