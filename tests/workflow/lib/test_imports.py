import subprocess
import sys

import pytest

from workflow.lib.imports import files_of


def _names(*modules):
    return {path.stem for path in files_of(*modules)}


def test_imports_are_followed_also_inside_functions():
    assert {"preflight", "configuration", "errors", "files", "tasks"} <= _names("preflight")


@pytest.mark.parametrize(
    "module", ["tables", "similarity", "figures.figure5", "corpus.tasks", "datasets"]
)
def test_all_modules_that_python_loads_are_found(module, root):
    """The independent computation: import the module in a new Python and look what was loaded."""
    script = (
        f"import sys, darksecrets.{module}; "
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('darksecrets.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(loaded) <= {str(path) for path in files_of(module)}
