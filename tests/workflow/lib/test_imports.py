import ast
import inspect
import json
import subprocess
import sys

import pytest

from workflow.lib import imports
from workflow.lib.imports import MEANING, MEANINGS, ROOT, digest, files_of

# The independent computation: run all imports of a script, including those inside functions, in a
# new process and list the loaded modules.
LOAD = """
import ast, sys
from pathlib import Path
root, script, *modules = sys.argv[1:]
sys.path[:0] = [root, root + "/scripts"]
for module in modules:
    __import__(module)
for node in ast.walk(ast.parse(Path(script).read_text())):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        exec(ast.unparse(node))
files = (getattr(m, "__file__", None) or "" for m in sys.modules.values())
print(*(f for f in files if f.startswith((root + "/darksecrets/", root + "/scripts/"))))
"""


def script(name):
    return ROOT / "scripts" / f"{name}.py"


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("measure_attention", []),
        ("sample_maps", []),
        ("prepare_dataset", []),
        ("figure", ["darksecrets.finetuning.figure5"]),
        ("figure", ["darksecrets.patterns.figure1"]),
    ],
)
def test_all_modules_that_python_loads_are_found(name, modules):
    command = [sys.executable, "-c", LOAD, str(ROOT), str(script(name)), *modules]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(loaded) > 8
    assert set(loaded) <= {str(path) for path in files_of(script(name), *modules)}


def test_imports_are_followed_also_inside_functions_and_beside_a_script(tmp_path):
    (tmp_path / "main.py").write_text(
        "import beside\ndef f():\n    from darksecrets.data.tasks import TASKS\n"
    )
    (tmp_path / "beside.py").write_text("import json\n")
    found = {
        path.relative_to(path.parents[1]).as_posix() for path in files_of(tmp_path / "main.py")
    }
    assert {f"{tmp_path.name}/beside.py", "data/tasks.py", "data/__init__.py"} <= found
    assert f"{tmp_path.name}/main.py" in found
    assert "data/sources.py" not in found


def test_what_a_script_does_not_import_is_not_found():
    found = {path.name for path in files_of(script("compare_patterns"))}
    assert {"shares.py", "repetition.py", "_job.py", "records.py"} <= found
    assert not {"training.py", "measures.py", "extraction.py", "style.py"} & found


def test_no_module_is_imported_by_a_name_that_cannot_be_followed():
    """Except where the rule names the modules (figures and claims), and for public names.

    Public names are looked up when asked for; the project itself uses none.
    """
    public = ROOT / "darksecrets" / "__init__.py"
    named_by_the_rule = {
        ROOT / "scripts" / "figure.py",
        ROOT / "darksecrets" / "claims" / "registry.py",
        ROOT / "darksecrets" / "run" / "analyses.py",  # which `files_of` follows
        ROOT / "darksecrets" / "models" / "preflight.py",  # for the workflow only
    }
    packages = {path.name for path in public.parent.iterdir() if path.is_dir()}
    for folder in ("darksecrets", "scripts"):
        for path in (ROOT / folder).rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text())))
            names = {getattr(node, "attr", getattr(node, "id", "")) for node in nodes}
            by_name = {"import_module", "__import__"} & names
            assert not by_name or path == public or path in named_by_the_rule, path
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and node.module == "darksecrets":
                    assert {alias.name for alias in node.names} <= packages, path


def test_what_only_a_type_checker_reads_is_not_followed(tmp_path):
    (tmp_path / "main.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
        "    from darksecrets.data.tasks import TASKS\nelse:\n"
        "    from darksecrets.run.errors import InputError\n"
    )
    found = {path.name for path in files_of(tmp_path / "main.py")}
    assert found == {"main.py", "__init__.py", "errors.py"}


CODE = '''"""A module."""
import numpy as np

LIMIT = 0.5
"""A limit."""


class Model:
    """A class."""

    size: int = 3  # tokens


def mean(values: list[float], weight: float = 1.0) -> float:
    """A function."""
    if not values:
        raise ValueError("found no values")
    return weight * sum(values) / len(values)
'''
TABLES = '''"""Tables."""
from dataclasses import replace

from darksecrets.run.tables import Column, Table


def _over(name: str, meaning: str, low: int = 0) -> Column:
    return Column(name, "number", f"{meaning}, over the control", low=low)


LAYER = Column("layer", "integer", "layer, from 1", low=1)
HEADS = Table(
    "heads",
    "What heads do.",
    (
        LAYER,
        replace(LAYER, name="head", meaning="head, from 1"),
        Column("weight", "number", f"mean weight of {LAYER.name}s", "share", high=1),
        Column(*("delta", "number", "the difference", "× 100"), optional=True),
        Column("kind", "text", "what it is", values=("key", "query")),
        Column("seed", "integer", meaning="seed"),
        _over("excess", "weight", -1),
    ),
    key=("layer", "head"),
)
'''


@pytest.fixture
def digest_of(tmp_path):
    """The digest of some files, whose contents are given by name."""

    def compute(**contents):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in contents.items():
            (folder / f"{name}.py").write_text(content, encoding="utf-8")
        return digest([folder / f"{name}.py" for name in contents])

    return compute


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another sentence."""\n\n# And a comment.'),
        ('"""A limit."""', '"""A limit, in words."""'),
        ('    """A class."""\n', ""),
        ('"""A function."""', '"""A function.\n\n    With details.\n    """'),
        ("  # tokens", ""),
        ("    return", "    # the mean\n\n    return"),
        (
            "(values: list[float], weight: float = 1.0)",
            "(\n    values: list[float],\n    weight: float = 1.0,\n)",
        ),
        ('"found no values"', '(\n            "found "\n            "no values"\n        )'),
    ],
)
def test_comments_docstrings_and_line_breaks_do_not_count(old, new, digest_of):
    assert old in CODE
    assert digest_of(module=CODE.replace(old, new)) == digest_of(module=CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 0.5", "LIMIT = 0.6"),
        ("weight: float = 1.0", "weight: float = 2.0"),
        ("weight: float = 1.0", "weight: int = 1.0"),
        ("int = 3", "int = 3.0"),
        ("weight * sum", "weight + sum"),
        ("not values", "values"),
        ("found no values", "found none"),
        ("import numpy as np", "import numpy as xp"),
        ("import numpy as np", "from numpy import np"),
        ("    return", "    values = values[1:]\n    return"),
        ("        raise", "        pass\n    raise"),  # to another block
        ("(values: list[float], weight: float", "(values: list[float], *, weight: float"),
    ],
)
def test_everything_else_counts(old, new, digest_of):
    assert old in CODE
    assert digest_of(module=CODE.replace(old, new)) != digest_of(module=CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("layer, from 1", "the layer"),
        ("What heads do.", "What all heads do."),
        ('"What heads do."', 'f"What heads {LAYER.name} do."'),
        ("head, from 1", "the head"),
        ("mean weight of", "weight of"),
        ("the difference", "the delta"),
        ("what it is", "its kind"),
        ('meaning="seed"', 'meaning="the seed"'),
        ('"excess", "weight"', '"excess", "the weight"'),
        (", over the control", " − `control`"),
    ],
)
def test_meanings_of_columns_and_tables_count_where_they_are_read(old, new, digest_of):
    assert old in TABLES
    reader = "def legend(table):\n    return [column.meaning for column in table.columns]"
    edited = TABLES.replace(old, new)
    assert digest_of(tables=edited) == digest_of(tables=TABLES)
    assert digest_of(tables=edited, page=CODE) == digest_of(tables=TABLES, page=CODE)
    assert digest_of(tables=edited, page=reader) != digest_of(tables=TABLES, page=reader)
    assert digest_of(other=edited) != digest_of(other=TABLES)  # no declarations


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"layer", "integer"', '"layers", "integer"'),
        ('"layer", "integer"', '"layer", "number"'),
        ("low=1)", "low=0)"),
        ('"share", high=1', '"%", high=1'),
        ("× 100", "× 1"),
        ('"share", high=1', '"share", high=2'),
        (", optional=True", ""),
        ('("key", "query")', '("query", "key")'),
        ('name="head"', 'name="heads"'),
        ('"heads",\n', '"all_heads",\n'),
        ('key=("layer", "head")', 'key=("layer",)'),
        ('"excess", "weight", -1', '"excess", "weight", -2'),
        ("low: int = 0", "low: int = 1"),
    ],
)
def test_names_kinds_units_and_bounds_count(old, new, digest_of):
    assert old in TABLES
    assert digest_of(tables=TABLES.replace(old, new)) != digest_of(tables=TABLES)


def test_every_byte_of_other_files_counts(tmp_path):
    files = [tmp_path / "page.css", tmp_path / "other.css"]
    for file, content in zip(files, ("p {}", "p  {}"), strict=True):
        file.write_text(content)
    assert digest(files[:1]) != digest(files[1:])


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Where what files say is kept; and a new call, which has read nothing."""
    monkeypatch.setattr(imports, "KEPT", tmp_path / "kept" / "code.json")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # has no part in it

    def call():
        for each in (imports._said, imports._read.cache, imports._kept.cache):
            each.clear()

    monkeypatch.setattr(imports, "_said", {})
    for name in ("_read", "_kept"):
        monkeypatch.setattr(imports, name, remembering(getattr(imports, name).__wrapped__))
    return imports.KEPT, call


def remembering(function):
    """As `functools.cache`, but with a cache that can be seen."""

    def call(*arguments):
        if arguments not in call.cache:
            call.cache[arguments] = function(*arguments)
        return call.cache[arguments]

    call.cache = {}
    return call


def test_what_files_say_is_parsed_once_for_all_calls(kept, monkeypatch):
    file, call = kept
    files = files_of(script("claims"))
    expected = digest(files)
    imports.keep()
    assert file.is_file()
    call()
    monkeypatch.setattr(imports, "_parse", None)  # nothing is left to parse
    assert files_of(script("claims")) == files
    assert digest(files) == expected


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"by": "another version", "files": {}}'])
def test_what_is_kept_may_be_damaged(kept, damage):
    file, call = kept
    expected = digest(files_of(script("claims")))
    imports.keep()
    whole = file.read_bytes()
    file.write_text(damage)
    call()
    assert digest(files_of(script("claims"))) == expected
    imports.keep()
    assert file.read_bytes() == whole


def test_edited_code_is_read_anew_and_what_it_said_is_forgotten(kept, tmp_path):
    file, call = kept
    module = tmp_path / "module.py"
    digests = set()
    for content in ("x = 1\n", "x = 2\n"):
        module.write_text(content)
        call()
        digests.add(digest([module]))
        imports.keep()
    assert len(digests) == 2
    assert len(json.loads(file.read_text())["files"]) == 1


class Rewritten(ast.NodeTransformer):
    """Every docstring says something else."""

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ast.Expr(ast.Constant("Something else."))
        return node


def test_no_file_of_the_project_is_told_by_its_comments_docstrings_and_layout(tmp_path):
    """Python itself writes every file anew, without comments; folders keep their names."""
    files = [*ROOT.glob("darksecrets/**/*.py"), *ROOT.glob("scripts/*.py")]
    for file in files:
        copy = tmp_path / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        tree = Rewritten().visit(ast.parse(file.read_text(encoding="utf-8")))
        copy.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        assert digest([copy]) == digest([file]), file


def test_places_of_meanings_are_those_of_the_declarations():
    from darksecrets.run import columns, shown, tables
    from darksecrets.syntax import tables as of_syntax

    declared = {
        name: list(inspect.signature(getattr(module, name)).parameters).index(MEANING)
        for module in (tables, columns, shown, of_syntax)
        for name in MEANINGS
        if hasattr(module, name) and name != "replace"
    }
    assert declared | {"replace": None} == MEANINGS


def test_the_atlas_reads_meanings_and_other_rules_do_not():
    reading = {
        file.name
        for file in (ROOT / "scripts").glob("*.py")
        if any(imports._read(str(each)).reads_meanings for each in files_of(file))
    }
    assert reading == {"atlas.py"}
