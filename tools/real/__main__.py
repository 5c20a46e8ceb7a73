"""Keep the tables of the real run, make the pages from them, or print a run beside them.

python -m tools.real pages [--paper results/real] [--beyond results/real-beyond]
  [--importance results/real-importance] [--multilingual results/real-multilingual]
python -m tools.real compare results/paper
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.real.kept import ROOT, TABLES, RealRunError, Run, keep


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    pages = commands.add_parser("pages", help="make the pages from the kept tables")
    for name in TABLES:
        pages.add_argument(f"--{name}", type=Path, help="first keep the tables of this run")
    compared = commands.add_parser("compare", help="print a run beside the kept one")
    compared.add_argument("run", type=Path, help="folder of a finished run")
    arguments = parser.parse_args()
    try:
        if arguments.command == "compare":
            from tools.real.parts import compare

            print(compare(Run(arguments.run)))
        else:
            make_pages({name: getattr(arguments, name) for name in TABLES})
    except RealRunError as error:
        sys.exit(str(error))


def make_pages(runs: dict[str, Path | None]) -> None:
    """Keep the tables of runs that are given, and fill the pages."""
    given = {name: run for name, run in runs.items() if run is not None}
    keep(given)
    from tools.real.pages import compare_encoders, write  # they read which runs are kept

    if given:
        compare_encoders()
    changed = [str(page.relative_to(ROOT)) for page in write()]
    print(f"Changed: {', '.join(changed) or 'nothing'}.")


if __name__ == "__main__":
    main()
