"""Training steps on a GPU as CUDA graphs: all operations of a step are launched at once.

A step of BERT-base on 32 short texts is about two thousand operations of a few microseconds each.
Launched one by one from Python, they keep the GPU waiting for most of the time. A graph is captured
for each shape of a batch, when it is first seen, and replayed from then on. Random numbers and
results are those of a step that was not captured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

Batch = dict[str, torch.Tensor]
Step = Callable[[Batch], torch.Tensor]
"""Computes the loss of a batch, and adds gradients to the parameters; returns the loss."""

MULTIPLE = 8
"""Batches are padded to multiples of as many tokens, so that there are few shapes."""


@dataclass(frozen=True)
class _Captured:
    """A graph, and the memory that it reads and writes.

    Attributes:
        graph: The captured step.
        inputs: What it reads.
        loss: What it writes besides the gradients.
    """

    graph: torch.cuda.CUDAGraph
    inputs: Batch
    loss: torch.Tensor


class StepGraphs:
    """The captured steps of one training.

    Args:
        model: The model that is trained, on a GPU.
        step: What is captured. It must launch the same operations for every batch of a shape.
    """

    def __init__(self, model: torch.nn.Module, step: Step) -> None:
        self.model, self.step = model, step
        # Graphs run one after the other, so they can share their memory.
        self.pool = torch.cuda.graph_pool_handle()
        self.captured: dict[tuple[torch.Size, ...], _Captured] = {}
        self.gradients: dict[torch.nn.Parameter, torch.Tensor] = {}

    def run(self, batch: Batch) -> torch.Tensor:
        """Do a step: the gradients of the parameters are those of this batch.

        Args:
            batch: The inputs of the model and the labels.

        Returns:
            The loss, on the GPU.

        Raises:
            RuntimeError: The step cannot be captured, as when it reads a number from the GPU.
        """
        shapes = tuple(tensor.shape for tensor in batch.values())
        if shapes not in self.captured:
            with _restored(self.model):
                self.captured[shapes] = self._capture(batch)
        captured = self.captured[shapes]
        for name, tensor in batch.items():
            captured.inputs[name].copy_(tensor, non_blocking=True)
        captured.graph.replay()
        for parameter, gradient in self.gradients.items():
            parameter.grad = gradient
        return captured.loss.clone()

    def _capture(self, batch: Batch) -> _Captured:
        inputs = {name: tensor.clone() for name, tensor in batch.items()}
        self._warm_up(inputs)
        graph = torch.cuda.CUDAGraph()
        # Another thread may pin memory meanwhile, which only the mode `global` forbids.
        mode = "thread_local"
        with torch.cuda.graph(graph, pool=self.pool, capture_error_mode=mode):
            loss = self.step(dict(inputs))
            found: list[Any] = [parameter.grad for parameter in self.gradients]
            torch._foreach_copy_(list(self.gradients.values()), found)
        return _Captured(graph, inputs, loss)

    def _warm_up(self, inputs: Batch) -> None:
        """Do a step that counts for nothing, so that libraries prepare what cannot be captured."""
        cuda: Any = torch.cuda
        aside = cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            self.step(dict(inputs))
        torch.cuda.current_stream().wait_stream(aside)
        for parameter in self.model.parameters():
            if parameter.grad is not None and parameter not in self.gradients:
                self.gradients[parameter] = torch.empty_like(parameter)
        self.model.zero_grad(set_to_none=True)


@contextlib.contextmanager
def _restored(model: torch.nn.Module) -> Iterator[None]:
    """Undo, at the end of a ``with`` block, what it did to random numbers and gradients."""
    generator: Any = torch.cuda.default_generators[torch.cuda.current_device()]
    before = generator.clone_state()
    try:
        yield
        generator.set_state(before.get_state())
    except RuntimeError:
        # After a capture that failed, the state in use would draw no more numbers.
        generator.graphsafe_set_state(before)
        raise
    finally:
        model.zero_grad(set_to_none=True)
