"""Targets of the command line that are misspelled."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from pathlib import Path

from snakemake.cli import get_argument_parser


def explain_unknown(arguments: Sequence[str], known: Collection[str]) -> str:
    """What is wrong with the first target that is no rule, and looks like no file; else empty.

    Snakemake reads the name of a target before rules are known, and takes one that is misspelled
    for a file that no rule makes.

    Args:
        arguments: The command, `sys.argv`; another one than Snakemake's has no targets.
        known: Names of the rules.
    """
    words = list(arguments[1:])
    # Parsing takes a tenth of a second: only if a word may be a misspelled name.
    unknown = any(_may_be_name(word) and word not in known for word in words)
    if not unknown or not is_snakemake(arguments):
        return ""
    given, _ = get_argument_parser().parse_known_args(words)
    for target in map(str, given.targets or ()):
        if target in known or not _may_be_name(target) or Path(target).exists():
            continue
        close = difflib.get_close_matches(target, known, n=2)
        names = " or ".join(f"'{name}'" for name in close)
        hint = f"Did you mean {names}? " if close else ""
        return f"There is no target '{target}'. {hint}snakemake --list-rules has all of them."
    return ""


def is_snakemake(arguments: Sequence[str]) -> bool:
    """Whether a command is Snakemake's, and not that of a program that calls Snakemake."""
    command = Path(arguments[0])
    return "snakemake" in (command.stem, command.parent.name)


def _may_be_name(word: str) -> bool:
    """Whether a word can be the name of a rule."""
    return word.isidentifier()
