"""Commands for people who label attention maps: ``python -m darksecrets.paper.patterns --help``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.mapset import SETTLED, MapSet


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

    serve(options.annotations, options.maps, options.annotator, options.number, options.port)


def _check(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.page.server import check

    check(options.annotator, options.port)


def _agreement(options: argparse.Namespace) -> None:
    from darksecrets.paper.patterns.annotator_agreement import compare_passes
    from darksecrets.paper.patterns.tables import AGREEMENT

    table = compare_passes(MapSet.load(options.folder))
    sys.stdout.write(table.to_string(index=False, float_format="{:.3f}".format) + "\n")
    if options.csv is not None:
        AGREEMENT.write(table, options.csv)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m darksecrets.paper.patterns", description=__doc__
    )
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
