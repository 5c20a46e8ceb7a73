"""Figure 5 against its table, and the files that figures are written to."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import LABEL, axes_named, headline_of, labels
from glue import TASKS
from matplotlib.legend import Legend
from PIL import Image

from darksecrets.core.plotting import style
from darksecrets.core.plotting.drawing import Given
from darksecrets.paper.finetuning.figures import figure5, figure5_layers


def similarities(
    tasks: list[str], layers: int, heads: int, seeds: tuple[int, ...] = (1, 2)
) -> pd.DataFrame:
    random = np.random.default_rng(5)
    rows = [
        (task, seed, layer, head, random.uniform(0.1, 1))
        for task in tasks
        for seed in seeds
        for layer in range(1, layers + 1)
        for head in range(1, heads + 1)
    ]
    table = pd.DataFrame(rows, columns=["task", "seed", "layer", "head", "similarity"])
    table["other_heads"] = table["similarity"] / 2
    table["other_seed"] = np.sqrt(table["similarity"]) if len(seeds) > 1 else np.nan
    return table.sample(frac=1, random_state=5)  # the order of rows must not matter


def draw5(table: pd.DataFrame, tasks: list[str], scale: str = "data") -> style.Figure:
    sources = Given({task: TASKS[task].metrics for task in tasks}, LABEL, cosine=table)
    sources.options["scale"] = scale
    return figure5.draw(sources)


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_mean_spread_and_references_of_every_layer_are_in_the_supplement(
    seeds: tuple[int, ...],
) -> None:
    table = similarities(["MRPC", "RTE"], 6, 4, seeds)
    sources = Given({task: TASKS[task].metrics for task in ("MRPC", "RTE")}, LABEL, cosine=table)
    figure = figure5_layers.draw(sources)
    floors = ["other_heads", "other_seed"][: len(seeds)]
    for task in ("MRPC", "RTE"):
        axes = axes_named(figure, f"{task} layers")
        rows = table[table["task"] == task]
        heads = rows.groupby(["layer", "head"])["similarity"].mean().groupby("layer")
        for name, line in zip(["similarity", *floors], axes.lines, strict=True):
            np.testing.assert_allclose(line.get_xdata(), rows.groupby("layer")[name].mean())
            assert list(line.get_ydata()) == [1, 2, 3, 4, 5, 6]
        corners = axes.collections[0].get_paths()[0].vertices.round(9).tolist()
        for layer, (mean, spread) in heads.agg(["mean", "std"]).iterrows():
            assert [round(mean - spread, 9), layer] in corners
            assert [round(mean + spread, 9), layer] in corners
        assert axes.get_ylim() == (6.5, 0.5), "layer 1 at the top"
    (legend,) = figure.findobj(Legend)
    named = ["before and after fine-tuning, mean ± sd of a layer"]
    named += ["two different heads", "two fine-tunings"]
    assert labels(legend.get_texts()) == named[: 1 + len(seeds)]


@pytest.mark.parametrize("changed", [0, 1, 3])
def test_the_headline_counts_the_tasks_whose_last_layers_change_most(changed: int) -> None:
    tasks = ["MRPC", "RTE", "QQP"]
    table = similarities(tasks, 6, 4, (1,))
    last = table["layer"] > 4
    some = table["task"].isin(tasks[:changed])
    table["similarity"] = np.where(last == some, 0.3, 0.9)
    said = " ".join(headline_of(draw5(table, tasks)).split())
    assert said == f"Fine-tuning changes the last two layers most on {changed} of 3 tasks"
    one = " ".join(headline_of(draw5(table[table["task"] == "MRPC"], ["MRPC"])).split())
    assert one == f"Fine-tuning on MRPC changes layer {5 if changed else 1} most"


PROGRAM = """
import sys
from pathlib import Path
import pandas as pd
from darksecrets.paper.finetuning.figures import figure5, learning_curves, table1
from darksecrets.core.plotting.drawing import Given
from darksecrets.core.plotting.style import save
folder = Path(sys.argv[1])
table = pd.read_csv(folder / "table.csv")
figure = figure5.draw(Given({"RTE": ["accuracy"]}, sys.argv[2], cosine=table))
save(figure, [folder / f"f.{s}" for s in ("pdf", "svg", "png")],
     script="scripts/figure5.py", title=f"Figure 5, {sys.argv[2]}")
heavy = {"torch", "transformers", "datasets", "sklearn", "tensorflow"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy else 0)
"""


OF_A_USER = """
text.usetex: True
axes.grid: True
axes.facecolor: black
font.size: 30
savefig.bbox: tight
savefig.transparent: True
axes.formatter.use_locale: True
"""
"""A personal `matplotlibrc`, which may need what a machine lacks (LaTeX)."""


def draw_elsewhere(folder: Path, root: Path, matplotlibrc: str = "") -> None:
    """Draw in a fresh process, with different hashes, ids and time."""
    folder.mkdir()
    similarities(["RTE"], 6, 6).to_csv(folder / "table.csv", index=False)
    (folder / "matplotlibrc").write_text(matplotlibrc)
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), LABEL],
        cwd=root,
        env={**os.environ, "MATPLOTLIBRC": str(folder / "matplotlibrc")},
        check=True,
        timeout=120,
    )
    (folder / "matplotlibrc").unlink()


@pytest.mark.slow
def test_drawing_loads_no_heavy_library_and_gives_the_same_bytes_again(
    tmp_path: Path, root: Path
) -> None:
    draw_elsewhere(tmp_path / "first", root)
    draw_elsewhere(tmp_path / "second", root, OF_A_USER)
    for suffix in ("pdf", "svg", "png"):
        first, second = (tmp_path / name / f"f.{suffix}" for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), suffix
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == [
        "f.pdf",
        "f.png",
        "f.svg",
        "table.csv",
    ]


def test_files_are_whole_and_name_the_script_and_the_run(tmp_path: Path) -> None:
    paths = [tmp_path / f"f.{suffix}" for suffix in ("pdf", "svg", "png")]
    figure = draw5(similarities(["RTE"], 6, 6), ["RTE"])
    style.save(figure, paths, script="scripts/figure5.py", title=f"Figure 5, {LABEL}")
    pdf, svg, png = paths
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert b"scripts/figure5.py" in pdf.read_bytes()
    assert b"CreationDate" not in pdf.read_bytes()
    text = svg.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</svg>")
    assert "scripts/figure5.py" in text
    assert LABEL in text
    assert "<dc:date>" not in text
    with Image.open(png) as image:
        image.load()
        assert image.info["Title"] == f"Figure 5, {LABEL}"
        assert "scripts/figure5.py" in image.info["Creator"]
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert image.width == round(style.COLUMN * 300)
