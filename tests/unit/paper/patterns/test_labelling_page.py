import base64
import contextlib
import errno
import json
import os
import socket
import threading
import urllib.request

import flask.testing
import numpy as np
import pandas as pd
import pytest
from flask.wrappers import Response
from toy_maps import toy_set

from darksecrets.core.plotting.attention_map import saturation
from darksecrets.paper.patterns.__main__ import main
from darksecrets.paper.patterns.labelling import Pass, open_labels, prepare
from darksecrets.paper.patterns.mapset import MapSet
from darksecrets.paper.patterns.page.app import create_app
from darksecrets.paper.patterns.page.pictures import drawn
from darksecrets.paper.patterns.page.server import HOST, SETTINGS, listen

TOKEN = "secret"
BLOCK = {"label": "block", "columns": "-", "number": 0, "diagonal": 0, "tokens": "shown"}
SECOND = {"vertical+diagonal": {"columns": "sw", "number": 2, "diagonal": 1}}


class Client(flask.testing.FlaskClient):
    """Asks for paths below the token."""

    def open(self, path, *arguments, **keywords):
        return super().open(f"/{TOKEN}{path}", *arguments, **keywords)


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
        app = create_app(Pass(MapSet.load(folder), file, annotator, number), TOKEN)
        app.test_client_class = Client
        return app.test_client()

    yield start
    while open_files:
        open_files.pop().__exit__(None, None, None)


@pytest.fixture
def page(start):
    return start()


def label_next(page, label="block"):
    name = page.get("/state").json["maps"][0]
    given = BLOCK | {"map": name, "label": label} | SECOND.get(label, {})
    answer = page.post("/label", json=given)
    assert answer.status_code == 200
    return answer.json


def rows(folder):
    return pd.read_csv(folder / "labels.csv")


def test_a_label_is_on_disk_when_the_answer_comes(page, folder):
    first = page.get("/state").json
    after = label_next(page, "vertical+diagonal")
    assert rows(folder).drop(columns="time").to_numpy().tolist() == [
        [first["maps"][0], "vertical+diagonal", "sw", 2, 1, "x", 1, "shown"]
    ]
    assert after["maps"] == first["maps"][1:]
    assert (after["labelled"], after["total"]) == (1, 5)
    assert first["done"] == []
    (done,) = after["done"]
    assert done == {"map": first["maps"][0], "label": "vertical+diagonal"} | SECOND[done["label"]]


def test_a_full_disk_is_said_and_the_map_stays(page, folder, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    label_next(page)
    before, state = (folder / "labels.csv").read_bytes(), page.get("/state").json
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        answer = page.post("/label", json=BLOCK | {"map": state["maps"][0]})
        assert answer.status_code == 500
        assert answer.json["error"] == "Nothing was saved or taken back: No space left on device."
        assert page.post("/undo", json={}).status_code == 500
    assert (folder / "labels.csv").read_bytes() == before
    assert page.get("/state").json == state
    assert label_next(page)["labelled"] == 2


def test_undo_skip_and_the_end(page, folder):
    first = page.get("/state").json["maps"][0]
    label_next(page)
    assert page.post("/undo", json={}).json["maps"][0] == first
    assert rows(folder).empty
    skipped = page.post("/skip", json={"map": first}).json
    assert skipped["maps"][-1] == first
    assert skipped["done"] == [{"map": first}]
    assert skipped["labelled"] == 0
    for _ in range(4):
        state = label_next(page)
    assert state["maps"] == [first]
    end = label_next(page)
    assert (end["maps"], end["labelled"], end["total"]) == ([], 5, 5)
    assert [one["map"] for one in end["done"]] == rows(folder)["map"].tolist()
    assert page.post("/label", json=BLOCK | {"map": first}).status_code == 409


def test_what_the_page_shows_holds_no_origin_and_no_label_of_others(start):
    page = start("someone")
    name = page.get("/state").json["maps"][0]
    label_next(page, "heterogeneous")
    page = start("x", 2)
    shown = page.get("/state").data + page.get("/").data.split(b"<main>")[0]
    shown += page.get(f"/maps/{name}").data
    for word in (b"someone", b"heterogeneous", b"RTE", b"layer", b'"toy"', b"finetuned"):
        assert word not in shown
    assert page.get("/state").json.keys() == {"maps", "done", "labelled", "total"}
    assert page.get(f"/maps/{name}").json.keys() == {"levels", "tokens", "kinds", "second"}


def test_the_page_gets_the_map_on_the_scale_of_all_drawings(page, folder):
    mapset = MapSet.load(folder)
    for name, weights, row in zip(
        mapset.table["map"], mapset.maps, mapset.table.itertuples(), strict=True
    ):
        sent = page.get(f"/maps/{name}").json
        values = weights.astype(float)
        expected = [
            round(255 * min(value / saturation(values), 1)) for line in values for value in line
        ]
        assert list(base64.b64decode(sent["levels"])) == expected
        assert sent["tokens"] == row.tokens.split(" ")
        assert sent["kinds"] == "s" + "w" * (len(weights) - 2) + "s"
        assert sent["second"] == -1
    assert drawn(np.eye(4), ["[CLS]", "a", "[SEP]", "."], "0001", "1010") | {"levels": ""} == {
        "levels": "",
        "tokens": ["[CLS]", "a", "[SEP]", "."],
        "kinds": "swsp",
        "second": 3,
    }


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
    name = page.get("/state").json["maps"][0]
    for path in ("/", "/state", f"/maps/{name}", "/static/page.js"):
        assert page.get(path, headers=headers).status_code == 403
    refused = page.post("/label", json=BLOCK | {"map": name}, headers=headers)
    assert refused.status_code == 403
    assert not (folder / "labels.csv").exists()


def test_whoever_does_not_know_the_token_is_refused(page, folder):
    name = page.get("/state").json["maps"][0]
    stranger = flask.testing.FlaskClient(page.application, Response)
    for token in ("", "/", "/Secret", "/secre", "/secret2", "/x/secret", "/sécret"):
        for path in ("/", "/state", f"/maps/{name}", "/static/page.js"):
            answer = stranger.get(token + path)
            assert answer.status_code == 403
            assert name not in answer.text
        refused = stranger.post(f"{token}/label", json=BLOCK | {"map": name})
        assert refused.status_code == 403
    assert "Open the whole address" in stranger.get("/").json["error"]
    assert not (folder / "labels.csv").exists()


def test_its_own_origin_is_served(page):
    for host in ("localhost", "127.0.0.1", "127.0.0.1:80"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert page.post("/undo", json={}, headers=headers).status_code == 409
        assert page.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", None])
def test_a_form_of_another_page_cannot_label(page, folder, kind):
    name = page.get("/state").json["maps"][0]
    content = json.dumps(BLOCK | {"map": name})
    assert page.post("/label", data=content, content_type=kind).status_code == 415
    assert not (folder / "labels.csv").exists()


@pytest.mark.parametrize(
    "content",
    [
        {},
        [],
        {"map": "toy-0001"},
        {"map": "toy-0001", "label": "block"},
        BLOCK | {"map": 1},
        BLOCK | {"map": "toy-0001", "number": "0"},
        BLOCK | {"map": "toy-0001", "number": True},
        BLOCK | {"map": "toy-0001", "diagonal": None},
        BLOCK | {"map": "toy-0001", "tokens": "seen"},
        BLOCK | {"map": "toy-0001", "annotator": "y"},
    ],
)
def test_a_request_that_is_no_label_is_refused(page, folder, content):
    answer = page.post("/label", json=content)
    assert answer.status_code == 400
    assert "Expected" in answer.json["error"]
    assert not (folder / "labels.csv").exists()


def test_an_unknown_class_and_a_long_request_are_refused(page, folder):
    name = page.get("/state").json["maps"][0]
    answer = page.post("/label", json=BLOCK | {"map": name, "label": "stripes"})
    assert answer.status_code == 400
    assert "'stripes'" in answer.json["error"]
    for wrong in ({"label": "vertical"}, {"columns": "x", "number": 1}, {"columns": ""}):
        answer = page.post("/label", json=BLOCK | {"map": name} | wrong)
        assert answer.status_code == 400
        assert "Look at the map again" in answer.json["error"]
    assert page.post("/label", json=BLOCK | {"map": "x" * 20_000}).status_code == 413
    deep = "[" * 5_000 + "]" * 5_000
    answer = page.post("/label", data=deep, content_type="application/json")
    assert answer.status_code == 400
    assert "nested too deeply" in answer.text
    assert not (folder / "labels.csv").exists()


@pytest.mark.parametrize(
    "path",
    [
        "/maps/toy-9999",
        "/maps/../labels.csv",
        "/maps/..%2f..%2flabels",
        "/maps/%2e%2e/labels",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/mapset.py",
        "/static//etc/passwd",
        "/labels.csv",
        "/console",
    ],
)
def test_a_path_outside_is_not_found(page, path):
    plain = flask.testing.FlaskClient(page.application, Response)
    assert plain.get(f"/{TOKEN}{path}", follow_redirects=True).status_code == 404


def test_answers_forbid_frames_foreign_content_and_keeping(page):
    for path in ("/", "/state", "/maps/none"):
        headers = page.get(path).headers
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def test_half_open_connections_keep_nobody_waiting(start, monkeypatch):
    """There are more of them than waitress takes by default; each is closed after some seconds."""
    assert SETTINGS["channel_timeout"] <= 10
    for name in ("channel_timeout", "cleanup_interval"):
        monkeypatch.setitem(SETTINGS, name, 1)
    server = listen(start().application, 0)
    threading.Thread(target=server.run, daemon=True).start()
    address = (HOST, server.effective_port)
    with contextlib.ExitStack() as opened:
        halves = [opened.enter_context(socket.create_connection(address)) for _ in range(150)]
        for half in halves[::2]:
            half.sendall(f"GET /{TOKEN}/ HTTP/1.1\r\nHost: {HOST}".encode())
        url = f"http://{HOST}:{server.effective_port}/{TOKEN}/state"
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        halves[0].settimeout(30)
        assert not halves[0].recv(1000), "closed"
    server.close()


def test_bodies_of_a_megabyte_are_refused_before_they_are_read(start):
    server = listen(start().application, 0)
    threading.Thread(target=server.run, daemon=True).start()
    with socket.create_connection((HOST, server.effective_port)) as connection:
        connection.settimeout(30)
        head = f"POST /{TOKEN}/labels HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 2000000\r\n\r\n"
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(1000), "though nothing of the body was sent"
    server.close()


def test_a_name_and_a_port_are_checked_before_maps_are_sampled(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for name, number, words in (("a,b", 0, "'a,b'"), ("a\n", 0, "'a"), ("a", port, "cannot")):
            assert main(["check", "--annotator", name, "--port", str(number)]) == 1
            assert words in capsys.readouterr().err
    assert main(["check", "--annotator", "Zoë", "--port", "0"]) == 0
