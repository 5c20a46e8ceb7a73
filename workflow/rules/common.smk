import os
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.io import sourcecache_entry
from snakemake.logging import logger

from darksecrets.data import sources
from darksecrets.models import checkpoints
from darksecrets.run import gpus
from workflow.lib import configuration
from workflow.lib import imports, plan, preflight, resources
from darksecrets.run.errors import InputError
from darksecrets.features import annotation
from darksecrets.framenet import folder as framenet_folder
from darksecrets.framenet import sources as framenet
from darksecrets.patterns import annotations
from darksecrets.data.tasks import TASKS

try:
    config.update(configuration.resolve(config))
    if workflow.is_main_process:
        preflight.check(config)
except InputError as error:
    raise WorkflowError(str(error)) from None

# Not the main Snakefile's folder: that is another one when this workflow is used as a module.
RESOURCES = Path(str(workflow.current_basedir)).parents[1] / "darksecrets" / "resources"
RESULTS = configuration.results_folder(config)


pathvars:
    results=str(RESULTS),
    logs=str(RESULTS / "logs"),
    benchmarks=str(RESULTS / "benchmarks"),


wildcard_constraints:
    task="|".join(TASKS),
    state="finetuned|finetuned-from-normal",
    seed=r"\d+",
    model=r"pretrained|finetuned/seed-\d+",
    piece=r"\d+",
    pieces=r"\d+",


def gpus_here() -> list[str]:
    """GPUs of this machine; of them, a job that was submitted has what it was given."""
    return [] if workflow.remote_exec and gpus.VISIBLE not in os.environ else gpus.visible()


# GPUs that a job of a model asks for.
GPU = min(1, len(gpus_here())) if config["gpu"] == "auto" else config["gpu"]
FINETUNED_STATES = ("finetuned", "finetuned-from-normal")
STATES = ("pretrained", *FINETUNED_STATES)
RUN_LABEL = f"run {config['run']} · {configuration.describe(config)}"
HAS_PAIRS = any(TASKS[task].is_pair for task in config["tasks"])
LINKS = config["framenet"]
LINKS_LABEL = f"{RUN_LABEL} · links: {framenet.describe(LINKS)}"


def in_place(path: str | Path) -> str:
    """A file that scripts read where it is: no storage provider copies it or removes its copy."""
    return sourcecache_entry(str(path), str(path))


def code(*names: str) -> list[str]:
    """Files of the package behind a rule: an input, so that editing them reruns the rule."""
    return [in_place(os.path.relpath(path)) for path in imports.files_of(*names)]


def shipped(name: str) -> str:
    """A file that ships with the project, wherever the working directory is."""
    return in_place(os.path.relpath(RESOURCES / name))


def corpus_files() -> list[str]:
    """The words of the built-in corpus."""
    return [shipped(f"corpus/{path.name}") for path in sorted(RESOURCES.glob("corpus/*.tsv"))]


def data_files(wildcards) -> list[str]:
    """Local files that a task's data come from: the grammar's words, or the classic GLUE files."""
    if config["data"]["source"] == "builtin":
        return corpus_files()
    if config["data"]["source"] == "tsv":
        files = sources.tsv_files(TASKS[wildcards.task], Path(config["data"]["folder"]))
        return [in_place(path) for path in files.values()]
    return []


def checkpoint_files(wildcards) -> list[str]:
    """Local files of the pre-trained model."""
    if config["model"]["source"] == "hub":
        return []
    folder = checkpoints.folder_of(config["model"])
    return [in_place(os.path.relpath(path)) for path in sorted(folder.glob("*.safetensors"))]


def links_files(wildcards) -> dict[str, str | list[str]]:
    """What the links are read from: a file, FrameNet's index, NLTK's download, or word lists."""
    if LINKS["source"] == "tsv":
        return {"files": in_place(LINKS["file"])}
    if LINKS["source"] == "builtin":
        return {"files": corpus_files()}
    if LINKS["folder"]:
        return {"files": in_place(framenet_folder.locate(Path(LINKS["folder"])) / "luIndex.xml")}
    return {"downloaded": "<results>/framenet/nltk_data"}


def per_task(pattern: str) -> list[str]:
    """The pattern for every task of the run."""
    return expand(pattern, task=config["tasks"])


def per_task_and_seed(pattern: str) -> list[str]:
    """The pattern for every task and fine-tuning seed of the run."""
    return expand(pattern, task=config["tasks"], seed=config["seeds"])


def model_folder(wildcards) -> str:
    """The model whose maps are extracted: the encoder all tasks share, or a fine-tuned one."""
    if wildcards.model == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.model}"


def pipeline_files(wildcards) -> list[str]:
    """Files of a local spaCy pipeline."""
    folder = Path(config["annotation"]["pipeline"])
    used = config["data"]["source"] != "builtin" and folder.is_dir()
    return [in_place(path) for path in annotation.files_of(folder)] if used else []


def measured(wildcards) -> list[str]:
    """A table of every task and model; equal words need two sentences."""
    tasks = [t for t in config["tasks"] if wildcards.table != "equal_words" or TASKS[t].is_pair]
    models = ["pretrained", *(f"finetuned/seed-{seed}" for seed in config["seeds"])]
    pattern = "<results>/features/{task}/{model}/{table}.csv"
    return expand(pattern, task=tasks, model=models, table=wildcards.table)


def classifier_folder(wildcards) -> str:
    """The model whose heads are disabled; `pretrained` gets the classifier drawn from the seed."""
    if wildcards.state == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.state}/seed-{wildcards.seed}"


def labelled_files() -> list[str]:
    """Files of the labelled maps that the classifier learns from."""
    sets = annotations.folders(config["patterns"]["annotations"])
    files = [path for folder in sets for path in annotations.files(folder)]
    return [in_place(os.path.relpath(path)) for path in files]


def pattern_maps() -> list[str]:
    """Tables with the pattern of every map, one per task, model and seed of the run."""
    return [
        *per_task("<results>/patterns/{task}/pretrained.parquet"),
        *per_task_and_seed("<results>/patterns/{task}/finetuned/seed-{seed}.parquet"),
    ]


def pieces(folder: str, number: int) -> list[str]:
    """The pieces of a job that the configuration splits, `1-of-3` and so on; none for one job."""
    return [f"{folder}/{piece}-of-{number}" for piece in range(1, number + 1)] if number > 1 else []


def ask(rule: str) -> dict:
    """Resources of a rule's jobs, by task and model; memory and time double with every attempt."""

    def need(wildcards) -> resources.Need:
        return resources.need(rule, config, getattr(wildcards, "task", None))

    # Where it is 0 it is left out: Kubernetes takes that for a request.
    gpu = {"gpu": GPU} if GPU and resources.uses_gpu(rule, config) else {}
    return {
        "mem_mb": lambda wildcards, attempt: resources.memory_asked(need(wildcards), gpu=bool(gpu))
        * 2 ** (attempt - 1),
        "runtime": lambda wildcards, attempt, threads: resources.minutes_asked(
            need(wildcards), threads, gpu=bool(gpu)
        )
        * 2 ** (attempt - 1),
        "disk_mb": lambda wildcards: resources.disk_asked(need(wildcards)),
        **gpu,
    }


def figure_files(*names: str) -> list[str]:
    """Every format of some figures."""
    return expand("<results>/figures/{name}.{format}", name=names, format=("pdf", "svg", "png"))


RESULTS_OF_RUN: list[str] = []  # each section of the paper adds its figures and tables


def start_run() -> None:
    """Before the first job: say what it costs, see that disk and Hub will do, write down what this run is."""
    steps = plan.steps(workflow.dag)
    logger.info(plan.summary(steps, config))
    if GPU and workflow.local_exec and not gpus_here():
        logger.warning(
            "Found no GPU here: jobs that ask for one run on the processor, as many at a time as `--resources gpu=` "
            "allows. `--config gpu=0` lifts that limit."
        )
    try:
        preflight.check_surroundings(config)
        planned = {step.rule for step in steps}
        # Only where sentences are going to be parsed: other results need no pipeline.
        if "annotate_examples" in planned:
            annotation.check(config)
        if "collect_ablation" in planned:
            preflight.check_states(config["ablation"])
        preflight.record_run(config)
    except InputError as error:
        raise WorkflowError(str(error)) from None
