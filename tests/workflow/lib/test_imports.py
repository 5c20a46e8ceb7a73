import ast
import subprocess
import sys

import pytest

from darksecrets.core.run.files import PROJECT as ROOT
from workflow.lib import imports
from workflow.lib.imports import digest, files_of

# The independent computation: run all imports of a script, including those inside functions, in a
# new process and list the loaded modules.
LOAD = """
import ast, sys
from pathlib import Path
root, script, *modules = sys.argv[1:]
sys.path[:0] = [root, str(Path(script).parent)]
for module in modules:
    __import__(module)
for node in ast.walk(ast.parse(Path(script).read_text())):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        exec(ast.unparse(node))
files = (getattr(m, "__file__", None) or "" for m in sys.modules.values())
print(*(f for f in files if f.startswith((root + "/darksecrets/", root + "/scripts/"))))
"""


def script(name):
    (path,) = (ROOT / "scripts").glob(f"*/{name}.py")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("measure_attention", []),
        ("sample_maps", []),
        ("prepare_dataset", []),
        ("draw_attention", []),
        ("claims", ["darksecrets.beyond.norms.shown"]),
    ],
)
def test_all_modules_that_python_loads_are_found(name, modules):
    command = [sys.executable, "-c", LOAD, str(ROOT), str(script(name)), *modules]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(loaded) > 8
    assert set(loaded) <= {str(path) for path in files_of(script(name), *modules)}


def test_imports_are_followed_also_inside_functions_and_beside_a_script(tmp_path):
    (tmp_path / "main.py").write_text(
        "import beside\ndef f():\n    from darksecrets.core.data import (  # several\n"
        "        metrics as of,\n        tasks,\n    )\n"
    )
    (tmp_path / "beside.py").write_text("import json\n")
    found = {
        path.relative_to(path.parents[1]).as_posix() for path in files_of(tmp_path / "main.py")
    }
    assert {
        f"{tmp_path.name}/beside.py",
        "data/tasks.py",
        "data/metrics.py",
        "data/__init__.py",
    } <= found
    assert f"{tmp_path.name}/main.py" in found
    assert "data/sources.py" not in found


def test_what_a_script_does_not_import_is_not_found():
    found = {path.name for path in files_of(script("compare_patterns"))}
    assert {"estimates.py", "heads.py", "job.py", "records.py"} <= found
    assert not {"training.py", "measures.py", "extraction.py", "style.py"} & found


def test_no_module_is_imported_by_a_name_that_cannot_be_followed():
    """Except where the rule names the modules (claims), and for public names.

    Public names are looked up when asked for; the project itself uses none.
    """
    public = ROOT / "darksecrets" / "__init__.py"
    named_by_the_rule = {
        ROOT / "darksecrets" / "pages" / "claims" / "registry.py",
        ROOT / "darksecrets" / "beyond" / "analyses.py",  # which `files_of` follows
        ROOT / "darksecrets" / "core" / "models" / "preflight.py",  # for the workflow only
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
        "    from darksecrets.core.data.tasks import TASKS\nelse:\n"
        "    from darksecrets.core.run.errors import InputError\n"
    )
    found = {path.name for path in files_of(tmp_path / "main.py")}
    assert found == {"main.py", "__init__.py", "errors.py"}


def test_every_byte_of_every_file_counts(tmp_path):
    file = tmp_path / "main.py"
    digests = set()
    for text in ("x = 1\n", "x = 1  # one\n", "x = 2\n"):
        file.write_text(text)
        imports._digest.cache_clear()
        digests.add(digest([file]))
    assert len(digests) == 3
    other = tmp_path / "page.css"
    other.write_text("a")
    assert digest([file, other]) != digest([file])
