"""`make verify` on a small run: whole, damaged, and with files that no job made."""

import pytest

from darksecrets.run import verifying
from darksecrets.run.integrity import Record


@pytest.fixture
def run(tmp_path):
    """A run with a table, a model of two files, and what has no fingerprint."""
    folder = tmp_path / "my run"
    for name in ("tables/cosine.csv", "models/RTE/config.json", "models/RTE/weights", "logs/a.log"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "config.yaml").write_text("run: my run")
    (folder / "tables" / "own.csv").write_text("mine")
    for result, rule in (("tables/cosine.csv", "collect_similarity"), ("models/RTE", "finetune")):
        Record.take(folder / result, rule).write()
    return folder


def test_a_whole_run_passes_and_files_without_a_fingerprint_are_counted(run, capsys):
    assert verifying.main([str(run)]) == 0
    said = capsys.readouterr().out
    assert "checked 3 files" in said
    assert "not checked: 1 (" in said
    assert "own.csv" in said
    assert "snakemake" not in said


def test_damaged_results_are_listed_with_the_commands_that_remake_them(run, capsys):
    (run / "tables" / "cosine.csv").write_text("tables/cosine.csV")
    (run / "models" / "RTE" / "weights").unlink()
    assert verifying.main([str(run)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert (
        f"  {run}/models/RTE/weights (rule finetune): found no such file, expected 18 bytes" in said
    )
    assert sum("(rule collect_similarity): found the SHA-256" in line for line in said) == 1
    results = f"'{run}/models/RTE' '{run}/tables/cosine.csv'"
    assert f"  rm -rf {results}" in said
    (command,) = (line for line in said if "snakemake" in line)
    assert command.endswith(f"--configfile '{run}/config.yaml' all report {results}")


def test_a_damaged_record_is_listed(run, capsys):
    (run / "tables" / ".fingerprints" / "cosine.csv.json").write_text("{")
    assert verifying.main([str(run)]) == 1
    assert "cosine.csv.json: found no readable fingerprints" in capsys.readouterr().out


def test_a_folder_that_is_no_run_is_named(tmp_path, capsys):
    assert verifying.main([str(tmp_path / "none")]) == 2
    assert "none: found no fingerprints" in capsys.readouterr().err
