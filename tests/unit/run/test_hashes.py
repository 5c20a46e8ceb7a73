"""The page of a run's digests, and runs compared with it."""

import hashlib

import numpy as np
import pytest

from darksecrets.run import hashes
from darksecrets.run.errors import InputError


@pytest.fixture
def run(tmp_path):
    for name in (
        "tables/framenet_links.csv",
        "tables/a.csv",
        "tables/a.provenance.json",
        "figures/b.png",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def test_a_page_lists_the_digest_of_every_file(run):
    page = hashes.page(run)
    for name in ("tables/framenet_links.csv", "tables/a.csv", "figures/b.png"):
        assert f"| `{name}` | `{hashlib.sha256(name.encode()).hexdigest()}` |" in page
    assert "provenance" not in page
    assert hashes.compare(run, page) == "All 3 files are as the page lists them."


def test_measured_times_have_no_digest(run):
    for name in ("tables/compression_times.csv", "figures/compression_times.svg"):
        (run / name).write_text(name)
    assert hashes.compare(run, hashes.page(run)) == "All 3 files are as the page lists them."
    assert "compression_times" not in hashes.page(run)


def test_arrays_have_the_same_digest_in_any_container(run):
    file, arrays = run / "tables" / "maps.npz", {"a": np.arange(6), "b": np.eye(2)}
    np.savez_compressed(file, **arrays)
    page, packed = hashes.page(run), file.read_bytes()
    np.savez(file, **arrays)
    assert file.read_bytes() != packed
    assert hashes.compare(run, page) == "All 4 files are as the page lists them."
    for changed in ({"a": np.arange(6), "b": np.ones((2, 2))}, {"a": arrays["a"], "c": np.eye(2)}):
        np.savez(file, **changed)
        with pytest.raises(InputError, match=r"tables/maps\.npz"):
            hashes.compare(run, page)


def test_a_file_that_differs_is_named(run):
    page = hashes.page(run)
    (run / "tables" / "a.csv").write_text("other")
    with pytest.raises(InputError, match=r"other bytes than the page lists in tables/a\.csv;"):
        hashes.compare(run, page)


def test_another_machine_is_no_alarm_unless_no_model_has_a_part(run):
    page = hashes.page(run).replace("Made on: ", "Made on: another CPU, ")
    (run / "tables" / "a.csv").write_text("other")
    said = hashes.compare(run, page)
    assert said.startswith("The 1 files that no model has a part in are as the page lists them.")
    assert "another machine" in said
    (run / "tables" / "framenet_links.csv").write_text("other")
    with pytest.raises(InputError, match=r"tables/framenet_links\.csv"):
        hashes.compare(run, page)
