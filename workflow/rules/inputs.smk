# What the rules' inputs and parameters are, where these depend on the configuration or on a job's wildcards.


from darksecrets.beyond.syntax.declared import Settings as SettingsOfSyntax
from darksecrets.beyond.syntax.measure import sources as treebank_sources
from darksecrets.core.data import sources
from darksecrets.core.data.tasks import Files
from darksecrets.core.models import checkpoints
from darksecrets.pages.inspect import texts
from darksecrets.paper.features import parser
from darksecrets.paper.framenet import folder as framenet_folder
from darksecrets.paper.patterns.maps import labelled_maps


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


def finetuned_folders(wildcards) -> list[str]:
    """The fine-tuned models of a task, one for each seed."""
    return expand(
        "<results>/models/{task}/finetuned/seed-{seed}",
        task=wildcards.task,
        seed=config["tasks"][wildcards.task]["seeds"],
    )


def scored(kind: str) -> list[str]:
    """Scores or predictions of every state, task and seed; a folder holds those of all seeds of a task."""
    paths_of_states = [
        *(per_task(f"<results>/{kind}/{{task}}/{state}") for state in NOT_FINETUNED),
        *(
            per_task_and_seed(f"<results>/{kind}/{{task}}/{state}/seed-{{seed}}.csv")
            for state in FINETUNED_STATES
        ),
    ]
    return [path for paths in paths_of_states for path in paths]


def settings_of_training(wildcards) -> dict:
    """Parameter of a rule: the settings with which an encoder is fine-tuned on its task."""
    epochs = {"epochs": config["tasks"][wildcards.task]["epochs"]}
    return leave_out(config["fine_tuning"], "frozen_learning_rate") | epochs


def settings_of_frozen(wildcards) -> dict:
    """Parameter of a rule: the settings with which a classifier on a frozen encoder is trained."""
    epochs = {"epochs": config["tasks"][wildcards.task]["epochs"]}
    return {key: config["fine_tuning"][key] for key in FROZEN_KEYS} | epochs


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
EQUAL_WORD_TABLES = ("equal_words", "equal_word_controls")
WORD_TABLES = ("token_pairs", *EQUAL_WORD_TABLES)


def refuse(reason: str) -> None:
    """Stop a plan that has a target which the run leaves out."""
    drawn = dict.fromkeys(Path(file).stem for file in results_of_run() if "/figures/" in file)
    raise WorkflowError(
        f"{reason} Change the configuration, or leave out this target. This run can make: "
        f"{', '.join(drawn)}."
    )


def refusal(left_out: str) -> Callable | list[str]:
    """Input of what the run leaves out for a reason, if there is one: a plan that needs it stops."""
    return (lambda wildcards: refuse(left_out)) if left_out else []


def annotation_with_words(wildcards) -> str:
    """The annotation of a task, for what needs words."""
    if reason := config["left_out"]["words"]:
        refuse(reason)
    return f"<results>/annotation/{wildcards.task}.jsonl"


def tasks_of(table: str) -> list[str]:
    """Tasks of the run that have a measure; some need words, and some need two sentences."""
    if table in WORD_TABLES and config["left_out"]["words"]:
        return []
    needs_two = table in EQUAL_WORD_TABLES
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


def finetunings(wildcards) -> list[tuple[str, int]]:
    """The states and seeds of a task's fine-tuned models."""
    seeds = config["tasks"][wildcards.task]["seeds"]
    return [(state, seed) for state in FINETUNED_STATES for seed in seeds]


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


TREEBANK = config["syntax"]
SYNTAX_SETTINGS = SettingsOfSyntax.of(TREEBANK)
TREES = f"trees: {treebank_sources.describe(SYNTAX_SETTINGS)}"
TREEBANK_LABEL = f"{RUN_LABEL} · {TREES}"


def treebank_files(wildcards) -> dict[str, list[str]]:
    """Where trees come from: a file, or the annotation of all tasks."""
    check_data()
    if TREEBANK["source"] == "annotation":
        return {"annotations": per_task("<results>/annotation/{task}.jsonl")}
    return {"files": [compat.mark_in_place(TREEBANK["path"])]}


def text_files(wildcards) -> list[str]:
    """The file of the text to look at, if it is in one."""
    file = texts.file_of(config["text"])
    return [compat.mark_in_place(file)] if file else []


def text_given(wildcards) -> object:
    """The text to look at; as a function, since its braces are not wildcards."""
    return config["text"]
