"""`make verify` on a small run: whole, damaged, and with files that no job made."""

import shutil

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


def test_a_result_that_is_gone_is_missed(run, capsys):
    made = {"tables/cosine.csv": "collect_similarity", "models/RTE": "finetune"}
    verifying.list_results(run, made, all_of_run=True)
    assert verifying.main([str(run)]) == 0
    shutil.rmtree(run / "models" / "RTE")
    assert verifying.main([str(run)]) == 1
    said = capsys.readouterr().out
    assert f"  {run}/models/RTE (rule finetune): found nothing\n" in said
    assert f" all report '{run}/models/RTE'\n" in said
    verifying.list_results(run, {"tables/cosine.csv": "collect_similarity"}, all_of_run=False)
    assert verifying.main([str(run)]) == 1, "another target was made meanwhile"
    verifying.list_results(run, {"tables/cosine.csv": "collect_similarity"}, all_of_run=True)
    assert verifying.main([str(run)]) == 0, "the run has this model no longer"


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_damaged_list_of_results_is_named(run, capsys, content):
    (run / verifying.LIST).write_text(content)
    assert verifying.main([str(run)]) == 1
    assert f"{verifying.LIST}: found no list of results" in capsys.readouterr().out


def test_a_file_added_to_a_folder_is_listed_with_the_command_that_removes_it(run, capsys):
    (run / "models" / "RTE" / "other weights").write_text("mine")
    assert verifying.main([str(run)]) == 1
    said = capsys.readouterr().out
    file = f"{run}/models/RTE/other weights"
    assert f"  {file} (rule finetune): found a file that it did not write, expected none" in said
    assert f"\n  rm '{file}'\n" in said
    assert "snakemake" not in said


def test_a_damaged_record_is_listed(run, capsys):
    (run / "tables" / ".fingerprints" / "cosine.csv.json").write_text("{")
    assert verifying.main([str(run)]) == 1
    assert "cosine.csv.json: found no readable fingerprints" in capsys.readouterr().out
