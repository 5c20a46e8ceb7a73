"""Progress: a bar in a log."""

import re
import time

from darksecrets.core.run.progress import progress


def test_a_log_says_at_the_end_how_much_was_done(capsys):
    with progress("maps", 30, "examples") as advance:
        for _ in range(6):
            advance(5)
    said = capsys.readouterr().err.rstrip("\n").split("\r")
    assert said[-1].startswith("maps: 100%")
    assert "30/30" in said[-1]
    assert len(said) <= 3, "a line for every step would fill the log"


def test_the_time_left_does_not_count_what_a_killed_job_had_done(capsys):
    """Of 100 items, 98 were there; the last two take a fifth of a second each."""
    with progress("maps", 100, "examples", done=98) as advance:
        for _ in range(2):
            time.sleep(0.2)
            advance(1)
    said = capsys.readouterr().err
    assert "98/100" in said
    rate = float(re.findall(r"([0-9.]+) examples/s", said)[-1])
    assert 2 < rate <= 5
