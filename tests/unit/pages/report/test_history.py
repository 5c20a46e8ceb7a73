"""What made a run, against records and benchmark files that are written here."""

import json
from html.parser import HTMLParser

import pandas as pd
import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.pages.report import history, opening

LIBRARIES = {"torch": "2.13.0", "numpy": "2.4.6", "datasets": "5.2.0"}


def record(commit, created, *, made="tables/a.csv", processor="CPU A", torch="2.13.0", **parts):
    own = {"version": "0.1.0", "commit": commit}
    machine = {"processor": processor, "cores": 2, "python": "3.11.7"}
    libraries = LIBRARIES | {"torch": torch}
    return {
        "created": created,
        "outputs": {made: {}},
        "environment": {**machine, "darksecrets": own, "libraries": libraries},
        **parts,
    }


@pytest.fixture
def run(tmp_path):
    first, last = "2026-01-01T10:00:00Z", "2026-01-03T09:30:00Z"
    stores = record("bbb", first, processor="CPU B", extraction={"device": "cuda"})
    files = {
        "compare_attention": record("aaa", last),
        "finetune/RTE": record("aaa", "2026-01-02T00:00:00Z", torch="2.12.0"),
        "extract_attention/RTE": stores,
        "inspect_text/text": record("zzz", "2030-01-01T00:00:00Z", made="inspect/text/shown.csv"),
    }
    for name, content in files.items():
        file = tmp_path / "records" / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    measured = {
        "finetune/RTE/seed-1": (60, 50, 900.5),
        "finetune/RTE/seed-2": (90, 80, 800),
        "claims": (2, 1, 300),
    }
    for name, (seconds, cpu, memory) in measured.items():
        path = tmp_path / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tmax_rss\tcpu_time\n1\t1\t1\n{seconds}\t{memory}\t{cpu}\n")
    return tmp_path


def test_records_of_results_are_summarized(run):
    found = history.facts(run, "1, 2", {"Data": "files"})
    assert found["Commit"] == "aaa (2 results); bbb (1 result)", "without that of a look at a text"
    assert found["Hardware"] == "CPU A, 2 cores (2 results); CPU B, 2 cores, cuda (1 result)"
    assert "torch 2.13.0 and 2.12.0" in found["Software"]
    assert "Python 3.11.7" in found["Software"]
    assert found["Made"] == "2026-01-01 10:00 to 2026-01-03 09:30 UTC"
    assert (found["Seeds"], found["Data"]) == ("1, 2", "files")


def test_without_records_the_history_is_that_of_this_process(tmp_path):
    found = history.facts(tmp_path, "1", {})
    assert "torch" in found["Software"]
    assert found["Made"] == "times are not recorded here"


def test_costs_are_sums_and_maxima_of_the_last_attempts(run, tmp_path):
    table = history.costs(run).set_index("rule")
    assert list(table.index) == ["finetune", "claims"], "the longest first"
    assert dict(table.loc["finetune"]) == {
        **{"jobs": 2, "wall": 150, "longest": 90},
        **{"cpu": 130, "memory": 900.5},
    }
    assert history.costs(tmp_path / "none").empty


class Cells(HTMLParser):
    """Texts of the cells of a page, row by row."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.inside = [], False
        self.feed(text)

    def handle_starttag(self, tag, _):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def test_the_fragment_has_every_fact_and_step_as_text(run):
    facts = history.facts(run, "1, 2", {"Data": "files in <b>&"})
    page = opening.html(facts, history.costs(run))
    rows = Cells(page).rows
    assert ["Commit", "aaa (2 results); bbb (1 result)"] in rows
    assert ["Made", "2026-01-01 10:00 to 2026-01-03 09:30 UTC"] in rows
    assert ["Data", "files in <b>&"] in rows
    assert ["finetune", "2", "2.5 min", "1.5 min", "900 MiB"] in rows
    assert ["claims", "1", "2.0 s", "2.0 s", "300 MiB"] in rows
    many = pd.concat([history.costs(run)] * 20, ignore_index=True)
    assert len(Cells(opening.html(facts, many)).rows) > len(many), "none is lost"
    at_once, folded = opening.html(facts, many).split("<details>")
    assert at_once.count("<tr><td>") == 22
    assert f"{len(many) - 22} shorter steps" in folded
    assert "unlearned" not in page.split("</style>")[1]
    said = opening.html(facts, many, {"<i>": "20.5, majority class 21.0"}).split("</style>")[1]
    assert "Not learned by the fine-tuned models: <b>&lt;i&gt;</b> (20.5, majority" in said
    assert "<code>fine_tuning.epochs</code>" in said
    assert said.index("unlearned") < said.index("<table>"), "first of all"
    found = opening.html(facts, many, findings=["<b> is heterogeneous"], scores="<p>Table</p>")
    found = found.split("</style>")[1]
    assert "<li>&lt;b&gt; is heterogeneous.</li>" in found
    order = [found.index(text) for text in ("is heterogeneous", "<p>Table</p>", "finetune")]
    assert order == sorted(order), "what was found, scores, and job times last"
    nothing = opening.html(facts, history.costs(run / "none"))
    assert "not recorded here" in nothing


def test_scores_are_those_of_the_table_by_task_metric_and_state(tmp_path):
    rows = [
        ("RTE", "pretrained", "accuracy", 46.04, 40.0, 52.2, 0.5),
        ("RTE", "finetuned", "accuracy", 73.6, 70.0, 77.0, 0),
        ("RTE", "bag of words", "accuracy", 50.4, 40.0, 60.0, 0),
        ("RTE", "majority", "accuracy", 50.2, 40.0, 60.0, 1),
        ("<i>", "pretrained", "f1", -2.51, -3.0, -2.0, 0),
        ("<i>", "finetuned", "f1", 82.51, 82.0, 83.0, 1),
    ]
    file = tmp_path / "score_means.csv"
    columns = ["task", "model", "metric", "score", "ci_low", "ci_high", "constant"]
    pd.DataFrame(rows, columns=columns).to_csv(file, index=False)
    titles = {"accuracy": "Acc", "f1": "F1 <&>"}
    cells = Cells(opening.scores(file, titles, ["<i>"])).rows
    assert ["RTE", "Acc", "46.0 ± 6.1†", "", "", "73.6 ± 3.5", "50.2"] in cells
    assert ["<i>", "F1 <&>", "−2.5 ± 0.5", "", "", "82.5 ± 0.5†‡", ""] in cells
    assert not any(cell.startswith("50.4") for row in cells for cell in row)


def test_answers_are_counted_in_the_order_of_the_page(tmp_path):
    rows = ["holds", "undecided", "does not hold", "undecided"]
    file = tmp_path / "claims.csv"
    file.write_text("\n".join(["id,verdict", *(f"{i},{row}" for i, row in enumerate(rows))]) + "\n")
    expected = {"claims that hold": 1, "do not hold": 1, "undecided": 2}
    assert list(opening.answers(file).items()) == list(expected.items())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "s\tmax_rss\tcpu_time\n",
        "s\tmax_rss\n1\t2\n",
        "s\tmax_rss\tcpu_time\n-\t\tx\n",
        "\0",
    ],
)
def test_a_damaged_benchmark_file_is_named(run, content):
    file = run / "benchmarks" / "finetune" / "RTE" / "seed-1.tsv"
    file.write_text(content)
    with pytest.raises(InputError, match=f"{file} is no measurement of a job .* Remove it"):
        history.costs(run)
    file.unlink()
    assert history.costs(run)["jobs"].sum() == 2
