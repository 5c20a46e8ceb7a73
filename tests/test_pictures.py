"""Every picture that a page shows is made by `make pictures`, or is listed as drawn by hand."""

import re
from pathlib import Path

import pytest

from workflow.lib import pictures

ROOT = Path(__file__).parents[1]
PAGES = (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("config/*.md"))


def shown() -> set[str]:
    """Names of the pictures in docs/images that a page shows."""
    links = (
        (page, link)
        for page in PAGES
        for link in re.findall(r"!\[.*?\]\(([^)\s]+)\)", page.read_text("utf-8"), re.DOTALL)
    )
    files = {(page.parent / link).resolve() for page, link in links}
    return {file.name for file in files if file.parent == pictures.IMAGES}


def test_pictures_that_are_made_shown_and_there_are_the_same():
    known = pictures.made() | {*pictures.BY_HAND}
    assert not pictures.made() & {*pictures.BY_HAND}
    assert shown() == known, "shown by a page, and made or listed as drawn by hand"
    assert {file.name for file in pictures.IMAGES.iterdir()} == known, "none is unused or missing"


def test_figures_that_are_shown_are_targets(root):
    named = {
        name
        for group in (
            *(pictures.DEMO, pictures.REAL, pictures.ONE_SEED),
            *(pictures.FIVE_SEEDS, pictures.SMALL_DATA),
        )
        for name in group.values()
        if isinstance(name, str)
    }
    assert named
    for name in named:
        assert len(list(root.glob(f"darksecrets/*/{name}.py"))) == 1, name


def test_a_run_is_copied_without_being_touched(tmp_path):
    run = tmp_path / "finished"
    for name in ("tables/cosine.csv", "figures/figure5.png", "atlas/RTE.json"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text("measured")
    (run / "config.yaml").write_text("run: some\n")
    copy = pictures.copy_of(run, tmp_path / "elsewhere")
    assert copy == tmp_path / "elsewhere" / "results" / "some"
    for name in ("figures/figure5.png", "atlas/RTE.json", "config.yaml"):
        (copy / name).write_text("drawn again")
        assert "again" not in (run / name).read_text(), name
    assert (copy / "tables" / "cosine.csv").read_text() == "measured"


def test_what_cannot_be_made_is_named_and_the_rest_goes_on(tmp_path, monkeypatch, capsys):
    def fails():
        raise FileNotFoundError("no browser")

    monkeypatch.setattr(pictures, "of_text", lambda: None)
    monkeypatch.setattr(pictures, "of_labelling", fails)
    monkeypatch.setattr("sys.argv", ["pictures", "--demo", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"labelling-page\.png: no browser"):
        pictures.main()
    said = capsys.readouterr().out
    assert f"demonstration stay as they are ({tmp_path} is no run)" in said
    assert "real run stay as they are (no folder is given): real-figure1.png" in said
