"""Configurations that are wrong: values of keys, combinations of keys, entries of tasks."""

import json

from shipped import DATA, MODEL

from inputs.cases import Case, Config, key, run, write

NAN, INF = float("nan"), float("inf")

# One key for every kind of rule that a schema can state; the rules of the others are data.
NUMBERS = [
    key("sampling_seed", 2**32, "at most 4294967295"),
    key("sampling_seed", -1, "at least 0"),
    key("sampling_seed", 1.0, "a whole number"),
    key("fine_tuning.learning_rate", NAN, "a number", "finite"),
    key("fine_tuning.learning_rate", INF, "fine_tuning"),
    key("fine_tuning.learning_rate", "nan", "finite"),
    key("fine_tuning.learning_rate", 0, "more than 0"),
    key("fine_tuning.learning_rate", "fast", "a number"),
    key("fine_tuning.epochs", 2.5, "2.5", "a whole number"),
    key("fine_tuning.epochs", "many", "'many'", "a whole number"),
    key("fine_tuning.epochs", 10**400, "at most 10000"),
    key("fine_tuning.epochs", None, "None"),
    key("fine_tuning.epochs", True, "True"),
    key("fine_tuning.epochs", [3], "[3]"),
    key("fine_tuning.reinitialized_layers", 7, "is 7", "has 6 layers"),
    key("fine_tuning.max_length", 500, "takes at most 128 tokens"),
    key("fine_tuning.precision", "float16", "bfloat16"),
]


def given(name: str, *words: str, **keys: object) -> Case:
    """Wrong values of keys of a run."""
    return Case(name, lambda _: run(**keys), words)


EARLIER = [
    key("samples.seed", 7, "samples.seed is 7", "use `sampling_seed`", "remove it"),
    key("fine_tuning.warmup_steps", 5, "is 5", "now always None"),
    key("ablation.bootstrap", 100, "is 100", "now always 10000"),
    key("scores.resamples", 100, "now always 2000"),
]

KEYS = [
    *EARLIER,
    key("analyses", ["norms"], "is [norms]", "lacks 'paper'"),
    key("analyses", ["paper", "paper"], "paper stands there more than once"),
    key("analyses", ["paper", "norm"], "did you mean 'norms'?", "landscape"),
    key("analyses", "norms", "'norms'"),
    Case("nothing", lambda _: {}, ("missing keys run, model",)),
    Case("no model", lambda _: {"run": "r"}, ("missing key model",)),
    given("a section that is null", "ablation", "None", ablation=None),
    given("an unknown key", "unknown key 'model_name'", model_name="x"),
    given("a misspelled key", "unknown key 'seed'", "did you mean 'seeds'", seed=[1]),
    Case("keys that are no text", lambda _: run() | {1: 2, "x": 3}, ("unknown key '1'", "'x'")),
    Case("a key that is null", lambda _: run() | {None: 2}, ("unknown key 'None'",)),
    given("an earlier key", "unknown key 'shards'", attention={"shards": 2}),
    Case("an empty key", lambda _: run() | {"": 1}, ("unknown key ''",)),
    *(
        key("run", name, "must be")
        for name in ("", "..", ".hidden", "a/b", "a b", "-a", "a\n", "a\nb", "a\0", "ü", "x" * 300)
    ),
    key("seeds", [], "a list of at least 1"),
    key("seeds", [1, 1], "1 stands there more than once"),
    given("a seed of 1.0", "seeds.0", "1.0", "a whole number", seeds=[1.0]),
    key("gpu", 2, "one of"),
    key("data.source", "glue", "one of"),
    *(
        key(f"{section}.name", name, "control characters")
        for section in ("data", "model")
        for name in (
            "</script><script>alert(1)</script>",
            "<b>",
            "a\n\n.. raw:: html\n\n   <script>alert(1)</script>",
            "`x <javascript:alert(1)>`_",
            "{x}",
            "a\0b",
            "a\x1b[31m",
            "line\u2028break",
            "ends with a line break\n",
        )
    ),
    *(
        given(
            f"a model on the Hub called {name!r}", "model.id", model={"source": "hub", "id": name}
        )
        for name in ("../../etc", "a/b\nc", "a b", "a/b/c", "", "-a", "a--b/c", "x" * 99)
    ),
    given(
        "a revision outside",
        *("model.revision", "a commit, a tag or a branch"),
        model={"source": "hub", "id": "a/b", "revision": "../.."},
    ),
    given(
        "data on the Hub outside", "data.repository", data={"source": "hub", "repository": "../x"}
    ),
    given("no folder of data", "data.folder is missing", data={"source": "tsv"}),
    given(
        "no folder of the model",
        "model.folder is missing",
        "model.source is 'folder'",
        model={"source": "folder"},
    ),
    given("no words", "annotation.conllu is missing", annotation={"source": "conllu"}),
    key("annotation.conllu", "a.conllu", "a list, such as [a.conllu]"),
    given(
        "words in no file",
        "annotation.conllu: there is no file a.conllu",
        annotation={"source": "conllu", "conllu": ["a.conllu"]},
    ),
    key("patterns.annotations", ["a", "a"], "more than once"),
    key("patterns.annotations", ["none"], "none", "not a folder"),
    key("patterns.folds", 400, "too few examples", "400 folds"),
    key("ablation.states", ["pretrained"], "`finetuned` among them"),
    key("ablation.tasks", ["STSB"], "Did you mean 'STS-B'"),
    key("seed_grid.tasks", ["XNLI"], "unknown task", "The tasks are"),
    key("seed_grid.init_seeds", [1], "a list of at least 2"),
    key("ablation.mode", "nothing", "uniform"),
    key("inspect.name", "a/b", "letters, digits"),
]

SELECTORS = [
    key("ablation.sets", [selector], *words)
    for selector, words in (
        ("1-999999999", ("names head 999999999", "6 layers of 6 heads")),
        ("2-10000000000000", ("Expected a selector",)),
        (7, ("head 7",)),
        (0, ("head 0",)),
        (-1, ("head -1",)),
        (10**30, ("names head 1000",)),
        (1.5, ("1.5",)),
        (True, ("True",)),
        (None, ("None",)),
        ([], ("names no head",)),
        ([[1], [9]], ("head 9",)),
        ({}, ("names no head",)),
        ({"9": 1}, ("layer 9",)),
        ({"1": 9}, ("head 9",)),
        ({"1": "some"}, ("'some'",)),
        ("3-2", ("ends before it begins", "2-3")),
        ("upper layers", ("Expected a selector",)),
        ("layer 7", ("layer 7",)),
        ("all of layer 0", ("layer 0",)),
        ("", ("Expected a selector",)),
        ("layer 1 +", ("Expected a selector",)),
    )
] + [
    key("ablation.sets", [1, "head 1 of every layer"], "mean the same heads"),
    key("ablation.sets", 3, "3"),
]


def entry(name: str, *words: str, **keys: object) -> Case:
    """A wrong entry of a task of the user's."""
    right = {
        "text": "t",
        "label": "l",
        "labels": ["no", "yes"],
        "metrics": "accuracy",
        "files": {"train": "a.tsv", "validation": "b.tsv"},
    }
    given = {k: v for k, v in (right | keys).items() if v is not ...}
    return Case(f"entry: {name}", lambda _: run(tasks={"Mine": given}), ("tasks.Mine", *words))


def names(*given: object) -> Config:
    return run(tasks=dict.fromkeys(given))


TASKS = [
    key("tasks", [], "a list of at least"),
    key("tasks", {}, "minProperties"),
    key("tasks", "RTE", "'RTE'"),
    key("tasks", ["RTE", "RTE"], "more than once"),
    key("tasks", ["WNLI"], "'WNLI' has no entry", "docs/tasks.md"),
    key("tasks", ["STSB"], "did you mean 'STS-B'"),
    given("a task that is a number", "tasks.0", "1", tasks=[1]),
    Case("a task of a number", lambda _: names(1), ("the name 1 is a number to YAML",)),
    Case("a task with a slash", lambda _: names("a/b"), ("'a/b'", "part of a path")),
    Case("a task with a line break", lambda _: names("RTE\n"), ("part of a path",)),
    Case("a task of a long name", lambda _: names("x" * 31), ("at most 30",)),
    Case("a task named as a folder", lambda _: names("pretrained"), ("taken by another folder",)),
    Case("tasks that differ in case", lambda _: names("RTE", "rte"), ("differ only in case",)),
    given("seeds without the first", "RTE.seeds", "[2]", tasks={"RTE": {"seeds": [2]}}),
    given("a size of three", "RTE.size", "a list of at most 2", tasks={"RTE": {"size": [1, 2, 3]}}),
    given("a metric of regression", "a regression", tasks={"RTE": {"metrics": "pearson"}}),
    entry("no text", "lacks the key text", text=...),
    entry("no label", "lacks the key label", label=...),
    entry("no metric", "lacks the key metrics", metrics=...),
    entry("no classes", "labels", "or range", labels=...),
    Case("no data", lambda _: names("RTE", "Mine"), ("'Mine' has no entry",)),
    entry("text and label in one column", "use different ones", text="l"),
    entry("one class", "at least two", labels=["a"]),
    entry("a class twice", "more than once", labels=["a", "b", "a"]),
    entry("a line break in a class", "'a\\nb'", "control character", labels=["a\nb", "c"]),
    entry("NUL in a class", "'a\\x00'", "control character", labels=["a\0", "c"]),
    entry("an endless number", "at most 1e+300", labels=..., range=[0, 10**400]),
    entry("a class that is true", "put yes, no", labels=[True, False]),
    entry("a class that is empty", "''", labels=["a", ""]),
    entry("a class of spaces", "not names", labels=["a", " "]),
    entry("values of one class", "at least two", labels={"x": "a", "y": "a"}),
    entry("classes and a range", "has labels and range", range=[0, 5]),
    entry("a range upside down", "smaller number first", labels=..., range=[5, 0]),
    entry("a range of NaN", "finite", labels=..., range=[0, NAN]),
    entry("an unknown metric", "unknown metric 'mcc'", "matthews_corrcoef", metrics="mcc"),
    entry("an unknown key", "unknown key 'lables'", "labels", lables=["a", "b"]),
    entry("only training data", "missing key validation", files={"train": "a.tsv"}),
    entry(
        "files of another kind",
        "a.xlsx",
        ".jsonl",
        files={"train": "a.xlsx", "validation": "b.tsv"},
    ),
    entry("files without a suffix", "ends in", files={"train": "a", "validation": "b"}),
    entry("files and hub", "give one of them", hub={"repository": "a/b", "revision": "c"}),
    entry("hub without a revision", "revision", files=..., hub={"repository": "a/b"}),
    entry("columns without the text", "without t", columns=["l", "x"]),
    entry("files that are not there", "a.tsv"),
]


def _setting(name: str, content: str, *words: str) -> Case:
    """A file that can be read, with a value that is wrong."""
    top = f"data: {json.dumps(DATA)}\nmodel: {json.dumps(MODEL)}\n"
    named = "" if content.startswith("run:") else "run: a\n"
    return Case(
        f"YAML: {name}", lambda folder: write(folder, "config.yaml", top + named + content), words
    )


FILES = [
    _setting("a wrong value", "fine_tuning:\n  epochs: 0\n", "fine_tuning.epochs", "at least 1"),
    _setting("an unknown key", "samples: {}\nepochs: 3\n", "unknown key 'epochs'"),
    _setting("a wrong entry of a list", "seeds:\n- 1\n- 1.0\n", "seeds.1"),
    _setting("a date", "run: 2020-01-01\n", "run", "date"),
    _setting("a wrong set of heads", "ablation:\n  sets: [9]\n", "ablation.sets", "head 9"),
    _setting("a task has no entry", "tasks: [WNLI]\n", "tasks", "WNLI"),
    _setting("a time", "run: 12:30\n", "12:30 in another base"),
    *(
        _setting(
            f"a task called {name}",
            f"tasks:\n  {name}: {{text: t, label: l}}\n",
            f"the name {read} is {kind} to YAML",
        )
        for name, read, kind in (
            ("2020", "2020", "a number"),
            ("1.5", "1.5", "a number"),
            ("yes", "True", "true or false"),
            ("null", "None", "null"),
            ("2020-01-01", "2020-01-01", "a date"),
        )
    ),
    _setting(
        "a section twice", "seeds: [1]\nsamples: {size: 20}\nseeds: [2]\n", "'seeds'", "twice"
    ),
    _setting("a key twice", "samples:\n  size: 20\n  seed: 1\n  size: 30\n", "line 7", "'size'"),
    _setting("a key twice in braces", "samples: {size: 20, size: 30}\n", "'size'", "line 4"),
    _setting("a code twice", "tasks:\n  x: {labels: {a: b, c: d, a: e}}\n", "'a'", "twice"),
    _setting("a number twice", 'tasks:\n  x: {labels: {1: b, "1": e}}\n', "'1'", "twice"),
    _setting("a task twice", "tasks:\n  RTE:\n  MRPC:\n  RTE: {}\n", "'RTE'", "first in line 5"),
    _setting("two merges", "x: &a {}\nsamples: {<<: *a, <<: *a}\n", "'<<'", "twice"),
    _setting("a key twice within a list", "patterns: {annotations: [{a: 1, a: 2}]}\n", "'a'"),
]

CASES = [*NUMBERS, *KEYS, *SELECTORS, *TASKS, *FILES]
