"""Write the pages of the reference, which follow from the code, when the site is built."""

import base64
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mkdocs_gen_files
from jinja2 import Template

import darksecrets
from darksecrets.core.run.files import read_yaml
from darksecrets.pages.claims import registry
from darksecrets.pages.contracts.page import page as page_of_tables
from darksecrets.pages.inspect.inspecting import Inspection
from tools.site.hooks import rewrite_links
from workflow.lib import configuration as configuration_of_run

PROJECT = Path(__file__).parents[2]
CAPTIONS = PROJECT / "workflow" / "report"
GALLERY = PROJECT / "docs" / "images" / "gallery"
"""Pictures of figures, see `pictures.make_gallery`."""

OBJECTS = (
    *(getattr(darksecrets, name) for name in darksecrets.__all__ if name != "__version__"),
    Inspection,
)
"""What a notebook imports from `darksecrets`, and what `inspect` returns."""


def write(name: str, text: str) -> None:
    """Write a page of the site."""
    with mkdocs_gen_files.open(name, "w") as file:
        file.write(text)


def notebook() -> str:
    """The notebook as a page; its cells as code, with what they gave."""
    content = json.loads((PROJECT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    parts = []
    for cell in content["cells"]:
        source = "".join(cell["source"])
        parts.append(f"```python\n{source}\n```" if cell["cell_type"] == "code" else source)
        parts += [output(each, cell["id"]) for each in cell.get("outputs", [])]
    return "\n\n".join(parts) + "\n"


def output(given: Mapping[str, Any], cell: str) -> str:
    """What a cell gave: a picture, which becomes a file of the site, or else its text."""
    data = given.get("data", {})
    if "image/png" in data:
        with mkdocs_gen_files.open(f"images/notebook-{cell}.png", "wb") as file:
            file.write(base64.b64decode("".join(data["image/png"])))
        return f"![What the cell draws](images/notebook-{cell}.png)"
    text = "".join(given["text"] if "text" in given else data["text/plain"])
    return f"```text\n{text.rstrip()}\n```"


def figures() -> str:
    """A gallery: every figure of the demonstration, its caption, the command that makes it."""
    config = configuration_of_run.resolve(read_yaml(PROJECT / "config" / "config.yaml"))
    run = SimpleNamespace(
        config={**config, "most_seeds": 1}, params=SimpleNamespace(label="", paper="")
    )
    parts = [
        "# Figures",
        "Every figure is a target, made as PDF, SVG and PNG. The pictures are of the "
        "demonstration, whose sentences are generated: they show the form, not a finding.",
    ]
    for file in sorted(CAPTIONS.glob("*.rst"), key=_paper_first):
        if file.stem in ("workflow", "claims", "inspect", "table1"):
            continue
        caption = Template(file.read_text(encoding="utf-8")).render(snakemake=run)
        caption = re.sub(r"``(.*?)``", r"`\1`", caption.replace("Shown: . ", ""))
        caption = re.sub(r"\n{3,}", "\n\n", caption).strip()
        parts += [f"## {file.stem}", f"`snakemake {file.stem} --cores 2`", caption]
        if (GALLERY / f"{file.stem}.png").is_file():
            parts.append(f"![{file.stem} of the demonstration](../images/gallery/{file.stem}.png)")
    return "\n\n".join(parts) + "\n"


def _paper_first(file: Path) -> tuple[bool, str]:
    """The order of figures: those of the paper by number, then the others by name."""
    return not re.match(r"figure\d", file.stem), file.stem


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
    parts += [
        f"## {each.__name__}\n\n::: {each.__module__}.{each.__qualname__}" for each in OBJECTS
    ]
    return "\n\n".join(parts) + "\n"


def configuration() -> str:
    """The configuration's keys, as `config/README.md` explains them."""
    text = (PROJECT / "config" / "README.md").read_text(encoding="utf-8")
    return rewrite_links(text, "config", "reference")


def tables() -> str:
    """Files and tables of a run, from their declarations."""
    return rewrite_links(page_of_tables(), "docs", "reference")


write("notebook.md", notebook())
write("reference/figures.md", figures())
write("reference/claims.md", claims())
write("reference/python.md", python())
write("reference/configuration.md", configuration())
write("reference/tables.md", tables())
