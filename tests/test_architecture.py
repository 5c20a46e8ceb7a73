"""Dependencies between packages, read from the imports of every module; see docs/architecture.md.

Every rule is also tried on code that breaks it.
"""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

NAME = "darksecrets"
PACKAGE = Path(__file__).parents[1] / NAME

OTHERS = "every other analysis"

FLOORS: dict[str, list[set[str]]] = {
    "core": [
        *({"arrays", "words"}, {"run", "stats"}, {"plotting", "data"}, {"models"}),
        *({"attention"}, {"interventions"}),
    ],
    "paper": [{"finetuning", "patterns", "framenet", "features", "ablation"}],
    "beyond": [{"analyses"}, {"head_measures"}, {OTHERS}, {"subnetworks"}],
    "pages": [{"ablate", "claims", "inspect", "report"}, {"encoders"}, {"contracts", "atlas"}],
}
"""From the bottom. A package imports from floors below its own, and on its floor from those before
it; so sections of the paper, and analyses, never import each other: they meet in tables on disk."""

HEAVY = {"torch", "transformers", "datasets", "accelerate", "spacy"}
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


@dataclass(frozen=True)
class Import:
    """One module that another imports; ``at_once`` where importing the one loads the other."""

    source: str
    target: str
    at_once: bool


def modules(root: Path = PACKAGE) -> dict[str, Path]:
    """Files of the package's modules by dotted name; the package's own file is ''."""
    names = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


_LATER = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def nodes(tree: ast.AST, at_once: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes, and whether they run when the module is imported."""
    for child in ast.iter_child_nodes(tree):
        typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        runs = at_once and not typing and not isinstance(child, _LATER)
        yield child, runs
        yield from nodes(child, runs)


def imports_of(name: str, path: Path, known: Iterable[str]) -> list[Import]:
    """What a module imports; modules of this package by their dotted names, see `modules`."""
    known, found = set(known), []
    for node, at_once in nodes(ast.parse(path.read_text(encoding="utf-8"))):
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                own = [NAME, *name.split(".")] if name else [NAME]
                keep = len(own) - node.level + (path.name == "__init__.py")
                base = ".".join([*own[:keep], *([base] if base else [])])
            targets = [
                f"{base}.{alias.name}" if _inside(f"{base}.{alias.name}", known) else base
                for alias in node.names
            ]
        found += [Import(name, target, at_once) for target in targets]
    return found


def _inside(target: str, known: set[str]) -> bool:
    return target.removeprefix(f"{NAME}.") in known and target.startswith(f"{NAME}.")


def all_imports(root: Path = PACKAGE) -> list[Import]:
    """Every import of the package's modules."""
    known = modules(root)
    return [one for name, path in known.items() for one in imports_of(name, path, known)]


def package(dotted: str) -> str:
    """The floor and package of a module, with or without the name of ours before it."""
    return ".".join(dotted.removeprefix(NAME).removeprefix(".").split(".")[:2])


def place(package: str) -> tuple[int, int]:
    """Place of a package in `FLOORS`: its floor, and its place there; from the bottom.

    Raises:
        LookupError: The package is new; add it to `FLOORS`.
    """
    if package in ("", "__main__"):
        return len(FLOORS), 0  # the public names of the package, and its command, above all floors
    floor, _, name = package.partition(".")
    places = FLOORS.get(floor, [])
    for number, names in enumerate(places):
        if name in names or not name:
            return list(FLOORS).index(floor), number
    if {OTHERS} in places:
        return list(FLOORS).index(floor), places.index({OTHERS})
    raise LookupError(f"the package {package!r} has no place in FLOORS; give it one")


def within(imports: Iterable[Import]) -> Iterator[tuple[str, str, str]]:
    """Module, its package and the imported package, for imports between our packages."""
    for one in imports:
        if one.target == NAME or one.target.startswith(f"{NAME}."):
            pair = package(one.source), package(one.target)
            if pair[0] != pair[1]:
                yield one.source, *pair


def upward(imports: Iterable[Import]) -> list[str]:
    """Imports that do not point down."""
    return [
        f"{source} imports {other}"
        for source, own, other in within(imports)
        if place(other) >= place(own)
    ]


def circle(imports: Iterable[Import], root: Path = PACKAGE) -> list[str]:
    """Modules that import each other in a circle, wherever the imports stand; empty if none do.

    That a module's packages are imported before it does not count: their files import nothing
    back, except for the public names of ours, which are looked up when they are asked for.
    """
    known = modules(root)
    graph: dict[str, set[str]] = {name: set() for name in known}
    for one in imports:
        target = one.target.removeprefix(NAME).removeprefix(".")
        while one.target.startswith(NAME) and target not in known:
            target = target.rpartition(".")[0]  # a name in a module
        if one.target.startswith(NAME) and target != one.source:
            graph[one.source].add(target)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def outside(imports: Iterable[Import]) -> list[str]:
    """Imports of the workflow, of its scripts, of what made the shipped files, or of Snakemake."""
    banned = {"workflow", "scripts", "tools", "snakemake"}
    return [f"{i.source} imports {i.target}" for i in imports if i.target.split(".")[0] in banned]


def loaded_by(start: str, imports: Iterable[Import]) -> set[str]:
    """Everything that importing a module of ours loads: our modules and other libraries."""
    edges = defaultdict(set)
    for one in imports:
        if one.at_once:
            edges[one.source].add(one.target)
    found: set[str] = set()
    queue = [f"{NAME}.{start}"]
    while queue:
        target = queue.pop()
        if target in found:
            continue
        found.add(target)
        if target.split(".")[0] == NAME:
            own = target.removeprefix(NAME).removeprefix(".")
            parents = [own.rsplit(".", depth)[0] for depth in range(own.count(".") + 1)]
            queue += [further for each in (*parents, "") for further in edges[each]]
    return found


_LIGHT = {"core.run", "core.stats", "core.plotting", "pages.contracts", "pages.atlas"}


def light(imports: Iterable[Import]) -> set[str]:
    """Modules that must load without torch: lower packages, figures and tables."""
    drawing = {i.source for i in imports if i.target.startswith(f"{NAME}.core.plotting")}
    lower = {name for name in modules() if package(name) in _LIGHT}
    tables = {name for name in modules() if name.split(".")[-1] in {"tables", "table1", "links"}}
    named = {"core.data.tasks", "core.data.metrics", "core.attention.store"}
    found = drawing | lower | tables | named
    return {name for name in found if not name.endswith("__main__")}


def heavy(name: str, imports: Iterable[Import]) -> list[str]:
    """Heavy libraries that importing a module loads."""
    return sorted({target.split(".")[0] for target in loaded_by(name, imports)} & HEAVY)


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


@pytest.fixture(scope="module")
def imports() -> list[Import]:
    return all_imports()


def test_dependencies_point_down(imports) -> None:
    assert not upward(imports)


def test_packages_form_no_circle(imports) -> None:
    """This holds independently of `FLOORS`."""
    graph = defaultdict(set)
    for _, own, other in within(imports):
        graph[own].add(other)
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_modules_form_no_circle(imports) -> None:
    assert not circle(imports)


def test_the_package_knows_nothing_of_the_workflow(imports) -> None:
    assert not outside(imports)


_USED = re.compile(r"\b(?:darksecrets\.|scripts/)(core|paper|beyond|pages)\b")


def climbing(root: Path) -> list[str]:
    """Scripts and rule files of a floor that use the package, or scripts, of a floor above."""
    floors, found = list(FLOORS), []
    for floor in floors:
        files = [*(root / "scripts" / floor).glob("*.py")]
        files += (root / "workflow" / "rules" / floor).glob("*.smk")
        for file in sorted(files):
            used = set(_USED.findall(file.read_text(encoding="utf-8")))
            above = used & {*floors[floors.index(floor) + 1 :]}
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


def test_tables_are_read_and_figures_drawn_without_heavy_libraries(imports) -> None:
    names = light(imports)
    assert {
        "paper.ablation.figures.figure8",
        "paper.patterns.figures.figure1",
        "paper.finetuning.figures.table1",
    } <= names
    assert not {name: found for name in names if (found := heavy(name, imports))}


def test_python_loads_no_heavy_library_either(imports, root) -> None:
    """The independent check: import all of them in a fresh process."""
    names = ", ".join(sorted(f"{NAME}.{name}".rstrip(".") for name in light(imports)))
    program = f"import sys, {names}; print(*sorted(set(sys.modules) & {HEAVY}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_only_hooks_and_layers_know_the_internals_of_encoders() -> None:
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    known = {name: inner(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    assert not {name: found for name, found in known.items() if found and name not in INNER}
    needless = [name for name in INNER if name in known and not known[name]]
    assert not needless, f"{needless} know nothing of it: remove them from INNER"


def made(folder: Path, files: dict[str, str]) -> list[Import]:
    """Imports of a package that holds these files."""
    root = folder / NAME
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in (path.parent, path.parent.parent, root):
            (parent / "__init__.py").touch()
        path.write_text(text)
    return all_imports(root)


@pytest.mark.parametrize(
    "text",
    [
        "from darksecrets.core.data import tasks",
        "import darksecrets.core.data.tasks",
        "from ..data.tasks import TASKS",
        "def f():\n    from darksecrets.core.data.tasks import TASKS",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import darksecrets.core.data",
        "from darksecrets import observe",
    ],
)
def test_a_dependency_that_points_up_is_found(text, tmp_path) -> None:
    found = made(tmp_path, {"core/run/files.py": text, "core/data/tasks.py": "TASKS = {}"})
    assert len(upward(found)) == 1


@pytest.mark.parametrize(
    "back",
    [
        "from darksecrets.core.data import tasks",
        "from darksecrets.core.data.tasks import TASKS",
        "from . import tasks",
        "def f():\n    import darksecrets.core.data.tasks",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .tasks import TASKS",
    ],
)
def test_a_circle_of_modules_in_one_package_is_found(back, tmp_path) -> None:
    files = {
        "core/data/tasks.py": "from . import files",
        "core/data/files.py": "from . import metrics",
    }
    assert not circle(made(tmp_path, files | {"core/data/metrics.py": ""}), tmp_path / NAME)
    found = circle(made(tmp_path, files | {"core/data/metrics.py": back}), tmp_path / NAME)
    assert set(found) == {"core.data.tasks", "core.data.files", "core.data.metrics"}


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("paper/ablation/links.py", "paper/framenet/heads.py"),
        ("beyond/seeds/tables.py", "beyond/syntax/heads.py"),
        ("beyond/importance/curves.py", "beyond/subnetworks/search.py"),
        ("paper/framenet/links.py", "beyond/syntax/heads.py"),
        ("core/models/reading.py", "paper/framenet/heads.py"),
        ("beyond/syntax/words.py", "pages/claims/registry.py"),
    ],
)
def test_an_import_beside_or_above_is_found(own, other, tmp_path) -> None:
    above = other.removesuffix(".py").replace("/", ".")
    text = f"from {NAME}.{above} import X"
    found = upward(made(tmp_path, {own: text, other: "X = 1"}))
    source = own.removesuffix(".py").replace("/", ".")
    assert found == [f"{source} imports {package(above)}"]
    allowed = f"from {NAME}.{source} import X"
    if {own.split("/")[0], other.split("/")[0]} != {"paper"} and "seeds" not in own:
        assert not upward(made(tmp_path, {own: "X = 1", other: allowed}))


def test_a_package_without_a_place_is_named(tmp_path) -> None:
    text = "from darksecrets.core.run import files"
    found = made(tmp_path, {"core/scenery/values.py": text, "core/run/files.py": ""})
    with pytest.raises(LookupError, match=r"'core\.scenery' has no place"):
        upward(found)


def test_a_new_analysis_stands_beside_the_others(tmp_path) -> None:
    text = "from darksecrets.paper.features import tables"
    found = made(tmp_path, {"beyond/first/measure.py": text, "paper/features/tables.py": ""})
    assert not upward(found)


@pytest.mark.parametrize(
    "text",
    [
        "import snakemake",
        "from workflow.lib import tasks",
        "def f():\n    from snakemake import io",
    ],
)
def test_knowledge_of_the_workflow_is_found(text, tmp_path) -> None:
    assert outside(made(tmp_path, {"core/run/files.py": text}))


def test_a_heavy_library_is_found_through_other_modules_but_not_inside_functions(tmp_path) -> None:
    files = {"a/one.py": "from darksecrets.b import two", "b/two.py": "from torch import nn"}
    assert heavy("a.one", made(tmp_path, files)) == ["torch"]
    files["b/two.py"] = "def f():\n    import torch"
    assert heavy("a.one", made(tmp_path, files)) == []
    files["b/__init__.py"] = "import transformers.models"
    assert heavy("a.one", made(tmp_path, files)) == ["transformers"]


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
