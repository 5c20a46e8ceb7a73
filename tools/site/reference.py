"""Write the pages of the reference, which follow from the code, when the site is built."""

import json
import posixpath
import re
from pathlib import Path

import mkdocs_gen_files

from darksecrets.pages.claims import registry
from darksecrets.pages.contracts.page import page as page_of_tables
from tools.site.hooks import LINK

PROJECT = Path(__file__).parents[2]
CAPTIONS = PROJECT / "workflow" / "report"
JINJA = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
SHOWN = re.compile(r"^Shown: .*$", re.MULTILINE)
PLACES = {
    "inspect": "darksecrets.pages.inspect.inspecting.inspect",
    "Inspection": "darksecrets.pages.inspect.inspecting.Inspection",
    "extract": "darksecrets.core.attention.extraction.extract",
    "observe": "darksecrets.core.models.session.observe",
    "disable": "darksecrets.core.interventions.disable.disable",
    "intervene": "darksecrets.core.models.hooks.intervene",
    "plot_map": "darksecrets.core.plotting.notebook.plot_map",
}
"""What notebooks import, in the order of use, and where it is defined."""


def write(name: str, text: str) -> None:
    """Write a page of the site."""
    with mkdocs_gen_files.open(name, "w") as file:
        file.write(text)


def notebook() -> str:
    """The notebook as a page; its cells as code."""
    content = json.loads((PROJECT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    parts = []
    for cell in content["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```" if cell["cell_type"] == "code" else source)
    return "\n\n".join(parts) + "\n"


def figures() -> str:
    """Every figure's caption, with the command that makes it."""
    parts = [
        "# Figures",
        "Each is a target: `snakemake --cores 2 figure7`. Captions are those of the report.",
    ]
    for file in sorted(CAPTIONS.glob("*.rst")):
        if file.stem in ("workflow", "claims", "inspect"):
            continue
        caption = JINJA.sub("", SHOWN.sub("", file.read_text(encoding="utf-8")))
        caption = re.sub(r"``(.*?)``", r"`\1`", caption)
        caption = re.sub(r"\n{3,}", "\n\n", caption).strip()
        parts.append(f"## {file.stem}\n\n{caption}")
    return "\n\n".join(parts) + "\n"


def claims() -> str:
    """Every claim by paper: its section, its statement and the printed number."""
    parts = [
        "# Claims",
        "What a run can hold or refute; see [how claims are decided](../claims.md).",
    ]
    for paper in registry.read(registry.files()):
        rows = ["| id | section | claim | printed |", "|---|---|---|---|"]
        rows += [
            f"| {claim.id} | {claim.section} | {claim.claim} | {claim.published or ''} |"
            for claim in paper.claims
        ]
        parts.append(f"## {paper.title}\n\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def python() -> str:
    """The Python interface, from its docstrings."""
    parts = [
        "# Python interface",
        "Import these from `darksecrets`; [the notebook](../notebook.md) shows them in use.",
    ]
    parts += [f"## {name}\n\n::: {place}" for name, place in PLACES.items()]
    return "\n\n".join(parts) + "\n"


def configuration() -> str:
    """The configuration's keys, as `config/README.md` explains them."""
    text = (PROJECT / "config" / "README.md").read_text(encoding="utf-8")
    return LINK.sub(adapt, text)


def adapt(match: re.Match[str]) -> str:
    """A link of the folder `config` as one of the site's folder `reference`."""
    image, text, target, anchor = match.groups()
    if "://" in target:
        return match[0]
    path = posixpath.normpath(posixpath.join("config", target))
    if path.startswith("docs/"):
        return f"{image}[{text}](../{path.removeprefix('docs/')}{anchor or ''})"
    return f"{text} (`{path}`)"


def tables() -> str:
    """Files and tables of a run, from their declarations."""
    return re.sub(r"\]\((\w+\.md)", r"](../\1", page_of_tables())


write("notebook.md", notebook())
write("reference/figures.md", figures())
write("reference/claims.md", claims())
write("reference/python.md", python())
write("reference/configuration.md", configuration())
write("reference/tables.md", tables())
