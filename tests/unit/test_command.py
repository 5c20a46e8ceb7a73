"""The command `darksecrets`: what it writes, and what it says of input that it cannot use."""

import json
import subprocess
import sys

import numpy as np
import pytest

import darksecrets
from darksecrets.__main__ import main
from darksecrets.core.models.checkpoints import SHIPPED

SENTENCE = "The teacher praised the boys."


def test_a_sentence_becomes_a_page(tmp_path, capsys):
    page = tmp_path / "heads.html"
    assert main(["inspect", str(SHIPPED), SENTENCE, "--output", str(page)]) == 0
    assert SENTENCE in page.read_text(encoding="utf-8")
    assert str(page) in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["heads.html"]


def test_programs_read_the_numbers_of_the_function(capsys):
    assert main(["inspect", str(SHIPPED), "a dog", "a cat sleeps", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = darksecrets.inspect(["a dog", "a cat sleeps"], SHIPPED)
    assert found["tokens"] == expected.tokens
    for ours, theirs in zip(found["maps"], expected.maps, strict=True):
        assert np.allclose(ours, theirs.astype(float), atol=1e-4)
    assert len(found["patterns"]) == len(expected.patterns)


def test_of_a_long_file_the_first_examples_are_used_and_the_rest_is_counted(tmp_path, capsys):
    file = tmp_path / "many.txt"
    file.write_text("a dog sleeps\n" * 10_000)
    arguments = ["inspect", str(SHIPPED), str(file), "--examples", "2"]
    assert main([*arguments, "--output", str(tmp_path / "page.html")]) == 0
    assert "The first 2 of 10000 examples are used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no/such/folder", SENTENCE], "There is no folder no/such/folder"),
        ([str(SHIPPED), " "], "is empty"),
        ([str(SHIPPED), "missing.txt"], "is not there"),
        ([str(SHIPPED), SENTENCE, "--max-length", "100000"], "but --max-length is 100000"),
        ([str(SHIPPED), SENTENCE, "--examples", "0"], "at least 1"),
        ([str(SHIPPED), SENTENCE, "--output", "no-such-folder/page.html"], "no-such-folder"),
    ],
    ids=["model", "empty", "file", "length", "none", "output"],
)
def test_what_cannot_be_used_is_said_in_a_line(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert "fine_tuning" not in said
    assert not list(tmp_path.iterdir()), "nothing half-written stays behind"


def test_warnings_name_options_and_no_keys_of_a_configuration(tmp_path):
    text = f"{SENTENCE} " * 40
    command = [sys.executable, "-m", "darksecrets", "inspect", str(SHIPPED), text]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "(--max-length; the model takes 128)" in run.stderr
