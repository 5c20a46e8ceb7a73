import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path

import psutil
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from darksecrets import contracts
from darksecrets.ablation import preflight as of_ablation
from darksecrets.ablation import tables as tables_of_ablation
from darksecrets.atlas import html as page_of_atlas
from darksecrets.atlas import measures as measures_of_atlas
from darksecrets.claims import measures as measures_of_claims
from darksecrets.claims import registry
from darksecrets.compression import preflight as of_compression
from darksecrets.data import preflight as of_data
from darksecrets.data import sources
from darksecrets.data.tasks import Files, Task
from darksecrets.features import annotation
from darksecrets.features import preflight as of_features
from darksecrets.features import tables as tables_of_features
from darksecrets.features.labels import FEATURES, file_name
from darksecrets.features.measures import MEASURES
from darksecrets.finetuning import preflight as of_finetuning
from darksecrets.framenet import folder as framenet_folder
from darksecrets.framenet import sources as framenet
from darksecrets.importance import preflight as of_importance
from darksecrets.landscape import preflight as of_landscape
from darksecrets.models import checkpoints
from darksecrets.norms import preflight as of_norms
from darksecrets.opinions import preflight as of_opinions
from darksecrets.opinions import tables as tables_of_opinions
from darksecrets.patterns import annotations, trained
from darksecrets.run import gpus, parent, verifying
from darksecrets.run.columns import of_weights
from darksecrets.run.errors import InputError
from darksecrets.subnetworks import preflight as of_subnetworks
from darksecrets.syntax import sources as of_treebanks
from darksecrets.text import preflight as of_text
from darksecrets.text import texts
from workflow.lib import (
    captions,
    compat,
    configuration,
    forks,
    imports,
    locks,
    places,
    plan,
    preflight,
    resources,
    terminal,
)

SCREEN = terminal.install(workflow)

given = copy.deepcopy(config)  # without defaults
try:
    if workflow.is_main_process and terminal.is_own(workflow):
        for file in workflow.configfiles:  # Snakemake does not mind a key that occurs twice
            configuration.read(Path(file))
    # A run that is given text may need no data, and may disable no heads: that is known only once its
    # jobs are, see `check_data`.
    with_text = config.get("text") is not None
    config.update(configuration.resolve(config, needs_data=not with_text))
    if workflow.is_main_process:
        preflight.check(config, looking=with_text)
    found = preflight.left_out if workflow.is_main_process else preflight.recorded_left_out
    config.update({key: "" if with_text else why for key, why in found(config).items()})
    config["only_outputs_kept"] = compat.keeps_only_outputs(workflow)
    config["most_seeds"] = max(len(entry["seeds"]) for entry in config["tasks"].values())
except InputError as error:
    files_of_config = [Path(os.path.relpath(file)) for file in workflow.configfiles]
    raise WorkflowError(places.name_lines(str(error), given, files_of_config)) from None

if config["left_out"] and workflow.is_main_process:
    logger.warning(
        f"The sweep over heads (section 4.6, Figures 8 and 9) is left out; everything else runs. {config['left_out']}"
    )
if config["norms_left_out"] and workflow.is_main_process:
    same = config["norms_left_out"] == config["left_out"]
    logger.warning(
        "Norms (section 4.4, beside weights), second opinions by norms and effective attention, "
        "and faithfulness (section 5) are left out"
        + (", too." if same else f"; everything else runs. {config['norms_left_out']}")
    )

if config["landscape_left_out"] and workflow.is_main_process:
    logger.warning(
        f"Restored layers (section 4.3, further) are left out; everything else runs. {config['landscape_left_out']}"
    )

# Not the main Snakefile's folder, which differs when this workflow is used as a module.
RULES = Path(str(workflow.current_basedir))
PROJECT = RULES.parents[1]
RESOURCES = PROJECT / "darksecrets" / "resources"
RESULTS = configuration.results_folder(config)

if workflow.is_main_process and terminal.is_own(workflow):
    parent.end_with_parent()  # the report is built by a Snakemake that a job starts
    if not compat.is_dry_run(workflow):
        compat.replace_lock(
            partial(locks.holding, results=RESULTS, elsewhere=not workflow.local_exec)
        )
compat.let_signals_wait()
parent.announce()


pathvars:
    results=str(RESULTS),
    logs=str(RESULTS / "logs"),
    benchmarks=str(RESULTS / "benchmarks"),


wildcard_constraints:
    task="|".join(map(re.escape, config["tasks"])),
    state="finetuned|finetuned-from-normal",
    seed=r"\d+",
    model=r"pretrained|(finetuned|random)/seed-\d+",
    chunk=r"\d+",
    chunks=r"\d+",


def gpus_here() -> list[str]:
    """GPUs of this machine; for a submitted job, only those that it was given."""
    return [] if workflow.remote_exec and gpus.VISIBLE not in os.environ else gpus.visible()


# GPUs that a job of a model requests.
GPU = min(1, len(gpus_here())) if config["gpu"] == "auto" else config["gpu"]
FINETUNED_STATES = ("finetuned", "finetuned-from-normal")
STATES = ("pretrained", *FINETUNED_STATES)
# An encoder that learned nothing, beside every statistic of maps.
RANDOM_MODEL = f"random/seed-{config['seeds'][0]}"
SCORED_STATES = ("pretrained", "frozen", *FINETUNED_STATES)
RUN_LABEL = f"run {config['run']} · {configuration.describe(config)}"
PAPER = configuration.is_paper_run(config)
# What the configuration says about where the run's results come from.
FACTS = {"seeds": configuration.seeds_in_words(config), "origins": configuration.origins(config)}
TASKS = {name: Task.from_entry(name, entry) for name, entry in config["tasks"].items()}
# What jobs need to know of a task: all about its data, or only what prepared examples are.
OF_DATA = ("text", "label", "labels", "range", "files", "columns", "hub", "flawed")
OF_EXAMPLES = ("text", "labels", "range")
# What the classifier on a frozen encoder is trained with.
OF_FROZEN = ("epochs", "batch_size", "frozen_learning_rate", "warmup", "weight_decay")
# Of training on a fine-tuned model, nothing of its start matters.
NOT_OF_GATES = ("frozen_learning_rate", "init_seed", "reinitialized_layers")
ANNOTATIONS = configuration.annotated_by(config)
METRICS_OF_TASKS = {name: list(task.metrics) for name, task in TASKS.items()}


def shipped(name: str) -> str:
    """A file that ships with the project, wherever the working directory is."""
    return compat.in_place(os.path.relpath(RESOURCES / name))


def corpus_files() -> list[str]:
    """The words of the built-in corpus."""
    return [shipped(f"corpus/{path.name}") for path in sorted(RESOURCES.glob("corpus/*.tsv"))]


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


def per_task_and_model(
    pattern: str, tasks: Iterable[str] = tuple(config["tasks"]), **others
) -> list[str]:
    """The pattern for tasks, all of the run if not given, and each of the models whose maps are measured."""
    return [
        path
        for task in tasks
        for path in expand(pattern, task=task, model=measured_models(task), **others)
    ]


def measured_models(task: str) -> list[str]:
    """The models of a task whose maps are measured."""
    seeds = config["tasks"][task]["seeds"]
    return ["pretrained", *(f"finetuned/seed-{seed}" for seed in seeds), RANDOM_MODEL]


def followed_seeds(task: str) -> list[int]:
    """Fine-tuning seeds of a task whose training is followed."""
    chosen = config["landscape"]["trajectories"]["seeds"]
    seeds = config["tasks"][task]["seeds"]
    return [seed for seed in seeds if chosen is None or seed in chosen]


def finetuned_folders(wildcards) -> list[str]:
    """The fine-tuned models of a task, one for each seed."""
    return expand(
        "<results>/models/{task}/finetuned/seed-{seed}",
        task=wildcards.task,
        seed=config["tasks"][wildcards.task]["seeds"],
    )


def measured_stores(wildcards) -> list[str]:
    """The maps of every model of a task that are measured."""
    return expand(
        "<results>/attention/{task}/{model}",
        task=wildcards.task,
        model=measured_models(wildcards.task),
    )


def scored(pattern: str) -> list[str]:
    """The pattern for every task, scored state and seed."""
    return [path for state in SCORED_STATES for path in per_task_and_seed(pattern, state=state)]


def entries_to_score() -> dict[str, dict]:
    """What comparing scores needs to know of every task."""
    needed = (*OF_EXAMPLES, "metrics")
    return {
        task: {key: value for key, value in entry.items() if key in needed}
        for task, entry in config["tasks"].items()
    }


def without(section: Mapping, *keys: str) -> dict:
    """A section of the configuration without some keys, so that editing these reruns nothing."""
    return {key: value for key, value in section.items() if key not in keys}


def settings_of_training(wildcards) -> dict:
    """Parameter of a rule: the settings with which an encoder is fine-tuned on its task."""
    of_task = {"epochs": config["tasks"][wildcards.task]["epochs"]}
    return without(config["fine_tuning"], "frozen_learning_rate") | of_task


def settings_of_frozen(wildcards) -> dict:
    """Parameter of a rule: the settings with which a classifier on a frozen encoder is trained."""
    of_task = {"epochs": config["tasks"][wildcards.task]["epochs"]}
    return {key: config["fine_tuning"][key] for key in OF_FROZEN} | of_task


def entry_of_task(*keys: str) -> Callable:
    """Parameter of a rule: the part of its task's entry with these keys, so that it reruns for no other."""
    return lambda wildcards: {
        key: value for key, value in config["tasks"][wildcards.task].items() if key in keys
    }


def chunks_of(folder: str, number: int) -> list[str]:
    """The chunks that a job is split into: `1-of-3` and so on."""
    return [f"{folder}/{chunk}-of-{number}" for chunk in range(1, number + 1)]


@cache
def check_data() -> None:
    """Check what a run that is given text needs besides, once its graph turns out to have data."""
    if with_text and workflow.is_main_process:
        preflight.check(config)


def data_files(wildcards) -> list[str]:
    """Local files that a task's data are read from, or the word lists of the built-in corpus."""
    check_data()
    task = TASKS[wildcards.task]
    if isinstance(task.data, Files):
        return [compat.in_place(path) for path in sources.paths_of(task).values()]
    return [] if task.data else corpus_files()


def builtin_corpus(wildcards) -> dict[str, int]:
    """Sizes and seed of the built-in corpus, for a task of it."""
    if TASKS[wildcards.task].data:
        return {}
    train, validation = config["tasks"][wildcards.task]["size"]
    return {"train": train, "validation": validation, "seed": config["data"]["seed"]}


def checkpoint_files(wildcards) -> list[str]:
    """Local files of the pre-trained model."""
    if config["model"]["source"] == "hub":
        return []
    folder = checkpoints.folder_of(config["model"])
    return [compat.in_place(os.path.relpath(path)) for path in sorted(folder.glob("*.safetensors"))]


def model_folder(wildcards) -> str:
    """The model whose maps are extracted: the encoder shared by all tasks, or a fine-tuned one."""
    if wildcards.model == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.model}"


def labelled_files() -> list[str]:
    """Files of the labelled maps that the classifier is trained on."""
    sets = annotations.folders(config["patterns"]["annotations"])
    files = [path for folder in sets for path in annotations.files(folder)]
    return [compat.in_place(os.path.relpath(path)) for path in files]


def pattern_maps() -> list[str]:
    """Tables with the pattern of every map, one per task, model and seed of the run."""
    return per_task_and_model("<results>/patterns/{task}/{model}.parquet")


def links_files(wildcards) -> dict[str, str | list[str]]:
    """Source of the links: a file, FrameNet's index, NLTK's download, or word lists."""
    check_data()
    if LINKS["source"] == "tsv":
        return {"files": compat.in_place(LINKS["file"])}
    if LINKS["source"] == "builtin":
        return {"files": corpus_files()}
    if LINKS["folder"]:
        return {
            "files": compat.in_place(framenet_folder.locate(Path(LINKS["folder"])) / "luIndex.xml")
        }
    return {"downloaded": "<results>/framenet/nltk_data"}


def treebank_files(wildcards) -> dict[str, list[str]]:
    """Where trees come from: word lists, a file of one's own, or the annotation of all tasks."""
    check_data()
    if config["treebank"]["source"] == "pipeline":
        return {"annotations": per_task("<results>/annotation/{task}.jsonl")}
    if config["treebank"]["source"] == "conllu":
        return {"files": [compat.in_place(config["treebank"]["path"])]}
    return {"files": corpus_files()}


def pipeline_files(wildcards) -> list[str]:
    """Files of a local spaCy pipeline, if the data have no gold annotation."""
    return parser_files(wildcards) if TASKS[wildcards.task].data else []


def parser_files(wildcards) -> list[str]:
    """Files of a local spaCy pipeline."""
    folder = Path(config["annotation"]["pipeline"])
    return (
        [compat.in_place(path) for path in annotation.files_of(folder)] if folder.is_dir() else []
    )


def attention_of_next_seed(wildcards) -> list[str]:
    """Maps of the model fine-tuned with the task's next seed (after the last, the first), if there are several."""
    seeds = [int(seed) for seed in config["tasks"][wildcards.task]["seeds"]]
    following = seeds[(seeds.index(int(wildcards.seed)) + 1) % len(seeds)]
    if len(seeds) == 1:
        return []
    return [f"<results>/attention/{wildcards.task}/finetuned/seed-{following}"]


def tasks_of(table: str) -> list[str]:
    """Tasks of the run that have a measure; some measures need two sentences."""
    return [task for task in config["tasks"] if TASKS[task].is_pair or not MEASURES[table].pairs]


def measured(wildcards) -> list[str]:
    """A measure's tables, one for every task and model that has it."""
    pattern = "<results>/features/{task}/{model}/{table}.csv"
    tasks, table = tasks_of(wildcards.table), wildcards.table
    return per_task_and_model(pattern, tasks, table=table)


def norms_of_tasks(wildcards) -> list[str]:
    """The parts of a table of weights and norms, one for every task."""
    return per_task(f"<results>/norms/{{task}}/{wildcards.table}.csv")


def faithfulness_of_tasks(wildcards) -> list[str]:
    """The parts of a table of attention and decisions, one for every task that has them."""
    return expand(
        "<results>/faithfulness/{task}/{table}.csv",
        task=config["faithfulness"]["tasks"],
        table=wildcards.table,
    )


def restored_of_seeds(wildcards) -> list[str]:
    """The outputs of a task's models in a state with layers restored, one for each seed."""
    return expand(
        "<results>/restored/{task}/{state}/seed-{seed}",
        task=wildcards.task,
        state=wildcards.state,
        seed=config["tasks"][wildcards.task]["seeds"],
    )


def files_of_grid(task: str, folder: str, name: str) -> list[str]:
    """A file of every fine-tuning of a task's grid, starts first; those of the run itself are taken from there."""
    grid, settings = config["seed_grid"], config["fine_tuning"]
    own = config["tasks"][task]["seeds"]
    if settings["init_seed"] is not None or settings["order_seed"] is not None:
        own = []  # the run's seeds are not those of start and order
    return [
        (
            f"<results>/{folder}/{task}/finetuned/seed-{init}.csv"
            if init == order and init in own
            else f"<results>/seed_grid/{task}/init-{init}-order-{order}.{name}.csv"
        )
        for init in grid["init_seeds"]
        for order in grid["order_seeds"]
    ]


def predictions_of_grid(wildcards) -> list[str]:
    """Predictions of every fine-tuning of a task's grid."""
    return files_of_grid(wildcards.task, "predictions", "predictions")


def curves_of_grid(wildcards) -> list[str]:
    """Learning curves of every fine-tuning of a task's grid."""
    return files_of_grid(wildcards.task, "curves", "curve")


def seeds_of_tasks(wildcards) -> list[str]:
    """The parts of a table of seeds, one for every task that has a grid."""
    return expand(
        "<results>/seed_grid/{task}/{table}.csv",
        task=config["seed_grid"]["tasks"],
        table=wildcards.table,
    )


def similarity_of_seeds(wildcards) -> list[str]:
    """The similarities of maps before and after a fine-tuning of the pre-trained encoder, by seed."""
    if wildcards.state != "finetuned":
        return []
    return expand(
        "<results>/similarity/{task}/seed-{seed}.csv",
        task=wildcards.task,
        seed=config["tasks"][wildcards.task]["seeds"],
    )


def landscape_of_tasks(wildcards) -> list[str]:
    """The parts of a table of restored layers, one for every task and state that has them."""
    return expand(
        "<results>/landscape/{task}/{state}/{table}.csv",
        task=config["landscape"]["tasks"],
        state=config["landscape"]["states"],
        table=wildcards.table,
    )


def snapshots_for_surface(wildcards) -> list[str]:
    """The weights that a training has kept on its way, if it is followed and began with the pre-trained model."""
    tasks, begun = config["landscape"]["trajectories"]["tasks"], config["fine_tuning"]
    if wildcards.task not in tasks or int(wildcards.seed) not in followed_seeds(wildcards.task):
        return []
    if begun["init_seed"] is not None or begun["reinitialized_layers"]:
        return []
    return ["<results>/snapshots/{task}/finetuned/seed-{seed}"]


def surfaces_of_tasks(wildcards) -> list[str]:
    """The parts of a table of loss surfaces, one for every task that has them and each of its first seeds."""
    surface = config["landscape"]["surface"]
    return [
        f"<results>/surfaces/{task}/seed-{seed}/{wildcards.table}.csv"
        for task in surface["tasks"]
        for seed in config["tasks"][task]["seeds"][: surface["seeds"]]
    ]


def flatness_of_run(wildcards) -> list[str]:
    """The flatness of every model that has been measured: of both states, by task and seed."""
    return [
        path
        for state in FINETUNED_STATES
        for path in per_task_and_seed(
            "<results>/flatness/{task}/{state}/seed-{seed}.csv",
            config["landscape"]["flatness"]["tasks"],
            state=state,
        )
    ]


def classifier_folder(wildcards) -> str:
    """The model whose heads are disabled; `pretrained` gets the classifier drawn from the seed."""
    if wildcards.state == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.state}/seed-{wildcards.seed}"


def compared_modes(wildcards) -> list[str]:
    """Further modes in which a task's heads are disabled."""
    return resources.compared_modes(config, wildcards.task)


def joint_of_task(wildcards) -> dict:
    """What is disabled together; the task's first metric orders the heads."""
    of_run = {key: config["ablation"]["joint"][key] for key in ("heads", "draws")}
    metric = METRICS_OF_TASKS[wildcards.task][0]
    return {**of_run, "seed": config["ablation"]["seed"], "metric": metric}


def settings_of_sweep(wildcards) -> dict:
    """What a task's sweep disables, and how."""
    settings = {key: config["ablation"][key] for key in ("mode", "sets", "screening")}
    return settings | {"compare_modes": compared_modes(wildcards)}


def sweeps_of(pattern: str) -> list[str]:
    """The pattern for every task, state and seed whose heads are disabled."""
    return per_task_and_seed(
        pattern, config["ablation"]["tasks"], state=config["ablation"]["states"]
    )


def chunk_group(group: str, chunks: int) -> str | None:
    """Group of a chunk's job: that of the next steps, or none if several chunks run in parallel."""
    return group if chunks == 1 else None


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


def sweep_for_atlas(wildcards) -> list[str]:
    """The sweep over the heads of a task's first fine-tuned model, if there is one."""
    ablation = config["ablation"]
    swept = "finetuned" in ablation["states"] and wildcards.task in ablation["tasks"]
    seed = config["tasks"][wildcards.task]["seeds"][0]
    sweep = f"<results>/ablation/{wildcards.task}/finetuned/seed-{seed}"
    return [sweep] if swept and not config["left_out"] else []


def models_of_atlas(wildcards) -> list[str]:
    """Models of a task whose maps the atlas shows: the maps of random weights are not kept."""
    return [model for model in measured_models(wildcards.task) if model != RANDOM_MODEL]


def predictions_for_atlas(wildcards) -> str:
    """Predictions of a task's first fine-tuned model."""
    seed = config["tasks"][wildcards.task]["seeds"][0]
    return f"<results>/predictions/{wildcards.task}/finetuned/seed-{seed}.csv"


def stores_for_atlas(wildcards) -> list[str]:
    """The attention of these models."""
    return [f"<results>/attention/{wildcards.task}/{each}" for each in models_of_atlas(wildcards)]


def settings_of_atlas(wildcards) -> dict:
    """Which examples of a task the atlas shows, and what its labels are called."""
    labels = list(TASKS[wildcards.task].labels)
    return {**config["atlas"], "labels": labels, "seed": config["samples"]["seed"]}


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
    return [compat.in_place(file)] if file else []


def text_given(wildcards) -> object:
    """The text to look at; as a function, since its braces are not wildcards."""
    return config["text"]


def ask(need, *, gpu: bool = False, data: bool = True) -> dict:
    """Resources that a rule's jobs request, given their need; `gpu` if they can use a GPU.

    If they do not depend on the data of tasks, `data` is false.
    """
    return resources.Asked(need, config, GPU if gpu else 0, data).resources()


RESULTS_OF_RUN: list[str] = []  # targets of `all`: each section adds its figures and tables
TABLES_LEFT_OUT: set[str] = (
    set()
)  # names of tables that this run does not make: each section adds its own
NOT_OFFERED = {"pattern_predictions"}  # a row per labelled map and fold: too large for the report
CHECKS: dict[str, Callable[[Mapping], None]] = {}  # by rule: made before a run that has its jobs


def drawn_by(
    name: str,
    label: str = RUN_LABEL,
    tasks: list[str] | None = None,
    options: Mapping[str, str] | None = None,
) -> dict:
    """Parameters of a figure's rule; the module that draws it has the figure's name.

    It shows all tasks of the run, or only `tasks`; `options` are settings that the module reads.
    """
    (path,) = PROJECT.glob(f"darksecrets/*/{name}.py")
    dotted = ".".join(path.relative_to(PROJECT).with_suffix("").parts)
    metrics = {name: METRICS_OF_TASKS[name] for name in tasks or METRICS_OF_TASKS}
    about_run = {"tasks": metrics, "annotations": ANNOTATIONS, "paper": PAPER}
    params = {"module": dotted, "label": label, "options": dict(options or {}), **about_run}
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
    group: str,
    run_label: str = RUN_LABEL,
    of_run: bool = True,
    tasks: list[str] | None = None,
    options: Mapping[str, str] | None = None,
    **sources: str | list[str],
) -> None:
    """Add the rule of a figure, which `draw` of the module of that name makes from `sources`.

    The report shows it as `label` under `section`, with the caption `workflow/report/<name>.rst`.
    Its job is submitted with those of `group`. If `of_run`, it is a target of `all`. It shows all tasks, or
    only `tasks`; `options` are settings that the module reads.
    """

    rule:
        name:
            name
        input:
            **sources,
        output:
            svg=report(
                f"<results>/figures/{name}.svg",
                caption=f"../report/{name}.rst",
                category=section,
                labels={"result": label},
            ),
            pdf=f"<results>/figures/{name}.pdf",
            png=f"<results>/figures/{name}.png",
        log:
            f"<logs>/{name}.log",
        group:
            group
        conda:
            "../../envs/figures.yaml"
        params:
            **drawn_by(name, run_label, tasks, options),
        message:
            f"Draw {name}"
        script:
            "../../scripts/figure.py"

    compat.describe(getattr(rules, name), what)
    if of_run:
        RESULTS_OF_RUN.extend(figure_files(name))


def collect(
    name: str,
    what: str,
    *,
    group: str,
    table: str,
    tables,
    choices: str | None = None,
    metrics: Mapping[str, list[str]] | None = None,
) -> None:
    """Add a rule that concatenates `tables` of single jobs into one table of the run.

    If the table's name is the wildcard `{table}`, `choices` are its possible values. Jobs score every
    metric that fits a task, so that choosing others reruns no training; the table keeps `metrics`.
    """

    rule:
        name:
            name
        input:
            tables=tables,
        output:
            table=f"<results>/tables/{table}.csv",
            provenance=f"<results>/tables/{table}.provenance.json",
        log:
            f"<logs>/{name}/{table}.log",
        wildcard_constraints:
            table=choices or table,
        group:
            group
        conda:
            "../../envs/figures.yaml"
        params:
            metrics=metrics,
        message:
            "Make {output.table}"
        script:
            "../../scripts/collect_tables.py"

    compat.describe(getattr(rules, name), what)


def record_of(table: str) -> str:
    """Provenance of a table of the run: that of the rule that makes it, beside the table."""
    for each in compat.rules_of(workflow, RULES):
        if any(
            str(path).endswith(table) for path in each.output
        ):  # with storage, there is a prefix
            return str(Path(table).with_name(Path(str(each.output.provenance)).name))
    return str(Path(table).with_suffix(".provenance.json"))


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
            files = imports.files_of((RULES / script).resolve(), *modules)
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
    name = wildcards.get("table", name)
    (section,) = (
        of for of, tables in contracts.SECTIONS.items() if contracts.TABLES[name] in tables
    )
    numbers, _, title = section.partition(":")
    return {"section": numbers.split(" ", 1)[1] if title else "all", "table": f"{name}.csv"}


def start_run(logs: list[str]) -> None:
    """Before the first job: say what the run costs, check disk and Hub, record the configuration."""
    looking = plan.is_look(workflow.dag, config)
    expected = None
    if workflow.local_exec:
        compat.lift_rate_limit(workflow)
        given = compat.cores_of(workflow), compat.gpus_of(workflow)
        expected = plan.outlook(workflow.dag, *given)
    SCREEN.start(expected)
    steps = plan.steps(workflow.dag)
    logger.info(plan.summary(steps, config, expected, looking=looking))
    memory = psutil.virtual_memory().total if workflow.local_exec else None
    for misfit in plan.misfits(steps, memory):
        logger.warning(misfit)
    logger.info(f"Full log: {terminal.relative(logs)}")
    if GPU and workflow.local_exec and not gpus_here():
        logger.warning(
            "Found no GPU here: jobs that request one run on the CPU, as many at a time as `--resources gpu=` "
            "allows. `--config gpu=0` removes that limit."
        )
    try:
        preflight.check_surroundings(config, looking=looking)
        for name in {job.rule.name for job in compat.jobs_of(workflow.dag)} & set(CHECKS):
            CHECKS[name](config)
        preflight.record_run(config, looking=looking)
    except InputError as error:
        raise WorkflowError(str(error)) from None
    if workflow.local_exec:
        forks.start_scripts_as_forks(len(list(compat.jobs_of(workflow.dag))))


def finish_run(logs: list[str]) -> None:
    """After the last job: list the results; show Table 1 and where the results are."""
    if not config["only_outputs_kept"]:
        made = compat.results_of(workflow.dag)
        named = {
            os.path.relpath(path, RESULTS): rule
            for path, rule in made.items()
            if Path(path).is_relative_to(RESULTS)
        }
        verifying.list_results(RESULTS, named, all_of_run=set(RESULTS_OF_RUN) <= set(made))
    text, links = terminal.closing(RESULTS, compat.targets_of(workflow.dag), logs, SCREEN)
    logger.info(text, extra={"links": links})


def fail_run(logs: list[str]) -> None:
    """After a failure or Ctrl-C: say how to go on."""
    logger.error(terminal.how_to_go_on(logs, SCREEN))
