"""Progress: a bar in a log."""

from darksecrets.core.run.progress import progress


def test_a_log_says_at_the_end_how_much_was_done(capsys):
    with progress("maps", 30, "examples") as advance:
        for _ in range(6):
            advance(5)
    said = capsys.readouterr().err.rstrip("\n").split("\r")
    assert said[-1].startswith("maps: 100%")
    assert "30/30" in said[-1]
    assert len(said) <= 3, "a line for every step would fill the log"
