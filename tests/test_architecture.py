"""What may depend on what, see docs/architecture.md: `lint-imports`, and what it cannot see.

Every rule is also tried on code that breaks it.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NAME = "darksecrets"
PACKAGE = Path(__file__).parents[1] / NAME

FLOORS = ("core", "paper", "beyond", "pages")

HEAVY = ("accelerate", "datasets", "spacy", "torch", "transformers")
"""Libraries that take seconds to load or are missing where tables are read and figures drawn."""

INNER = {
    "core/models/session.py": "the seam: observes any encoder and changes its heads",
    "core/models/hooks.py": "the seam: changes MLPs, too",
    "core/models/states.py": "finds where hidden states pass, and changes them",
    "core/models/mlps.py": "finds the MLPs by the order of the calls of modules",
    "core/models/frozen.py": "takes and replaces what enters a newly drawn classifier",
    "core/models/removal.py": "takes heads out of BERT's layers",
    "core/models/shrinking.py": "drops BERT's top layers",
    "core/models/layers.py": "computes BERT's layers itself, for the shared backend of the sweep",
}
"""The modules that may depend on the internals of encoders, and why."""

_INNER_CODE = re.compile(
    r"\bAttention(Mask)?Interface\b|\.encoder\.layers?\b|\battention\.(self|output)\b|"
    r"\.(position_|word_)?embeddings\b|\.pooler\b|\b[qkv]_(proj|lin)\b|"
    r"\bregister_(full_)?(forward|backward)\w*hook\b"
)
_INNER_TEXT = re.compile(
    r"\bencoder\.layers?\b|\battention\.(self|output)\b|\b[qkv]_(proj|lin)\b|\b(query|value)\.weight\b"
)


def lint_imports(folder: Path) -> str:
    """What is said of the package in a folder by the contracts of its pyproject.toml."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.fixture
def copy(root, tmp_path) -> Path:
    """A folder with a copy of the package and its contracts."""
    ignored = shutil.ignore_patterns("__pycache__", "resources")
    shutil.copytree(PACKAGE, tmp_path / NAME, ignore=ignored)
    shutil.copy(root / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("contract", "module", "line"),
    [
        ("floors", "core/run/files.py", "from darksecrets.paper.features import tables"),
        ("floors", "paper/features/tables.py", "def f(): import darksecrets.pages.claims"),
        ("floors", "core/models/reading.py", "from darksecrets.paper.framenet.heads import X"),
        ("floors", "beyond/syntax/declared.py", "from darksecrets.pages.claims import registry"),
        ("floors", "core/run/files.py", "if TYPE_CHECKING: from darksecrets.paper import ablation"),
        ("rooms of core", "core/data/files.py", "from darksecrets.core.plotting import style"),
        ("rooms of core", "core/scenery.py", ""),
        ("sections of the paper", "paper/ablation/tables.py", "import darksecrets.paper.framenet"),
        ("analyses", "beyond/norms/declared.py", "from darksecrets.beyond.seeds import shown"),
        ("analyses", "beyond/importance/curves.py", "import darksecrets.beyond.subnetworks.shown"),
        ("analyses", "beyond/analyses.py", "from darksecrets.beyond.norms import declared"),
        ("analyses", "beyond/scenery/first.py", "import darksecrets.beyond.norms.shown"),
        ("pages", "pages/inspect/measuring.py", "from darksecrets.pages.atlas import page"),
        ("no circles", "core/run/files.py", "from darksecrets.core.run import records"),
        ("nothing of the workflow", "core/run/files.py", "def f(): from snakemake import io"),
        ("nothing of the workflow", "core/run/files.py", "from tools.real import pages"),
        ("nothing of the workflow", "core/run/files.py", "from workflow.lib import tasks"),
        ("public names", "core/run/files.py", "from darksecrets import inspect"),
        ("public names", "pages/claims/registry.py", "import darksecrets.__main__"),
    ],
)
def test_an_import_that_breaks_a_contract_is_found(contract, module, line, copy) -> None:
    path = copy / NAME / module
    path.parent.mkdir(exist_ok=True)
    (path.parent / "__init__.py").touch()
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    said = lint_imports(copy)
    assert re.search(rf"^{contract}.* BROKEN", said, re.MULTILINE), said


def test_a_new_analysis_stands_beside_the_others(copy) -> None:
    added = copy / NAME / "beyond" / "scenery"
    added.mkdir()
    (added / "__init__.py").write_text("from darksecrets.paper.features import tables\n")
    assert "8 kept, 0 broken" in lint_imports(copy)


_USED = re.compile(r"\b(?:darksecrets\.|scripts/)(core|paper|beyond|pages)\b")


def climbing(root: Path) -> list[str]:
    """Scripts and rule files of a floor that use the package, or scripts, of a floor above."""
    found = []
    for floor in FLOORS:
        files = [*(root / "scripts" / floor).glob("*.py")]
        files += (root / "workflow" / "rules" / floor).glob("*.smk")
        for file in sorted(files):
            used = set(_USED.findall(file.read_text(encoding="utf-8")))
            above = used & {*FLOORS[FLOORS.index(floor) + 1 :]}
            found += [f"{file.relative_to(root)} uses {name}" for name in sorted(above)]
    return found


def test_scripts_and_rules_use_no_floor_above_their_own(root) -> None:
    assert not climbing(root)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("scripts/beyond/probe.py", "    from darksecrets.pages.contracts import TABLES"),
        ("workflow/rules/paper/probe.smk", 'script:\n "../../../scripts/beyond/probe.py"'),
        ("workflow/rules/core/probe.smk", "import darksecrets.paper.ablation"),
    ],
)
def test_a_script_or_a_rule_that_climbs_is_found(file, line, tmp_path) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(f"from darksecrets.core.run.job import Job\n{line}\n")
    (found,) = climbing(tmp_path)
    assert found.startswith(f"{file} uses ")


_LIGHT = re.compile(
    r"core/(run|stats|plotting)/|pages/(contracts|atlas)/|(tables|table1|links)\.py$|"
    r"core/data/(tasks|metrics)\.py$|core/attention/store\.py$"
)


def light() -> list[str]:
    """Modules that must load without torch: tables, figures, and what they are made of."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE.parent).with_suffix("").as_posix()
        draws = f"{NAME}.core.plotting" in path.read_text(encoding="utf-8")
        if (draws or _LIGHT.search(f"{name}.py")) and path.name != "__main__.py":
            found.append(name.replace("/", ".").removesuffix(".__init__"))
    return found


def loaded_by(modules: list[str], folder: Path) -> str:
    """The first of some modules that loads a heavy library, and which, in a new process."""
    program = (
        "import importlib, sys\n"
        f"for name in {modules}:\n"
        "    importlib.import_module(name)\n"
        f"    if found := set(sys.modules) & {{*{HEAVY}}}:\n"
        "        print(name, *sorted(found))\n"
        "        break\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_tables_are_read_and_figures_drawn_without_heavy_libraries(root) -> None:
    names = light()
    assert {
        "darksecrets.paper.ablation.figures.figure8",
        "darksecrets.paper.patterns.figures.figure1",
        "darksecrets.paper.finetuning.figures.table1",
    } <= {*names}
    assert loaded_by(names, root) == ""


def test_a_heavy_library_is_found_through_other_modules(tmp_path) -> None:
    (tmp_path / "one.py").write_text("import two")
    (tmp_path / "two.py").write_text("def f():\n    import torch\n")
    assert loaded_by(["one"], tmp_path) == ""
    (tmp_path / "two.py").write_text("from torch import nn")
    assert loaded_by(["json", "one"], tmp_path) == "one torch"
    package = tmp_path / "three"
    package.mkdir()
    (package / "__init__.py").write_text("import torch.nn")
    (package / "four.py").write_text("")
    assert loaded_by(["three.four"], tmp_path) == "three.four torch"


def inner(source: str) -> list[str]:
    """Mentions of encoder internals in code, not in comments and docstrings."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in prose:
                found += [match.group() for match in _INNER_TEXT.finditer(node.value)]
        elif isinstance(node, ast.Attribute | ast.Name | ast.alias):
            text = node.name if isinstance(node, ast.alias) else ast.unparse(node)
            found += [match.group() for match in _INNER_CODE.finditer(text)]
    return sorted(set(found))


def test_only_hooks_and_layers_know_the_internals_of_encoders() -> None:
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    known = {name: inner(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    assert not {name: found for name, found in known.items() if found and name not in INNER}
    needless = [name for name in INNER if name in known and not known[name]]
    assert not needless, f"{needless} know nothing of it: remove them from INNER"


@pytest.mark.parametrize(
    "text",
    [
        "from transformers import AttentionInterface",
        "layers = model.bert.encoder.layer",
        "x = at.attention.self.query(hidden)",
        "model.register_forward_hook(f)",
        "for n, p in model.named_parameters(): n.endswith('self.query.weight')",
    ],
)
def test_knowledge_of_encoder_internals_is_found(text) -> None:
    assert inner(text)
    assert not inner(f'"""{text}"""\n# {text}\n')


def test_the_workflow_runs_without_tools():
    root = PACKAGE.parent
    files = [root / "Snakefile", *root.glob("workflow/**/*.smk")]
    files += [*root.glob("workflow/**/*.py"), *root.glob("scripts/**/*.py")]
    used = re.compile(r"^\s*(from|import) tools\b", re.MULTILINE)
    assert used.search("    from tools.real import pages")
    assert not [path for path in files if used.search(path.read_text(encoding="utf-8"))]
