"""Change one operator or number of a module at a time, and see whether its tests notice.

python tests/mutants.py darksecrets/core/stats/paired.py tests/unit/core/stats -n 20

A mutant that no test kills is a line that is not tested, or not needed. The module is changed in a
copy of the project, so that the checkout stays as it is.
"""

from __future__ import annotations

import argparse
import ast
import copy
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "results", "__pycache__")
LIMIT = 600
"""Seconds for the tests of a mutant: one that hangs is killed, too."""

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def swap_operator(operator: ast.AST) -> ast.AST | None:
    """The operator that stands in another's place, if there is one."""
    other = OPERATORS.get(type(operator))
    return other() if other else None


def mutate(node: ast.AST) -> bool:
    """Change a node in place; False if it has nothing to change."""
    if isinstance(node, ast.Compare):
        other = swap_operator(node.ops[0])
        if other is not None:
            node.ops[0] = other
        return other is not None
    if isinstance(node, ast.BinOp | ast.BoolOp):
        other = swap_operator(node.op)
        if other is not None:
            node.op = other
        return other is not None
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value += 1
        return True
    return False


def find_places(source: str) -> list[int]:
    """Numbers of the nodes that can be changed, in the order of `ast.walk`."""
    nodes = ast.walk(ast.parse(source))
    return [number for number, node in enumerate(nodes) if mutate(copy.deepcopy(node))]


def make_mutant(source: str, place: int) -> tuple[int, str, str]:
    """Line, new text of that line and whole source of a mutant."""
    changed = ast.parse(source)
    node = list(ast.walk(changed))[place]
    mutate(node)
    return node.lineno, ast.unparse(node), ast.unparse(changed)


def is_killed(folder: Path, tests: list[str]) -> bool:
    """Whether a test fails in the copy of the project."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main() -> None:
    """Print a line for every mutant, and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", type=Path, help="the file to change")
    parser.add_argument("tests", nargs="+", help="what pytest is called with")
    parser.add_argument("-n", dest="number", type=int, help="as many mutants, drawn at random")
    parser.add_argument("--lines", type=int, nargs="+", help="only mutants of these lines")
    options = parser.parse_args()
    original = options.module.read_text(encoding="utf-8")
    mutants = [make_mutant(original, place) for place in find_places(original)]
    if options.lines:
        mutants = [mutant for mutant in mutants if mutant[0] in options.lines]
    if options.number and options.number < len(mutants):
        mutants = sorted(random.Random(0).sample(mutants, options.number))
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        shutil.copytree(ROOT, project, ignore=LEFT_OUT)
        file = project / options.module.resolve().relative_to(ROOT)
        for line, text, source in mutants:
            file.write_text(source, encoding="utf-8")
            found = is_killed(project, options.tests)
            killed += found
            print(f"{'killed  ' if found else 'SURVIVED'} {options.module}:{line}: {text}")
    print(f"{killed} of {len(mutants)} mutants killed")


if __name__ == "__main__":
    main()
