"""Table 1 against the numbers it is made of, computed here with plain loops."""

import csv
import json
import math
import re
import statistics
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from needs import needs

from darksecrets.finetuning.table1 import (
    Table1,
    gain,
    html,
    latex,
    markdown,
    read_paper,
    read_sizes,
    summarise,
)
from darksecrets.run.errors import InputError
from darksecrets.run.files import RESOURCES

ALL = list(TASKS)
METRICS = {name: task.metrics for name, task in TASKS.items()}
STATES = ("pretrained", "finetuned-from-normal", "finetuned")
LABEL = "run a_b · 50% of C&D (not comparable with the paper)"


def metrics(tasks: list[str]) -> dict[str, tuple[str, ...]]:
    return {task: METRICS[task] for task in tasks}


def scores(tasks: list[str], seeds: tuple[int, ...]) -> pd.DataFrame:
    random = np.random.default_rng(7)
    rows = [
        (task, state, seed, metric, random.uniform(0, 100))
        for task in tasks
        for state in STATES
        for seed in seeds
        for metric in TASKS[task].metrics
    ]
    table = pd.DataFrame(rows, columns=["task", "state", "seed", "metric", "score"])
    return table.sample(frac=1, random_state=7)  # the order of rows must not matter


def baselines(tasks: list[str]) -> pd.DataFrame:
    random = np.random.default_rng(8)
    rows = [
        (task, name, metric, random.uniform(0, 100))
        for task in tasks
        for name in ("majority", "bag of words")
        for metric in TASKS[task].metrics
    ]
    return pd.DataFrame(rows, columns=["task", "baseline", "metric", "score"])


def sizes(tasks: list[str]) -> pd.DataFrame:
    rows = [
        (task, split, n) for task in tasks for split, n in (("train", 3668), ("validation", 408))
    ]
    return pd.DataFrame(rows, columns=["task", "split", "examples"])


@pytest.fixture
def paper(root: Path) -> pd.DataFrame:
    return read_paper(RESOURCES / "paper" / "table1.csv")


def values(table: pd.DataFrame, task: str, state: str, metric: str) -> list[float]:
    return [
        row.score
        for row in table.itertuples()
        if (row.task, row.state, row.metric) == (task, state, metric)
    ]


def parsed(text: str) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a Markdown table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[0], cells[2:]


@pytest.mark.parametrize("seeds", [(1,), (1, 2), (1, 2, 3, 4, 5)])
def test_cells_are_mean_and_sample_deviation_over_seeds(seeds: tuple[int, ...]) -> None:
    table = scores(ALL, seeds)
    header, rows = parsed(markdown(Table1(table, METRICS, LABEL)))
    assert header == ["Task", "Metric", "pretrained", "from normal", "finetuned"]
    assert [row[0] for row in rows] == ALL
    for task, row in zip(ALL, rows, strict=True):
        for state, cell in zip(STATES, row[2:], strict=True):
            expected = []
            for metric in TASKS[task].metrics:
                of_seeds = values(table, task, state, metric)
                assert len(of_seeds) == len(seeds)
                text = f"{statistics.fmean(of_seeds):.1f}"
                if len(seeds) > 1:
                    text += f" ± {statistics.stdev(of_seeds):.1f}"
                expected.append(text)
            assert cell == " / ".join(expected)


def test_metrics_are_paired_as_in_the_paper() -> None:
    _, rows = parsed(markdown(Table1(scores(ALL, (1,)), METRICS, LABEL)))
    assert {row[0]: row[1] for row in rows} == {
        "MRPC": "F1 / Acc",
        "STS-B": "Pearson / Spearman",
        "SST-2": "Acc",
        "QQP": "F1 / Acc",
        "RTE": "Acc",
        "QNLI": "Acc",
        "MNLI": "Acc",
    }


def test_sizes_and_baselines_have_columns_of_their_own() -> None:
    given = baselines(["MRPC", "RTE"])
    table = Table1(
        scores(["MRPC", "RTE"], (1,)),
        metrics(["RTE", "MRPC"]),
        LABEL,
        baselines=given,
        sizes=sizes(["MRPC", "RTE"]),
    )
    header, rows = parsed(markdown(table))
    assert [row[0] for row in rows] == ["RTE", "MRPC"]
    assert {row[header.index("Train + val.")] for row in rows} == {"4,076"}
    for name in ("majority", "bag of words"):
        for row in rows:
            of_task = given[(given["task"] == row[0]) & (given["baseline"] == name)]
            expected = " / ".join(f"{score:.1f}" for score in of_task["score"])
            assert row[header.index(name)] == expected


def test_latex_and_html_hold_the_numbers_of_markdown(paper: pd.DataFrame) -> None:
    table = Table1(scores(ALL, (1, 2)), METRICS, LABEL, baselines(ALL), sizes(ALL), paper)
    _, rows = parsed(markdown(table))
    numbers = [re.findall(r"\d+\.\d", " ".join(row)) for row in rows]

    in_html = _Cells()
    in_html.feed(html(table))
    assert in_html.rows == rows

    body = latex(table).split(r"\midrule")[1].split(r"\bottomrule")[0]
    lines = [line.split("&") for line in body.replace(r"\\", "").strip().splitlines()]
    columns = latex(table).split(r"\begin{tabular}{@{}")[1].split("@{}}")[0]
    assert {len(line) for line in lines} == {len(columns)} == {12}
    for task, expected in zip(ALL, numbers, strict=True):
        start = next(i for i, line in enumerate(lines) if line[0].strip() == task)
        of_task = lines[start : start + len(TASKS[task].metrics)]
        found = re.findall(r"\d+\.\d", " ".join(" ".join(line) for line in of_task))
        assert sorted(found) == sorted(expected)


class _Cells(HTMLParser):
    """Collects the body of an HTML table."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        self.inside = tag == "td"

    def handle_data(self, data: str) -> None:
        if self.inside and data.strip():
            self.rows[-1].append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = False
        if tag == "thead":
            self.rows.clear()


def test_the_papers_numbers_appear_only_when_asked_for(paper: pd.DataFrame) -> None:
    ours = scores(ALL, (1, 2))
    with_paper = Table1(ours, METRICS, "run paper", paper=paper)
    without = Table1(ours, METRICS, "run demo")
    for write in (markdown, html, latex):
        assert "5.8K" in write(with_paper)
        assert "35.9" in write(with_paper)
        assert not re.search(r"paper|5\.8K|35\.9", write(without), re.IGNORECASE)
    header, rows = parsed(markdown(with_paper))
    mrpc, stsb = rows[0], rows[1]
    assert mrpc[header.index("finetuned (paper)")] == "87.9 / 82.3"
    assert mrpc[header.index("from normal (paper)")] == "81.2 / 68.3"
    assert stsb[header.index("pretrained (paper)")] == "33.1 / —"


def test_the_papers_mean_difference_is_of_accuracy_and_pearson(
    paper: pd.DataFrame, root: Path
) -> None:
    with (RESOURCES / "paper" / "table1.csv").open() as file:
        rows = list(csv.DictReader(file))

    def mean(which: int) -> float:
        number = [
            float(r["finetuned"].split("/")[which]) - float(r["pretrained"].split("/")[which])
            for r in rows
        ]
        return statistics.fmean(number)

    assert mean(-1) == pytest.approx(35.9, abs=1e-9)  # what the paper's text reports
    assert mean(0) == pytest.approx(48.0, abs=1e-9)  # F1 where there is F1: not what it reports
    points, tasks = gain(paper, METRICS)
    assert points == pytest.approx(35.9, abs=1e-9)
    assert tasks == ALL


def test_the_mean_difference_is_of_means_over_seeds_over_the_tasks_shown() -> None:
    table = scores(ALL, (1, 2, 3))
    chosen = ["MRPC", "STS-B", "RTE"]
    expected = statistics.fmean(
        statistics.fmean(values(table, task, "finetuned", metric))
        - statistics.fmean(values(table, task, "pretrained", metric))
        for task, metric in (("MRPC", "accuracy"), ("STS-B", "pearson"), ("RTE", "accuracy"))
    )
    assert gain(table, metrics(chosen)) == (pytest.approx(expected), chosen)
    text = markdown(Table1(table, metrics(chosen), LABEL))
    assert f"Finetuned − pretrained: {expected:.1f} points, the mean over 3 tasks" in text


def test_a_state_or_a_score_that_is_missing_is_marked_and_not_averaged() -> None:
    table = scores(["SST-2", "RTE"], (1, 2))
    table = table[~((table["task"] == "RTE") & (table["state"] == "pretrained"))].copy()
    undefined = (table["task"] == "SST-2") & (table["state"] == "finetuned") & (table["seed"] == 2)
    table.loc[undefined, "score"] = math.nan
    header, rows = parsed(markdown(Table1(table, metrics(["SST-2", "RTE"]), LABEL)))
    assert rows[1][header.index("pretrained")] == "—"
    assert rows[0][header.index("finetuned")] == "n/a"
    assert gain(table, metrics(["SST-2", "RTE"]))[1] == []
    assert "points" not in markdown(Table1(table, metrics(["SST-2", "RTE"]), LABEL))


def test_the_number_of_seeds_is_said_and_what_differs_is_named() -> None:
    assert "n = 1 seed." in markdown(Table1(scores(ALL, (4,)), METRICS, LABEL))
    table = scores(["SST-2", "RTE"], (1, 2, 3))
    drop = (table["task"] == "RTE") & (table["state"] == "pretrained") & (table["seed"] > 1)
    text = markdown(Table1(table[~drop], metrics(["SST-2", "RTE"]), LABEL))
    assert "over n = 3 seeds (1 for RTE pretrained)." in text


def test_summary_of_one_seed_has_no_deviation() -> None:
    summary = summarise(scores(["RTE"], (1,)))
    assert summary["sd"].isna().all()
    assert set(summary["n"]) == {1}


def test_the_run_is_named_and_escaped() -> None:
    table = Table1(scores(["RTE"], (1,)), metrics(["RTE"]), LABEL)
    assert LABEL[1:] in markdown(table)
    assert r"un a\_b $\cdot$ 50\% of C\&D (not comparable with the paper)" in latex(table)
    assert "un a_b · 50% of C&amp;D" in html(table)


@needs("pdflatex", "booktabs.sty")
def test_latex_compiles(tmp_path: Path, paper: pd.DataFrame) -> None:
    table = Table1(scores(ALL, (1, 2)), METRICS, LABEL, baselines(ALL), sizes(ALL), paper)
    preamble = r"\documentclass[11pt,twocolumn,a4paper]{article}\usepackage[margin=2.5cm]{geometry}"
    document = (
        f"{preamble}\\usepackage{{booktabs}}\\begin{{document}}{latex(table)}\\end{{document}}"
    )
    (tmp_path / "document.tex").write_text(document, encoding="utf-8")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout
    assert "Overfull" not in run.stdout


def test_a_table_without_columns_or_tasks_is_refused() -> None:
    table = scores(["RTE"], (1,))
    with pytest.raises(InputError, match="lacks seed"):
        Table1(table.drop(columns="seed"), metrics(["RTE"]), LABEL)
    with pytest.raises(InputError, match="lacks QNLI"):
        Table1(table, metrics(["RTE", "QNLI"]), LABEL)


def test_sizes_come_from_the_summary_of_the_data(tmp_path: Path) -> None:
    data = {"train": {"examples": 3668}, "validation": {"examples": 408}}
    (tmp_path / "summary.json").write_text(json.dumps({**data, "shared": 0}))
    assert read_sizes({"MRPC": tmp_path}).to_dict("records") == [
        {"task": "MRPC", "split": "train", "examples": 3668},
        {"task": "MRPC", "split": "validation", "examples": 408},
    ]
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(InputError, match="found no count of examples"):
        read_sizes({"MRPC": tmp_path})
    with pytest.raises(InputError, match="found no count of examples"):
        read_sizes({"MRPC": tmp_path / "nowhere"})


def test_shipped_numbers_are_the_published_ones(root: Path, test_data: Path) -> None:
    published = sorted((test_data / "paper").glob("*.csv"))
    assert published
    for path in published:
        assert (RESOURCES / "paper" / path.name).read_bytes() == path.read_bytes()
