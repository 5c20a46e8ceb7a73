"""Strange input that is right: none of it may be refused."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from shipped import DATA, MODEL

from darksecrets.core.run.files import RESOURCES
from inputs.cases import Case, Config, edit_json, nested, run, write
from inputs.data import GOOD, HEADER, LINK, LINKS_HEADER, OTHER, glue, links, own
from inputs.models import WEIGHTS, copied, of, pieces_of


def _key(path: str, value: object) -> Case:
    return Case(f"{path}={str(value)[:40]}", lambda _: nested(path, value))


KEYS = [
    *(_key("seeds", seeds) for seeds in ([0], [4294967295], [7, 3, 0], list(range(50)), ["5"])),
    *(
        _key("run", name)
        for name in ("0", "A", "a.b-c_d", "con", "1e5", "x" * 100, "None", "2020-01-01")
    ),
    _key("sampling_seed", 4294967295),
    _key("samples.size", 10**12),
    _key("samples.size", "40"),
    _key("fine_tuning.epochs", 10_000),
    _key("fine_tuning.learning_rate", "5e-4"),
    _key("fine_tuning.learning_rate", 1),
    _key("fine_tuning.warmup", 0),
    _key("fine_tuning.warmup", 1),
    _key("fine_tuning.weight_decay", 0.0),
    _key("fine_tuning.max_length", 8),
    _key("fine_tuning.batch_size", 100_000),
    _key("ablation.states", []),
    *(
        _key("ablation.sets", [selector])
        for selector in (
            *(1, "1-6", [[1, 2], 3], {"3": 1}, {3: [1, "2-4"], "4-5": "all"}, "all of layer 1"),
            "head 1 of every layer",
            "LAYER 3",
            "layer 3 heads 1, 4 + layer 5",
            "every layer",
        )
    ),
    _key("tasks", ["RTE"]),
    _key("tasks", {"RTE": None, "MRPC": {}}),
    _key("tasks", {"RTE": {"metrics": "balanced_accuracy", "seeds": [1, 5]}}),
    _key("gpu", 0),
    _key("gpu", "auto"),
    _key("threads", 1024),
    _key("inspect.parse", False),
    _key("model.id", "anything goes"),
]


def _yaml(name: str, content: str) -> Case:
    return Case(f"YAML: {name}", lambda folder: write(folder, "config.yaml", content))


_TOP = f"run: a\ndata: {json.dumps(DATA)}\nmodel: {json.dumps(MODEL)}\n"
FILES = [
    _yaml("CRLF", _TOP.replace("\n", "\r\n")),
    _yaml("a byte-order mark", "\ufeff" + _TOP),
    _yaml("a mark of the document", "---\n" + _TOP + "...\n"),
    _yaml("comments", "# ü\n" + _TOP + "# end"),
    _yaml("an anchor", _TOP + "seed_grid: &a {tasks: [RTE]}\nfaithfulness: *a\n"),
    _yaml(
        "merged keys",
        _TOP + "seed_grid: &a {tasks: [RTE]}\nfaithfulness:\n  <<: *a\n  examples: 100\n",
    ),
    _yaml(
        "a key over a merged one",
        _TOP + "seed_grid: &a {tasks: [RTE]}\nfaithfulness:\n  <<: *a\n  tasks: [MRPC]\n",
    ),
    _yaml(
        "equal keys in two sections",
        _TOP + "seed_grid: {tasks: [RTE]}\nfaithfulness: {tasks: [RTE]}\n",
    ),
    _yaml("quoted keys", _TOP.replace("run", '"run"')),
    _yaml("JSON", json.dumps(run(), indent=2)),
    _yaml("JSON with tabs", json.dumps(run(), indent="\t")),
    _yaml("sections that are empty", _TOP + "samples: {}\nablation: {}\n"),
    _yaml("a number with underscores", _TOP + "samples: {size: 1_000}\n"),
    _yaml("on without quotes", _TOP + "inspect: {parse: on}\n"),
    _yaml("escapes", _TOP.replace("run: a", 'run: "\\x61"')),
]

_SENTENCES = {
    "one word": "yes",
    "one letter": "a",
    "one sign": "?",
    "only signs": "?!... --",
    "an emoji": "😀",
    "a family of emoji": "👨\u200d👩\u200d👧",
    "Chinese": "你好",
    "Arabic": "مرحبا بالعالم",
    "a combining mark": "e\u0301te\u0301",
    "mathematics": "$x^{2$ and \\frac{1}",
    "a formula of a spreadsheet": "=1+1",
    "HTML": "<script>alert(1)</script> &amp;",
    "quotes": 'he said "no',
    "a quote alone": "'",
    "a tag of a template": "{{ 7 * 7 }} {wildcards.task} %s",
    "NUL inside": "a\0b",
    "zero-width inside": "zero\u200bwidth",
    "a carriage return inside": "one\rtwo",
    "a mark of direction": "\u202eabc",
    "null": "null",
    "NaN": "NaN",
    "a number": "42",
    "spaces around": "  a  ",
    "special tokens": "[CLS] [SEP] [PAD] [MASK]",
    "unknown letters": "ꙮ𒀀",
    "a long text": "word " * 20_000,
    "a long word": "x" * 20_000,
    "a backslash at the end": "a\\",
    "a no-break space": "a\u00a0b",
}


def _sentence(name: str, text: str) -> Case:
    return Case(f"sentence: {name}", lambda f: glue(f, dev=f"{OTHER}{text}\t1\n"))


def _labels(name: str, *values: object, given: object = None) -> Case:
    """Two classes of a task in JSON lines."""
    lines = [{"t": f"text {i}", "l": values[i % len(values)]} for i in range(40)]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    labels = list(values) if given is None else given
    return Case(f"labels: {name}", lambda f: own(f, "jsonl", content, labels=labels))


def _named(task: str) -> Callable[[Path], Config]:
    """A task of the user's with this name."""
    return lambda folder: run(tasks={task: own(folder, "csv", _CSV)["tasks"]["Mine"]})


def _numbers(name: str, *values: object) -> Case:
    content = "t\tl\n" + "".join(f"text {i}\t{values[i % len(values)]}\n" for i in range(40))
    keys = {"labels": None, "range": [-5, 5], "metrics": "spearman"}
    return Case(f"numbers: {name}", lambda f: own(f, "tsv", content, **keys))


_CSV = "t,l\na,no\nd,yes\n"
_LONG = '"' + "long, " * 40_000 + '"'
DATA = [
    *(_sentence(name, text) for name, text in _SENTENCES.items()),
    Case("TSV: CRLF", lambda f: glue(f, GOOD.replace("\n", "\r\n"), OTHER.replace("\n", "\r\n"))),
    Case("TSV: a byte-order mark", lambda f: glue(f, "\ufeff" + GOOD, "\ufeff" + OTHER)),
    Case("TSV: no line break at the end", lambda f: glue(f, GOOD[:-1], OTHER[:-1])),
    Case("TSV: empty lines at the end", lambda f: glue(f, GOOD + "\n\r\n\n")),
    Case("TSV: two rows", lambda f: glue(f, HEADER + "a\t0\nb\t1\n", HEADER + "c\t0\nd\t1\n")),
    Case("TSV: the same file twice", lambda f: glue(f, GOOD, GOOD)),
    Case("TSV: names of classes", lambda f: glue(f, HEADER + "a\tnegative\nb\t1\n")),
    Case("TSV: two texts", lambda f: glue(f, HEADER + "a\t0\nb\t1\n" * 9)),
    Case("TSV: more columns", lambda f: glue(f, "x\tlabel\tsentence\n1\t0\ta\n1\t1\tb\n")),
    Case("CSV: BOM and CRLF", lambda f: own(f, "csv", "\ufefft,l\r\na,no\r\nb,yes\r\n")),
    Case("CSV: line breaks in a field", lambda f: own(f, "csv", 't,l\n"a\nb, ""c""",no\nd,yes\n')),
    Case("CSV: a long field", lambda f: own(f, "csv", f"t,l\n{_LONG},no\nd,yes\n")),
    Case("CSV: empty lines", lambda f: own(f, "csv", "t,l\na,no\n\nd,yes\n\n")),
    Case("CSV: a header in quotes", lambda f: own(f, "csv", '"t","l"\na,no\nd,yes\n')),
    Case("CSV: no header", lambda f: own(f, "csv", "a,no\nd,yes\n", columns=["t", "l"])),
    Case(
        "CSV: columns with odd names",
        lambda f: own(f, "csv", "the text,=label\na,no\nd,yes\n", text="the text", label="=label"),
    ),
    Case(
        "JSON: other keys and CRLF",
        lambda f: own(f, "jsonl", '{"t":"a","l":"no","x":[]}\r\n{"l":"yes","t":"b"}\r\n'),
    ),
    Case(
        "JSON: escapes",
        lambda f: own(f, "jsonl", '{"t":"\\ud83d\\ude00","l":"no"}\n{"t":"b","l":"yes"}'),
    ),
    _labels("numbers from 0", 0, 1, given=["no", "yes"]),
    _labels("names that are numbers", "3", "7"),
    _labels("numbers as names", 3, 7),
    _labels("negative numbers", "-1", "1"),
    _labels("decimals", 0.5, 1.5),
    _labels("names with spaces", "not at all", "very much"),
    _labels("other letters", "nein ✗", "да"),
    _labels("emoji", "😀", "😢"),
    _labels("formulas", "=1+1", "@home"),
    _labels("mathematics", "$x^{2$", "$y$"),
    _labels("words of YAML", "yes", "no"),
    _labels("null and NaN as text", "null", "NaN"),
    _labels("true and false", True, False, given={"true": "good", "false": "bad"}),
    _labels("cases", "A", "a"),
    _labels("markup", "<b>", "</script>"),
    _labels("braces", "{x}", "{wildcards.task}"),
    _labels("decimals as names", "1.0", "0.0"),
    _labels("accents", "é", "e"),
    _labels("long", "x" * 500, "y" * 500),
    _labels("many", *(f"class {i}" for i in range(40))),
    _labels("values to names", 1, 2, given={1: "low", 2: "high"}),
    _numbers("integers", 0, 5),
    _numbers("bounds", -5, 5),
    _numbers("scientific", "1e0", "-2.5E-3"),
    _numbers("spaces", " 1", "2 "),
    _numbers("a sign", "+1", "-0"),
    _numbers("many decimals", "0.1234567890123456789", 1),
    *(
        Case(f"task: {name}", _named(name))
        for name in ("a.b", "x+y", "1", "A-B_C", "x" * 30, "null", "train")
    ),
]


def _moved(name: str) -> Callable[[Path], Config]:
    """Data, links and a model below a folder of an odd name."""

    def make(folder: Path) -> Config:
        odd = folder / name
        odd.mkdir()
        config = glue(odd) | {"framenet": links(odd, LINKS_HEADER + LINK)["framenet"]}
        return config | of(copied(odd)) | {"data": config["data"]} | {"tasks": config["tasks"]}

    return make


def _linked(folder: Path) -> Config:
    config = glue(folder)
    (folder / "linked").symlink_to(folder / "glue")
    return config | {"data": {"source": "tsv", "folder": str(folder / "linked")}}


PATHS = [
    *(
        Case(f"path: {name}", _moved(name))
        for name in (
            "with spaces",
            "Müller 你好",
            "$HOME",
            "a'b\"c",
            "#1",
            "-x",
            "a=b;c",
            "%s",
            "x" * 200,
        )
    ),
    Case("path: a link", _linked),
]


def _link(name: str, row: str) -> Case:
    return Case(f"links: {name}", lambda f: links(f, LINKS_HEADER + LINK + row))


LINKS = [
    Case("links: CRLF", lambda f: links(f, (LINKS_HEADER + LINK).replace("\n", "\r\n"))),
    Case("links: a byte-order mark", lambda f: links(f, "\ufeff" + LINKS_HEADER + LINK)),
    Case("links: no line break at the end", lambda f: links(f, (LINKS_HEADER + LINK)[:-1])),
    Case("links: empty lines at the end", lambda f: links(f, LINKS_HEADER + LINK + "\n\n")),
    _link("a word twice, one nearer", "she and then she and he slept\tslept\tshe\n"),
    _link("two elements", "Kim gave the old man a book\tgave\tman|book\n"),
    _link("an element of three words", "the old man and his dog slept\tslept\tthe old man\n"),
    _link("a long sentence", "word " * 300 + "Kim and he slept\tslept\tKim\n"),
    _link("one word many times", "a c " * 2000 + "zz b\tb\ta\n"),
    _link("other letters", "Müller und der Hund schliefen\tschliefen\tMüller\n"),
    _link("a formula", "=1+1 and the rest slept\tslept\t=1+1\n"),
    _link("signs", "$x^{2$ is what he saw\tsaw\t$x^{2$\n"),
    _link("neighbours, which are not kept", "Kim slept\tslept\tKim\n"),
]


def _shipped(folder: Path) -> Path:
    """A copy of the labelled maps that ship."""
    for name in ("maps.npz", "maps.csv", "labels.csv"):
        write(folder, f"set/{name}", (RESOURCES / "patterns" / name).read_bytes())
    return folder / "set"


def _labelled(name: str, change: Callable[[Path], object]) -> Case:
    def make(folder: Path) -> Config:
        found = _shipped(folder)
        return run(patterns={"annotations": [str(change(found) or found)]})

    return Case(f"labelled maps: {name}", make)


def _rewritten(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def rewrite(folder: Path) -> None:
        file = folder / "labels.csv"
        file.write_bytes(change(file.read_bytes()))

    return rewrite


_CRLF = (b"\n", b"\r\n")
LABELLED = [
    _labelled("a copy", lambda folder: folder),
    _labelled("a folder with spaces", lambda folder: folder.rename(folder.with_name("my maps"))),
    _labelled("another file", lambda folder: (folder / "notes.txt").touch()),
    _labelled("CRLF", _rewritten(lambda content: content.replace(*_CRLF))),
    _labelled("no line break at the end", _rewritten(bytes.rstrip)),
    _labelled("saved by a spreadsheet", _rewritten(lambda c: b"\xef\xbb\xbf" + c.replace(*_CRLF))),
]


def _model(name: str, change: Callable[[Path], object]) -> Case:
    def make(folder: Path) -> Config:
        model = copied(folder)
        change(model)
        return of(model)

    return Case(f"model: {name}", make)


def _tensors(
    change: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]],
) -> Callable[[Path], None]:
    def rewrite(model: Path) -> None:
        save_file(change(load_file(model / WEIGHTS)), model / WEIGHTS, metadata={"format": "pt"})

    return rewrite


def _sharded(model: Path) -> None:
    from transformers import AutoModel

    encoder = AutoModel.from_pretrained(model)
    (model / WEIGHTS).unlink()
    encoder.save_pretrained(model, max_shard_size="2MB")


def _padded(model: Path) -> None:
    """Embeddings for some word pieces more, as models have them for round numbers."""
    name = "bert.embeddings.word_embeddings.weight"
    rows = np.zeros((37, 192), dtype=np.float32)
    _tensors(lambda t: {k: v for k, v in t.items() if "cls." not in k})(model)
    _tensors(lambda t: t | {name: np.concatenate([t[name], rows])})(model)
    edit_json(model / "config.json", vocab_size=1536)


MODELS = [
    _model("a copy", lambda _: None),
    _model("half precision", _tensors(lambda t: {k: v.astype(np.float16) for k, v in t.items()})),
    _model("no output layers", _tensors(lambda t: {k: v for k, v in t.items() if "cls." not in k})),
    _model("no pooler", _tensors(lambda t: {k: v for k, v in t.items() if "pooler" not in k})),
    _model(
        "more tensors", _tensors(lambda t: t | {"mask_bias": np.array([-np.inf], dtype=np.float32)})
    ),
    _model("shards", _sharded),
    _model(
        "files of other kinds", lambda m: [write(m, "README.md", "hi"), write(m, "model.py", "1/0")]
    ),
    _model("pickled weights beside the others", lambda m: write(m, "pytorch_model.bin", b"x")),
    _model("unknown keys", lambda m: edit_json(m / "config.json", nickname="Ü", answer=42)),
    _model("no auto_map", lambda m: edit_json(m / "config.json", auto_map={})),
    _model("no heads pruned", lambda m: edit_json(m / "config.json", pruned_heads={})),
    _model("a note on adapters", lambda m: write(m, "adapter_notes.md", "Merged: no adapter.")),
    _model("the training of an adapter", lambda m: write(m, "peft/adapter_config.json", "{}")),
    _model("the same vocab.txt", lambda m: write(m, "vocab.txt", "\n".join(pieces_of(m)))),
    _model("vocab.txt of CRLF", lambda m: write(m, "vocab.txt", "\r\n".join(pieces_of(m)))),
    _model("embeddings to spare", _padded),
    _model(
        "numbers of positions",
        _tensors(lambda t: t | {"bert.embeddings.position_ids": np.arange(128)[None]}),
    ),
    _model("a folder called as weights are", lambda m: (m / "model-extra.safetensors").mkdir()),
    _model("a pipe called so", lambda m: os.mkfifo(m / "model-extra.safetensors")),
    _model("no architectures", lambda m: edit_json(m / "config.json", architectures=None)),
]


def _text(name: str, text: object, **keys: object) -> Case:
    return Case(f"text: {name}", lambda _: run(text=text, **keys), looking=True)


TEXTS = [
    *(
        _text(name, [text])
        for name, text in _SENTENCES.items()
        if name not in ("one sign",) and len(text) < 10_000
    ),
    _text("several lines", "one\ntwo\n\nthree"),
    _text("pairs", ["a ||| b", ["c", "d"], "e\tf"]),
    _text("a sentence with a full stop", "The cat sat."),
    _text("a list of one letter", ["."]),
    Case(
        "text: a file",
        lambda f: run(text=str(write(f, "my text.txt", "\ufeffone\r\ntwo\r\n"))),
        looking=True,
    ),
]

CASES = [*KEYS, *FILES, *DATA, *PATHS, *LINKS, *LABELLED, *MODELS, *TEXTS]
