"""Captions of the report: rendered as Snakemake does, for every kind of run."""

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docutils.core import publish_parts
from jinja2 import Environment, StrictUndefined
from shipped import DATA, MODEL, WORDS

from darksecrets.pages.report import history, opening
from workflow.lib.captions import plain
from workflow.lib.configuration import resolve, seeds_in_words
from workflow.lib.origins import describe_sources
from workflow.lib.preflight import CAPABILITIES, LEFT_OUT

MOST = 60
"""Words of a caption, without what is shown and where its numbers are."""
TOPICS: dict[str, Any] = {
    "text": "text",
    "label": "label",
    "labels": ["a", "b", "c"],
    "metrics": ["f1_macro"],
    "files": {"train": "a.csv", "validation": "b.csv"},
}
CONFIGS: dict[str, dict[str, Any]] = {
    "demo": {"run": "demo", "data": DATA, "model": MODEL},
    "files": {
        "run": "files",
        "tasks": ["RTE"],
        "data": {"source": "tsv", "folder": "glue"},
        "model": {"source": "folder", "folder": "model"},
    },
    "own": {
        "run": "own",
        "tasks": {"RTE": None, "topics": TOPICS},
        "data": DATA,
        "model": MODEL,
    },
    "only-own": {  # data.source stands for no task
        "run": "only-own",
        "tasks": {"topics": TOPICS},
        "data": DATA,
        "model": MODEL,
    },
    "paper": {
        "run": "paper",
        "seeds": [1, 2, 3],
        "data": {"source": "hub"},
        "model": {"source": "hub"},
    },
}


def resolved(config: dict[str, Any], **left_out: str) -> dict[str, Any]:
    """A configuration as the rules complete it, with why analyses are left out."""
    complete = resolve(config)
    most = max(len(entry["seeds"]) for entry in complete["tasks"].values())
    reasons = {**dict.fromkeys(CAPABILITIES, ""), **left_out}
    return {**complete, LEFT_OUT: reasons, "most_seeds": most}


def render(path: Path, config: dict[str, Any], *, paper: bool) -> str:
    """Text of a caption; undefined names and markup mistakes are errors."""
    environment = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    found = facts(config, paper=paper)
    params = SimpleNamespace(**found.pop("params"))
    snakemake = SimpleNamespace(config=config, params=params, **found)
    shown = {"snakemake": snakemake, "files": [made(config)]}
    text = environment.from_string(path.read_text(encoding="utf-8")).render(shown)
    raw = path.stem == "workflow"  # which includes what made the run
    strict = {"halt_level": 2, "report_level": 2, "raw_enabled": raw}
    html = publish_parts(text, writer="html", settings_overrides=strict)["body"]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def made(config: dict[str, Any]) -> SimpleNamespace:
    """The file of the report that says what made the run, as Snakemake hands it to templates."""
    facts = history.facts(Path("no run"), seeds_in_words(config), describe_sources(config))
    page = opening.html(facts, history.costs(Path("no run")))
    return SimpleNamespace(name="run.html", path=SimpleNamespace(read_text=lambda: page))


def facts(config: dict[str, Any], *, paper: bool) -> dict[str, Any]:
    """What captions read of a rule."""
    return {
        "params": {
            "shown": "run x · data · model",
            "tasks": config["tasks"],
            "paper": paper,
            "run": {"shared": ["GLUE"] if paper else []},
        },
        "input": SimpleNamespace(
            table="tables/t.csv",
            scores="tables/table1.csv",
            controls="tables/framenet_controls.csv",
            correlations="tables/c.csv",
            changes="tables/g.csv",
            erasure="tables/e.csv",
            agreement="tables/a.csv",
            times="tables/t.csv",
            seeds="tables/s.csv",
            surfaces="tables/tl.csv",
            points="tables/p.csv",
            maxima="tables/x.csv",
            stopping="tables/e.csv",
        ),
        "output": SimpleNamespace(table="tables/t.csv"),
    }


def captions(root: Path) -> list[Path]:
    return sorted((root / "workflow" / "report").glob("*.rst"))


@pytest.mark.parametrize("name", CONFIGS)
def test_captions_render_for_every_kind_of_run(name: str, root: Path) -> None:
    config = resolved(CONFIGS[name])
    assert len(captions(root)) >= 4
    for path in captions(root):
        text = render(path, config, paper=name == "paper")
        body = text.partition("Shown:")[0].split()
        most = MOST if path.stem != "workflow" else 400
        assert 15 < len(body) <= most, f"{path}: {len(body)} words"
        assert not re.search(r"\{[{%]|None|\*\*|``", text), text


@pytest.mark.parametrize("name", ["demo", "paper"])
def test_the_plain_text_of_a_caption_has_the_words_that_docutils_reads(
    name: str, root: Path
) -> None:
    config = resolved(CONFIGS[name])
    of_results = [path for path in captions(root) if path.stem != "workflow"]
    for path in of_results:  # the description of the run has a page in it, and is never plain text
        text = plain(path, config, **facts(config, paper=name == "paper"))
        assert text.split() == unescape(render(path, config, paper=name == "paper")).split(), path
        assert len(text.splitlines()) > 1, "what, then how"


@pytest.mark.parametrize("annotation", [{}, WORDS], ids=["parsed", "files"])
def test_a_pronoun_s_noun_is_said_to_be_a_guess_or_annotated(annotation, root: Path) -> None:
    path = root / "workflow" / "report" / "token_pairs.rst"
    text = render(path, resolved({**CONFIGS["files"], "annotation": annotation}), paper=False)
    assert ("that the files say it stands for" in text) == bool(annotation)
    assert "a guess" in text


def test_the_report_names_the_data(root: Path) -> None:
    config = {**CONFIGS["demo"], "data": {**DATA, "name": "generated sentences"}}
    text = render(root / "workflow" / "report" / "workflow.rst", resolved(config), paper=False)
    assert "The data are generated sentences." in text
