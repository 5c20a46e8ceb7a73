"""Threads that each work on their own items."""

import threading

import pytest
import torch

from darksecrets.core.models.threads import apply

CPU = torch.device("cpu")


@pytest.fixture(params=[1, 3])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    assert torch.get_num_threads() == request.param, "as it was"
    torch.set_num_threads(before)


def test_results_come_in_the_order_of_the_items(threads):
    waiting = threading.Event()

    def square(number):
        if threads > 1 and number == 0:
            assert waiting.wait(10), "the first item waits for the last"
        if number == threads - 1:
            waiting.set()
        return number**2

    assert list(apply(square, range(7), CPU)) == [0, 1, 4, 9, 16, 25, 36]


def test_each_item_has_one_thread(threads):
    assert set(apply(lambda _: torch.get_num_threads(), range(5), CPU)) == {1}


@pytest.mark.parametrize("inference", [True, False])
def test_inference_mode_is_the_callers(threads, inference):
    with torch.inference_mode(inference):
        found = set(apply(lambda _: torch.is_inference_mode_enabled(), range(3), CPU))
    assert found == {inference}


def test_an_error_ends_it(threads):
    done = []

    def fail(number):
        if number == 2:
            raise ValueError("found 2")
        done.append(number)

    with pytest.raises(ValueError, match="found 2"):
        list(apply(fail, range(1000), CPU))
    assert len(done) < 1000, "what was not begun is not computed"
