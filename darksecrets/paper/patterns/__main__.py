"""Commands for people who label attention maps: ``python -m darksecrets.paper.patterns --help``."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.maps.labelled_maps import SHIPPED
from darksecrets.paper.patterns.maps.mapset import SETTLED, MapSet
from darksecrets.paper.patterns.maps.sampling import sample_set

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
    from darksecrets.paper.patterns.maps.labelling import prepare, write_page

    if options.shipped:
        with tempfile.TemporaryDirectory() as folder:
            sample = Path(folder) / "maps"
            sample_set(MapSet.load(SHIPPED), SAMPLE_SIZE, SAMPLE_SEED).save(sample)
            prepare(options.annotations, sample)
    else:
        prepare(options.annotations, options.maps)
    address = write_page(options.annotations, options.annotator, options.number)
    sys.stdout.write(
        f"Open {address} in a browser. It keeps every label as soon as it is given. Download the "
        f"labels from the page, then add them to {options.annotations}:\n"
        f"  python -m darksecrets.paper.patterns add {options.annotations} <file>\n"
    )


def _check(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.maps.labelling import check_annotator

    check_annotator(options.annotator)


def _add(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.maps.labelling import add_labels

    count = add_labels(options.folder, options.file)
    sys.stdout.write(f"{count} labels are in {options.folder}.\n")


def _agreement(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.maps import annotator_agreement
    from darksecrets.paper.patterns.tables import AGREEMENT

    given = MapSet.load(options.folder)
    if not options.shipped:
        table = annotator_agreement.compare_passes(given)
        sys.stdout.write(_as_text(table))
    else:
        shipped = MapSet.load(SHIPPED)
        table = annotator_agreement.compare_with_set(given, shipped)
        of_all = table[table["maps_of"] == "all"].drop(columns="maps_of")
        counts = annotator_agreement.confusions(given, shipped)
        sys.stdout.write(
            f"Agreement with the shipped labels:\n{_as_text(of_all)}\n"
            f"Shipped (rows) and yours, the paper's definition:\n{counts.to_string()}\n"
        )
    if options.csv is not None:
        AGREEMENT.write(table, options.csv)


def _as_text(table: pd.DataFrame) -> str:
    return table.to_string(index=False, float_format="{:.3f}".format) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m darksecrets.paper.patterns", description=__doc__
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    label = commands.add_parser("label", help="make the page for labelling maps in a browser")
    label.set_defaults(command=_label)
    label.add_argument("--annotations", type=Path, required=True, help="folder of maps and labels")
    source = label.add_mutually_exclusive_group()
    source.add_argument("--maps", type=Path, help="sampled maps to copy into a new folder")
    source.add_argument(
        "--shipped", action="store_true", help=f"{SAMPLE_SIZE} maps of the shipped set"
    )
    _add_rater(label)

    check = commands.add_parser("check", help="check name and pass before sampling maps")
    check.set_defaults(command=_check)
    _add_rater(check)

    add = commands.add_parser("add", help="add labels that were downloaded from the page")
    add.set_defaults(command=_add)
    add.add_argument("folder", type=Path, help="folder of maps and labels")
    add.add_argument("file", type=Path, help="the file that was downloaded")

    agreement = commands.add_parser("agreement", help="compare annotators and passes")
    agreement.set_defaults(command=_agreement)
    agreement.add_argument("folder", type=Path, help="folder of maps and labels")
    agreement.add_argument(
        "--shipped",
        action="store_true",
        help="compare labels of shipped maps with theirs",
    )
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


if __name__ == "__main__":
    sys.exit(main())
