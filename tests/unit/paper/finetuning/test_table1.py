"""Table 1 against the numbers it is made of, computed here with plain loops."""

import csv
import dataclasses
import json
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

from darksecrets.core.run import learned
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.finetuning.figures.table1 import (
    Table1,
    gain,
    html,
    latex,
    markdown,
    read_sizes,
)
from darksecrets.paper.finetuning.published import read_paper

ALL = list(TASKS)
METRICS = {name: task.metrics for name, task in TASKS.items()}
STATES = ("pretrained", "frozen", "finetuned-from-normal", "finetuned")
HEADINGS = ("pre-trained", "frozen", "randomly initialized, fine-tuned", "fine-tuned")
COMPARED = (("finetuned", "pretrained"), ("finetuned", "majority"), ("frozen", "pretrained"))
LABEL = "run a_b · 50% of C&D (not comparable with the paper)"


CONSTANT = {("RTE", "finetuned-from-normal", 1), ("QQP", "pretrained", 2)}


def metrics(tasks: list[str]) -> dict[str, tuple[str, ...]]:
    return {task: METRICS[task] for task in tasks}


def scores(tasks: list[str], seeds: tuple[int, ...]) -> pd.DataFrame:
    random = np.random.default_rng(7)
    rows = [
        (task, state, seed, metric, random.uniform(0, 100), (task, state, seed) in CONSTANT)
        for task in tasks
        for state in STATES
        for seed in seeds
        for metric in TASKS[task].metrics
    ]
    table = pd.DataFrame(rows, columns=["task", "state", "seed", "metric", "score", "constant"])
    return table.sample(frac=1, random_state=7)  # the order of rows must not matter


def means(table: pd.DataFrame) -> pd.DataFrame:
    random = np.random.default_rng(9)
    rows = []
    for key, part in table.groupby(["task", "state", "metric"]):
        score, reach = part["score"].mean(), random.uniform(0, 9)
        ends = (score, score - reach, score + reach)
        rows.append((*key, *ends, part["score"].std(), len(part), 250, part["constant"].mean()))
    names = ["task", "model", "metric", "score", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=[*names, "sd", "seeds", "examples", "constant"])


def differences(tasks: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Of every task and metric, and over the tasks."""
    random = np.random.default_rng(10)

    def row() -> dict[str, float]:
        middle, reach = random.uniform(-50, 50), random.uniform(0, 20)
        ends = {"ci_low": middle - reach, "ci_high": middle + reach}
        return {
            "difference": middle,
            **ends,
            "p_value": 0.01,
            "q_value": random.choice([0.01, 0.5]),
        }

    pairs = [{"model": model, "reference": reference} for model, reference in COMPARED]
    of_tasks = [
        {"task": task, **pair, "metric": metric, **row(), "seeds": 2, "examples": 250}
        for pair in pairs
        for task in tasks
        for metric in TASKS[task].metrics
    ]
    counts = {"tasks": len(tasks), "seeds": 2, "examples": 250}
    return pd.DataFrame(of_tasks), pd.DataFrame([{**pair, **row(), **counts} for pair in pairs])


def table1(
    table: pd.DataFrame,
    tasks: list[str] = ALL,
    label: str = LABEL,
    of_baselines: pd.DataFrame | None = None,
    of_sizes: pd.DataFrame | None = None,
    paper: pd.DataFrame | None = None,
) -> Table1:
    of_tasks, over_tasks = differences(tasks)
    return Table1(
        *(table, means(table), of_tasks, over_tasks, metrics(tasks), label),
        *(of_baselines, of_sizes, paper),
    )


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


def parsed(text: str, number: int = 0) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a Markdown page's table: 0, the scores, or 1, the differences."""
    block = [part for part in text.split("\n\n") if part.startswith("|")][number]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
    return cells[0], cells[2:]


def named(rows: list[list[str]]) -> list[list[str]]:
    """The rows, with the task also in its second one."""
    result: list[list[str]] = []
    for row in rows:
        result.append([row[0] or result[-1][0], *row[1:]])
    return result


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3, 4, 5)])
def test_cells_are_means_with_half_of_their_intervals(seeds):
    table = scores(ALL, seeds)
    header, rows = parsed(markdown(table1(table)))
    assert header == ["Task", "Metric", *HEADINGS]
    pairs = [(task, metric) for task in ALL for metric in TASKS[task].metrics]
    intervals = means(table).set_index(["task", "model", "metric"])
    for (task, metric), row in zip(pairs, named(rows), strict=True):
        assert row[0] == task
        for state, cell in zip(STATES, row[2:], strict=True):
            of_seeds = values(table, task, state, metric)
            assert len(of_seeds) == len(seeds)
            reach = np.ptp(intervals.loc[(task, state, metric), ["ci_low", "ci_high"]]) / 2
            mark = "†" if {(task, state, seed) for seed in seeds} & CONSTANT else ""
            assert cell == f"{statistics.fmean(of_seeds):.1f} ± {reach:.1f}{mark}"


def test_differences_stand_below_with_their_intervals_and_significance():
    header, rows = parsed(markdown(table1(scores(ALL, (1,)))), 1)
    assert header == [
        "Task",
        "Metric",
        "fine-tuned − pre-trained",
        "fine-tuned − majority",
        "frozen − pre-trained",
    ]
    of_tasks, over_tasks = differences(ALL)
    rows = named(rows)
    for number, pair in enumerate(COMPARED):
        chosen = of_tasks[(of_tasks["model"] == pair[0]) & (of_tasks["reference"] == pair[1])]
        expected = [*chosen.to_dict("records"), over_tasks.iloc[number].to_dict()]
        assert [row[0] for row in rows] == [*chosen["task"], "mean"]
        for row, found in zip(expected, rows, strict=True):
            reach = (row["ci_high"] - row["ci_low"]) / 2
            mark = "*" if row["q_value"] == 0.01 else ""
            assert found[2 + number] == f"{row['difference']:+.1f} ± {reach:.1f}{mark}".replace(
                "-", "−"
            )


def test_sizes_and_baselines_have_columns_of_their_own():
    given, chosen = baselines(["MRPC", "RTE"]), ["RTE", "MRPC"]
    table = table1(scores(chosen, (1,)), chosen, LABEL, given, sizes(chosen))
    header, rows = parsed(markdown(table))
    assert [row[0] for row in rows] == ["RTE", "MRPC", ""]
    assert [row[header.index("size")] for row in rows] == ["4,076", "4,076", ""]
    for name in ("majority", "bag of words"):
        for task in chosen:
            of_task = given[(given["task"] == task) & (given["baseline"] == name)]
            found = [row[header.index(name)] for row in named(rows) if row[0] == task]
            assert found == [f"{score:.1f}" for score in of_task["score"]]


def test_latex_and_html_hold_the_numbers_of_markdown(paper):
    table = table1(scores(ALL, (1, 2)), ALL, LABEL, baselines(ALL), sizes(ALL), paper)
    rows = [row for number in (0, 1) for row in parsed(markdown(table), number)[1]]

    in_html = _Cells()
    in_html.feed(html(table))
    assert in_html.rows == rows

    bodies = [part.split(r"\bottomrule")[0] for part in latex(table).split(r"\midrule")[1:]]
    lines = [
        [cell.strip() for cell in line.replace(r"\\", "").replace("$-$", "−").split("&")]
        for body in bodies
        for line in body.strip().splitlines()
    ]
    assert [len(lines[0]), len(lines[-1])] == [13, 5]
    number = re.compile(r"[−+]?\d+\.\d")
    assert [[number.findall(cell) for cell in line] for line in lines] == [
        [number.findall(cell) for cell in row] for row in rows
    ]
    body = "".join(bodies)
    assert body.count(r"$\dagger$") == sum("†" in cell for row in rows for cell in row) > 0


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

        if self.inside:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = False
        if tag == "thead":
            del self.rows[-2:]


def test_the_papers_numbers_appear_only_when_asked_for(paper):
    ours = scores(ALL, (1, 2))
    with_paper = table1(ours, ALL, "run paper", of_sizes=sizes(ALL), paper=paper)
    without = table1(ours, ALL, "run demo", of_sizes=sizes(ALL))
    for write in (markdown, html, latex):
        assert "5.8K" in write(with_paper)
        assert "35.9" in write(with_paper)
        assert "test sets of MRPC and STS-B" in write(with_paper)
        assert not re.search(r"paper|5\.8K|test sets", write(without), re.IGNORECASE)
    header, rows = parsed(markdown(with_paper))
    found = {tuple(row[:2]): row for row in named(rows)}
    published = header.index("fine-tuned (paper)")
    assert [found["MRPC", metric][published] for metric in ("F1", "Acc")] == ["87.9", "82.3"]
    published = header.index("randomly initialized, fine-tuned (paper)")
    assert [found["MRPC", metric][published] for metric in ("F1", "Acc")] == ["81.2", "68.3"]
    published = header.index("pre-trained (paper)")
    assert [found["STS-B", m][published] for m in ("Pearson", "Spearman")] == ["33.1", "—"]


def test_the_papers_mean_difference_is_of_accuracy_and_pearson(paper, root):
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


def test_a_state_that_is_missing_is_marked():
    table = scores(["SST-2", "RTE"], (1, 2))
    table = table[~((table["task"] == "RTE") & (table["state"] == "pretrained"))]
    header, rows = parsed(markdown(table1(table, ["SST-2", "RTE"])))
    assert rows[1][header.index("pre-trained")] == "—"
    assert rows[0][header.index("pre-trained")] != "—"


def test_the_run_is_named_and_escaped():
    table = table1(scores(["RTE"], (1,)), ["RTE"])
    assert LABEL[1:] in markdown(table)
    assert r"un a\_b $\cdot$ 50\% of C\&D (not comparable with the paper)" in latex(table)
    assert "un a_b · 50% of C&amp;D" in html(table)


@needs("pdflatex", "booktabs.sty")
def test_latex_compiles(tmp_path, paper):
    table = table1(scores(ALL, (1, 2)), ALL, LABEL, baselines(ALL), sizes(ALL), paper)
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


def test_a_table_without_columns_or_tasks_is_refused():
    table = scores(["RTE"], (1,))
    others = (means(table), *differences(["RTE"]))
    with pytest.raises(InputError, match="lacks seed"):
        Table1(table.drop(columns="seed"), *others, metrics(["RTE"]), LABEL)
    with pytest.raises(InputError, match="lacks QNLI"):
        Table1(table, *others, metrics(["RTE", "QNLI"]), LABEL)


def test_sizes_come_from_the_summary_of_the_data(tmp_path):
    data = {"train": {"examples": 3668}, "validation": {"examples": 408}}
    (tmp_path / "summary.json").write_text(json.dumps({**data, "shared": 0}))
    assert read_sizes({"MRPC": tmp_path}).to_dict("records") == [
        {"task": "MRPC", "split": "train", "examples": 3668},
        {"task": "MRPC", "split": "validation", "examples": 408},
    ]
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(InputError, match="does not say how many examples"):
        read_sizes({"MRPC": tmp_path})
    with pytest.raises(InputError, match="does not say how many examples"):
        read_sizes({"MRPC": tmp_path / "nowhere"})


def test_shipped_numbers_are_the_published_ones(root, test_data):
    published = sorted((test_data / "paper").glob("*.csv"))
    assert published
    for path in published:
        assert (RESOURCES / "paper" / path.name).read_bytes() == path.read_bytes()


def test_models_that_have_not_learned_are_marked_in_every_format():
    plain = table1(scores(["RTE", "QNLI"], (1,)), ["RTE", "QNLI"])
    marked = dataclasses.replace(plain, unlearned={"RTE": "51.5, majority class 50.2"})
    _, rows = parsed(markdown(marked))
    assert [[cell.endswith("‡") for cell in row[2:]] for row in rows] == [
        [False, False, False, True],
        [False] * 4,
    ]
    note = "- ‡ Has not learned the task: RTE (51.5, majority class 50.2)."
    assert note in markdown(marked)
    assert html(marked).count("‡") == 2
    assert latex(marked).count("ddagger") == 2
    assert "‡" not in markdown(plain)


def test_fine_tunings_that_failed_are_named_in_the_notes():
    """Of a task that most seeds have learned; the seeds of others are not named one by one."""
    rows: list[dict[str, object]] = [
        {"task": "RTE", "seed": None, "score": 62.0, "learned": True},
        {"task": "RTE", "seed": 1, "score": 70.0, "learned": True},
        {"task": "RTE", "seed": 2, "score": 50.2, "learned": False},
        {"task": "QNLI", "seed": None, "score": 50.0, "learned": False},
        {"task": "QNLI", "seed": 1, "score": 50.0, "learned": False},
    ]
    frame = pd.DataFrame(rows).assign(majority=50.1, bag_of_words=49.0)
    failed = learned.failed(frame.to_dict("records"))
    assert failed == ["RTE seed 2 (50.2, majority class 50.1)"]
    plain = table1(scores(["RTE", "QNLI"], (1, 2)), ["RTE", "QNLI"])
    noted = dataclasses.replace(plain, failed=failed)
    for write in (markdown, html, latex):
        assert "RTE seed 2 (50.2, majority class 50.1)" in write(noted)
        assert "Fine-tunings that failed" not in write(plain)
