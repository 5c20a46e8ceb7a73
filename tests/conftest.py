"""Fixtures of all tests."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

# Workers that run side by side have a core each: threads that share cores wait for each other.
# NumPy, which the next imports load, reads it once.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hub import content
from hub.client import ROOT, Client
from hub.standin import Hub, Repository, serving

#: Fixtures that start other programs: tests that use one are slow.
PROGRAMS = {"call_snakemake", "client"}


#: Files that take longest, which start first so that no worker is left with one at the end.
LONGEST = {
    "test_adversaries.py",
    "test_atlas_in_browser.py",
    "test_dag.py",
    "test_labelling_in_browser.py",
    "test_module.py",
    "test_paper_run.py",
    "test_removal.py",
    "test_resources.py",
    "test_style.py",
    "test_sweep.py",
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that start other programs by a fixture as slow; put the longest files first."""
    for item in items:
        if PROGRAMS & {*getattr(item, "fixturenames", ())}:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.path.name not in LONGEST)


RESULTS = f"{ROOT}/results/"
"""Results of the checkout: no test may read or write them."""
FILE_EVENTS = {"open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename"}
opened_in_checkout: list[str] = []


def note_use_of_checkout(event: str, arguments: tuple) -> None:
    """Note files in the checkout's results that this process opens; an audit hook of Python."""
    if event in FILE_EVENTS and isinstance(arguments[0], str | os.PathLike):
        path = os.path.abspath(os.fspath(arguments[0]))  # noqa: PTH100 - pathlib calls this hook
        if isinstance(path, str) and path.startswith(RESULTS) and Path(path).name != "README.md":
            opened_in_checkout.append(f"{event} {path}")


sys.addaudithook(note_use_of_checkout)


@pytest.fixture(autouse=True)
def checkout_is_left_alone() -> Iterator[None]:
    """Fail a test that uses results of the checkout: they differ from one machine to the next."""
    opened_in_checkout.clear()
    yield
    assert not opened_in_checkout, "results of the checkout are the user's: use another folder"


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Folder of the real data; tests that need it are skipped without it."""
    folder = os.environ.get("DARKSECRETS_TEST_DATA")
    if not folder:
        pytest.skip("DARKSECRETS_TEST_DATA does not name a folder of real data")
    return Path(folder)


@pytest.fixture(scope="session")
def glue_repository() -> Repository:
    """A small GLUE repository, as on the Hub."""
    return content.glue()


@pytest.fixture(scope="session")
def bert_repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A tiny BERT repository, as on the Hub."""
    return content.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def hub(glue_repository: Repository) -> Iterator[Hub]:
    """The stand-in for the Hub, with a small GLUE; append other repositories to serve them."""
    with serving([glue_repository]) as running:
        yield running


@pytest.fixture
def client(hub: Hub, tmp_path: Path) -> Client:
    """A client of the stand-in with an empty cache."""
    return Client(tmp_path / "huggingface", hub.endpoint)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture
def clone(root: Path, tmp_path: Path) -> Path:
    """A copy of the project as it is: tracked files, and untracked ones that are not ignored."""
    copy = tmp_path / "project"
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    for name in listed.strip("\0").split("\0"):
        if (root / name).is_file():  # not deleted
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy / name)
    return copy


@pytest.fixture(scope="session")
def call_snakemake(tmp_path_factory) -> Iterator[Callable[..., subprocess.CompletedProcess]]:
    """Call Snakemake with arguments, in a folder, as a user does."""
    files = tmp_path_factory.mktemp("snakemake")
    output, errors = files / "stdout", files / "stderr"
    server = Path(__file__).with_name("snakemake_server.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}

    def call(
        arguments: Sequence[str], folder: Path, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess:
        for file in (output, errors):
            file.write_text("")
        request = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(folder),
            "environment": dict(environment or os.environ),
            "stdout": str(output),
            "stderr": str(errors),
        }
        print(json.dumps(request), file=process.stdin, flush=True)
        answer = process.stdout.readline()
        assert answer, f"the server of Snakemake ended with code {process.wait()}"
        return subprocess.CompletedProcess(
            arguments, int(answer), output.read_text(), errors.read_text()
        )

    # A folder with a short name: addresses of sockets have at most 103 characters.
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([sys.executable, server, folder], **pipes) as process,
    ):
        yield call
        process.stdin.close()  # it ends, then


@pytest.fixture(scope="session")
def snakemake(root, call_snakemake) -> Callable[..., subprocess.CompletedProcess]:
    """Call Snakemake on the project's workflow, with results in another folder."""

    def call(
        folder: Path,
        *arguments: str,
        config: str,
        check: bool = True,
        root: Path = root,
        environment: dict[str, str] | None = None,
    ):
        places = ("--snakefile", root / "Snakefile", "--directory", folder, "--cores", "2")
        run = call_snakemake(
            [*arguments, "--configfile", config, *places], root, environment=environment
        )
        assert not check or run.returncode == 0, run.stdout + run.stderr
        return run

    return call
