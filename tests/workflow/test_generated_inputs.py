"""Generated input either is right or is refused with one message: nothing else ever comes.

Configurations come from the schema itself, and from it with one value replaced by anything; files
are bytes, lines and right files with a damaged part. The number of examples is small, so that the
tests take seconds; more come with ``pytest --hypothesis-profile=long``.
"""

import contextlib
import copy
import datetime
import json
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from inputs import data
from inputs.cases import run

from darksecrets.core.data import files, preflight
from darksecrets.core.models import checkpoints
from darksecrets.core.models.selectors import Shape
from darksecrets.core.run.errors import InputError
from darksecrets.paper.framenet import sources as links
from darksecrets.paper.patterns.__main__ import main
from workflow.lib import configuration

SCHEMA = configuration.load_schema()
RIGHT = configuration.resolve(run())
settings.register_profile("long", max_examples=2000, deadline=None)
few = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    database=None,
)
THOROUGH = pytest.mark.thorough
SECONDS = 5.0
"""No answer takes longer, however large or deep the input."""


def nested(depth):
    """A list in a list, and so on."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


ODD = [
    10**400,
    -(10**400),
    float("1e308"),
    "1e400",
    "1-" + "9" * 400,
    "0" * 10**6,
    "../../etc",
    "/proc/self/mem",
    "/dev/zero",
    "a\nb",
    "a\x00b",
    "\ud800",
    "{x}",
    "{wildcards.task}",
    "$(touch here)",
    "<project>/../..",
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1),
    b"bytes",
    {1: 2, "1": 3},
    {None: {}},
    {(1, 2): 3},
    {"a", "b"},
    nested(400),
    list(range(50)),
]
ANYTHING = st.sampled_from(ODD) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
NUL_FREE = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def paths(schema, prefix=()):
    """Every key of the schema, as a path."""
    for name, part in schema.get("properties", {}).items():
        yield (*prefix, name)
        yield from paths(part, (*prefix, name))


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Fail the test if a ``with`` block takes longer than an answer may."""

    def stop(*_: object) -> None:
        raise AssertionError(f"no answer within {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def refused(function, *arguments):
    """The message of an `InputError`, if there is one; any other error fails the test.

    So does an answer that does not come in time, or is too long to be read.
    """
    message = ""
    try:
        with limited():
            function(*arguments)
    except InputError as error:
        message = str(error) or "an empty message"
    assert len(message) < 10**4
    assert message != "an empty message"
    return message


def no_resolving_references(schema):
    """The schema of a section that hypothesis-jsonschema can draw from."""
    return {key: value for key, value in schema.items() if not key.startswith("$")}


@few
@given(from_schema(no_resolving_references(SCHEMA)))
def test_a_configuration_from_the_schema_is_resolved_or_refused(config):
    message = refused(configuration.resolve, config)
    if not message:
        resolved = configuration.resolve(config)
        assert configuration.resolve(resolved) == resolved


@few
@given(st.sampled_from(sorted(paths(SCHEMA))), ANYTHING)
def test_one_value_may_be_anything(path, value):
    config = copy.deepcopy({k: v for k, v in RIGHT.items() if k != "tasks"} | {"tasks": ["RTE"]})
    part = config
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    message = refused(configuration.resolve, config)
    if message and "not valid" in message:
        assert path[0] in message or "tasks" in message or "seeds" in message or "source" in message


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=THOROUGH) for n in range(1, 9))])
def test_every_key_may_be_odd(first):
    """Each key has other values than the next, so that each value is one of many keys."""
    for number, path in enumerate(sorted(paths(SCHEMA))):
        for value in ODD[(first + number) % 9 :: 9]:
            config = copy.deepcopy(run())
            part = config
            for name in path[:-1]:
                part = part.setdefault(name, {})
            part[path[-1]] = value
            refused(configuration.resolve, config)


@few
@given(
    st.dictionaries(
        st.none() | st.integers() | st.text(max_size=10), ANYTHING, min_size=1, max_size=4
    )
)
def test_unknown_keys_are_refused(keys):
    if set(keys) - set(SCHEMA["properties"]):
        message = refused(configuration.resolve, run() | keys)
        assert "not valid" in message


def _damaged(text):
    """A right file with a part replaced."""
    content = text.encode()
    places = st.integers(0, len(content))
    return st.tuples(places, places, st.binary(max_size=20)).map(
        lambda drawn: content[: min(drawn[:2])] + drawn[2] + content[max(drawn[:2]) :]
    )


@few
@given(st.binary(max_size=200) | _damaged(data.GOOD))
def test_data_files_may_hold_anything(content):
    with tempfile.TemporaryDirectory() as folder:
        config = configuration.resolve(data.glue(Path(folder), content))
        message = refused(preflight.check, config)
    assert not message or "train.tsv" in message


@few
@given(st.sampled_from(files.SUFFIXES), st.binary(max_size=200) | NUL_FREE.map(str.encode))
def test_rows_of_any_file_are_read_or_refused(suffix, content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"rows{suffix}"
        file.write_bytes(content)
        message = refused(files.read, file, ["t", "l"])
    assert not message or str(file) in message


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


@few
@given(st.lists(st.fixed_dictionaries({"t": _JSON, "l": _JSON}), min_size=1, max_size=3))
def test_every_line_of_json_is_read_or_has_a_flaw(lines):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)))
        rows = files.read(file, ["t", "l"])
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        assert bool(row.flaw) or row.values[0] == line["t"]


_WORDS = st.lists(st.sampled_from(["a", "b", "c", "the", "é"]), min_size=1, max_size=14).map(
    " ".join
)
_ROWS = st.tuples(_WORDS, _WORDS, st.lists(_WORDS, min_size=1, max_size=3).map("|".join))


@few
@given(
    st.lists(_ROWS.map("\t".join), max_size=3)
    | _damaged(data.LINK).map(lambda c: [c.decode("latin-1")])
)
def test_links_are_read_or_refused(rows):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "links.tsv"
        file.write_text(data.LINKS_HEADER + "".join(f"{row}\n" for row in rows), "utf-8")
        message = refused(links.read_tsv, file)
    assert not message or "links.tsv" in message


@few
@given(st.text(max_size=20) | ANYTHING)
@example("1-999999999")
@example([[[[1]]]])
def test_a_selector_names_heads_that_exist_or_is_refused(selector):
    shape = Shape(layers=3, heads=4)
    with contextlib.suppress(InputError), limited():
        heads = shape.parse(selector)
        assert heads
        assert set(heads) <= {1, 2, 3}
        assert all(numbers <= {1, 2, 3, 4} for numbers in heads.values())
        assert shape.parse(shape.describe(heads)) == heads


@few
@given(st.binary(max_size=100) | _JSON.map(lambda value: json.dumps(value).encode()))
def test_settings_of_a_model_may_hold_anything(content):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_bytes(content)
        message = refused(checkpoints.read_settings, file)
        assert not message or str(file) in message
        refused(checkpoints.refuse_code, file)


@few
@given(NUL_FREE, st.integers(-5, 2**20), st.integers(-5, 9))
def test_arguments_of_make_label(name, port, number):
    arguments = ["check", f"--annotator={name}", f"--port={port}", f"--pass={number}"]
    try:
        code = main(arguments)
    except SystemExit as end:  # of argparse, which has said why
        code = end.code
    assert code in (0, 1, 2)
