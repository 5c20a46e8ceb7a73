"""Data files of tasks, links, labelled maps and text that are wrong."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from darksecrets.core.run.files import RESOURCES
from inputs.cases import Case, Config, run, write

HEADER = "sentence\tlabel\n"
GOOD = HEADER + "".join(f"text {i}\t{i % 2}\n" for i in range(40))
OTHER = HEADER + "".join(f"more {i}\t{i % 2}\n" for i in range(40))


def glue(
    folder: Path, train: str | bytes = GOOD, dev: str | bytes = OTHER, **keys: object
) -> Config:
    """A run of SST-2 from a folder in the classic layout."""
    write(folder, "glue/SST-2/train.tsv", train)
    write(folder, "glue/SST-2/dev.tsv", dev)
    return run(data={"source": "tsv", "folder": str(folder / "glue")}, tasks=["SST-2"], **keys)


def _row(name: str, row: str | bytes, *words: str) -> Case:
    """One wrong row after 40 right ones, in line 42."""
    content = OTHER.encode() + (row if isinstance(row, bytes) else row.encode()) + b"\n"
    return Case(f"row: {name}", lambda f: glue(f, dev=content), ("dev.tsv, line 42", *words))


def _train(name: str, content: str | bytes, *words: str) -> Case:
    return Case(f"train: {name}", lambda f: glue(f, train=content), ("train.tsv", *words))


def _without(name: str) -> Callable[[Path], Config]:
    def make(folder: Path) -> Config:
        config = glue(folder)
        (folder / "glue" / "SST-2" / name).unlink()
        return config

    return make


def _place(folder: Path, value: str) -> Config:
    return run(data={"source": "tsv", "folder": value}, tasks=["SST-2"])


TSV = [
    _row("too few fields", "no tab", "1 tab-separated fields", "instead of 2"),
    _row("too many fields", "a\tb\t1", "3 tab-separated fields"),
    _row("another label", "fine\t7", "'7'", "negative or positive"),
    _row("an empty label", "fine\t", "label ''"),
    _row("a label of a space", "fine\t 1", "' 1'"),
    _row("a label of 1.0", "fine\t1.0", "'1.0'"),
    _row("a label in another case", "fine\tPositive", "'Positive'"),
    _row("no text", "\t1", "'sentence' is empty"),
    _row("spaces", "  \t1", "'sentence' is empty"),
    _row("NUL", "\0\0\t1", "shows nothing"),
    _row("zero-width spaces", "\u200b\u200d\t1", "shows nothing"),
    _row("fillers of Hangul and Braille", "\u3164\u2800\uffa0\t1", "shows nothing"),
    _row("a soft hyphen", "\u00ad\t1", "shows nothing"),
    _row("no-break spaces", "\u00a0\u2003\t1", "is empty"),
    _row("a byte-order mark", "\ufeff\t1", "shows nothing"),
    _row("marks of direction", "\u202a\u202c\t1", "shows nothing"),
    _row("a bell", "\a\t1", "shows nothing"),
    _row("a line separator", "\u2028\t1", "is empty"),
    _row("Latin-1", b"caf\xe9\t1", "not UTF-8"),
    _row("half of a character", b"\xed\xa0\x80\t1", "not UTF-8"),
    _row("an empty line between", "\nlast\t1", "1 tab-separated fields"),
    _train("empty", "", "the file is empty"),
    _train("line breaks", "\n\n\n", "the file is empty"),
    _train("only a header", HEADER, "no examples after the header"),
    _train("no header", "a\t1\nb\t0\n", "no column 'sentence'", "line 1"),
    _train("another header", "text\tlabel\na\t1\n", "no column 'sentence'"),
    _train("a column twice", "sentence\tsentence\tlabel\na\tb\t1\n", "more than one column"),
    _train("commas", "sentence,label\na,1\n", "no column 'sentence'"),
    _train("a binary", bytes(range(256)) * 4, "not UTF-8"),
    _train("UTF-16", GOOD.encode("utf-16"), "not UTF-8"),
    _train("gzip", b"\x1f\x8b\x08\x00" + bytes(100), "not UTF-8"),
    _train("one class", HEADER + "a\t1\n" * 40, "no example has the label negative"),
    _train("one row", HEADER + "a\t1\n", "no example has the label negative"),
    _train("NUL", GOOD + "\0\t1\n", "line 42", "shows nothing"),
    Case(
        "validation: one class",
        lambda f: glue(f, dev=HEADER + "a\t1\n" * 40),
        ("dev.tsv", "all 40 examples have the label 1", "two different labels"),
    ),
    Case(
        "validation: one row",
        lambda f: glue(f, dev=HEADER + "a\t1\n"),
        ("dev.tsv", "all 1 examples"),
    ),
    Case(
        "validation: one text",
        lambda f: glue(f, dev=HEADER + "".join(f"a\t{i % 2}\n" for i in range(40))),
        ("dev.tsv", "all 40 examples have the text 'a'", "tasks.SST-2.text"),
    ),
    _train("one text", HEADER + "a\t0\na\t1\n" * 20, "all 40 examples have the text 'a'"),
    Case("no training file", _without("train.tsv"), ("train.tsv", "there is no file")),
    Case("no validation file", _without("dev.tsv"), ("dev.tsv", "there is no file")),
    Case(
        "no folder", lambda f: _place(f, str(f / "none")), ("data.folder", "none", "no such folder")
    ),
    Case("an empty folder", lambda f: _place(f, str(f)), ("data.folder", "no files of SST-2")),
    Case(
        "a file as folder",
        lambda f: _place(f, str(write(f, "glue", "x"))),
        ("data.folder", "no such folder"),
    ),
    Case("a folder with braces", lambda f: _place(f, "a {b}"), ("data.folder", "'a {b}'", "brace")),
    Case("a folder with NUL", lambda f: _place(f, "a\0b"), ("data.folder",)),
    Case("a folder of a long name", lambda f: _place(f, "x" * 300), ("x" * 300, "cannot be read")),
    Case(
        "a folder as file",
        lambda f: [(f / "glue/SST-2/train.tsv").mkdir(parents=True), _place(f, str(f / "glue"))][1],
        ("SST-2",),
    ),
]


def own(
    folder: Path,
    name: str,
    train: str | bytes,
    validation: str | bytes | None = None,
    **keys: object,
) -> Config:
    """A run of a task of the user's, from two files of a kind."""
    files = {
        "train": str(write(folder, f"train.{name}", train)),
        "validation": str(
            write(folder, f"dev.{name}", train if validation is None else validation)
        ),
    }
    entry = {"text": "t", "label": "l", "labels": ["no", "yes"], "metrics": "accuracy"}
    entry = {k: v for k, v in (entry | keys).items() if v is not None}
    return run(tasks={"Mine": {**entry, "files": files}})


_LINES = [{"t": f"text {i}", "l": ("no", "yes")[i % 2]} for i in range(40)]
_JSONL = "".join(json.dumps(line) + "\n" for line in _LINES)
_CSV = "t,l\n" + "".join(f"{line['t']},{line['l']}\n" for line in _LINES)
_NUMBERS = "t\tl\n" + "".join(f"text {i}\t{i / 10}\n" for i in range(40))


def _json(name: str, line: str | bytes, *words: str) -> Case:
    content = _JSONL.encode() + (line if isinstance(line, bytes) else line.encode()) + b"\n"
    return Case(
        f"JSON: {name}", lambda f: own(f, "jsonl", content), ("train.jsonl, line 41", *words)
    )


def _csv(name: str, row: str, *words: str) -> Case:
    return Case(
        f"CSV: {name}", lambda f: own(f, "csv", f"{_CSV}{row}\n"), ("train.csv, line 42", *words)
    )


def _number(name: str, label: str) -> Case:
    content = f"{_NUMBERS}text\t{label}\n"
    keys = {"labels": None, "range": [0, 5], "metrics": "pearson"}
    words = ("train.tsv, line 42", "from 0 to 5")
    return Case(f"number: {name}", lambda f: own(f, "tsv", content, **keys), words)


OTHERS = [
    _json("an open brace", '{"t": "a"', "not valid JSON"),
    _json("a key twice", '{"t": "a", "t": "b", "l": "no"}', "'t' has several values"),
    _json("a list", '["a", "no"]', "is not an object"),
    _json("a number", "5", "is not an object"),
    _json("no label", '{"t": "a"}', "no column 'l'"),
    _json("no text", '{"l": "no"}', "no column 't'"),
    _json("a text that is null", '{"t": null, "l": "no"}', "expected a text"),
    _json("a text that is a number", '{"t": 5, "l": "no"}', "expected a text"),
    _json("a label that is null", '{"t": "a", "l": null}', "'null'"),
    _json("a label that is a list", '{"t": "a", "l": ["no"]}', "no or yes"),
    _json("a label that is true", '{"t": "a", "l": true}', "'true'"),
    _json("half of a character", '{"t": "a\\ud800", "l": "no"}', "half of a character"),
    _json("half of a character alone", '{"t": "\\udfff", "l": "no"}', "half of a character"),
    _json("deep", '{"t": "a", "l": ' + "[" * 5000 + "]" * 5000 + "}", "not valid JSON"),
    _json("a long number", '{"t": "a", "l": ' + "9" * 5000 + "}", "not valid JSON"),
    _json("zero-width", '{"t": "\\u200b", "l": "no"}', "shows nothing"),
    _json("Latin-1", b'{"t": "\xe9", "l": "no"}', "not UTF-8"),
    _json("two objects", '{"t": "a", "l": "no"} {}', "not valid JSON"),
    _csv("too many fields", "a,b,no", "3 comma-separated fields"),
    _csv("an open quote", '"a,no', "not valid CSV"),
    _csv("a quote inside", '"a"b,no', "not valid CSV"),
    _csv("another label", "a,maybe", "'maybe'"),
    _csv("no text", ",no", "is empty"),
    _number("above", "5.1"),
    _number("below", "-0.1"),
    _number("NaN", "nan"),
    _number("infinity", "inf"),
    _number("a word", "high"),
    _number("a comma", "2,5"),
    _number("empty", ""),
    Case(
        "number: all the same",
        lambda f: own(
            f,
            "tsv",
            "t\tl\n" + "a\t1\n" * 40,
            _NUMBERS,
            labels=None,
            range=[0, 5],
            metrics="pearson",
        ),
        ("train.tsv", "expected different labels"),
    ),
    Case("JSON: empty", lambda f: own(f, "jsonl", ""), ("train.jsonl", "empty")),
    Case(
        "CSV: no header", lambda f: own(f, "csv", "a,no\nb,yes\n"), ("train.csv", "no column 't'")
    ),
    Case(
        "columns that the file does not have",
        lambda f: own(f, "tsv", "a\tno\nb\tyes\n", columns=["t", "l", "more"]),
        ("train.tsv, line 1", "instead of 3"),
    ),
    Case(
        "a class without examples",
        lambda f: own(f, "csv", _CSV, labels=["no", "yes", "maybe"]),
        ("train.csv", "no example has the label maybe"),
    ),
    Case(
        "other classes",
        lambda f: own(f, "csv", _CSV, labels=["good", "bad"]),
        ("train.csv, line 2", "'no'", "good or bad"),
    ),
]

LINKS_HEADER = "sentence\ttarget\tcore_elements\n"
LINK = "Kim and the old man sat and slept\tslept\tKim\n"


def links(folder: Path, content: str | bytes) -> Config:
    """A run with a file of links."""
    return run(framenet={"source": "tsv", "path": str(write(folder, "links.tsv", content))})


def _link(name: str, row: str | bytes, *words: str) -> Case:
    content = (
        (LINKS_HEADER + LINK).encode() + (row if isinstance(row, bytes) else row.encode()) + b"\n"
    )
    return Case(f"link: {name}", lambda f: links(f, content), ("links.tsv, line 3", *words))


def _links(name: str, content: str | bytes, *words: str) -> Case:
    return Case(f"links: {name}", lambda f: links(f, content), ("links.tsv", *words))


LINKS = [
    _link("a word that is not there", "Kim slept .\tslept\tTom", "'Tom' is not among"),
    _link("a target that is not there", "Kim slept .\twoke\tKim", "'woke' is not among"),
    _link("a part of a word", "Kimberly slept .\tslept\tKim", "'Kim' is not among"),
    _link("another case", "Kim slept .\tslept\tkim", "'kim' is not among"),
    _link("an ambiguous element", "he sat and slept , so he\tslept\the", "more than once"),
    _link("an element twice", "Kim and Tom sat\tsat\tKim|Kim", "'Kim' stands there more than once"),
    _link(
        "an element in many places", "a " * 12 + "b\tb\t" + "|".join(["a"] * 12), "more than once"
    ),
    _link("many places of two", "a c " * 300 + "b\tb\ta|c|zzz", "'zzz' is not among"),
    _link("no element", "Kim slept .\tslept\t", "is not sentence, target, core_elements"),
    _link("an empty element", "Kim and Tom slept .\tslept\tKim|", "'' is not among"),
    _link("a space as element", "Kim and Tom slept .\tslept\t ", "is not among"),
    _link("one word many times", "he " * 6000 + "nods\tnods\the", "are not one sentence"),
    _link("two fields", "Kim slept .\tslept", "is not sentence, target, core_elements"),
    _link("four fields", "Kim slept .\tslept\tKim\tx", "with a tab between"),
    _link("an empty line", "\n" + LINK, "is not sentence, target"),
    _link("Latin-1", b"Kim \xe9\tKim\tx", "not UTF-8"),
    _links("empty", "", "empty"),
    _links("no header", LINK, "expected the tab-separated header"),
    _links("another header", "a\tb\tc\n" + LINK, "expected the tab-separated header"),
    _links(
        "a header with commas", "sentence,target,core_elements\n" + LINK, "tab-separated header"
    ),
    _links("only a header", LINKS_HEADER, "no sentence passes"),
    _links("none to keep", LINKS_HEADER + "Kim slept .\tslept\tKim\n", "no sentence passes"),
    _links("binary", bytes(range(256)), "not UTF-8"),
    _links("UTF-16", (LINKS_HEADER + LINK).encode("utf-16"), "not UTF-8"),
    Case(
        "links: no file",
        lambda f: run(framenet={"source": "tsv", "path": str(f / "none.tsv")}),
        ("none.tsv", "no such file", "framenet.path"),
    ),
    Case(
        "links: a folder",
        lambda f: run(framenet={"source": "tsv", "path": str(f)}),
        ("no such file", "framenet.path"),
    ),
    Case(
        "FrameNet: a folder without it",
        lambda f: run(framenet={"source": "nltk", "path": str(f)}),
        ("has no frameIndex",),
    ),
    Case(
        "FrameNet: no folder",
        lambda f: run(framenet={"source": "nltk", "path": str(f / "none")}),
        ("none",),
    ),
]


def labelled(folder: Path) -> Path:
    """A copy of a few labelled maps that ship: those of border-line cases."""
    copy = folder / "set"
    shutil.copytree(RESOURCES / "patterns" / "borderline", copy)
    return copy


def _no_labels(folder: Path) -> Path:
    file = labelled(folder) / "labels.csv"
    file.write_bytes(file.read_bytes().split(b"\n")[0] + b"\n")
    return file.parent


def _maps(name: str, file: str, change: Callable[[bytes], bytes | None], *words: str) -> Case:
    """A set of labelled maps of which one file is changed; removed, if it becomes None."""

    def make(folder: Path) -> Config:
        path = labelled(folder) / file
        content = change(path.read_bytes())
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        return run(patterns={"annotations": [str(path.parent)], "folds": 2})

    return Case(f"{file}: {name}", make, (file, *words))


def _replace(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old.encode(), new.encode(), 1)


def _archive(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


LABELLED = [
    _maps("missing", "maps.npz", lambda _: None, "missing"),
    _maps("empty", "maps.npz", lambda _: b"", "0 bytes", "Restore"),
    _maps("cut in half", "maps.npz", lambda c: c[: len(c) // 2], "not a complete file"),
    _maps("one byte short", "maps.npz", lambda c: c[:-1], "not a complete file"),
    _maps("text", "maps.npz", lambda _: b"hello" * 50, "not a complete file"),
    _maps(
        "a flipped byte",
        "maps.npz",
        lambda c: c[:900] + bytes([c[900] ^ 255]) + c[901:],
        "not a complete",
    ),
    _maps(
        "another array", "maps.npz", lambda _: _archive(maps=np.zeros(3)), "`values`", "['maps']"
    ),
    _maps("too few numbers", "maps.npz", lambda _: _archive(values=np.zeros(3)), "has 3 numbers"),
    _maps("a single array", "maps.npz", lambda _: _npy(np.zeros(3)), "maps.npz"),
    _maps(
        "an array of objects",
        "maps.npz",
        lambda _: _archive(values=np.array([{}])),
        "not a complete",
    ),
    _maps("missing", "maps.csv", lambda _: None, "missing"),
    _maps("empty", "maps.csv", lambda _: b"", "instead of"),
    _maps("cut in half", "maps.csv", lambda c: c[: len(c) // 2], "maps.csv"),
    _maps("Latin-1", "maps.csv", lambda c: c.replace(b"[CLS]", b"[\xe9]", 1), "maps.csv"),
    _maps("other columns", "maps.csv", _replace("map,", "name,"), "the columns are"),
    _maps("only a header", "maps.csv", lambda c: c.split(b"\n")[0] + b"\n", "no rows"),
    _maps("missing", "labels.csv", lambda _: None, "missing", "Label the maps"),
    _maps("other columns", "labels.csv", _replace("label,", "class,"), "the columns are"),
    _maps(
        "a class that does not exist",
        "labels.csv",
        _replace(",vertical,", ",horizontal,"),
        "horizontal",
    ),
    _maps("Latin-1", "labels.csv", lambda c: c.replace(b",vertical,", b",\xe9,", 1), "labels.csv"),
    _maps(
        "a map that does not exist", "labels.csv", lambda c: _first_map(c, b"nowhere"), "nowhere"
    ),
    _maps("UTF-16", "labels.csv", lambda c: c.decode().encode("utf-16"), "labels.csv"),
    _maps("binary", "labels.csv", lambda _: bytes(range(256)), "labels.csv"),
    Case(
        "labelled maps: no folder",
        lambda f: run(patterns={"annotations": [str(f / "none")]}),
        ("patterns.annotations", "none"),
    ),
    Case(
        "labelled maps: no label",
        lambda f: run(patterns={"annotations": [str(_no_labels(f))], "folds": 2}),
        ("set: the maps have no label",),
    ),
    Case(
        "labelled maps: an empty folder",
        lambda f: run(patterns={"annotations": [str(f)]}),
        ("labels.csv",),
    ),
    Case(
        "labelled maps: a set twice",
        lambda f: run(patterns={"annotations": [str(labelled(f)), f"{f}/./set"], "folds": 2}),
        ("is in two sets",),
    ),
    Case(
        "labelled maps: more folds than examples",
        lambda f: run(patterns={"annotations": [str(labelled(f))], "folds": 500}),
        ("too few examples", "500 folds"),
    ),
]


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _first_map(content: bytes, name: bytes) -> bytes:
    """Labels whose first row is of another map."""
    header, first, *rest = content.split(b"\n")
    return b"\n".join([header, name + b"," + first.split(b",", 1)[1], *rest])


def _text(name: str, text: object, *words: str, **keys: object) -> Case:
    return Case(f"text: {name}", lambda _: run(text=text, **keys), words, looking=True)


TEXTS = [
    _text("none", None, "needs text", "docs/inspect.md"),
    _text("empty", "", "no sentence"),
    _text("spaces", "  ", "no sentence"),
    _text("a file that is not there", "none.txt", "none.txt", "is not there"),
    _text("three sentences", ["one", "a ||| b ||| c"], "example 2", "3 sentences"),
    _text("one and two", ["one", "a ||| b"], "example 2 has 2"),
    _text("a number", 5, "5 (int)", "in quotes"),
    _text("true", True, "True (bool)"),
    _text("a mapping", {"Yes": "it is"}, "YAML reads"),
    _text("a number in a list", ["one", 2], "example 2: 2 is no text"),
    _text("an empty list", [], "no sentence"),
    _text("an empty sentence", ["one", ""], "example 2", "sentence is empty"),
    _text("half of a pair", "one |||", "sentence is empty"),
    _text("zero-width", ["one", "\u200b"], "example 2", "finds no token"),
    _text("half of a character", ["a\ud800"], "half of a character"),
    _text("nested", [[["a"]]], "example 1"),
    _text("too many tokens for the model", "one", "takes at most", fine_tuning={"max_length": 512}),
    Case(
        "text: a file in Latin-1",
        lambda f: run(text=str(write(f, "text.txt", b"caf\xe9\n"))),
        ("text.txt", "UTF-8"),
        looking=True,
    ),
    Case("text: a folder", lambda f: run(text=f"{f}/"), ("is a folder",), looking=True),
]

CASES = [*TSV, *OTHERS, *LINKS, *LABELLED, *TEXTS]
