"""Commands for people who label attention maps: ``python -m darksecrets.paper.patterns --help``."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.labelled_maps import SHIPPED
from darksecrets.paper.patterns.mapset import SETTLED, MapSet
from darksecrets.paper.patterns.sampling import sample_set

SAMPLE_SIZE, SAMPLE_SEED = 100, 2019
"""Maps of the shipped set that are labelled again, and the seed that they are drawn with."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. An `InputError` is printed in one line, with exit status 1."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _label(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.page.server import serve

    rater = (options.annotator, options.number, options.port)
    if not options.shipped:
        serve(options.annotations, options.maps, *rater)
        return
    with tempfile.TemporaryDirectory() as folder:
        sample = Path(folder) / "maps"
        sample_set(MapSet.load(SHIPPED), SAMPLE_SIZE, SAMPLE_SEED).save(sample)
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl+C stops the page
            serve(options.annotations, sample, *rater)
    _print_agreement_with_shipped(options.annotations)


def _print_agreement_with_shipped(folder: Path) -> None:
    from darksecrets.paper.patterns.annotator_agreement import compare_with_set, confusions

    given, shipped = MapSet.load(folder), MapSet.load(SHIPPED)
    if given.labels.empty:
        sys.stdout.write("\nNo map was labelled: there is no agreement to report.\n")
        return
    table = compare_with_set(given, shipped)
    table = table[table["maps_of"] == "all"].drop(columns="maps_of")
    counts = confusions(given, shipped)
    sys.stdout.write(
        f"\nAgreement with the shipped labels:\n{_as_text(table)}\n"
        f"Shipped (rows) and yours, the paper's definition:\n{counts.to_string()}\n"
    )


def _check(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.page.server import check

    check(options.annotator, options.port)


def _agreement(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.annotator_agreement import compare_passes
    from darksecrets.paper.patterns.tables import AGREEMENT

    table = compare_passes(MapSet.load(options.folder))
    sys.stdout.write(_as_text(table))
    if options.csv is not None:
        AGREEMENT.write(table, options.csv)


def _as_text(table: pd.DataFrame) -> str:
    return table.to_string(index=False, float_format="{:.3f}".format) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m darksecrets.paper.patterns", description=__doc__
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    label = commands.add_parser("label", help="label maps in the browser")
    label.set_defaults(command=_label)
    label.add_argument("--annotations", type=Path, required=True, help="folder of maps and labels")
    source = label.add_mutually_exclusive_group()
    source.add_argument("--maps", type=Path, help="sampled maps to copy into a new folder")
    source.add_argument(
        "--shipped",
        action="store_true",
        help=f"{SAMPLE_SIZE} maps of the shipped set, and at the end the agreement with its labels",
    )
    _add_rater(label)
    _add_port(label)

    check = commands.add_parser("check", help="check name, pass and port before sampling maps")
    check.set_defaults(command=_check)
    _add_rater(check)
    _add_port(check)

    agreement = commands.add_parser("agreement", help="compare annotators and passes")
    agreement.set_defaults(command=_agreement)
    agreement.add_argument("folder", type=Path, help="folder of maps and labels")
    agreement.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to it")
    return parser


def _add_rater(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--annotator", required=True, help="name or initials of the annotator")
    parser.add_argument(
        "--pass",
        dest="number",
        type=int,
        choices=range(1, SETTLED + 1),
        default=1,
        help=f"1, 2, or {SETTLED} to settle the maps on which passes disagree (default 1)",
    )


def _add_port(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=_port, default=8419, help="default %(default)s; 0: any free one"
    )


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port < 2**16:
        raise argparse.ArgumentTypeError(f"{port} is not a port")
    return port


if __name__ == "__main__":
    sys.exit(main())
