"""The tables of the page of encoders say what the code does."""

import pytest
from encoders import HEADS, LAYERS, POSITIONS, WINDOW
from encoders_page import PAGE, filled


@pytest.mark.slow
def test_the_page_says_what_works(tmp_path):
    page = PAGE.read_text("utf-8")
    assert filled(page, tmp_path) == page, (
        "docs/encoders.md is out of date: PYTHONPATH=.:tests/unit python -m encoders_page"
    )
    checkpoints = f"{LAYERS} layers of {HEADS} heads; {POSITIONS} positions"
    assert checkpoints in " ".join(page.split())
    assert f"windows of {WINDOW} tokens" in page
