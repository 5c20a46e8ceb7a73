import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from darksecrets.pages import contracts
from darksecrets.paper.ablation import preflight as ablation_checks
from darksecrets.pages.atlas import html as page_of_atlas
from darksecrets.pages.atlas import measures as measures_of_atlas
from darksecrets.pages.claims import beside_paper, registry
from darksecrets.core.data import preflight as data_checks
from darksecrets.core.data import sources
from darksecrets.core.data.tasks import Files, Task
from darksecrets.paper.features import annotation, parser
from darksecrets.paper.features.measures import MEASURES
from darksecrets.paper.features.measures import TABLES as MEASURED_TABLES
from darksecrets.paper.finetuning import preflight as finetuning_checks
from darksecrets.paper.framenet import folder as framenet_folder
from darksecrets.paper.framenet import sources as framenet
from darksecrets.core.models import checkpoints
from darksecrets.beyond.norms import preflight as norms_checks
from darksecrets.paper.patterns import labelled_maps, trained
from darksecrets.beyond import analyses
from darksecrets.core.run import gpus
from darksecrets.core.run.errors import InputError
from darksecrets.pages.inspect import preflight as text_checks
from darksecrets.pages.inspect import texts
from workflow.lib import captions, compat, configuration, imports, preflight, resources
from workflow.lib.summary import summarize

given = copy.deepcopy(config)  # without defaults
try:
    # A run that is given text may need no data, and may disable no heads: that is known only once its
    # jobs are, see `check_data`.
    has_text = config.get("text") is not None
    config.update(configuration.resolve(config, needs_data=not has_text))
    if workflow.is_main_process:
        preflight.check(config, looking=has_text)
    found = preflight.left_out if workflow.is_main_process else preflight.recorded_left_out
    config["left_out"] = {key: "" if has_text else why for key, why in found(config).items()}
    config["most_seeds"] = max(len(entry["seeds"]) for entry in config["tasks"].values())
except InputError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:
    for name, other in analyses.switch_on(given.get("analyses", [analyses.PAPER]))[1].items():
        logger.info(f"The analysis {name} is switched on, too: {other} reads its results.")
    for reason, names in preflight.lacking(config).items():
        logger.warning(f"Left out: {', '.join(names)}; everything else runs. {reason}")

# Not the main Snakefile's folder, which differs when this workflow is used as a module.
RULES = Path(str(workflow.current_basedir))
PROJECT = RULES.parents[1]
RESOURCES = PROJECT / "darksecrets" / "resources"
compat.let_scripts_import_from(PROJECT)
RESULTS = configuration.results_folder(config)


pathvars:
    results=str(RESULTS),
    logs=str(RESULTS / "logs"),
    benchmarks=str(RESULTS / "benchmarks"),


wildcard_constraints:
    task="|".join(map(re.escape, config["tasks"])),
    state="finetuned|finetuned-from-normal",
    seed=r"\d+",


def gpus_here() -> list[str]:
    """GPUs of this machine; for a submitted job, only those that it was given."""
    return [] if workflow.remote_exec and gpus.VISIBLE not in os.environ else gpus.visible()


# GPUs that a job of a model requests.
GPU = min(1, len(gpus_here())) if config["gpu"] == "auto" else config["gpu"]
FINETUNED_STATES = ("finetuned", "finetuned-from-normal")
STATES = ("pretrained", *FINETUNED_STATES)
# An encoder that learned nothing, beside every statistic of maps.
RANDOM_MODEL = f"random/seed-{config['seeds'][0]}"
NOT_FINETUNED = ("pretrained", "frozen")
RUN_LABEL = f"run {config['run']} · {configuration.describe(config)}"
PAPER = configuration.is_paper_run(config)
# What the configuration says about where the run's results come from.
FACTS = {"seeds": configuration.seeds_in_words(config), "origins": configuration.origins(config)}
TASKS = {name: Task.from_entry(name, entry) for name, entry in config["tasks"].items()}
# What jobs need to know of a task: all about its data, or only what prepared examples are.
DATA_KEYS = ("text", "label", "labels", "range", "files", "columns", "hub", "flawed")
EXAMPLE_KEYS = ("text", "labels", "range")
# What the classifier on a frozen encoder is trained with.
FROZEN_KEYS = ("epochs", "batch_size", "frozen_learning_rate", "warmup", "weight_decay")
# Of training on a fine-tuned model, nothing of its start matters.
KEYS_UNUSED_BY_GATES = ("frozen_learning_rate", "init_seed", "reinitialized_layers")
# How encoders are run over texts, and random weights drawn.
READING = {
    "std": config["fine_tuning"]["from_normal_std"],
    "max_length": config["fine_tuning"]["max_length"],
    "batch_size": config["attention"]["batch_size"],
}
# What claims depend on besides tables: GLUE and FrameNet are shared with papers, together with the paper's model.
RUN_OF_CLAIMS = {
    "tasks": {name: list(task.metrics) for name, task in TASKS.items()},
    "seeds": {name: entry["seeds"] for name, entry in config["tasks"].items()},
    "shared": [
        *(["GLUE"] if PAPER else []),
        *(["FrameNet"] if PAPER and config["framenet"]["source"] == "nltk" else []),
    ],
}
METRICS_OF_TASKS = {name: list(task.metrics) for name, task in TASKS.items()}


def shipped(name: str) -> str:
    """A file that ships with the project, wherever the working directory is."""
    return compat.mark_in_place(os.path.relpath(RESOURCES / name))


def per_task(pattern: str) -> list[str]:
    """The pattern for every task of the run."""
    return expand(pattern, task=config["tasks"])


def per_task_and_seed(
    pattern: str, tasks: Iterable[str] = tuple(config["tasks"]), **others
) -> list[str]:
    """The pattern for tasks, all of the run if not given, and each of their fine-tuning seeds."""
    return [
        path
        for task in tasks
        for path in expand(pattern, task=task, **others, seed=config["tasks"][task]["seeds"])
    ]


def trained_models(task: str) -> list[str]:
    """The models of a task whose maps are kept."""
    return ["pretrained", *(f"finetuned/seed-{seed}" for seed in config["tasks"][task]["seeds"])]


def measured_models(task: str) -> list[str]:
    """The models of a task whose maps are measured."""
    return [*trained_models(task), RANDOM_MODEL]


MEASURED_MODELS = [[task, model] for task in config["tasks"] for model in measured_models(task)]


def finetuned_folders(wildcards) -> list[str]:
    """The fine-tuned models of a task, one for each seed."""
    return expand(
        "<results>/models/{task}/finetuned/seed-{seed}",
        task=wildcards.task,
        seed=config["tasks"][wildcards.task]["seeds"],
    )


def scored(kind: str) -> list[str]:
    """Scores or predictions of every state, task and seed; a folder holds those of all seeds of a task."""
    of_states = [
        *(per_task(f"<results>/{kind}/{{task}}/{state}") for state in NOT_FINETUNED),
        *(
            per_task_and_seed(f"<results>/{kind}/{{task}}/{state}/seed-{{seed}}.csv")
            for state in FINETUNED_STATES
        ),
    ]
    return [path for paths in of_states for path in paths]


def entries_to_score(tasks: Iterable[str] = tuple(config["tasks"])) -> dict[str, dict]:
    """What scoring needs to know of tasks, all of the run if not given."""
    needed = (*EXAMPLE_KEYS, "metrics")
    return {
        task: {key: value for key, value in config["tasks"][task].items() if key in needed}
        for task in tasks
    }


def leave_out(section: Mapping, *keys: str) -> dict:
    """A section of the configuration without some keys, so that editing these reruns nothing."""
    return {key: value for key, value in section.items() if key not in keys}


def settings_of_training(wildcards) -> dict:
    """Parameter of a rule: the settings with which an encoder is fine-tuned on its task."""
    of_task = {"epochs": config["tasks"][wildcards.task]["epochs"]}
    return leave_out(config["fine_tuning"], "frozen_learning_rate") | of_task


def settings_of_frozen(wildcards) -> dict:
    """Parameter of a rule: the settings with which a classifier on a frozen encoder is trained."""
    of_task = {"epochs": config["tasks"][wildcards.task]["epochs"]}
    return {key: config["fine_tuning"][key] for key in FROZEN_KEYS} | of_task


def entry_of_task(*keys: str) -> Callable:
    """Parameter of a rule: the part of its task's entry with these keys, so that it reruns for no other."""
    return lambda wildcards: {
        key: value for key, value in config["tasks"][wildcards.task].items() if key in keys
    }


def check_data() -> None:
    """Check what a run that is given text needs besides, once its graph turns out to have data."""
    if has_text and workflow.is_main_process:
        preflight.check(config)


def data_files(wildcards) -> list[str]:
    """Local files that a task's data are read from."""
    check_data()
    task = TASKS[wildcards.task]
    if isinstance(task.data, Files):
        return [compat.mark_in_place(path) for path in sources.paths_of(task).values()]
    return []


def checkpoint_files(wildcards) -> list[str]:
    """Local files of the pre-trained model."""
    if config["model"]["source"] == "hub":
        return []
    folder = checkpoints.folder_of(config["model"])
    return [
        compat.mark_in_place(os.path.relpath(path)) for path in sorted(folder.glob("*.safetensors"))
    ]


def labelled_files() -> list[str]:
    """Files of the labelled maps that the classifier is trained on."""
    sets = labelled_maps.folders(config["patterns"]["annotations"])
    files = [path for folder in sets for path in labelled_maps.files(folder)]
    return [compat.mark_in_place(os.path.relpath(path)) for path in files]


def links_files(wildcards) -> dict[str, str | list[str]]:
    """Source of the links: a file, FrameNet's index, or NLTK's download."""
    check_data()
    if LINKS["source"] == "tsv":
        return {"files": compat.mark_in_place(LINKS["path"])}
    if LINKS["path"]:
        return {
            "files": compat.mark_in_place(
                framenet_folder.locate(Path(LINKS["path"])) / "luIndex.xml"
            )
        }
    return {"downloaded": "<results>/framenet/nltk_data"}


def files_of_words(wildcards) -> list[str]:
    """Local files that the words of texts come from: CoNLL-U, or a spaCy pipeline."""
    if config["annotation"]["source"] == "conllu":
        return [compat.mark_in_place(path) for path in config["annotation"]["conllu"]]
    return parser_files(wildcards)


def parser_files(wildcards) -> list[str]:
    """Files of a local spaCy pipeline."""
    folder = Path(config["annotation"]["pipeline"])
    return (
        [compat.mark_in_place(path) for path in parser.files_of(folder)] if folder.is_dir() else []
    )


# Tables that have no rows without tags and dependencies of words.
WORD_TABLES = ("token_pairs", "equal_words", "pair_controls")


def annotation_with_words(wildcards) -> str:
    """The annotation of a task, for what needs words."""
    if reason := config["left_out"]["words"]:
        raise WorkflowError(f"{reason} Change the configuration, or leave out this target.")
    return f"<results>/annotation/{wildcards.task}.jsonl"


def tasks_of(table: str) -> list[str]:
    """Tasks of the run that have a measure; some need words, and some need two sentences."""
    if table in WORD_TABLES and config["left_out"]["words"]:
        return []
    needs_two = table in MEASURES and MEASURES[table].pairs
    return [task for task in config["tasks"] if TASKS[task].is_pair or not needs_two]


def classifier_folder(wildcards) -> str:
    """The model whose heads are disabled; `pretrained` gets the classifier drawn from the seed."""
    if wildcards.state == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.state}/seed-{wildcards.seed}"


def sweeps_of(pattern: str, tasks: Iterable[str]) -> list[str]:
    """The pattern for tasks whose heads are disabled, every state and seed."""
    return per_task_and_seed(pattern, tasks, state=config["ablation"]["states"])


def orders_of_task(wildcards) -> list[str]:
    """The order in which the heads of a task's model are removed, if the run makes it."""
    if wildcards.task not in PRUNED:
        return []
    return ["<results>/importance/{task}/seed-{seed}/pruning_orders.csv"]


def mlps_of_task(wildcards) -> list[str]:
    """How important the MLPs of a task's model are, where the run orders its heads for removal."""
    if wildcards.task not in PRUNED:
        return []
    return ["<results>/importance/{task}/seed-{seed}/mlp_importance.csv"]


def tables_of_figures() -> dict[str, list[str]]:
    """Tables that each figure shows; figures as paths from the run's folder."""
    found = {}
    for each in compat.rules_of(workflow, RULES):
        shown = each.output.get("svg") or each.output.get("html")
        if shown and Path(str(shown)).parent.name == "figures" and each.name != "claims":
            tables = [Path(path).stem for path in map(str, each.input) if "/tables/" in path]
            found[f"figures/{Path(str(shown)).name}"] = sorted(set(tables))
    return found


def text_files(wildcards) -> list[str]:
    """The file of the text to look at, if it is in one."""
    file = texts.file_of(config["text"])
    return [compat.mark_in_place(file)] if file else []


def text_given(wildcards) -> object:
    """The text to look at; as a function, since its braces are not wildcards."""
    return config["text"]


def treebank_files(wildcards) -> dict[str, list[str]]:
    """Where trees come from: a file, or the annotation of all tasks."""
    check_data()
    if TREEBANK["source"] == "annotation":
        return {"annotations": per_task("<results>/annotation/{task}.jsonl")}
    return {"files": [compat.mark_in_place(TREEBANK["path"])]}


def files_of_grids(folder: str, name: str) -> list[str]:
    """A file of every fine-tuning of all grids, by initialization; those of the run itself are taken from there."""
    grid = config["seed_grid"]
    return [
        (
            f"<results>/{folder}/{task}/finetuned/seed-{init}.csv"
            if init == order and init in config["tasks"][task]["seeds"]
            else f"<results>/seed_grid/{task}/init-{init}-order-{order}.{name}.csv"
        )
        for task in GRIDS
        for init in grid["init_seeds"]
        for order in grid["order_seeds"]
    ]


def finetunings(wildcards) -> list[tuple[str, int]]:
    """The states and seeds of a task's fine-tuned models."""
    seeds = config["tasks"][wildcards.task]["seeds"]
    return [(state, seed) for state in FINETUNED_STATES for seed in seeds]


def snapshots_for_surface(wildcards) -> list[str]:
    """The weights that a training has kept on its way, if it began with the pre-trained model."""
    if config["fine_tuning"]["reinitialized_layers"]:
        return []
    return ["<results>/snapshots/{task}/finetuned/seed-{seed}"]


def ask(kind: str, *, gpu: bool = False) -> dict:
    """Resources of a rule, by its class; `gpu` if its jobs can use a GPU."""
    return resources.ask(kind, config, gpus=GPU if gpu else 0)


# Targets of the paper and of each further analysis, whether or not this run makes it.
RESULTS_OF: dict[str, list[str]] = {name: [] for name in (analyses.PAPER, *analyses.find())}
RESULTS_OF_RUN: list[str] = []  # targets of `all`: those of the analyses that this run makes
TABLES_LEFT_OUT: set[str] = (
    set()
)  # names of tables that the configuration or the encoder leaves out
ANALYSIS = analyses.PAPER  # the one whose rule file is being read
NOT_OFFERED = {"pattern_predictions"}  # a row per labelled map and fold: too large for the report
CHECKS: dict[str, Callable[[Mapping], None]] = {}  # by rule: made before a run that has its jobs


def add_results(*results: str, when: bool = True) -> None:
    """Make tables (by name) and other files part of the analysis whose rule file calls this.

    They become targets of `all` if the run makes that analysis. If `when` is false, because the configuration or
    the encoder leaves them out, there are none.
    """
    files = [each if Path(each).suffix else f"<results>/tables/{each}.csv" for each in results]
    if not when:
        TABLES_LEFT_OUT.update(Path(file).stem for file in files if "/tables/" in file)
        return
    RESULTS_OF[ANALYSIS] += files
    if ANALYSIS in config["analyses"]:
        RESULTS_OF_RUN.extend(files)


def is_made(table: str) -> bool:
    """Whether the run makes a table."""
    analysis = analyses.analyses_by_table().get(table, analyses.PAPER)
    return table not in TABLES_LEFT_OUT and analysis in config["analyses"]


def drawn_by(
    name: str,
    label: str = RUN_LABEL,
    tasks: list[str] | None = None,
    options: Mapping[str, str] | None = None,
) -> dict:
    """Parameters of a figure's rule.

    A figure of the paper is drawn by `draw` of the module of its name, one of an analysis by the
    function of its name in `shown`.
    It shows all tasks of the run, or only `tasks`; `options` are settings that the module reads.
    """
    if ANALYSIS == analyses.PAPER:
        (path,) = PROJECT.glob(f"darksecrets/paper/*/figures/{name}.py")
        dotted, function = ".".join(path.relative_to(PROJECT).with_suffix("").parts), "draw"
    else:
        dotted, function = (
            f"darksecrets.beyond.{analyses.package_of(ANALYSIS)}.shown",
            f"draw_{name}",
        )
    metrics = {name: METRICS_OF_TASKS[name] for name in tasks or METRICS_OF_TASKS}
    about_run = {"tasks": metrics, "paper": PAPER}
    params = {
        "module": dotted,
        "function": function,
        "label": label,
        "options": dict(options or {}),
        **about_run,
    }
    return {**params, "caption": caption_of(name, params)}


def caption_of(name: str, params: Mapping) -> Callable:
    """Function of a figure's job that gives its caption as plain text, for its files."""
    path = RULES.parent / "report" / f"{name}.rst"

    def caption(wildcards, input, output):
        return captions.plain(path, config, params, input=input, output=output)

    return caption


def figure(
    name: str,
    what: str,
    *,
    section: str,
    label: str,
    run_label: str = RUN_LABEL,
    when: bool = True,
    tasks: list[str] | None = None,
    options: Mapping[str, str] | None = None,
    **sources: str | list[str],
) -> None:
    """Add the rule of a figure, which is drawn from `sources`; see `drawn_by`.

    The report shows it as `label` under `section`, with the caption `workflow/report/<name>.rst`.
    If `when`, it is part of the analysis, see `add_results`. It shows
    all tasks, or only `tasks`; `options` are settings that the module reads.
    """

    rule:
        name:
            name
        input:
            **sources,
        output:
            svg=report(
                f"<results>/figures/{name}.svg",
                caption=str(RULES.parent / "report" / f"{name}.rst"),
                category=section,
                labels={"result": label},
            ),
            pdf=f"<results>/figures/{name}.pdf",
            png=f"<results>/figures/{name}.png",
        log:
            f"<logs>/{name}.log",
        conda:
            str(PROJECT / "envs" / "figures.yaml")
        params:
            **drawn_by(name, run_label, tasks, options),
        message:
            f"Draw {name}"
        script:
            str(PROJECT / "scripts" / "core" / "figure.py")

    compat.describe(getattr(rules, name), what)
    add_results(*figure_files(name), when=when)


def collect(
    name: str,
    what: str,
    *,
    tables: Mapping[str, list[str]],
    metrics: Mapping[str, list[str]] | None = None,
) -> None:
    """Add a rule that makes tables of the run, each by concatenating its parts, which jobs have made.

    Jobs score every metric that fits a task, so that choosing others reruns no training; the tables keep
    `metrics`.
    """

    rule:
        name:
            name
        input:
            **tables,
        output:
            **{table: f"<results>/tables/{contracts.TABLES[table].file}" for table in tables},
        log:
            f"<logs>/{name}.log",
        conda:
            str(PROJECT / "envs" / "figures.yaml")
        params:
            tables=list(tables),
            metrics=metrics,
        message:
            f"Gather {', '.join(tables)}"
        script:
            str(PROJECT / "scripts" / "core" / "collect_tables.py")

    compat.describe(getattr(rules, name), what)


def figure_files(*names: str, formats: tuple[str, ...] = ("pdf", "svg", "png")) -> list[str]:
    """Files of some figures, in every format."""
    return expand("<results>/figures/{name}.{format}", name=names, format=formats)


def add_code() -> None:
    """Add a digest of the modules that a script imports to its rule, so that editing one reruns the rule.

    As files of the input they would fill the terminal and the records of every job, and a mere
    checkout, which changes their times, would rerun everything.
    """
    for each in compat.rules_of(workflow, RULES):
        if script := compat.script_of(each):
            one, several = (compat.parameter(each, name) for name in ("module", "modules"))
            modules = [*([one] if one else []), *(several or [])]
            files = imports.files_of(script, *modules)
            compat.add_parameter(each, "code", imports.digest(files))


def offer_tables() -> None:
    """Let the report offer the run's CSV tables for download."""
    for each in compat.rules_of(workflow, RULES):
        for path in each.output:
            file = Path(str(path))
            if (
                file.parent.name == "tables"
                and file.suffix == ".csv"
                and file.stem not in NOT_OFFERED
            ):
                compat.show_in_report(
                    path, "Tables to download", partial(labels_of_table, file.stem)
                )


def labels_of_table(name: str, wildcards) -> dict[str, str]:
    """A table's name and the paper's sections that it belongs to; the claims are about all."""
    (section,) = (
        of for of, tables in contracts.SECTIONS.items() if contracts.TABLES[name] in tables
    )
    numbers, _, title = section.partition(":")
    return {"section": numbers.split(" ", 1)[1] if title else "all", "table": f"{name}.csv"}


INSPECTION_RULES = {
    *("inspect", "inspect_text"),
    *("get_pretrained_model", "cross_validate_patterns", "train_pattern_classifier"),
}


def start_run() -> None:
    """Before the first job: check disk, Hub and what the jobs need, and record the configuration."""
    rules_of_jobs = {job.rule for job in compat.jobs_of(workflow.dag)}
    names = {each.name for each in rules_of_jobs}
    looking = has_text and names <= INSPECTION_RULES
    if GPU and workflow.local_exec and not gpus_here():
        logger.warning(
            "Found no GPU here: jobs that request one run on the CPU, as many at a time as `--resources gpu=` "
            "allows. `--config gpu=0` removes that limit."
        )
    try:
        preflight.check_surroundings(config, looking=looking)
        preflight.check_packages(config, {Path(each.snakefile).stem for each in rules_of_jobs})
        for name in names & set(CHECKS):
            CHECKS[name](config)
        preflight.record_run(config, looking=looking)
    except InputError as error:
        raise WorkflowError(str(error)) from None


def finish_run() -> None:
    """After the last job: show Table 1 and where the results are."""
    made = {str(path) for job in workflow.dag.jobs for path in job.output}
    logger.info(summarize(RESULTS, with_table=str(RESULTS / "figures" / "table1.md") in made))
