# What a run makes: tables, figures and other files, and what is said of them.


from workflow.lib import captions

# Targets of the paper and of each further analysis, whether or not this run makes it: rule files extend these lists.
RESULTS_OF: dict[str, list[str]] = {name: [] for name in (analyses.PAPER, *analyses.find())}
# Tables with a row for every head and feature, or for every labelled map: too large for the report.
NOT_OFFERED = {
    "attention_levels",
    "attention_levels_by_measure",
    "norm_statistics",
    "equal_word_controls",
    "pattern_predictions",
    "stripes",
}
# What is checked before a run that has jobs of a rule, by the rule's name.
CHECKS: dict[str, Callable[[Mapping], None]] = {}


def tables(*names: str) -> list[str]:
    """Files of tables."""
    return [f"<results>/tables/{contracts.TABLES[name].file}" for name in names]


def figures(*names: str) -> list[str]:
    """Files of figures, in every format."""
    return expand("<results>/figures/{name}.{format}", name=names, format=("svg", "pdf", "png"))


def results_of_run() -> list[str]:
    """Targets of `all`: those of the analyses that this run makes."""
    return [
        file for name, files in RESULTS_OF.items() if name in config["analyses"] for file in files
    ]


def made_tables(names: Iterable[str]) -> list[str]:
    """Files of those tables that the run makes."""
    made = set(results_of_run())
    return [file for file in tables(*names) if file in made]


def table(name: str) -> str:
    """A table as an output; the report offers it to download, unless it is too large."""
    (path,) = tables(name)
    if Path(path).suffix != ".csv" or name in NOT_OFFERED:
        return path
    labels = {"section": contracts.section_of(name), "table": f"{name}.csv"}
    return report(path, category="Tables to download", labels=labels)


def metrics_of(tasks: Iterable[str]) -> dict[str, list[str]]:
    """Metrics of tasks that a figure shows."""
    return {task: METRICS_OF_TASKS[task] for task in tasks}


def captioned(*names: str, label: str = RUN_LABEL) -> dict:
    """Parameters of rules that draw figures: what captions and small print say."""
    folder = RULES.parent / "report"

    def plain_captions(wildcards) -> dict[str, str]:
        params = {"shown": label, "paper": PAPER}
        return {name: captions.plain(folder / f"{name}.rst", config, params) for name in names}

    return {
        "label": label,
        "shown": captions.escape(label),
        "paper": PAPER,
        "captions": plain_captions,
    }
