import copy
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from snakemake.common.configfile import load_configfile
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from darksecrets.beyond import analyses
from darksecrets.beyond.norms import preflight as norms_checks
from darksecrets.core.data import preflight as data_checks
from darksecrets.core.data.tasks import Task
from darksecrets.core.run import gpus
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import PACKAGE, PROJECT, RESOURCES
from darksecrets.core.run.shown import tables_of
from darksecrets.pages import contracts
from darksecrets.pages.claims import registry
from workflow.lib import (
    ambiguous_yaml,
    compat,
    configuration,
    imports,
    origins,
    preflight,
    resources,
)

merged, other_origin = origins.leave_out_other_origins(
    config,
    [load_configfile(path) for path in workflow.configfiles],
    workflow.config_settings.config,
    demonstration=not workflow.overwrite_configfiles,
)
config.clear()
config.update(merged)
given = copy.deepcopy(config)  # without defaults
try:
    # A run that is given text may need no data, and may disable no heads: that is known only once its
    # jobs are, see `check_data`.
    has_text = config.get("text") is not None
    if workflow.is_main_process:
        ambiguous_yaml.refuse(map(Path, workflow.configfiles))
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
    if other_origin:
        logger.info(
            f"Not of the data or the model given by --config, and left out: {', '.join(other_origin)}."
        )
    for reason, names in preflight.lacking(config).items():
        logger.warning(f"Left out: {', '.join(names)}; everything else runs. {reason}")
    for said in [] if has_text else preflight.short_trainings(config):
        logger.warning(said)

# Not the main Snakefile's folder, which differs when this workflow is used as a module.
RULES = Path(str(workflow.current_basedir))
compat.let_scripts_import_from(PACKAGE.parent)
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
RUN_LABEL = f"run {config['run']} · {origins.describe(config)}"
# Of figures about the pre-trained encoder, which read no data of the tasks.
ENCODER_LABEL = f"run {config['run']} · {origins.describe_model(config)}"
PAPER = origins.is_paper_run(config)
# What the configuration says about where the run's results come from.
FACTS = {"seeds": configuration.seeds_in_words(config), "origins": origins.describe_sources(config)}
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
METRICS_OF_TASKS = {name: list(task.metrics) for name, task in TASKS.items()}
# What claims depend on besides tables: GLUE and FrameNet are shared with papers, together with the paper's model.
RUN_OF_CLAIMS = {
    "tasks": METRICS_OF_TASKS,
    "seeds": {name: entry["seeds"] for name, entry in config["tasks"].items()},
    "shared": [
        *(["GLUE"] if PAPER else []),
        *(["FrameNet"] if PAPER and config["framenet"]["source"] == "nltk" else []),
    ],
}


def shipped(name: str) -> str:
    """A file that ships with the project, wherever the working directory is."""
    return compat.mark_in_place(os.path.relpath(RESOURCES / name))


def code_of(script: str, *modules: str) -> str:
    """Digest of a script's code and of all that it imports, so that editing any of it reruns the rule.

    As files of the input they would fill the terminal and the records of every job, and a mere checkout, which
    changes their times, would rerun everything. `modules` are those that it imports by a name given here.
    """
    return imports.digest(imports.files_of(PROJECT / "scripts" / script, *modules))


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


def ask(kind: str, *, gpu: bool = False) -> dict:
    """Resources of a rule, by its class; `gpu` if its jobs can use a GPU."""
    return resources.ask(kind, config, gpus=GPU if gpu else 0)
