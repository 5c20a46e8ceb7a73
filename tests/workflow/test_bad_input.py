"""Wrong input stops before any job: a message that helps, an exit code, nothing left behind.

A few cases through Snakemake itself; `test_inputs.py` tries hundreds in-process. The thorough ones
are checked by the rules, so that only Snakemake reaches them.
"""

import json
import re
import shutil

import pytest
import transformers
from shipped import DATA, MODEL

from darksecrets.core.run.files import RESOURCES


@pytest.fixture
def refused(snakemake, tmp_path):
    """Run the workflow on a configuration and return its message; it must stop before any job."""

    def call(config, *arguments, **options):
        file = tmp_path / "config.yaml"
        file.write_text(json.dumps(config))  # JSON is YAML
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        run = snakemake(folder, *arguments, config=str(file), check=False, **options)
        output = run.stdout + run.stderr
        assert run.returncode != 0, output
        assert "Traceback" not in output
        assert not [path for path in folder.rglob("*") if ".snakemake" not in path.parts], output
        return output

    return call


def configuration(data=None, model=None, **keys):
    return {"run": "bad", "data": data or DATA, "model": model or MODEL, **keys}


def test_configuration(refused):
    message = refused(configuration(model_name="x"))
    for word in ("unknown key 'model_name'", "config/README.md"):
        assert word in message


def _model(root, folder):
    shutil.copytree(RESOURCES / "tiny-bert", folder)
    return configuration(model={"source": "folder", "folder": str(folder)})


def _deberta(root, tmp_path):
    config = _model(root, tmp_path / "model")
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"intermediate_size": 64, "vocab_size": 1499}
    deberta = transformers.DebertaV2Model(transformers.DebertaV2Config(**sizes))
    deberta.save_pretrained(tmp_path / "model")
    return config


def test_figure_of_a_model_whose_heads_cannot_be_disabled(refused, root, tmp_path):
    message = refused(_deberta(root, tmp_path), "figure8")
    for word in ("cannot be reached", "0 calls", "Figures 8 and 9", str(tmp_path / "model")):
        assert word in message


def test_a_model_whose_heads_cannot_be_disabled_gets_everything_else(
    snakemake, planned, root, tmp_path
):
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(_deberta(root, tmp_path)))
    run = snakemake(tmp_path, "--dry-run", "--quiet", "rules", config=str(file))
    output = run.stdout + run.stderr
    assert "Left out: the sweep over heads (section 4.6, Figures 8 and 9)" in output
    assert output.count("cannot be reached") == 1
    jobs = planned(output)
    assert {"draw_attention", "draw_patterns", "draw_framenet", "draw_scores"} <= set(jobs)
    without = re.compile(
        "sweep|ablation|norms|attention_measures|by_measure|faithfulness|attention_gradients"
    )
    assert not {name for name in jobs if without.search(name)}


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["figure8", "results/bad/tables/head_ablation.csv"])
def test_results_of_disabling_in_a_run_that_disables_nothing(refused, target):
    message = refused(configuration(ablation={"states": []}), target)
    for word in ("disables no heads", "ablation.states is []", "Set [finetuned]"):
        assert word in message


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("target", "key", "words"),
    [
        ("pruning_curves", "importance.pruning.tasks", "removes no heads"),
        ("importance_agreement", "importance.tasks", "measures no importance"),
        ("compression", "compression.tasks", "compresses no models"),
        ("faithfulness", "faithfulness.tasks", "compares attention with no"),
        ("reset_layers", "landscape.tasks", "resets no layers"),
        ("loss_surfaces", "landscape.surface.tasks", "computes no loss surfaces"),
        ("flatness", "landscape.flatness.tasks", "measures no flatness"),
        ("seed_variance", "seed_grid.tasks", "has no grid of seeds"),
        ("learned_gates", "importance.learned_gates.tasks", "trains no gates"),
    ],
)
def test_targets_of_parts_that_a_run_does_without(refused, target, key, words):
    """One message with the key, where Snakemake would say that nothing is to be done."""
    none = {"tasks": []}
    section, *inner = key.split(".")[:-1]
    given = {section: {inner[0]: none} if inner else none}
    message = refused(configuration(**given), target)
    for word in (words, f"{key} is []", "names no task"):
        assert word in message


def _tsv(tmp_path, rows):
    folder = tmp_path / "glue" / "SST-2"
    folder.mkdir(parents=True)
    good = "sentence\tlabel\n" + "".join(f"sentence {i}\t{i % 2}\n" for i in range(40))
    (folder / "train.tsv").write_text(good)
    (folder / "dev.tsv").write_text(good + rows)
    return configuration(data={"source": "tsv", "folder": str(tmp_path / "glue")}, tasks=["SST-2"])


def test_tsv_line(refused, tmp_path):
    message = refused(_tsv(tmp_path, "fine text\t7\n"))
    for word in ("dev.tsv", "line 42", "'7'", "negative or positive"):
        assert word in message


@pytest.mark.thorough
def test_a_treebank_that_is_no_tree(refused, tmp_path):
    file = tmp_path / "bank.conllu"
    rows = [("1", "Dogs", "2"), ("2", "bark", "1")]
    file.write_text(
        "".join(f"{n}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for n, word, head in rows)
    )
    treebank = {"source": "conllu", "path": str(file)}
    message = refused(configuration(syntax=treebank), "syntactic_heads")
    for word in (f"{file}, line 1", "0 words of the sentence have the head 0", "root"):
        assert word in message


@pytest.mark.thorough
def test_mentions_that_do_not_end(refused, tmp_path):
    file = tmp_path / "bank.conllu"
    file.write_text("1\tDogs\t_\tNOUN\t_\t_\t0\troot\t_\tEntity=(e1-animal-1\n")
    syntax = {"source": "conllu", "path": str(file), "coreference": {"path": str(file)}}
    message = refused(configuration(syntax=syntax), "coreference_heads")
    for word in (f"{file}, line 1", "'e1' that begins and does not end", "closing bracket"):
        assert word in message


def test_no_hub_and_no_cache(refused, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setenv("HF_HOME", str(tmp_path / "empty"))
    message = refused(configuration(data={"source": "hub"}, model={"source": "hub"}))
    for word in ("nyu-mll/glue", "not in the cache", "HF_HOME"):
        assert word in message


@pytest.mark.thorough
def test_spacy_pipeline_that_is_not_there(refused, tmp_path):
    config = _tsv(tmp_path, "") | {"annotation": {"pipeline": "no_such_pipeline"}}
    message = refused(config, "results/bad/annotation/SST-2.jsonl")
    for word in ("annotation.pipeline", "'no_such_pipeline'", "spacy download"):
        assert word in message


def test_no_disk_space(refused):
    tasks = {"RTE": {"size": [1500, 10**8]}}
    message = refused(configuration({"source": "hub"}, tasks=tasks, samples={"size": 10**8}))
    for word in ("disk space are free", "GB", "samples.size"):
        assert word in message


def test_text_that_cannot_be_inspected(refused):
    message = refused(configuration(text=["one", "a ||| b ||| c"]), "inspect")
    for word in ("example 2", "3 sentences"):
        assert word in message


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", [(), ("--dry-run",)], ids=["run", "plan"])
def test_a_run_that_is_given_text_checks_its_data_as_well(snakemake, tmp_path, arguments):
    """Once its targets are known: in an input function, whose errors Snakemake shows with place."""
    file = tmp_path / "config.yaml"
    data = {"source": "tsv", "folder": str(tmp_path / "none")}
    file.write_text(json.dumps(configuration(data=data, text="one")))
    run = snakemake(tmp_path, "table1", *arguments, config=str(file), check=False)
    assert run.returncode != 0
    output = run.stdout + run.stderr
    assert f"data.folder: no such folder {tmp_path / 'none'}. Correct the path." in output
    assert "Finished jobid" not in output
