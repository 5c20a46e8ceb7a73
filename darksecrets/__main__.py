"""The command ``darksecrets``: look at a model in one process, without a workflow."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, write_text
from darksecrets.core.run.version import __version__
from darksecrets.pages.inspect import texts
from darksecrets.pages.inspect.texts import MOST

if TYPE_CHECKING:
    import pandas as pd

    from darksecrets.pages.inspect.inspecting import Inspection

_OPTIONS = {
    "fine_tuning.max_length": "--max-length",
    "annotation.pipeline": "--pipeline",
    "model.folder in the configuration": "the folder",
}
"""Keys of the workflow's configuration that messages name, and what to say in their place."""


class _Formatter(logging.Formatter):
    """Writes messages with the options of the command."""

    def format(self, record: logging.LogRecord) -> str:
        """See the base class."""
        return _name_options(super().format(record))


def _name_options(message: str) -> str:
    for key, option in _OPTIONS.items():
        message = message.replace(f"`{key}`", option).replace(key, option)
    return message


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 if something given cannot be used."""
    given = _parser().parse_args(arguments)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    try:
        given.run(given)
    except InputError as error:
        sys.stderr.write(f"{_name_options(str(error))}\n")
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="darksecrets", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_inspect(commands)
    _add_ablate(commands)
    _add_encoders(commands)
    return parser


def _add_inspect(commands: Any) -> None:  # noqa: ANN401 - a private class of argparse
    inspect = commands.add_parser(
        "inspect",
        help="draw all heads of an encoder on sentences, as one page",
        description="Draw all heads of an encoder on sentences, as one page that loads nothing.",
    )
    inspect.add_argument("model", help="folder of an encoder, or its name on the Hub")
    inspect.add_argument(
        "text",
        nargs="+",
        help="a sentence; two, separated by ' ||| '; several; or a file with one example a line",
    )
    inspect.add_argument("-o", "--output", type=Path, default=Path("heads.html"), help="the page")
    inspect.add_argument("--json", action="store_true", help="print the numbers; write no page")
    inspect.add_argument(
        "--examples", type=int, default=MOST, help=f"most examples of a file ({MOST})"
    )
    inspect.add_argument("--max-length", type=int, default=128, help="longest example, in tokens")
    inspect.add_argument("--pipeline", help="a spaCy pipeline, for measures of words")
    inspect.set_defaults(run=_inspect)


def _add_ablate(commands: Any) -> None:  # noqa: ANN401 - a private class of argparse
    ablate = commands.add_parser(
        "ablate",
        help="score a fine-tuned classifier with each head and layer disabled",
        description="Score a fine-tuned classifier with each head, and each layer, disabled.",
    )
    ablate.add_argument("model", help="folder of a classifier, or its name on the Hub")
    ablate.add_argument("data", help="labelled examples: .csv, .tsv or .jsonl")
    ablate.add_argument(
        "--text", nargs="+", default=["text"], help="column with the text; two for pairs (text)"
    )
    ablate.add_argument("--label", default="label", help="column with the label (label)")
    ablate.add_argument(
        "--labels", nargs="+", default=[], help="the data's names of the classes, in their order"
    )
    ablate.add_argument("--metric", nargs="+", default=[], help="metrics, the main one first")
    ablate.add_argument(
        "--mode",
        choices=("uniform", "zero"),
        default="uniform",
        help="a disabled head attends to all tokens equally, or gives 0 (uniform)",
    )
    ablate.add_argument("--max-length", type=int, default=128, help="longest example, in tokens")
    ablate.add_argument(
        "-o", "--output", type=Path, default=Path("ablation"), help="folder of the results"
    )
    ablate.set_defaults(run=_ablate)


def _add_encoders(commands: Any) -> None:  # noqa: ANN401 - a private class of argparse
    encoders = commands.add_parser(
        "encoders",
        help="compare finished runs of several encoders on one page",
        description="Compare finished runs of several encoders on one page.",
    )
    encoders.add_argument("runs", nargs="+", type=Path, help="folders of runs: results/<run>")
    encoders.add_argument(
        "-o", "--output", type=Path, default=Path("encoders.html"), help="the page"
    )
    encoders.set_defaults(run=_compare_encoders)


def _require_folder(output: Path) -> None:
    """Check that the folder of a page is there, before anything is computed."""
    if not output.parent.is_dir():
        raise InputError(f"--output: there is no folder {output.parent}. Make it first.")


def _inspect(given: argparse.Namespace) -> None:
    """Write the page, or print its numbers."""
    from darksecrets.pages.inspect.inspecting import inspect

    if given.examples < 1:
        raise InputError(f"--examples is {given.examples}; at least 1 is needed.")
    if not given.json:
        _require_folder(given.output)
    every = texts.read(given.text[0] if len(given.text) == 1 else given.text)
    examples = every[: given.examples]
    if len(every) > len(examples):
        sys.stderr.write(
            f"The first {len(examples)} of {len(every)} examples are used (--examples).\n"
        )
    found = inspect(examples, given.model, max_length=given.max_length, pipeline=given.pipeline)
    if given.json:
        sys.stdout.write(json.dumps(_numbers(found)) + "\n")
        return
    write_text(found.page(len(examples)), given.output)
    sys.stdout.write(f"{given.output}: open it in a browser.\n")


def _ablate(given: argparse.Namespace) -> None:
    """Write tables and a figure of what a model loses without its heads; say the main numbers."""
    from darksecrets.core.plotting.style import save
    from darksecrets.pages import ablate

    folder = given.output
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output: {folder} is a file. Give a folder.")
    found = ablate.ablate(
        given.model,
        given.data,
        text=given.text,
        label=given.label,
        labels=given.labels,
        metric=given.metric,
        mode=given.mode,
        max_length=given.max_length,
        folder=folder,
    )
    for name in ("heads", "layers", "best"):
        with atomic(folder / f"{name}.csv") as temporary:
            getattr(found, name).to_csv(temporary, index=False, float_format="%.6g")
    figures = [folder / "heads.svg", folder / "heads.png"]
    save(found.figure(), figures, script=ablate.__name__, title=found.label)
    sys.stdout.write(f"{found.summary()}\n{folder}: heads.csv, layers.csv, best.csv, heads.svg\n")


def _compare_encoders(given: argparse.Namespace) -> None:
    """Write the page of several runs, and beside it the table of their claims."""
    from darksecrets.pages.encoders import page, reading

    _require_folder(given.output)
    runs = reading.read(given.runs)
    table = given.output.with_suffix(".csv")
    write_text(page.html(runs), given.output)
    with atomic(table) as temporary:
        page.claims_of(runs).to_csv(temporary, index=False)
    sys.stdout.write(f"{given.output}: open it in a browser. {table}: its claims.\n")


def _numbers(found: Inspection) -> dict[str, Any]:
    """An inspection for programs: maps by example, [layer][head][query][key]; tables as rows."""

    def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = json.loads(table.to_json(orient="records"))
        return made

    return {
        "model": found.model,
        "examples": rows(found.examples),
        "tokens": found.tokens,
        "maps": [example.astype(float).round(4).tolist() for example in found.maps],
        "patterns": [] if found.patterns is None else rows(found.patterns),
        "head_statistics": rows(found.measures["head_statistics"]),
        "left_out": dict(found.left_out),
    }


if __name__ == "__main__":
    sys.exit(main())
