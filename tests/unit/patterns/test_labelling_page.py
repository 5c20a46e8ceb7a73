import errno
import io
import json
import os
import socket

import numpy as np
import pandas as pd
import pytest
from matplotlib import image
from toy_maps import toy_set

from darksecrets.patterns.__main__ import main
from darksecrets.patterns.annotation import Pass, open_labels, prepare
from darksecrets.patterns.classes import KEYS, PATTERNS
from darksecrets.patterns.mapset import MapSet
from darksecrets.patterns.page.app import create_app
from darksecrets.patterns.page.pictures import example


@pytest.fixture
def folder(tmp_path):
    toy_set(5).save(tmp_path / "sample")
    prepare(tmp_path / "annotations", tmp_path / "sample")
    return tmp_path / "annotations"


@pytest.fixture
def start(folder):
    """Open the page anew, as if the previous process had been killed."""
    open_files = []

    def start(annotator="x", number=1):
        while open_files:
            open_files.pop().__exit__(None, None, None)
        labels = open_labels(folder)
        file = labels.__enter__()
        open_files.append(labels)
        return create_app(Pass(MapSet.load(folder), file, annotator, number)).test_client()

    yield start
    while open_files:
        open_files.pop().__exit__(None, None, None)


@pytest.fixture
def page(start):
    return start()


def label_next(page, label="block"):
    answer = page.post("/label", json={"map": page.get("/state").json["map"], "label": label})
    assert answer.status_code == 200
    return answer.json


def rows(folder):
    return pd.read_csv(folder / "labels.csv")


def test_a_label_is_on_disk_when_the_answer_comes(page, folder):
    first = page.get("/state").json
    after = label_next(page, "vertical+diagonal")
    assert rows(folder)[["map", "label", "annotator", "pass"]].to_numpy().tolist() == [
        [first["map"], "vertical+diagonal", "x", 1]
    ]
    assert after["map"] == first["next"]
    assert (after["labelled"], after["total"], after["undo"]) == (1, 5, True)


def test_a_full_disk_is_said_and_the_map_stays(page, folder, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    label_next(page)
    before, state = (folder / "labels.csv").read_bytes(), page.get("/state").json
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        answer = page.post("/label", json={"map": state["map"], "label": "block"})
        assert answer.status_code == 500
        assert answer.json["error"] == "Nothing was saved or taken back: No space left on device."
        assert page.post("/undo", json={}).status_code == 500
    assert (folder / "labels.csv").read_bytes() == before
    assert page.get("/state").json == state
    assert label_next(page)["labelled"] == 2


def test_undo_skip_and_the_end(page, folder):
    first = page.get("/state").json["map"]
    label_next(page)
    assert page.post("/undo", json={}).json["map"] == first
    assert rows(folder).empty
    skipped = page.post("/skip", json={"map": first}).json
    assert skipped["map"] != first
    assert skipped["labelled"] == 0
    for _ in range(4):
        state = label_next(page)
    assert (state["map"], state["next"]) == (first, None)
    assert label_next(page) == {"map": None, "next": None, "labelled": 5, "total": 5, "undo": True}
    assert page.post("/label", json={"map": first, "label": "block"}).status_code == 409


def test_it_resumes_and_a_second_pass_comes_in_another_order(start):
    page = start()
    seen = []
    for _ in range(3):
        seen.append(page.get("/state").json["map"])
        label_next(page)
    page = start()
    assert page.get("/state").json["labelled"] == 3
    assert page.get("/state").json["map"] not in seen
    page = start(number=2)
    second = []
    while (name := page.get("/state").json["map"]) is not None:
        second.append(name)
        label_next(page)
    assert len(second) == 5
    assert second[:3] != seen


def test_what_the_page_shows_holds_no_origin_and_no_label_of_others(start):
    page = start("someone")
    name = page.get("/state").json["map"]
    label_next(page, "heterogeneous")
    page = start("x", 2)
    shown = page.get("/state").data + page.get("/").data.split(b"<main>")[0]
    for word in (b"someone", b"heterogeneous", b"RTE", b"layer"):
        assert word not in shown
    assert page.get("/state").json.keys() == {"map", "next", "labelled", "total", "undo"}
    assert name


def test_every_class_has_a_button_a_key_a_definition_and_an_example(page):
    text = page.get("/").get_data(as_text=True)
    for key, name in KEYS.items():
        assert f'data-key="{key}" data-label="{name}"' in text
        assert PATTERNS[name] in text
        assert page.get(f"/examples/{key}.png").data.startswith(b"\x89PNG")
    for script_or_style in ("page.js", "page.css"):
        assert page.get(f"/static/{script_or_style}").status_code == 200
    assert "http" not in text.replace("http-equiv", ""), "nothing comes from elsewhere"


def test_the_picture_shows_the_map(page, folder):
    mapset = MapSet.load(folder)
    name = page.get("/state").json["map"]
    answer = page.get(f"/maps/{name}.png")
    assert answer.mimetype == "image/png"
    picture = image.imread(io.BytesIO(answer.data), format="png")[..., :3]
    weights = mapset.maps[mapset.table["map"].tolist().index(name)].astype(float)
    side = int(5.2 * 220)
    # The map fills the upper right corner; the tokens stand on its left and below.
    square = picture[:side, -side:].sum(axis=2)
    middles = ((np.arange(len(weights)) + 0.5) * side / len(weights)).astype(int)
    darkness = -square[np.ix_(middles, middles)].ravel()
    cells = np.minimum(weights.ravel(), np.sort(weights, axis=None)[-len(weights)])
    assert np.argsort(darkness, kind="stable")[0] == np.argmin(cells)
    assert np.corrcoef(darkness, cells)[0, 1] > 0.95


def test_examples_show_their_class():
    vertical, diagonal, both, block, _ = (example(name) for name in PATTERNS)
    for weights in map(example, PATTERNS):
        assert np.allclose(weights.sum(axis=1), 1)
    assert vertical.mean(axis=0).max() > 0.4
    assert np.diag(diagonal, -1).min() > 0.6
    assert np.diag(both, -1).min() > 0.4
    assert both[:, -1].min() > 0.3
    assert block[1:6, 1:6].sum(axis=1).min() > 0.9
    assert block[1:6, 6:].max() < 0.02


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost:81"},
        {"Host": "127.0.0.1.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "https://localhost"},
        {"Origin": "http://localhost:81"},
        {"Origin": "null"},
    ],
)
def test_another_host_or_origin_is_refused(page, folder, headers):
    name = page.get("/state").json["map"]
    for path in ("/", "/state", f"/maps/{name}.png", "/static/page.js"):
        assert page.get(path, headers=headers).status_code == 403
    refused = page.post("/label", json={"map": name, "label": "block"}, headers=headers)
    assert refused.status_code == 403
    assert not (folder / "labels.csv").exists()


def test_its_own_origin_is_served(page):
    for host in ("localhost", "127.0.0.1", "127.0.0.1:80"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert page.post("/undo", json={}, headers=headers).status_code == 409
        assert page.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", None])
def test_a_form_of_another_page_cannot_label(page, folder, kind):
    name = page.get("/state").json["map"]
    content = json.dumps({"map": name, "label": "block"})
    assert page.post("/label", data=content, content_type=kind).status_code == 415
    assert not (folder / "labels.csv").exists()


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"map": "toy-0001"},
        {"map": 1, "label": "block"},
        {"map": "toy-0001", "label": "block", "annotator": "y"},
    ],
)
def test_a_request_that_is_no_label_is_refused(page, folder, content):
    answer = page.post("/label", json=content)
    assert answer.status_code == 400
    assert "Expected" in answer.json["error"]
    assert not (folder / "labels.csv").exists()


def test_an_unknown_class_and_a_long_request_are_refused(page, folder):
    name = page.get("/state").json["map"]
    answer = page.post("/label", json={"map": name, "label": "stripes"})
    assert answer.status_code == 400
    assert "'stripes'" in answer.json["error"]
    assert page.post("/label", json={"map": "x" * 20_000, "label": "block"}).status_code == 413
    assert not (folder / "labels.csv").exists()


@pytest.mark.parametrize(
    "path",
    [
        "/maps/toy-9999.png",
        "/maps/../labels.csv",
        "/maps/..%2f..%2flabels.png",
        "/maps/%2e%2e/labels.png",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/mapset.py",
        "/static//etc/passwd",
        "/examples/x.png",
        "/examples/../v.png",
        "/labels.csv",
        "/console",
    ],
)
def test_a_path_outside_is_not_found(page, path):
    assert page.get(path, follow_redirects=True).status_code == 404


def test_answers_forbid_frames_foreign_content_and_keeping(page):
    for path in ("/", "/state", "/maps/none.png"):
        headers = page.get(path).headers
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def command(folder, *arguments, annotator="x"):
    label = ["label", "--annotations", str(folder), "--annotator", annotator]
    return main([*label, *arguments])


def test_a_port_in_use_is_said(folder, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert command(folder, "--port", str(port)) == 1
    message = capsys.readouterr().err
    assert f"Port {port} of 127.0.0.1 cannot be used: Address already in use" in message


def test_bad_input_is_said_in_a_line(folder, tmp_path, capsys):
    assert command(folder, annotator="") == 1
    assert command(tmp_path / "nowhere") == 1
    assert command(folder, "--maps", str(tmp_path / "nothing")) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    for line, words in zip(
        lines, ("annotator's name ''", "nowhere is not a set", "nothing is not a set"), strict=True
    ):
        assert words in line
    with pytest.raises(SystemExit):
        command(folder, "--pass", "4")
    with pytest.raises(SystemExit):
        command(folder, "--port", "70000")
