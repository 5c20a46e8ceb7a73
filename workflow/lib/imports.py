"""What code of this project a script depends on, so that editing it reruns what uses it.

A digest of code is that of its syntax tree without comments, docstrings, line breaks and the
meanings of tables and columns in their declarations (unless they are in a variable), so that an
edited sentence reruns nothing. For rules whose code reads meanings, as the atlas does, they count.
Digests are compared only with those that the same run has recorded: another version of Python may
parse some code into another tree, and what depends on that code is due again, once.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from darksecrets.run import analyses
from darksecrets.run.files import write_json

ROOT = Path(__file__).parents[2]
_FIELDS = {
    name: [field for field in getattr(kind, "_fields", ()) if field not in ("ctx", "kind")]
    for name, kind in vars(ast).items()
}
"""Fields of nodes, without what follows from their place, and the ``u`` before a text."""
KEPT = Path(__file__).with_name("__pycache__") / "code.json"
"""What files say, by their content, from earlier calls."""

_ELSE = ("orelse",)
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Where statements hold statements."""

MEANING = "meaning"
"""Parameter and attribute with what a table or a column is said to mean."""
MEANINGS = {
    **{"Column": 2, "Table": 1, "per_head": 1, "Shown": 4},
    **dict.fromkeys(("text", "flag", "integer", "number", "share", "like", "estimate"), 1),
    "replace": None,
}
"""Places of this parameter in calls that declare; None if it is only given by name."""
_DECLARATIONS = ("tables.py", "run/columns.py", "shown.py")


@dataclass(frozen=True)
class _Code:
    """What a file says.

    Attributes:
        imports: Files of this project that it imports.
        digest: Of its code, without meanings.
        meanings: Of the meanings that it declares; empty if there are none.
        reads_meanings: Whether its code reads meanings.
    """

    imports: tuple[str, ...]
    digest: str
    meanings: str
    reads_meanings: bool


def files_of(script: Path, *modules: str) -> list[Path]:
    """Files of a script's code: itself and what it imports, directly or not, anywhere; sorted.

    Args:
        script: The script; it may also import modules from its own folder.
        modules: Modules that it imports by a name given by the rule, such as
            ``darksecrets.finetuning.figure5``.
    """
    found: set[str] = set()
    queue = [str(script), *(path for name in modules for path in _locate(name))]
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue.extend(_read(path).imports)
    return list(map(Path, sorted(found)))


def digest(files: Iterable[Path]) -> str:
    """Short SHA-256 of what files say, in the order given; see this module."""
    read = [_read(str(path)) for path in files]
    said = [code.digest for code in read]
    if any(code.reads_meanings for code in read):
        said += [code.meanings for code in read]
    return hashlib.sha256(" ".join(said).encode()).hexdigest()[:16]


def keep() -> None:
    """Keep what files say for the next call of Snakemake, as Python keeps bytecode.

    Where that cannot be written, as in an installation of somebody else, all is read again.
    """
    if _said.keys() - _kept().keys():
        with contextlib.suppress(OSError):
            write_json({"by": _reader(), "files": _said}, KEPT)


_said: dict[str, list[Any]] = {}
"""What files say that were read by this call, by their content."""


@cache
def _kept() -> dict[str, list[Any]]:
    """The same of an earlier call; empty if other code read it, or it is damaged."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(KEPT.read_bytes())
        if kept["by"] == _reader():
            return dict(kept["files"])
    return {}


def _reader() -> str:
    """What reads files: this code, and the version of Python."""
    return f"{sys.version_info[:2]} {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}"


@cache
def _read(file: str) -> _Code:
    """Read a file, which many scripts may depend on; one that is not Python counts as it is."""
    path, content = Path(file), Path(file).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if path.suffix != ".py":
        return _Code((), digest, "", reads_meanings=False)
    declares = file.endswith(_DECLARATIONS)
    key = f"{digest} {declares}"
    _said[key] = _kept().get(key) or _parse(content, declares=declares)
    names, *said = _said[key]
    beside = (path.with_name(f"{name}.py") for name in names if "." not in name)
    imports = [str(file) for file in beside if file.is_file()]
    imports += [file for name in names for file in _locate(name)]
    if path == ROOT / "darksecrets" / "run" / "analyses.py":
        imports += map(str, analyses.entries())  # which it imports by name
    return _Code(tuple(imports), *said)


def _parse(content: bytes, *, declares: bool) -> list[Any]:
    """The names that a file imports, and the other attributes of its `_Code`."""
    tree = ast.parse(content)
    told = _Told(_places(tree) if declares else {})
    told.tell(tree)
    return [list(_names(tree)), _hash(told.code), _hash(told.meanings), told.reads_meanings]


def _hash(words: list[str]) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest() if words else ""


class _Told:
    """A syntax tree as words: types of nodes, names of fields, and values.

    Fields without a value are left out, as later versions of Python have further ones.

    Args:
        places: By name of a function or class, the place of the argument that is a meaning.
    """

    def __init__(self, places: Mapping[str, int | None]) -> None:
        self.code: list[str] = []
        self.meanings: list[str] = []
        self.reads_meanings = False
        self._places = places

    def tell(self, node: ast.AST) -> None:
        """Tell a node and what it holds."""
        kind, add = type(node), self.code.append
        add(kind.__name__)
        fields: Iterable[tuple[str, object]]
        if self._places and isinstance(node, ast.Call):
            fields = self._without_meaning(node)
        else:
            fields = [(name, getattr(node, name, None)) for name in _FIELDS[kind.__name__]]
            if kind is ast.Attribute and fields[1] == ("attr", MEANING):
                self.reads_meanings = True
        for name, value in fields:
            if isinstance(value, ast.AST):
                add(name)
                self.tell(value)
            elif isinstance(value, list):
                if value:
                    add(name)
                    for each in value:
                        if not isinstance(each, ast.AST):
                            add(repr(each))
                        elif not (type(each) is ast.Expr and _is_text(each)):
                            self.tell(each)
                    add("]")
            elif value is not None:
                add(name)
                add(repr(value))
        add(")")

    def _without_meaning(self, call: ast.Call) -> Iterator[tuple[str, object]]:
        """The fields of a call, of which the meaning is told aside."""
        called = call.func.id if isinstance(call.func, ast.Name) else ""
        arguments, named = list(_flat(call.args)), call.keywords
        if called in self._places:
            place = self._places[called]
            meant = [k.value for k in named if k.arg == MEANING]
            named = [k for k in named if k.arg != MEANING]
            if place is not None:
                meant += arguments[place : place + 1]
                del arguments[place : place + 1]
            for each in meant:
                aside = _Told({})
                aside.tell(each)
                self.meanings += aside.code
        yield from (("func", call.func), ("args", arguments), ("keywords", named))


def _is_text(node: ast.Expr) -> bool:
    """Whether a statement is only text: a docstring of a module, class, function or variable."""
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _flat(arguments: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """Arguments, of which those in ``*(a, b)`` are written out."""
    for each in arguments:
        if isinstance(each, ast.Starred) and isinstance(each.value, ast.Tuple):
            yield from _flat(each.value.elts)
        else:
            yield each


def _places(tree: ast.Module) -> Mapping[str, int | None]:
    """Places of meanings in calls of `MEANINGS`, and of functions that a file of tables defines."""
    places: dict[str, int | None] = dict(MEANINGS)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
            if MEANING in names:
                places[node.name] = names.index(MEANING)
            elif MEANING in (each.arg for each in node.args.kwonlyargs):
                places[node.name] = None
    return places


def _names(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports, and names imported from them, which may be modules, too."""
    for node in _executed(tree.body):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"line {node.lineno}: imports here are absolute, not relative")
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _executed(block: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements and those inside them, except those that only type checkers read.

    Expressions, of which a file has ten times as many, cannot import.
    """
    for node in block:
        yield node
        only_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for name in _ELSE if only_types else _BLOCKS:
            yield from _executed(getattr(node, name, ()))


@cache
def _locate(name: str) -> tuple[str, ...]:
    """Files that run when a module of the package is imported: its parent packages and itself.

    For a name that is not a module (such as a function in one), the files of its parents.
    """
    parent, _, _ = name.rpartition(".")
    if not parent and name != "darksecrets":
        return ()
    base = ROOT.joinpath(*name.split("."))
    file = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    own = (str(file),) if file.is_file() else ()
    return (*_locate(parent), *own) if parent else own
