"""The kept tables of the real run, and the parts of pages that are made from them."""

import csv
import itertools
import json
import re
import shutil
from collections import Counter, defaultdict

import pytest
import yaml

from darksecrets.core.run.files import RESOURCES
from darksecrets.pages.claims import registry
from tools.real import kept, pages, parts


def add_other_heads(file):
    """Rows of heads that were not selected, as a run's table has them."""
    header, *rows = file.read_text().splitlines()
    names = header.split(",")
    for row in rows.copy():
        best = dict(zip(names, row.split(","), strict=True))
        for layer, head in itertools.product(range(1, 7), range(1, 13)):
            if (str(layer), str(head)) != (best["layer"], best["head"]):
                other = best | {"layer": str(layer), "head": str(head), "selected": "False"}
                rows.append(",".join(other.values()))
    file.write_text("\n".join([header, *rows]) + "\n")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A folder like that of a finished run, and an empty place to keep its tables."""
    folder = tmp_path / "run"
    shutil.copytree(kept.KEPT / kept.BEYOND, folder / "tables")
    add_other_heads(folder / "tables" / "syntactic_heads.csv")
    (folder / "config.yaml").write_text("run: made-up\n")
    cost = {"rule": "finetune", "jobs": 2, "cpu": 7200.0, "memory": 1500.0}
    summary = {"facts": {"Commit": "abc"}, "costs": [cost]}
    (folder / "run.json").write_text(json.dumps(summary))
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")
    return folder


def test_tables_are_kept_as_they_are_except_where_rows_are_selected(run):
    kept.keep({kept.BEYOND: run})
    for table in kept.TABLES[kept.BEYOND]:
        given, stored = (
            (folder / f"{table}.csv").read_text().splitlines()
            for folder in (run / "tables", kept.KEPT / kept.BEYOND)
        )
        if table == "syntactic_heads":
            given = [row for row in given if ",False," not in row]
        assert stored == given


@pytest.fixture
def both(run, tmp_path, monkeypatch):
    """Folders of both runs, whose tables are kept; the first has changed since."""
    paper = tmp_path / "paper-run"
    shutil.copytree(kept.ROOT / "docs" / "real" / kept.PAPER, paper / "tables")
    at_hand = {path.stem for path in paper.glob("tables/*.csv")}
    monkeypatch.setitem(kept.TABLES, kept.PAPER, sorted(at_hand & {*kept.TABLES[kept.PAPER]}))
    for file in ("run.json", "config.yaml", kept.ATLAS):
        (paper / "tables" / file).rename(paper / file)
    runs = {kept.PAPER: paper, kept.BEYOND: run}
    kept.keep(runs)
    (paper / "config.yaml").write_text("run: another\n")
    return runs


def read_kept():
    """All kept files, by their paths."""
    files = {path: path.read_bytes() for path in kept.KEPT.rglob("*.*")}
    assert {path.parent.name for path in files} == {kept.PAPER, kept.BEYOND}
    return files


def test_every_encoder_has_a_column(both, monkeypatch):
    other = both[kept.PAPER]
    claims = other / "tables" / "claims.csv"
    claims.write_text(claims.read_text().replace(",undecided", ",holds"))
    (other / "config.yaml").write_text("model: {name: another}\n")
    shutil.copytree(kept.KEPT / kept.PAPER, kept.KEPT / kept.MULTILINGUAL)
    shutil.copy(claims, kept.KEPT / kept.MULTILINGUAL)
    shutil.copy(other / "config.yaml", kept.KEPT / kept.MULTILINGUAL)
    monkeypatch.setattr(parts, "ENCODERS", (kept.PAPER, kept.MULTILINGUAL))
    for question in parts.QUESTIONS:
        head, _, *rows = (
            line.strip("| ").split(" | ") for line in parts.claims(question).strip().splitlines()
        )
        assert head == ["claim", "paper", "MiniLM, 6 layers", "another"]
        for *_, one, two in rows:
            assert two == one.replace("undecided:", "holds:")
    assert "**Hold for all** (10)" in parts.claims_of_all_encoders()
    assert "**Differ** (0): none." in parts.claims_of_all_encoders()
    claims = kept.KEPT / kept.MULTILINGUAL / "claims.csv"
    claims.write_text(claims.read_text().replace(",does not hold", ",holds"))
    said = parts.claims_of_all_encoders()
    assert "**Hold for none** (0): none." in said
    assert "**Differ** (6): [SEP] gets most attention on SST-2 (MiniLM, 6 layers: does not" in said
    assert "**Undecided for at least one** (16)" in said
    rows = [line.strip("| ").split(" | ") for line in parts.summary().strip().splitlines()]
    assert rows[0][2:] == ["MiniLM, 6 layers", "another"]
    assert all(row[2] == row[3] for row in rows[2:])


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("tables/claims.csv", None, r"not finished; it lacks .*claims\.csv"),
        ("tables/claims.csv", "paper,id\n1", r"claims\.csv"),
        ("run.json", '{"facts": {"Commit"', r"run\.json was cut off or changed"),
        ("run.json", '{"facts": {}}', r"run\.json was cut off or changed .*'costs'"),
    ],
    ids=["unfinished", "damaged table", "damaged summary", "part of a summary"],
)
def test_if_one_run_cannot_be_kept_the_tables_of_both_stay(both, file, content, message):
    """The other run can be kept, and comes first."""
    before = read_kept()
    if content is None:
        (both[kept.BEYOND] / file).unlink()
    else:
        (both[kept.BEYOND] / file).write_text(content)
    with pytest.raises(kept.RealRunError, match=message):
        kept.keep(both)
    assert read_kept() == before


@pytest.mark.parametrize("names", [[kept.PAPER], [kept.PAPER, kept.BEYOND]])
def test_tables_that_are_too_large_together_are_not_kept(both, monkeypatch, names):
    before = read_kept()
    size = sum(len(content) for path, content in before.items() if path.suffix == ".csv")
    monkeypatch.setattr(kept, "MOST_BYTES", size - 1)
    with pytest.raises(
        kept.RealRunError, match=f"tables take {size:,} bytes; at most {size - 1:,}"
    ):
        kept.keep({name: both[name] for name in names})
    assert read_kept() == before


def test_the_kept_atlas_has_no_links_to_figures_that_are_not_kept(both):
    claim = '"claims":[{"figures":["figures/figure2.svg","figures/figure8.svg"],"links":[]}]'
    found = '"findings":[{"shownBy":"figure2","file":"figures/figure2.svg"}],"maps":["é"]'
    (both[kept.PAPER] / kept.ATLAS).write_text(f"{{{claim},{found}}}", encoding="utf-8")
    kept.keep(both)
    page = (kept.KEPT / kept.PAPER / kept.ATLAS).read_text(encoding="utf-8")
    assert json.loads(page) == {
        "claims": [{"figures": [], "links": []}],
        "findings": [{"shownBy": "figure2", "file": ""}],
        "maps": ["é"],
    }


def test_kept_files_do_not_name_places_of_the_machine(both):
    run = both[kept.PAPER]
    config = """data: {folder: /home/ada/data/glue}
model: {folder: /home/ada/models/minilm, name: small}
framenet: {path: links.tsv}
tasks: {RTE: {files: {train: /home/ada/data/glue/RTE/train.tsv}}}
"""
    (run / "config.yaml").write_text(config)
    summary = json.loads((run / "run.json").read_text())
    summary["facts"]["Model"] = "small in /home/ada/models/minilm"
    (run / "run.json").write_text(json.dumps(summary))
    kept.keep(both)
    said = yaml.safe_load((kept.KEPT / kept.PAPER / "config.yaml").read_text())
    assert said == {
        "data": {"folder": "glue"},
        "model": {"folder": "minilm", "name": "small"},
        "framenet": {"path": "links.tsv"},
        "tasks": {"RTE": {"files": {"train": "glue/RTE/train.tsv"}}},
    }
    assert kept.Run.kept(kept.PAPER).facts["Model"] == "small in minilm"


def test_no_kept_file_names_a_place_of_a_machine(root):
    files = [path for path in (root / "docs" / "real").rglob("*.*") if path.is_file()]
    assert len(files) > 30
    for path in files:
        assert not re.search(r'[ "]/(home|work|tmp|root|Users)/', path.read_text("utf-8")), path


def test_a_damaged_table_is_named(tmp_path):
    shutil.copytree(kept.KEPT / kept.PAPER, tmp_path / "run")
    table = tmp_path / "run" / "claims.csv"
    table.write_text(table.read_text()[:300])
    with pytest.raises(kept.RealRunError, match=r"claims\.csv was cut off"):
        parts.compare(kept.Run(tmp_path / "run"))


def test_parts_replace_what_stands_between_their_comments(run, monkeypatch):
    kept.keep({kept.BEYOND: run})
    text = "It took <!--= hours-beyond -->7<!--/--> hours; commit <!--= commit-beyond --><!--/-->."
    filled = pages.fill(text, "page.md")
    assert filled == text.replace(">7<", ">2.0<").replace("--><!--/-->.", "-->abc<!--/-->.")
    assert pages.fill(filled, "page.md") == filled
    with pytest.raises(kept.RealRunError, match=r"page\.md names the part 'hour'"):
        pages.fill("<!--= hour --><!--/-->", "page.md")


def test_costs_are_in_minutes_and_gigabytes(run):
    kept.keep({kept.BEYOND: run})
    assert parts.costs(kept.BEYOND).splitlines()[4] == "| `finetune` | 2 | 120 | 1.5 |"


def test_every_claim_of_the_paper_belongs_to_one_question():
    (paper,) = (p for p in registry.read(registry.files()) if p.name == parts.KOVALEVA)
    named = [name for names in parts.QUESTIONS.values() for name in names]
    importance = "48"  # is decided by the analysis of this name, which the run does not make
    assert sorted([*named, importance]) == sorted(claim.id for claim in paper.claims)


def test_pages_show_what_the_kept_tables_say():
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages.find_pages()}
    assert {name: pages.fill(text, name) for name, text in texts.items()} == texts
    with_parts = {name for name, text in texts.items() if pages.PART.search(text)}
    sources = {"README.md", "findings.md", "real-run.md", "real-beyond.md", "replication.md"}
    assert with_parts == sources


def _kept_rows(table, run=kept.PAPER, **where):
    """Rows of a kept table as text, selected by a plain loop."""
    with (kept.KEPT / run / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return [row for row in rows if all(row[name] == value for name, value in where.items())]


def _means(rows, value, *by):
    """Means by hand."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in by)].append(float(row[value]))
    return {name: sum(values) / len(values) for name, values in groups.items()}


def test_the_summary_follows_from_the_kept_tables():
    """Every number is computed again from the text of the tables."""
    rows = [line.strip("| ").split(" | ") for line in parts.summary().strip().splitlines()]
    assert rows[0][2] == "MiniLM, 6 layers"
    said = [row[2] for row in rows[2:]]
    layers, gain, shares, links, heads = said

    similarity = _means(_kept_rows("cosine"), "similarity", "task", "layer")
    tasks = sorted(
        row["task"] for row in _kept_rows("learned", learned="True") if row["seed"] == ""
    )
    assert tasks == ["MRPC", "SST-2", "STS-B"]
    last = [
        task
        for task in tasks
        if {"5", "6"} == set(sorted(map(str, range(1, 7)), key=lambda i: similarity[task, i])[:2])
    ]
    assert layers == f"on {len(last)} of {len(tasks)} tasks"

    main = {"MRPC": "accuracy", "SST-2": "accuracy", "STS-B": "pearson"}
    scores = {
        model: _means(_kept_rows("table1", state=model), "score", "task", "metric")
        for model in ("finetuned", "pretrained")
    }
    gains = [scores["finetuned"][place] - scores["pretrained"][place] for place in main.items()]
    mean = sum(gains) / len(gains)
    assert gain == f"{mean:.1f} ({min(gains):.1f} to {max(gains):.1f})"

    rows = _kept_rows(
        "patterns",
        state="finetuned",
        definition="strict",
        pattern="heterogeneous",
    )
    shares_of = _means(rows, "share", "task")
    found = [100 * shares_of[(task,)] for task in tasks]
    assert shares == f"{min(found):.0f} to {max(found):.0f} %"

    rows = _kept_rows("framenet_heads", state="pretrained")
    every = {(row["layer"], row["head"]) for row in rows}
    exceeding = Counter(row["direction"] for row in rows if row["exceeds_controls"] == "True")
    published, reverse = exceeding["element_to_predicate"], exceeding["predicate_to_element"]
    assert links == f"{published} of {len(every)} beyond all controls, {reverse} in reverse"

    rows = _kept_rows("survival", state="finetuned", kind="head")
    rows = [row for row in rows if row["metric"] == main.get(row["task"])]
    gains = [round(value, 1) for value in _means(rows, "unbiased_gain", "task").values()]
    assert heads.startswith(f"{min(gains):.1f} to {max(gains):.1f},".replace("-", "−"))


@pytest.mark.parametrize(
    ("part", "column"),
    [
        (parts.answers, "verdict_on_learned_tasks"),
        (parts.answers_on_all_tasks, "verdict"),
    ],
)
def test_answers_are_counted(part, column):
    counts = Counter(row[column] for row in _kept_rows("claims", paper=parts.KOVALEVA))
    verb = "holds" if counts["holds"] == 1 else "hold"
    assert part(kept.PAPER) == (
        f"of {sum(counts.values())} claims, {counts['holds']} {verb}, "
        f"{counts['does not hold']} do not, and {counts['undecided']} are undecided"
    )


def test_a_claim_without_a_number_says_why():
    without = {
        row["claim"]: row["reason"]
        for row in _kept_rows("claims", paper=parts.KOVALEVA)
        if not row["value"]
    }
    assert len(without) > 3
    found = {}
    for question in parts.QUESTIONS:
        for line in parts.claims(question).strip().splitlines():
            _, claim, _, here, *_ = (cell.strip() for cell in line.split("|"))
            if claim in without:
                found[claim] = here.removeprefix("undecided: ")
    assert found.keys() == without.keys()
    for claim, here in found.items():
        why = here.removeprefix("no number: ")
        assert why != here
        assert why in without[claim]
    assert "not in this run: QNLI" in " ".join(found.values())


def test_sentences_of_the_page_agree_with_the_kept_tables():
    """What docs/real-run.md says of every figure, computed by hand."""
    seeds = [row for row in _kept_rows("learned", task="RTE") if row["seed"]]
    assert [row["learned"] for row in seeds] == ["False"] * 3

    random = {
        (row["task"], row["metric"]): row
        for row in _kept_rows("score_means", model="finetuned-from-normal")
    }
    bags = {
        (row["task"], row["metric"]): float(row["score"])
        for row in _kept_rows("baselines", baseline="bag of words")
    }
    sst, sts = random["SST-2", "accuracy"], random["STS-B", "pearson"]
    assert float(sst["ci_low"]) < bags["SST-2", "accuracy"] < float(sst["ci_high"])
    assert float(sts["ci_high"]) < bags["STS-B", "pearson"]

    rows = _kept_rows("patterns", definition="strict")
    shares = _means(rows, "share", "pattern", "state", "task")
    tasks = sorted({row["task"] for row in rows})
    for task in tasks:
        before, after = (
            shares["heterogeneous", state, task] for state in ("pretrained", "finetuned")
        )
        assert after > before
        assert shares["block", "finetuned", task] < 0.03

    heads = _kept_rows("framenet_heads", state="pretrained")
    place = ("direction", "layer", "head")
    above = [
        tuple(row[name] for name in place) for row in heads if row["above_percentile"] == "True"
    ]
    assert ("element_to_predicate", "6", "5") in above
    beyond = [
        tuple(row[name] for name in place) for row in heads if row["exceeds_controls"] == "True"
    ]
    assert beyond == [("predicate_to_element", "4", "12")]

    similarity = _means(_kept_rows("cosine"), "similarity", "task", "layer")
    assert min(similarity[task, layer] for task in tasks for layer in "123") > 0.94

    rows = _kept_rows("cls_attention", state="finetuned")
    weights = _means(rows, "weight", "task", "feature", "head")
    for task in tasks:
        best = {
            feature: max(weights[task, feature, str(head)] for head in range(1, 13))
            for feature in ("noun", "[SEP]")
        }
        assert best["noun"] > best["[SEP]"]

    effects = _kept_rows("head_ablation", state="finetuned")
    significant = Counter(row["task"] for row in effects if float(row["q_value"]) < 0.05)
    assert significant["STS-B"] > 0.5 * sum(significant.values())

    deltas = _means(_kept_rows("layer_ablation", state="finetuned"), "delta", "task", "layer")
    for task in ("MRPC", "STS-B"):
        assert min("123456", key=lambda layer: deltas[task, layer]) == "2"
    assert min(deltas["SST-2", layer] for layer in "123456") > -2


def test_what_is_said_of_removed_heads_follows_from_the_kept_tables(root):
    said = " ".join((root / "docs" / "real-beyond.md").read_text().split())
    where = {"run": kept.IMPORTANCE, "task": "STS-B", "metric": "pearson", "share": "0.5"}
    (row,) = _kept_rows("pruning_curves", order="absolute gradient", **where)
    lost = [f"{-float(row[name]):.1f}" for name in ("delta", "ci_high", "ci_low")]
    assert lost == ["1.5", "0.8", "2.2"]
    assert "for {} points ({} to {}); random halves cost 34.9".format(*lost) in said
    assert float(row["over_random_low"]) < 0 < float(row["over_random_high"])
    (row,) = _kept_rows("pruning_curves", order="random", **where)
    assert f"{-float(row['delta']):.1f}" == "34.9"
    heads = _kept_rows("pruning_curves", run=kept.IMPORTANCE, task="MRPC", metric="f1")
    baselines = {(float(row["baseline"]), float(row["chance"])) for row in heads}
    ((intact, most_frequent),) = baselines
    assert 0 < intact - most_frequent < 3


def test_the_report_has_the_labels_that_ship(root):
    with (RESOURCES / "patterns" / "maps.csv").open(encoding="utf-8", newline="") as file:
        maps = len(list(csv.DictReader(file)))
    assert f"| {maps:,}, by a" in (root / "docs" / "replication.md").read_text(encoding="utf-8")


def test_what_does_not_hold_is_named():
    rows = _kept_rows("claims", paper=parts.KOVALEVA)
    failed = {row["id"] for row in rows if row["verdict_on_learned_tasks"] == "does not hold"}
    assert failed == {"27", "32", "34", "35", "36", "44"}
    held = {row["id"] for row in rows if row["verdict_on_learned_tasks"] == "holds"}
    assert held >= {"20", "26", "33"}
    best = next(row for row in rows if row["id"] == "1")
    assert best["verdict_on_learned_tasks"] == "undecided"


def test_numbers_of_later_analyses_follow_from_the_kept_tables():
    (row,) = _kept_rows("attention_probes", run=kept.BEYOND, probe="attention")
    numbers = [f"{100 * float(row[name]):.1f}" for name in ("uas", "uas_low", "uas_high")]
    assert parts.probe() == "{} ({} to {})".format(*numbers)
    where = {"state": "pretrained", "layer": "", "kind": "special"}
    rows = _kept_rows("norm_levels", run=kept.BEYOND, **where)
    for column in ("weight", "norm"):
        low, *_, high = sorted(100 * float(row[column]) for row in rows)
        assert parts.special_shares(column) == f"{low:.0f} to {high:.0f}"
