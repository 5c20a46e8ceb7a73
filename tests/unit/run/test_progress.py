"""Progress: lines in a log."""

import sys
import time

from darksecrets.run.progress import latest, progress


def test_a_log_gets_a_line_every_ten_seconds_and_one_at_the_end(capsys, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with progress("maps", 30, "examples") as advance:
        for _ in range(6):  # five examples every four seconds
            now += 4
            advance(5)
    assert capsys.readouterr().err.splitlines() == [
        "maps: 15/30 examples in 12 s, 1.25 examples a second, about 12 s left",
        "maps: 30/30 examples in 24 s, 1.25 examples a second",
    ]


def test_the_latest_line_is_found_in_a_log(tmp_path, monkeypatch):
    log = tmp_path / "maps.log"
    assert not latest(log)
    with log.open("w") as stream:
        stream.write("12:00:00 Resuming: 3/4 steps are done\n")
        stream.flush()
        assert not latest(log)
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("Größe: maps", 30, "examples") as advance:
            advance(30)
        stream.write("\udcff\n".encode(errors="surrogateescape").decode(errors="replace"))
    assert latest(log).startswith("30/30 examples in 0 s")
    log.write_bytes(log.read_bytes() + b"x" * 10_000)
    assert not latest(log), "too long ago"
