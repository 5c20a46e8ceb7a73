"""The pages of docs/ as a site: every link leads somewhere, and nothing is requested elsewhere."""

import json
import os
import re
import subprocess
import sys

import pytest

from darksecrets.pages.claims import registry
from tools.real.pages import PART

pytestmark = pytest.mark.slow

#: Pages that people write, and the most words they may have, besides parts made from tables.
MOST_WORDS = {
    "index.md": 300,
    "start.md": 450,
    "one-figure.md": 750,
    "inspect.md": 500,
    "ablate.md": 400,
    "head-mask.md": 620,
    "side-by-side.md": 300,
    "beyond.md": 950,
    "findings.md": 1_200,
    "real-run.md": 900,
    "real-beyond.md": 600,
    "replication.md": 400,
    "bert-base.md": 300,
    "atlas.md": 500,
    "claims.md": 520,
    "extending.md": 450,
    "architecture.md": 700,
    "encoders.md": 590,
    "tasks.md": 600,
    "training.md": 300,
    "languages.md": 600,
    "labelling.md": 450,
    "cluster.md": 680,
    "executors.md": 400,
    "gpu.md": 300,
    "resources.md": 300,
    "failures.md": 500,
    "safety.md": 360,
    "methods/paper.md": 1_200,
    "methods/patterns.md": 680,
    "methods/controls.md": 920,
    "methods/later-papers.md": 1_150,
}


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, **quiet}
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_loads_only_what_is_in_the_site(site):
    """Links may lead elsewhere; scripts, styles, fonts and images are files beside the page."""
    pages = sorted({*site.rglob("*.html")} - {*site.glob("real/**/*.html")})
    assert len(pages) > 25
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=\"?([^\" >]+)", text)
        styles = re.findall(r"<link[^>]*rel=\"?(?:stylesheet|icon)\"?[^>]*>", text)
        loaded += [re.search(r"href=\"?([^\" >]+)", style)[1] for style in styles]
        for target in loaded:
            assert "//" not in target, (page, target)
            if page.name != "404.html":  # its paths begin at the root of a server
                assert (page.parent / target.split("?")[0]).is_file(), (page, target)


def test_the_reference_follows_from_the_code(site):
    for name, words in {
        "tables": ["cosine.csv", "patterns.csv"],
        "claims": ["Kovaleva", "Michel"],
        "figures": ["figure7", "pruning_curves"],
        "python": ["plot_map", "tokenizer"],
        "configuration": ["fine_tuning", "samples"],
    }.items():
        text = (site / "reference" / f"{name}.html").read_text(encoding="utf-8")
        assert all(word in text for word in words), name


@pytest.mark.parametrize("name", MOST_WORDS)
def test_pages_are_short(root, name):
    text = (root / "docs" / name).read_text(encoding="utf-8")
    assert len(PART.sub("", text).split()) <= MOST_WORDS[name]


def test_the_page_counts_the_claims_that_ship(root):
    papers = registry.read(registry.files())
    counts = {paper.name: len(paper.claims) for paper in papers}
    ours = counts.pop("kovaleva2019")
    page = " ".join((root / "docs" / "claims.md").read_text(encoding="utf-8").split())
    assert f"{ours} from Kovaleva et al.," in page
    assert f"and {sum(counts.values())} from later papers" in page


def test_the_notebook_keeps_what_its_cells_give(root):
    """It is made by `jupyter nbconvert --execute` beside a finished demonstration."""
    file = root / "docs" / "notebook.ipynb"
    assert file.stat().st_size < 200_000
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    outputs = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    assert sum(map(bool, outputs)) >= 9
    assert not any(each.get("name") == "stderr" for own in outputs for each in own)
    assert {"text/html", "image/png"} <= {
        kind for own in outputs for each in own for kind in each.get("data", {})
    }
