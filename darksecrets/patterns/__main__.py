"""Commands for people who label attention maps: ``python -m darksecrets.patterns --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from darksecrets.patterns.mapset import SETTLED, MapSet
from darksecrets.run.errors import InputError


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
    from darksecrets.patterns.page.server import serve

    serve(options.annotations, options.maps, options.annotator, options.number, options.port)


def _check(options: argparse.Namespace) -> None:
    from darksecrets.patterns.page.server import check

    check(options.annotator, options.port)


def _agreement(options: argparse.Namespace) -> None:
    from darksecrets.patterns.agreement import agreements, by_pair, describe, write_tables

    found = agreements(MapSet.load(options.folder))
    sys.stdout.write("\n\n\n".join(map(describe, by_pair(found).values())) + "\n")
    if options.csv is not None:
        write_tables(found, options.csv)


def _sheets(options: argparse.Namespace) -> None:
    from darksecrets.patterns.sheets import write_sheets

    mapset = MapSet.load(options.folder)
    count = write_sheets(mapset, options.out, options.seed, disputed=options.disputed)
    sys.stdout.write(f"{count} sheets in {options.out}\n")


def _mix(options: argparse.Namespace) -> None:
    from darksecrets.patterns.mixing import mix

    if options.out.exists():
        raise InputError(f"{options.out} is already there. Write the set to a new folder.")
    mixed = mix([MapSet.load(folder) for folder in options.folders], options.seed)
    mixed.save(options.out)
    sys.stdout.write(f"{len(mixed.table)} maps in {options.out}\n")


def _import(options: argparse.Namespace) -> None:
    from darksecrets.patterns.annotation import open_labels
    from darksecrets.patterns.sheets import import_labels

    for path in (options.order, options.labels):
        if not path.is_file():
            raise InputError(f"{path}: there is no such file.")
    given = options.order, options.labels, options.annotator, options.number
    with open_labels(options.folder) as file:
        count = import_labels(MapSet.load(options.folder), file, *given)
    sys.stdout.write(f"{count} labels added to {file.path}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m darksecrets.patterns", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    label = commands.add_parser("label", help="label maps in the browser")
    label.set_defaults(command=_label)
    label.add_argument("--annotations", type=Path, required=True, help="folder of maps and labels")
    label.add_argument("--maps", type=Path, help="sampled maps to copy into a new folder")
    _add_rater(label)
    _add_port(label)

    check = commands.add_parser("check", help="check name, pass and port before sampling maps")
    check.set_defaults(command=_check)
    _add_rater(check)
    _add_port(check)

    agreement = commands.add_parser("agreement", help="compare annotators and passes")
    agreement.set_defaults(command=_agreement)
    agreement.add_argument("folder", type=Path, help="folder of maps and labels")
    agreement.add_argument("--csv", type=Path, metavar="FOLDER", help="also write tables to it")

    sheets = commands.add_parser("sheets", help="draw contact sheets, nine maps per picture")
    sheets.set_defaults(command=_sheets)
    sheets.add_argument("folder", type=Path, help="folder of maps")
    sheets.add_argument("out", type=Path, help="new folder for the sheets and order.txt")
    sheets.add_argument("--seed", type=int, required=True, help="seed of the order of the maps")
    sheets.add_argument(
        "--disputed", action="store_true", help="only maps on which passes disagree"
    )

    mixer = commands.add_parser("mix", help="mix sets of maps into one, under new names")
    mixer.set_defaults(command=_mix)
    mixer.add_argument("out", type=Path, help="new folder for the set")
    mixer.add_argument("folders", type=Path, nargs="+", metavar="set", help="folder of maps")
    mixer.add_argument("--seed", type=int, required=True, help="seed of the order and the names")

    importer = commands.add_parser("import", help="add labels given on contact sheets")
    importer.set_defaults(command=_import)
    importer.add_argument("folder", type=Path, help="folder of maps and labels")
    importer.add_argument("order", type=Path, help="order.txt of the sheets")
    importer.add_argument(
        "labels", type=Path, help="lines: number key columns number diagonal time"
    )
    _add_rater(importer)
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
