"""The real client against a stand-in for the Hub: downloads, resuming, caching and errors."""

import json
import random
from pathlib import Path

import pytest
from hub.client import Client
from hub.content import BERT, BERT_COMMIT, GLUE, GLUE_COMMIT
from hub.standin import Repository, serving

LARGE = "model.safetensors"
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer*")


def call(
    function: str, repository: str, revision: str, patterns: tuple[str, ...], kind: str
) -> str:
    """Code that calls a function of `data.hub` and prints what it returns, or its error.

    The client retries as usual, but does not wait between attempts.
    """
    return f"""
import time
time.sleep = lambda seconds: None
from darksecrets.core.data import hub
from darksecrets.core.run import errors
try:
    print(hub.{function}({repository!r}, {revision!r}, {patterns!r}, {kind!r}))
except errors.InputError as error:
    print("InputError:", error)
"""


def mrpc(function: str, revision: str = GLUE_COMMIT, *more: str) -> str:
    return call(function, GLUE, revision, ("mrpc/train-*", *more), "dataset")


def test_model_files_are_downloaded_and_load(hub, client, bert_repository):
    hub.repositories.append(bert_repository)
    folder = Path(client.run(call("download", BERT, BERT_COMMIT, MODEL_FILES, "model")).strip())
    expected = {name for name in bert_repository.files if name != "pytorch_model.bin"}
    assert {path.name for path in folder.iterdir()} == expected
    for name in expected:
        assert (folder / name).read_bytes() == bert_repository.files[name]
    assert json.loads((folder / "config.json").read_text())["model_type"] == "bert"


def test_a_branch_is_resolved_and_works_offline_after(hub, client):
    online = client.run(mrpc("download", "main")).strip()
    assert online.endswith(GLUE_COMMIT)
    assert client.run(mrpc("download", "main"), HF_HUB_OFFLINE="1").strip() == online


def test_check_downloads_nothing(hub, client):
    assert client.run(mrpc("check")).strip() == "None"
    assert hub.downloads() == []
    assert not list(client.home.rglob("*.parquet"))


def test_cached_files_are_not_asked_for_again(hub, client):
    client.run(mrpc("download"))
    hub.requests.clear()
    client.run(mrpc("check"))
    client.run(mrpc("download"))
    assert hub.requests == []


def test_broken_download_is_resumed(hub, client):
    # The client writes chunks of 10 MiB: if the second one fails, it has the first.
    piece = 10 * 2**20
    content = random.Random(0).randbytes(2 * piece + 12345)
    hub.repositories.append(Repository("models", "example/large", "a" * 40, {LARGE: content}))
    hub.breaks[LARGE] = piece + piece // 2
    folder = client.run(call("download", "example/large", "main", (LARGE,), "model")).strip()
    assert (Path(folder) / LARGE).read_bytes() == content
    ranges = [asked for _, path, asked in hub.requests if path == f"/large/{LARGE}"]
    assert ranges == ["", f"bytes={piece}-"]


def test_other_bytes_than_the_hub_has_are_refused_and_downloaded_again(
    hub, client, bert_repository
):
    hub.repositories.append(bert_repository)
    hub.corrupt = {LARGE}
    ask = call("download", BERT, BERT_COMMIT, MODEL_FILES, "model")
    error = client.run(ask)
    assert error.startswith(f"InputError: {LARGE} of {BERT} was damaged in the download: its ")
    assert "give the same command again" in error
    hub.corrupt = set()
    folder = Path(client.run(ask).strip())
    assert (folder / LARGE).read_bytes() == bert_repository.files[LARGE]

    config = folder / "config.json"
    config.resolve().write_bytes(config.read_bytes().replace(b"bert", b"brrt"))
    assert client.run(ask, HF_HUB_OFFLINE="1").startswith(f"InputError: config.json of {BERT}")
    client.run(ask)
    assert config.read_bytes() == bert_repository.files["config.json"]


@pytest.mark.parametrize("function", ["check", "download"])
def test_file_that_the_repository_lacks(hub, client, function):
    error = client.run(mrpc(function, GLUE_COMMIT, "mrpc/dev-*"))
    assert error.startswith("InputError:")
    assert f"{GLUE} at revision {GLUE_COMMIT} has no file mrpc/dev-*" in error
    assert "mrpc/train-00000-of-00001.parquet" in error
    assert "Check the repository and the revision" in error


def test_file_that_is_listed_but_missing(hub, client):
    hub.missing.add("mrpc/train-00000-of-00001.parquet")
    error = client.run(mrpc("download"))
    assert error.startswith("InputError:")
    assert "listed but missing" in error
    assert "mrpc/train-00000-of-00001.parquet" in error


@pytest.mark.parametrize("function", ["check", "download"])
def test_unknown_repository(hub, client, function):
    error = client.run(call(function, "nobody/nothing", "main", ("*",), "dataset"))
    assert error.startswith(f"InputError: There is no dataset nobody/nothing at {hub.endpoint}")
    assert "HF_TOKEN" in error


@pytest.mark.parametrize("function", ["check", "download"])
def test_unknown_revision(hub, client, function):
    error = client.run(mrpc(function, "f" * 40))
    assert error.startswith(f"InputError: The dataset {GLUE} has no revision {'f' * 40}")


@pytest.fixture
def gone(client: Client, glue_repository: Repository) -> Client:
    """A client without a Hub: nothing listens at its endpoint, and its cache is empty."""
    with serving([glue_repository]) as hub:
        endpoint = hub.endpoint
    return Client(client.home, endpoint)


@pytest.mark.parametrize("function", ["check", "download"])
@pytest.mark.parametrize("offline", ["0", "1"])
def test_no_hub_and_no_cache(gone, function, offline):
    error = gone.run(mrpc(function), HF_HUB_OFFLINE=offline)
    assert error.startswith("InputError: Some files of the dataset nyu-mll/glue at revision")
    assert f"not in the cache ({gone.home / 'hub'})" in error
    if offline == "1":
        assert "HF_HUB_OFFLINE forbids" in error
    else:
        assert f"does not answer at {gone.endpoint}" in error
        assert "refused" in error
    for advice in ("with a connection", "HF_ENDPOINT", "HF_HOME", "another source"):
        assert advice in error


@pytest.mark.parametrize("function", ["check", "download"])
@pytest.mark.parametrize("offline", ["0", "1"])
def test_no_hub_and_a_warm_cache(client, gone, function, offline):
    folder = client.run(mrpc("download")).strip()
    answer = gone.run(mrpc(function), HF_HUB_OFFLINE=offline).strip()
    assert answer == (folder if function == "download" else "None")
