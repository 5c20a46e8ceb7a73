"""The page of several encoders, and its table of claims."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from darksecrets.core.plotting.style import save
from darksecrets.core.run.numbers import written
from darksecrets.core.run.states import FINETUNED
from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.page import number
from darksecrets.pages.claims.registry import REPRODUCED
from darksecrets.pages.encoders.figures import draw_all
from darksecrets.pages.encoders.reading import VERDICT, FinishedRun, differing_facts
from darksecrets.paper.finetuning.tables import SCORE_MEANS

_CSS = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 1.5em auto; max-width: 75em; padding: 0 1em; }
table { border-collapse: collapse; border-block: 2px solid; display: block; overflow-x: auto; }
th, td { padding: .3em .7em; text-align: left; vertical-align: top; }
td { border-top: 1px solid #8886; }
img { max-width: 100%; background: #fff; }
small { opacity: .75; }
"""
_KEY = ["paper", "id"]


def claims_of(runs: Sequence[FinishedRun]) -> pd.DataFrame:
    """The claims of all runs: a row per paper, claim and run."""
    return pd.concat(
        [run.claims.assign(encoder=run.name) for run in runs], ignore_index=True
    ).reset_index(drop=True)


def html(runs: Sequence[FinishedRun]) -> str:
    """The page; it loads nothing from elsewhere."""
    names = [run.name for run in runs]
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">\n<title>Encoders side by side</title>',
        f"<style>{_CSS}</style>\n<h1>{escape(' · '.join(names))}</h1>",
        f"<p>{escape(describe_claims(claims_of(runs), len(runs)))}</p>",
        "<h2>What differs between the runs</h2>",
        _table(["", *names], [[k, *map(escape, v)] for k, v in differing_facts(runs).items()]),
        *_other_versions(runs),
    ]
    drawn = draw_all(runs)
    for name, figure in drawn.items():
        lines += [f"<h2>{_title(name)}</h2>", _image(figure, _title(name))]
    if not drawn:
        lines.append("<p>No task was learned by all encoders, so no figures are compared.</p>")
    lines += ["<h2>Table 1: scores of fine-tuned models</h2>", _scores(runs)]
    lines += ["<h2>Claims</h2>", _claims(runs), "</html>\n"]
    return "\n".join(lines)


def describe_claims(claims: pd.DataFrame, runs: int) -> str:
    """How many claims hold for all encoders, for some, for none; of those decided in all."""
    wide = claims.pivot(index=_KEY, columns="encoder", values=VERDICT)
    decided = wide[wide.isin([Answer.YES, Answer.NO]).all(axis=1)]
    holds = (decided == Answer.YES).sum(axis=1)
    for_some = ((holds > 0) & (holds < runs)).sum()
    return (
        f"{len(wide)} claims, each decided on the tasks that an encoder has learned. "
        f"{len(decided)} are decided for every encoder: {(holds == runs).sum()} hold for all, "
        f"{for_some} for some, {(holds == 0).sum()} for none."
    )


def _title(name: str) -> str:
    return name.replace("figure", "Figure ")


def _other_versions(runs: Sequence[FinishedRun]) -> list[str]:
    """Which tables are of another version, and left out."""
    return [
        f"<p>{escape(run.name)}: the table {escape(table)} is of another version and is left out. "
        f"<small>{escape(why)}</small></p>"
        for run in runs
        for table, why in run.left_out.items()
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of HTML; the head is escaped, cells are not."""
    first = "".join(f"<th scope=col>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table>\n<tr>{first}</tr>\n{body}</table>"


def _image(figure: Any, title: str) -> str:  # noqa: ANN401 - a figure of matplotlib
    """A figure as an image within the page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        save(figure, [path], script=__name__, title=title)
        content = base64.b64encode(path.read_bytes()).decode()
    source = f"data:image/svg+xml;base64,{content}"
    return f'<img alt="{title}, a panel for each encoder" src="{source}">'


def _scores(runs: Sequence[FinishedRun]) -> str:
    """Table 1 of all runs: the fine-tuned models' mean scores, with intervals."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for run in runs:
        table = run.tables.get(SCORE_MEANS.name, pd.DataFrame(columns=SCORE_MEANS.names))
        for row in table[table["model"] == FINETUNED].to_dict("records"):
            mark = "‡" if row["task"] in run.unlearned else ""
            ends = f"[{written(row['ci_low'], '.1f')}, {written(row['ci_high'], '.1f')}]"
            said = f"{written(row['score'], '.1f')}{mark} <small>{ends}</small>"
            rows.setdefault((row["task"], row["metric"]), {})[run.name] = said
    names = [run.name for run in runs]
    cells = [
        [escape(task), escape(metric), *(found.get(name, "–") for name in names)]
        for (task, metric), found in rows.items()
    ]
    return _table(["task", "metric", *names], cells) + "<p>‡ not learned.</p>"


def _claims(runs: Sequence[FinishedRun]) -> str:
    """A row per claim: verdict, number and what is lacking, for each run."""
    rows: dict[tuple[str, str], dict[str, Mapping[Any, Any]]] = {}
    for run in runs:
        for row in run.claims.to_dict("records"):
            rows.setdefault((row["paper"], row["id"]), {})[run.name] = row
    cells = []
    for (paper, claim), found in sorted(rows.items(), key=lambda row: _place(*row[0])):
        said = next(iter(found.values()))["claim"]
        own = [_verdict(found[run.name]) if run.name in found else "–" for run in runs]
        cells.append([escape(f"{paper} {claim}"), escape(said), *own])
    return _table(["", "claim", *(run.name for run in runs)], cells)


def _place(paper: str, claim: str) -> tuple[bool, str, str, int]:
    """Order of claims: the paper's first; then by paper, letter and number."""
    letter = claim.rstrip("0123456789")
    return paper != REPRODUCED, paper, letter, int(claim.removeprefix(letter) or 0)


def _verdict(row: Mapping[Any, Any]) -> str:
    """What a run says of a claim."""
    verdict = str(row[VERDICT])
    answer = escape(verdict) if verdict == Answer.OPEN else f"<b>{escape(verdict)}</b>"
    unit = "" if pd.isna(row["unit"]) else f" {row['unit']}"
    said = [f"{number(row)}{unit}"] if number(row) else []
    if verdict == Answer.OPEN and not pd.isna(row["needs"]):
        said.append(row["needs"])
    return f"{answer}<br><small>{escape('; '.join(said))}</small>"
