"""Several finished runs on one page, and folders that are none."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from drawn import cells_of, headline_of

from darksecrets.__main__ import main
from darksecrets.core.run.errors import InputError
from darksecrets.pages.encoders import figures, page, reading

KEPT = Path(__file__).parents[4] / "docs" / "real" / "paper"
"""What is kept of a run of a six-layer encoder: RTE is not learned."""
TASKS = ["MRPC", "STS-B", "SST-2"]


def copy(folder: Path, model: str, run: str, change: Callable[[Path], None] | None = None) -> Path:
    """The kept run as that of another encoder."""
    folder.mkdir(parents=True)
    for path in KEPT.iterdir():
        if path.suffix in (".csv", ".json", ".yaml"):
            shutil.copy(path, folder)
    record = json.loads((folder / "run.json").read_text())
    record["facts"] |= {"Model": f"{model} in elsewhere", "Seeds": "1"}
    (folder / "run.json").write_text(json.dumps(record))
    config = yaml.safe_load((folder / "config.yaml").read_text())
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, "run": run}))
    if change:
        change(folder)
    return folder


def edit(name: str, of: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    """A change of one table."""

    def change(folder: Path) -> None:
        of(pd.read_csv(folder / name)).to_csv(folder / name, index=False)

    return change


def smaller(folder: Path) -> None:
    """Half of the heads, which fine-tuning changes more; claims the other way round."""
    for name in ("cosine", "head_ablation"):
        edit(f"{name}.csv", lambda table: table[table["head"] <= 6])(folder)
    edit("cosine.csv", lambda t: t.assign(similarity=t["similarity"] / 2))(folder)
    swapped = {"holds": "does not hold", "does not hold": "holds"}
    edit("claims.csv", lambda table: table.replace({reading.VERDICT: swapped}))(folder)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[reading.FinishedRun]:
    other = copy(tmp_path_factory.mktemp("runs") / "other", "other", "other", smaller)
    return reading.read([KEPT, other])


def test_what_differs_is_said_and_what_does_not_is_not(runs):
    found = reading.differing_facts(runs)
    assert found["Seeds"] == ["1, 2, 3", "1"]
    assert "Data" not in found
    assert [run.name for run in runs] == ["MiniLM, 6 layers", "other"]


def test_only_tasks_that_all_have_learned_are_compared(runs):
    assert reading.common_tasks(runs, reading.COSINE) == TASKS
    assert runs[0].unlearned == {"RTE"}


def test_maps_of_heads_are_means_and_share_a_scale(runs):
    changed, effects = (draw(runs, TASKS) for draw in (figures.draw_changes, figures.draw_effects))
    for run, heads in zip(runs, (12, 6), strict=True):
        table = run.tables["cosine"]
        found = cells_of(changed, f"{run.name} heads")
        assert found.shape == (6, heads)
        for layer, head in ((1, 1), (6, 3)):
            own = table[(table["layer"] == layer) & (table["head"] == head)]
            values = [own[own["task"] == task]["similarity"].mean() for task in TASKS]
            assert found[layer - 1, head - 1] == pytest.approx(np.mean(values))
        table = run.tables["head_ablation"]
        found = cells_of(effects, f"{run.name} heads")
        own = table[(table["layer"] == 2) & (table["head"] == 5)]
        values = [
            own[(own["task"] == task) & (own["metric"] == metric)]["delta"].mean()
            for task, metric in zip(TASKS, ("f1", "pearson", "accuracy"), strict=True)
        ]
        assert found[1, 4] == pytest.approx(np.mean(values))
    assert headline_of(changed).endswith("in 2 of 2 encoders")


def test_the_headline_counts_heads_whose_loss_costs_in_every_seed(runs):
    """Beside a loop; where no effect is significant, some head still has the lowest mean."""
    table = runs[0].tables["head_ablation"]
    needed = set()
    for task, metric in zip(TASKS, ("f1", "pearson", "accuracy"), strict=True):
        of = table[(table["state"] == "finetuned") & (table["metric"] == metric)]
        for place, own in of[of["task"] == task].groupby(["layer", "head"]):
            if all(d < 0 and q < 0.05 for d, q in zip(own["delta"], own["q_value"], strict=True)):
                needed.add(place)
    assert 0 < len(needed) < 30
    said = headline_of(figures.draw_effects(runs, TASKS))
    assert f": {len(needed)} of 72 (MiniLM, 6 layers), " in said
    none = replace(runs[0], tables={"head_ablation": table.assign(q_value=0.06)})
    assert ": 0 of 72 (MiniLM, 6 layers)" in headline_of(figures.draw_effects([none], TASKS))


def test_claims_are_counted_over_encoders(runs):
    claims = page.claims_of(runs)
    own = runs[0].claims[reading.VERDICT]
    decided = own.isin(["holds", "does not hold"]).sum()
    assert decided > 3
    said = page.describe_claims(claims, 2)
    assert f"{decided} are decided for every encoder: 0 hold for all, {decided} for some" in said


def test_the_page_and_its_table_are_written(runs, tmp_path, capsys):
    output = tmp_path / "both.html"
    assert main(["encoders", *(str(run.folder) for run in runs), "-o", str(output)]) == 0
    text = output.read_text(encoding="utf-8")
    assert text.count("data:image/svg+xml") == 3
    assert not re.findall(r'(?:src|href)="(?!data:)', text), "nothing is loaded"
    means = pd.read_csv(KEPT / "score_means.csv").set_index(["model", "task"])
    assert f"{means['score']['finetuned', 'RTE']:.1f}‡" in text
    table = pd.read_csv(tmp_path / "both.csv")
    assert set(table["encoder"]) == {"MiniLM, 6 layers", "other"}
    assert len(table) == 2 * len(runs[0].claims)


def test_a_folder_of_results_and_what_is_sent_back_are_read_alike(runs, tmp_path):
    folder = copy(tmp_path / "run", "other", "other", smaller)
    (folder / "tables").mkdir()
    for path in folder.glob("*.csv"):
        path.rename(folder / "tables" / path.name)
    _, found = reading.read([KEPT, folder])
    assert found.claims.equals(runs[1].claims)
    assert found.tables.keys() == runs[1].tables.keys()


def test_a_table_of_another_version_is_named_and_left_out(tmp_path):
    change = edit("cosine.csv", lambda table: table.drop(columns="other_seed"))
    found = reading.read([KEPT, copy(tmp_path / "old", "old", "old", change)])
    assert set(found[1].left_out) == {"cosine"}
    assert "old: the table cosine is of another version" in page.html(found)
    assert page.html(found).count("data:image/svg+xml") == 2


def test_without_a_common_learned_task_there_is_no_figure(tmp_path):
    nothing = edit("learned.csv", lambda table: table.assign(learned=False))
    found = reading.read([KEPT, copy(tmp_path / "new", "new", "new", nothing)])
    assert not figures.draw_all(found)
    assert "No task was learned by all encoders" in page.html(found)


def lose(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def spoil(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text("{")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lose("run.json"), "no run.json, so it is no run, or not finished"),
        (lose("claims.csv"), "claims.csv"),
        (spoil("run.json"), "cannot be read"),
        (edit("claims.csv", lambda table: table.drop(columns="verdict")), ""),
        (edit("claims.csv", lambda table: table.drop(columns=reading.VERDICT)), "cannot be read"),
    ],
)
def test_what_is_no_finished_run_is_said(change, words, tmp_path):
    folders = [KEPT, copy(tmp_path / "bad", "bad", "bad", change)]
    if not words:  # a column that is not compared
        assert len(reading.read(folders)) == 2
        return
    with pytest.raises(InputError, match=words):
        reading.read(folders)


def test_folders_that_are_none_or_the_same_are_refused(tmp_path):
    twice = copy(tmp_path / "twice", "MiniLM, 6 layers", "kept")
    name = yaml.safe_load((KEPT / "config.yaml").read_text())["run"]
    for folders, words in (
        ([KEPT], "at least two"),
        ([KEPT, tmp_path / "missing"], "no folder"),
        ([KEPT, KEPT], "the same run"),
        ([twice, copy(tmp_path / "again", "MiniLM, 6 layers", "kept")], "the same run"),
        ([KEPT, copy(tmp_path / "named", "MiniLM, 6 layers", name)], "Two runs are called"),
    ):
        with pytest.raises(InputError, match=words):
            reading.read(folders)
    assert [run.name for run in reading.read([KEPT, twice])] == [
        *(f"MiniLM, 6 layers ({run})" for run in (name, "kept"))
    ]
