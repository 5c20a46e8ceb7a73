"""Configurations that are wrong: values of keys, combinations of keys, entries of tasks."""

import json

from shipped import DATA, MODEL

from inputs.cases import Case, Config, key, run, write

NAN, INF = float("nan"), float("inf")
SEED = ("at most 4294967295",)
INTEGER, NUMBER = ("a whole number",), ("a number",)

_RATES = ("learning_rate", "warmup", "weight_decay")
_COUNTS = {
    "fine_tuning.epochs": 1,
    "fine_tuning.batch_size": 1,
    "samples.size": 1,
    "attention.batch_size": 1,
    "patterns.folds": 2,
    "patterns.epochs": 1,
    "patterns.label_maps.size": 1,
    "threads": 1,
}
_UNBOUNDED = ("samples.size",)  # all examples, if there are fewer

NUMBERS = [
    key("sampling_seed", 2**32, *SEED),
    key("sampling_seed", -1, "at least 0"),
    key("sampling_seed", 1.0, *INTEGER),
    *(key(f"fine_tuning.{name}", NAN, *NUMBER, "finite") for name in _RATES),
    *(key(f"fine_tuning.{name}", INF, "fine_tuning") for name in _RATES),
    *(key(f"fine_tuning.{name}", -1, f"fine_tuning.{name}") for name in _RATES),
    *(key(path, least - 1, f"at least {least}") for path, least in _COUNTS.items()),
    *(key(path, 10**12, "at most") for path in _COUNTS if path not in _UNBOUNDED),
    *(key(path, 2.5, "2.5", *INTEGER) for path in _COUNTS),
    *(key(path, "many", "'many'", *INTEGER) for path in _COUNTS),
    key("fine_tuning.epochs", 10**400, "at most 10000"),
    key("fine_tuning.epochs", None, "None"),
    key("fine_tuning.epochs", True, "True"),
    key("fine_tuning.epochs", [3], "[3]"),
    key("fine_tuning.learning_rate", "nan", "finite"),
    key("fine_tuning.learning_rate", 2e5, "at most 1"),
    key("fine_tuning.learning_rate", 0, "more than 0"),
    key("fine_tuning.learning_rate", "fast", *NUMBER),
    key("fine_tuning.warmup", 1.5, "at most 1"),
    key("fine_tuning.reinitialized_layers", 7, "is 7", "has 6 layers"),
    key("fine_tuning.reinitialized_layers", -1, "at least 0"),
    key("fine_tuning.max_length", 7, "at least 8"),
    key("fine_tuning.max_length", 513, "at most 512"),
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
    given("a section that is a list", "samples", "[1]", samples=[1]),
    given("a section that is a text", "data", "'tsv'", data="tsv"),
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
    key("run", 5, "5"),
    key("run", None, "None"),
    key("run", ["a"], "['a']"),
    key("seeds", [], "a list of at least 1"),
    key("seeds", [1, 1], "1 stands there more than once"),
    key("seeds", 1, "1"),
    given("a seed of 1.0", "seeds.0", "1.0", *INTEGER, seeds=[1.0]),
    given("a seed of 2**32", "seeds.0", *SEED, seeds=[2**32]),
    given("a negative seed", "seeds.0", "at least 0", seeds=[-1]),
    given("a seed that is a word", "seeds.0", "'one'", seeds=["one"]),
    given("a seed that is true", "seeds.0", "True", seeds=[True]),
    key("gpu", 2, "one of"),
    key("gpu", "yes", "one of"),
    key("gpu", True, "True"),
    key("data.source", "glue", "one of"),
    key("data.folder", 3, "3"),
    key("model.source", "bert", "one of"),
    key("model.source", None, "one of"),
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
    key("framenet.source", "web", "one of"),
    key("patterns.annotations", "folder", "'folder'"),
    key("patterns.annotations", ["a", "a"], "more than once"),
    key("patterns.annotations", ["none"], "none", "not a folder"),
    key("patterns.folds", 400, "too few examples", "400 folds"),
    key("patterns.training", "never", "one of"),
    key("annotation.pipeline", ["en"], "['en']"),
    key("ablation.states", ["pretrained"], "`finetuned` among them"),
    key("ablation.states", ["finetuned", "finetuned"], "more than once"),
    key("ablation.tasks", [], "a list of at least"),
    key("ablation.tasks", ["STSB"], "Did you mean 'STS-B'"),
    key("seed_grid.tasks", ["XNLI"], "unknown task", "The tasks are"),
    key("seed_grid.init_seeds", [1], "a list of at least 2"),
    key("seed_grid.order_seeds", [1, 1], "more than once"),
    key("ablation.mode", "nothing", "uniform"),
    key("ablation.mode", 3, "3"),
    key("inspect.name", "a/b", "letters, digits"),
    key("inspect.parse", "maybe", "one of"),
    key("inspect.heads", "all", "'all'"),
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
    Case("a task of a number", lambda _: names(1), ("'1' has no entry",)),
    Case("a task with a slash", lambda _: names("a/b"), ("'a/b'", "part of a path")),
    Case("a task with a line break", lambda _: names("RTE\n"), ("part of a path",)),
    Case("a task of a long name", lambda _: names("x" * 31), ("at most 30",)),
    Case("a task named as a folder", lambda _: names("pretrained"), ("taken by another folder",)),
    Case("tasks that differ in case", lambda _: names("RTE", "rte"), ("differ only in case",)),
    given("seeds without the first", "RTE.seeds", "[2]", tasks={"RTE": {"seeds": [2]}}),
    given("a task's seed of 1.0", "RTE.seeds.0", tasks={"RTE": {"seeds": [1.0]}}),
    Case("a task's seed of 2**32", lambda _: run(tasks={"RTE": {"seeds": [2**32]}}), SEED),
    given("a size of three", "RTE.size", "a list of at most 2", tasks={"RTE": {"size": [1, 2, 3]}}),
    given("a metric of regression", "a regression", tasks={"RTE": {"metrics": "pearson"}}),
    entry("no text", "lacks the key text", text=...),
    entry("no label", "lacks the key label", label=...),
    entry("no metric", "lacks the key metrics", metrics=...),
    entry("no classes", "labels", "or range", labels=...),
    Case("no data", lambda _: names("RTE", "Mine"), ("'Mine' has no entry",)),
    entry("three texts", "a list of at most 2", text=["a", "b", "c"]),
    entry("no texts", "a list of at least 1", text=[]),
    entry("text and label in one column", "use different ones", text="l"),
    entry("one class", "at least two", labels=["a"]),
    entry("a class twice", "more than once", labels=["a", "b", "a"]),
    entry("a class that is true", "put yes, no", labels=[True, False]),
    entry("a class that is empty", "''", labels=["a", ""]),
    entry("a class of spaces", "not names", labels=["a", " "]),
    entry("a class that is null", "None", labels=["a", None]),
    entry("values of one class", "at least two", labels={"x": "a", "y": "a"}),
    entry("classes that are a text", "'ab'", labels="ab"),
    entry("classes and a range", "has labels and range", range=[0, 5]),
    entry("a range upside down", "smaller number first", labels=..., range=[5, 0]),
    entry("a range of one number", "smaller number first", labels=..., range=[1, 1]),
    entry("a range of NaN", "finite", labels=..., range=[0, NAN]),
    entry("a range without end", "finite", labels=..., range=[0, INF]),
    entry("a range of words", "range.0", "'low'", labels=..., range=["low", "high"]),
    entry("an unknown metric", "unknown metric 'mcc'", "matthews_corrcoef", metrics="mcc"),
    entry("a metric twice", "more than once", metrics=["accuracy", "accuracy"]),
    entry("no metrics", "a list of at least 1", metrics=[]),
    entry("an unknown key", "unknown key 'lables'", "labels", lables=["a", "b"]),
    entry("only training data", "missing key validation", files={"train": "a.tsv"}),
    entry(
        "files of another kind",
        "a.xlsx",
        ".jsonl",
        files={"train": "a.xlsx", "validation": "b.tsv"},
    ),
    entry("files without a suffix", "ends in", files={"train": "a", "validation": "b"}),
    entry(
        "a file that is a number",
        "files.train",
        "1",
        files={"train": 1, "validation": "b.tsv"},
    ),
    entry("files and hub", "give one of them", hub={"repository": "a/b", "revision": "c"}),
    entry("hub without a revision", "revision", files=..., hub={"repository": "a/b"}),
    entry("columns without the text", "without t", columns=["l", "x"]),
    entry("columns of one", "a list of at least 2", columns=["t"]),
    entry("columns twice", "more than once", columns=["t", "l", "t"]),
    entry("flawed that is a word", "flawed", flawed="some"),
    entry("files that are not there", "a.tsv"),
    entry("a label of a list", "label", label=["l"]),
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
]

CASES = [*NUMBERS, *KEYS, *SELECTORS, *TASKS, *FILES]
