"""How large the project is, and what planning its demonstration takes, against the goals.

python benchmarks/budgets.py            the working tree
python benchmarks/budgets.py <commit>   beside a commit, in `results/budgets.md`

A line is net if it holds code: no comment, docstring or blank line. Lines of JavaScript, HTML and
data are not counted. Everything is counted in a copy, so results and caches play no part.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tokenize
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from _machine import describe, write_results

ROOT = Path(__file__).parents[1]
GOALS = {
    "net lines of library, scripts, rules and workflow/lib": "≤ 41,000",
    "lines of tests": "≤ 45,000",
    "keys of the configuration": "≤ 95",
    "steps of the demonstration: paper": "≤ 90",
    "steps of the demonstration: all": "≤ 200",
    "snakemake -n of the demonstration (s)": "≤ 5",
    "hand-written words of documentation": "≤ 22,000",
}
CODE, TESTS, KEYS, PAPER, ALL, PLANNING, WORDS = GOALS
NOT_BY_HAND = (
    *("docs/contracts.md", "docs/hashes.md", "benchmarks/results/"),
    *("darksecrets/resources/tiny-bert/heads.md", "CHANGELOG.md"),
)
"""Pages that programs make, and the list of changes."""
PAPER_TARGETS = ("table1", *(f"figure{number}" for number in range(1, 10)))
"""What the paper is counted by in a commit whose configuration has no `analyses`."""
REPEATS = 3
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}
_SCHEMA = "import json, workflow.lib.configuration as c; print(json.dumps(c.load_schema()))"
_SCRIPT = re.compile(r'"\.\./\.\./scripts/(\w+\.py)"')
_TOTAL = re.compile(r"^total\s+(\d+)$", re.MULTILINE)
_NOTES = """\
`python benchmarks/budgets.py {revision}`. *Before* is the commit {revision}, *after* the tree that
this page was written in. A net line holds code: no comment, docstring or blank line, of Python and
Snakemake; a package's are those of its modules, of the rule file of its name, and of the scripts
that only this file names. Keys are the leaves of the whole schema; an entry of `tasks` is one leaf.
Lines of tests are all lines of their Python files. Steps are jobs of a dry run without results;
`paper` is the default configuration, in a commit without the key `analyses` Table 1 and Figures 1
to 9. The time is that of the default configuration, the shortest of {repeats}, both trees in turn.
Words are those of Markdown pages, except pages that programs make and the list of changes."""


def net_lines(text: str) -> int:
    """Lines of Python or Snakemake code without comments, blank lines and docstrings.

    A docstring is a statement of nothing but a string in triple quotes, wherever it stands.
    """
    lines: set[int] = set()
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            statement.append(token)
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER) and statement:
            bare = len(statement) == 1 and statement[0].type == tokenize.STRING
            if not (bare and statement[0].string.endswith(('"""', "'''"))):
                lines.update(n for t in statement for n in range(t.start[0], t.end[0] + 1))
            statement = []
    return len(lines)


def code(root: Path) -> Counter[str]:
    """Net lines by package; `shared` are scripts and rules of no single one.

    Args:
        root: Folder of the project.
    """
    packages = {path.name for path in (root / "darksecrets").iterdir() if path.is_dir()}
    rules = [root / "Snakefile", *(root / "workflow").rglob("*.smk"), root / "workflow/Snakefile"]
    users: dict[str, set[str]] = {}
    found: Counter[str] = Counter()
    for path in rules:
        text = _text(path)
        found[path.stem if path.stem in packages else "shared"] += net_lines(text)
        for script in _SCRIPT.findall(text):
            users.setdefault(script, set()).add(path.stem)
    for path in (root / "scripts").glob("*.py"):
        owners = users.get(path.name, set()) & packages
        owner = owners.pop() if len(owners) == len(users.get(path.name, ())) == 1 else "shared"
        found[owner] += net_lines(_text(path))
    for folder in ("darksecrets", "workflow/lib"):
        for path in (root / folder).rglob("*.py"):
            inside = path.relative_to(root).parts
            owner = inside[1] if folder == "darksecrets" and len(inside) > 2 else folder
            found[owner] += net_lines(_text(path))
    return found


def keys(schema: Mapping[str, Any]) -> int:
    """Leaf keys of a schema: those without `properties` of their own."""
    inner: Mapping[str, Any] = schema.get("properties", {})
    return sum(keys(value) for value in inner.values()) if inner else 1


def words(root: Path) -> int:
    """Words of the pages that people write."""
    pages = {path.relative_to(root).as_posix(): path for path in root.rglob("*.md")}
    return sum(
        len(_text(path).split()) for name, path in pages.items() if not name.startswith(NOT_BY_HAND)
    )


def steps(root: Path, *arguments: str) -> int:
    """Jobs that a dry run of the demonstration lists, with further arguments for Snakemake."""
    command = [str(Path(sys.executable).with_name("snakemake")), "-n", "--quiet", "rules"]
    run = subprocess.run([*command, *arguments], cwd=root, capture_output=True, text=True)
    total = _TOTAL.search(run.stdout + run.stderr)
    if run.returncode or not total:
        sys.exit(f"{root}: found no total of jobs, expected a dry run to list it.\n{run.stderr}")
    return int(total[1])


def sizes(root: Path) -> dict[str, int]:
    """Everything that is counted in a tree, by its name in the table."""
    command = [sys.executable, "-c", _SCHEMA]  # of the tree's own code, which completes it
    loaded = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    schema = json.loads(loaded)
    named = "analyses" in schema["properties"]
    lines = code(root)
    return {
        CODE: lines.total(),
        TESTS: sum(len(_text(path).splitlines()) for path in (root / "tests").rglob("*.py")),
        KEYS: keys(schema),
        PAPER: steps(root, *([] if named else ["--", *PAPER_TARGETS])),
        ALL: steps(root, *(["--config", "analyses=[all]"] if named else [])),
        WORDS: words(root),
        **{f"net lines of {name}": lines[name] for name in sorted(lines)},
    }


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def export(revision: str, folder: Path) -> Path:
    """Copy a commit, or without one the working tree less what git ignores, to a new folder."""
    folder.mkdir()
    if not revision:  # a tree of its own index, so that that of the user stays as it is
        index = {**os.environ, "GIT_INDEX_FILE": str(folder.with_suffix(".index"))}
        subprocess.run(["git", "add", "--all"], cwd=ROOT, env=index, check=True)
        tree = subprocess.run(["git", "write-tree"], cwd=ROOT, env=index, stdout=subprocess.PIPE)
        revision = tree.stdout.decode().strip()
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, stdout=subprocess.PIPE)
    if archive.returncode:
        sys.exit(f"{revision}: found no such commit. Name one that git knows.")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def planning(trees: Iterable[Path]) -> list[float]:
    """Seconds of a dry run of each tree's default configuration: the shortest of `REPEATS`."""
    shortest = {tree: float("inf") for tree in trees}
    for tree in [*shortest] * REPEATS:
        start = time.perf_counter()
        steps(tree)
        shortest[tree] = min(shortest[tree], time.perf_counter() - start)
    return [round(seconds, 1) for seconds in shortest.values()]


def main() -> None:
    """Count, and print the table; with a commit, write it, too."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="?", default="", help="commit to count before")
    revision: str = parser.parse_args().revision
    with tempfile.TemporaryDirectory() as temporary:
        columns = {"before": revision, "after": ""} if revision else {"after": ""}
        trees = [export(of, Path(temporary, name)) for name, of in columns.items()]
        table = pd.DataFrame([sizes(tree) for tree in trees], index=[*columns])
        table.insert(5, PLANNING, planning(trees))
    table = table.T.rename_axis("what").rename_axis(None, axis=1)
    goals = [GOALS.get(name, "") for name in table.index]
    shown = table.map("{:,g}".format, na_action="ignore").fillna("").assign(goal=goals)
    if not revision:
        print(shown.to_markdown(disable_numparse=True))
        return
    notes = _NOTES.format(revision=revision, repeats=REPEATS)
    write_results("budgets", "Budgets", shown.reset_index(), describe("snakemake"), notes)


if __name__ == "__main__":
    main()
