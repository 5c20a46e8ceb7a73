r"""Make the pictures in docs/images again, from finished runs.

python -m tools.pictures --demo results/demo --real results/real --beyond results/real-beyond
  --importance results/real-importance --multilingual results/real-multilingual

The gallery has all figures of the demonstration. Figures, atlas and report of the real run are
those of the pages about it; atlas and report are shown in headless Chromium. Pictures of
`inspect`, of the labelling page and of labelled maps are made from what ships. Pictures of a run
that is not given stay as they are, and are named; what cannot be made is named with its reason, and
the command then fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from darksecrets.core.plotting.attention_map import darkest
from darksecrets.core.plotting.colours import MAP
from darksecrets.pages.inspect.inspecting import inspect
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps import labelling
from darksecrets.paper.patterns.maps.labelled_maps import SHIPPED, encoder_of
from darksecrets.paper.patterns.maps.mapset import MapSet

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
TEXT = "The teacher praised the boys. ||| She was proud of them."
"""What docs/inspect.md looks at."""


@dataclass(frozen=True)
class Page:
    """A picture of a page in a browser.

    Attributes:
        file: The page, from the run's folder.
        size: Width and height of the window in pixels.
        address: What follows ``#``.
    """

    file: str
    size: tuple[int, int]
    address: str = ""


GALLERY_WIDTH = 900
"""Width of the widest pictures of the gallery, in pixels."""
COLOURS = 256
"""Colours of these pictures."""

REAL: Mapping[str, str | Page] = {
    **{f"real-figure{n}.png": f"figure{n}" for n in (2, 3, 5, 6, 7, 8, 9)},
    "atlas.png": Page("atlas.html", (1280, 1080), "task=MRPC"),
    "atlas-card.png": Page("atlas.html", (1280, 1700), "task=MRPC&head=3.8"),
    "report.png": Page("report.html", (1280, 800)),
}
"""Pictures of the run on real data."""

BEYOND: Mapping[str, str | Page] = {
    "real-syntactic-heads.png": "syntactic_heads",
    "real-weights-and-norms.png": "weights_and_norms",
    "real-layer-probes.png": "layer_probes",
    "real-structural-probes.png": "structural_probes",
    "real-trees.png": "trees",
    "real-changed-inputs.png": "changed_inputs",
}
"""Pictures of the run on real data with analyses of later papers."""

IMPORTANCE: Mapping[str, str | Page] = {"real-pruning-curves.png": "pruning_curves"}
"""Picture of the run on real data in which heads are removed."""

MULTILINGUAL: Mapping[str, str | Page] = {
    f"real-multilingual-figure{n}.png": f"figure{n}" for n in (2, 5, 8)
}
"""Pictures of the run on real data with the second encoder."""

LOOK = "inspect.png"
"""The page of `inspect`: the heads of the tiny BERT on a text."""

LABELLING = "labelling-page.png"
"""The page for labelling maps, with the maps that ship."""

EXAMPLES = "labelled-maps.png"
"""Maps that ship, drawn at random from every class and encoder, random weights left out."""
EXAMPLES_OF_ENCODER = 2


def made() -> set[str]:
    """Names of all pictures that this module makes."""
    return {*REAL, *BEYOND, *IMPORTANCE, *MULTILINGUAL, LOOK, LABELLING, EXAMPLES}


class Problems(list[str]):
    """What could not be made, with reasons."""

    @contextlib.contextmanager
    def noted(self, what: str) -> Iterator[None]:
        """Note the error, if there is one, and go on."""
        try:
            yield
        except Exception as error:  # one picture must not keep the others from being made
            self.append(f"{what}: {error}")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    from selenium import webdriver

    found = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not found or not driver:
        raise FileNotFoundError("no chromium or chromedriver (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = found
    # No sandbox: this may run as root, and the only pages shown are our own.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{argument}")
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield running
    finally:
        running.quit()


def show(running: Any, url: str, page: Page, file: Path, ready: str) -> None:  # noqa: ANN401
    """Save a picture of a page.

    Args:
        running: The browser.
        url: Where the page is.
        page: What of it is shown.
        file: The picture.
        ready: JavaScript that returns whether the page is drawn.
    """
    from selenium.webdriver.support.ui import WebDriverWait

    width, height = page.size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    running.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
    running.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    running.get("about:blank")
    running.get(f"{url}#{page.address}" if page.address else url)
    WebDriverWait(running, 60).until(lambda _: running.execute_script(ready))
    running.execute_script(WITHOUT_FOLDERS)
    running.save_screenshot(str(file))


WITHOUT_FOLDERS = """
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  const text = texts.currentNode;
  if (!text.parentNode.closest('script, style')) {
    text.data = text.data.replace(/(^|\\s)\\/(?:[^\\s\\/]+\\/)+/g, '$1…/');
  }
}
"""
"""JavaScript that writes absolute paths without their folders: those of one machine say nothing."""

READY = {
    "atlas.html": "return !document.getElementById('page').hasAttribute('aria-busy') &&"
    " [...document.querySelectorAll('.card .maps:not(.tokens), .card .example')]"
    ".every((each) => each.dataset.painted)",
    "report.html": "return Boolean(document.querySelector('.made'))",
    LOOK: "return Boolean(document.querySelector('#card h2'))",
    LABELLING: "return Boolean(document.querySelector('canvas, svg, img'))",
}
"""JavaScript that says whether a page is drawn."""


def make_run_pictures(run: Path, pictures: Mapping[str, str | Page], problems: Problems) -> None:
    """Make the pictures of a run: copies of its figures, and its pages in a browser."""
    pages = {name: page for name, page in pictures.items() if isinstance(page, Page)}
    for name in pictures.keys() - pages.keys():
        with problems.noted(name):
            shutil.copy(run / "figures" / f"{pictures[name]}.png", IMAGES / name)
    if not pages:
        return
    with browser() as running:
        for name, page in pages.items():
            with problems.noted(name):
                url = (run / page.file).as_uri()
                show(running, url, page, IMAGES / name, READY[page.file])


def make_gallery(figures: Path) -> None:
    """Make small copies of all figures of a demonstration with all analyses.

    Args:
        figures: The folder of its figures.
    """
    gallery = IMAGES / "gallery"
    missing = {file.name for file in gallery.glob("*.png")} - {
        file.name for file in figures.glob("*.png")
    }
    if missing:
        raise FileNotFoundError(
            f"{figures} lacks {', '.join(sorted(missing))}. First run make demo ANALYSES=all."
        )
    shutil.rmtree(gallery, ignore_errors=True)
    gallery.mkdir()
    files = sorted(figures.glob("*.png"))
    scale = GALLERY_WIDTH / max(_width(file) for file in files)  # the same for narrow figures
    for file in files:
        with Image.open(file) as picture:
            size = round(scale * picture.width), round(scale * picture.height)
            small = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        small.quantize(COLOURS).save(gallery / file.name, optimize=True)


def _width(file: Path) -> int:
    with Image.open(file) as picture:
        return picture.width


def make_text_picture() -> None:
    """Make the picture of `inspect`."""
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        file = Path(folder) / "heads.html"
        found = inspect(TEXT, ROOT / "darksecrets/resources/tiny-bert")
        file.write_text(replace(found, model="tiny BERT").page(), encoding="utf-8")
        show(running, file.as_uri(), Page("", (1280, 900)), IMAGES / LOOK, READY[LOOK])


def make_labelling_picture() -> None:
    """Make the picture of the labelling page."""
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        labels = Path(folder) / "labels"
        labelling.prepare(labels, SHIPPED)
        address = labelling.write_page(labels, "someone", 1)
        show(running, address, Page("", (1280, 800)), IMAGES / LABELLING, READY[LABELLING])


def make_examples_picture() -> None:
    """Make the picture of labelled maps: a row for every class, a block for every encoder."""
    labelled = MapSet.load(SHIPPED)
    maps = dict(zip(labelled.table["map"], labelled.maps, strict=True))
    table = labelled.table.merge(labelled.settled(), on="map")
    table["encoder"] = [*map(encoder_of, table["model"], table["state"])]
    encoders = sorted(set(table["model"]) & set(table["encoder"]))
    columns = len(encoders) * EXAMPLES_OF_ENCODER
    figure = Figure(figsize=(8.4, 3.9))
    figure.subplots_adjust(left=0.11, right=0.995, bottom=0.01, top=0.94, wspace=0.05, hspace=0.05)
    grid = figure.subplots(len(PATTERNS), columns)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[], box_aspect=1)
        axes.spines[:].set_visible(False)
    for row, pattern in zip(grid, PATTERNS, strict=True):
        name = pattern.replace("+", " +\n")
        row[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
        for place, encoder in enumerate(encoders):
            first = place * EXAMPLES_OF_ENCODER
            found = table[(table["strict"] == pattern) & (table["encoder"] == encoder)]
            drawn = found.sample(min(EXAMPLES_OF_ENCODER, len(found)), random_state=1)
            for axes, one in zip(row[first:], drawn["map"], strict=False):
                axes.imshow(maps[one], cmap=MAP, vmin=0, vmax=darkest(maps[one]))
                axes.spines[:].set_visible(True)
    for place, encoder in enumerate(encoders):
        title = encoder.replace(" x ", " × ")
        grid[0, place * EXAMPLES_OF_ENCODER].set_title(title, fontsize=8, loc="left")
    picture = io.BytesIO()
    figure.savefig(picture, dpi=150)
    Image.open(picture).convert("RGB").quantize(COLOURS).save(IMAGES / EXAMPLES, optimize=True)


def main() -> None:
    """Make the pictures of the runs that are given."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--demo", type=Path, help="folder of a demonstration with all analyses")
    parser.add_argument("--real", type=Path, help="folder of a finished run of config/real.yaml")
    parser.add_argument("--beyond", type=Path, help="folder of one of config/real-beyond.yaml")
    parser.add_argument("--importance", type=Path, help="one of config/real-importance.yaml")
    parser.add_argument("--multilingual", type=Path, help="one of config/real-multilingual.yaml")
    arguments = parser.parse_args()
    problems = Problems()
    for run, pictures, what in (
        (arguments.real, REAL, "real run"),
        (arguments.beyond, BEYOND, "real run of later analyses"),
        (arguments.importance, IMPORTANCE, "real run that removes heads"),
        (arguments.multilingual, MULTILINGUAL, "real run of the second encoder"),
    ):
        if run is None or not (run / "config.yaml").is_file():
            found = f"{run} is no run" if run else "no folder is given"
            print(f"Pictures of the {what} stay as they are ({found}): {', '.join(pictures)}.")
        else:
            with problems.noted(str(run)):
                make_run_pictures(run.resolve(), pictures, problems)
    if arguments.demo is None or not arguments.demo.is_dir():
        print("The gallery stays as it is (no demonstration is given).")
    else:
        with problems.noted("gallery"):
            make_gallery(arguments.demo / "figures")
    with problems.noted(LOOK):
        make_text_picture()
    with problems.noted(LABELLING):
        make_labelling_picture()
    with problems.noted(EXAMPLES):
        make_examples_picture()
    print(f"{len(made())} pictures are in {IMAGES.relative_to(ROOT)}.")
    if problems:
        sys.exit("Not made:\n" + "\n".join(f"  {problem}" for problem in problems))


if __name__ == "__main__":
    main()
