import os
from collections.abc import Callable, Mapping
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from darksecrets.ablation import preflight as of_ablation
from darksecrets.data import sources
from darksecrets.data.tasks import TASKS
from darksecrets.features import annotation
from darksecrets.features.labels import FEATURES, file_name
from darksecrets.features.measures import MEASURES
from darksecrets.framenet import folder as framenet_folder
from darksecrets.framenet import sources as framenet
from darksecrets.models import checkpoints
from darksecrets.patterns import annotations
from darksecrets.run import gpus
from darksecrets.run.errors import InputError
from workflow.lib import compat, configuration, imports, plan, preflight, resources

try:
    config.update(configuration.resolve(config))
    if workflow.is_main_process:
        preflight.check(config)
except InputError as error:
    raise WorkflowError(str(error)) from None

# Not the main Snakefile's folder: that is another one when this workflow is used as a module.
RULES = Path(str(workflow.current_basedir))
PROJECT = RULES.parents[1]
RESOURCES = PROJECT / "darksecrets" / "resources"
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
    chunk=r"\d+",
    chunks=r"\d+",


def gpus_here() -> list[str]:
    """GPUs of this machine; of them, a job that was submitted has what it was given."""
    return [] if workflow.remote_exec and gpus.VISIBLE not in os.environ else gpus.visible()


# GPUs that a job of a model asks for.
GPU = min(1, len(gpus_here())) if config["gpu"] == "auto" else config["gpu"]
FINETUNED_STATES = ("finetuned", "finetuned-from-normal")
STATES = ("pretrained", *FINETUNED_STATES)
RUN_LABEL = f"run {config['run']} · {configuration.describe(config)}"
PAPER = configuration.is_paper_run(config)


def shipped(name: str) -> str:
    """A file that ships with the project, wherever the working directory is."""
    return compat.in_place(os.path.relpath(RESOURCES / name))


def corpus_files() -> list[str]:
    """The words of the built-in corpus."""
    return [shipped(f"corpus/{path.name}") for path in sorted(RESOURCES.glob("corpus/*.tsv"))]


def per_task(pattern: str) -> list[str]:
    """The pattern for every task of the run."""
    return expand(pattern, task=config["tasks"])


def per_task_and_seed(pattern: str) -> list[str]:
    """The pattern for every task and fine-tuning seed of the run."""
    return expand(pattern, task=config["tasks"], seed=config["seeds"])


def chunks_of(folder: str, number: int) -> list[str]:
    """The chunks that a job is cut into: `1-of-3` and so on."""
    return [f"{folder}/{chunk}-of-{number}" for chunk in range(1, number + 1)]


def data_files(wildcards) -> list[str]:
    """Local files that a task's data come from: the grammar's words, or the classic GLUE files."""
    if config["data"]["source"] == "builtin":
        return corpus_files()
    if config["data"]["source"] == "tsv":
        files = sources.tsv_files(TASKS[wildcards.task], Path(config["data"]["folder"]))
        return [compat.in_place(path) for path in files.values()]
    return []


def checkpoint_files(wildcards) -> list[str]:
    """Local files of the pre-trained model."""
    if config["model"]["source"] == "hub":
        return []
    folder = checkpoints.folder_of(config["model"])
    return [compat.in_place(os.path.relpath(path)) for path in sorted(folder.glob("*.safetensors"))]


def model_folder(wildcards) -> str:
    """The model whose maps are extracted: the encoder all tasks share, or a fine-tuned one."""
    if wildcards.model == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.model}"


def labelled_files() -> list[str]:
    """Files of the labelled maps that the classifier learns from."""
    sets = annotations.folders(config["patterns"]["annotations"])
    files = [path for folder in sets for path in annotations.files(folder)]
    return [compat.in_place(os.path.relpath(path)) for path in files]


def pattern_maps() -> list[str]:
    """Tables with the pattern of every map, one per task, model and seed of the run."""
    return [
        *per_task("<results>/patterns/{task}/pretrained.parquet"),
        *per_task_and_seed("<results>/patterns/{task}/finetuned/seed-{seed}.parquet"),
    ]


def links_files(wildcards) -> dict[str, str | list[str]]:
    """What the links are read from: a file, FrameNet's index, NLTK's download, or word lists."""
    if LINKS["source"] == "tsv":
        return {"files": compat.in_place(LINKS["file"])}
    if LINKS["source"] == "builtin":
        return {"files": corpus_files()}
    if LINKS["folder"]:
        return {
            "files": compat.in_place(framenet_folder.locate(Path(LINKS["folder"])) / "luIndex.xml")
        }
    return {"downloaded": "<results>/framenet/nltk_data"}


def pipeline_files(wildcards) -> list[str]:
    """Files of a local spaCy pipeline."""
    folder = Path(config["annotation"]["pipeline"])
    used = config["data"]["source"] != "builtin" and folder.is_dir()
    return [compat.in_place(path) for path in annotation.files_of(folder)] if used else []


def tasks_of(table: str) -> list[str]:
    """Tasks of the run that have a measure: some need two sentences."""
    return [task for task in config["tasks"] if TASKS[task].is_pair or not MEASURES[table].pairs]


def measured(wildcards) -> list[str]:
    """A measure's table of every task and model that has it."""
    models = ["pretrained", *(f"finetuned/seed-{seed}" for seed in config["seeds"])]
    pattern = "<results>/features/{task}/{model}/{table}.csv"
    tasks, table = tasks_of(wildcards.table), wildcards.table
    return expand(pattern, task=tasks, model=models, table=table)


def classifier_folder(wildcards) -> str:
    """The model whose heads are disabled; `pretrained` gets the classifier drawn from the seed."""
    if wildcards.state == "pretrained":
        return "<results>/models/pretrained"
    return f"<results>/models/{wildcards.task}/{wildcards.state}/seed-{wildcards.seed}"


def together(group: str, chunks: int) -> str | None:
    """Group of the jobs of a chunk: with those after it, unless several chunks run side by side."""
    return group if chunks == 1 else None


def ask(need, *, gpu: bool = False) -> dict:
    """Resources of a rule's jobs, by what they need; `gpu` if they can use one."""
    return resources.Asked(need, config, GPU if gpu else 0).resources()


RESULTS_OF_RUN: list[str] = []  # each section of the paper adds its figures and tables
CHECKS: dict[str, Callable[[Mapping], None]] = {}  # before a run that has jobs of a rule


def drawn_by(name: str, label: str = RUN_LABEL) -> dict:
    """Parameters of the rule of a figure, whose module has the figure's name."""
    (path,) = PROJECT.glob(f"darksecrets/*/{name}.py")
    dotted = ".".join(path.relative_to(PROJECT).with_suffix("").parts)
    return {"module": dotted, "label": label, "tasks": config["tasks"], "paper": PAPER}


def figure(
    name: str,
    what: str,
    *,
    section: str,
    label: str,
    group: str,
    run_label: str = RUN_LABEL,
    of_run: bool = True,
    **sources: str | list[str],
) -> None:
    """Add the rule of a figure, which `draw` of the module of its name makes from `sources`.

    The report shows it as `label` under `section`, with the caption `workflow/report/<name>.rst`.
    Its job is submitted with those of `group`. It is made by `all` if it is `of_run`.
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
            **drawn_by(name, run_label),
        message:
            f"Draw {name}"
        script:
            "../../scripts/figure.py"

    compat.describe(getattr(rules, name), what)
    if of_run:
        RESULTS_OF_RUN.extend(figure_files(name))


def collect(
    name: str, what: str, *, group: str, table: str, tables, choices: str | None = None
) -> None:
    """Add a rule that stacks `tables` of single jobs into a table of the run.

    Where the name of the table is a wildcard, `{table}`, `choices` are the tables that it makes.
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
        message:
            "Make {output.table}"
        script:
            "../../scripts/collect_tables.py"

    compat.describe(getattr(rules, name), what)


def figure_files(*names: str, formats: tuple[str, ...] = ("pdf", "svg", "png")) -> list[str]:
    """Every format of some figures."""
    return expand("<results>/figures/{name}.{format}", name=names, format=formats)


def add_code() -> None:
    """Make what a script imports an input of its rule, so that editing a module reruns what uses it."""
    for each in compat.rules_of(workflow, RULES):
        if script := compat.script_of(each):
            modules = filter(None, [compat.parameter(each, "module")])
            files = imports.files_of((RULES / script).resolve(), *modules)
            compat.add_input(each, code=[compat.in_place(os.path.relpath(file)) for file in files])


def start_run() -> None:
    """Before the first job: say what it costs, see that disk and Hub will do, write down what this run is."""
    steps = plan.steps(workflow.dag)
    logger.info(plan.summary(steps, config))
    if GPU and workflow.local_exec and not gpus_here():
        logger.warning(
            "Found no GPU here: jobs that ask for one run on the CPU, as many at a time as `--resources gpu=` "
            "allows. `--config gpu=0` lifts that limit."
        )
    try:
        preflight.check_surroundings(config)
        for name in {job.rule.name for job in compat.jobs_of(workflow.dag)} & set(CHECKS):
            CHECKS[name](config)
        preflight.record_run(config)
    except InputError as error:
        raise WorkflowError(str(error)) from None
