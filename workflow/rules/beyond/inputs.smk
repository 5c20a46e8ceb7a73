# Section 5, further: what do fine-tuned models do with inputs that make no sense?


from darksecrets.beyond.inputs import hans

INPUTS = "Section 5, inputs that make no sense"
TASKS_OF_INPUTS = config["inputs"]["tasks"]
# Without annotated words, subjects and names are not known.
ANNOTATION_OF_INPUTS = [] if config["left_out"]["words"] else "<results>/annotation/{task}.jsonl"

HANS_TASKS = hans.tasks_of(config) if config["inputs"]["hans"] else []


rule change_inputs:
    """Let the fine-tuned models of a task read inputs that no person could answer."""
    input:
        dataset="<results>/data/{task}",
        annotation=ANNOTATION_OF_INPUTS,
        finetuned=finetuned_folders,
    output:
        changed_inputs="<results>/inputs/{task}.csv",
    log:
        "<logs>/change_inputs/{task}.log",
    benchmark:
        "<benchmarks>/change_inputs/{task}.tsv"
    group:
        "inputs"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/change_inputs.py"),
        task=entry_of_task(*EXAMPLE_KEYS, "metrics"),
        samples=lookup(dpath="samples", within=config),
        models=lambda wildcards: trained_models(wildcards.task)[1:],
        settings=leave_out(config["inputs"], "tasks"),
        reading=READING,
    message:
        "Change the inputs of {wildcards.task}"
    script:
        "../../../scripts/beyond/change_inputs.py"


rule read_hans:
    """Ask the fine-tuned models of a task about sentences on which heuristics of entailment are wrong."""
    input:
        dataset="<results>/data/{task}",
        hans=compat.mark_in_place(config["inputs"]["hans"]) if HANS_TASKS else [],
        finetuned=finetuned_folders,
    output:
        hans="<results>/hans/{task}.csv",
    log:
        "<logs>/read_hans/{task}.log",
    benchmark:
        "<benchmarks>/read_hans/{task}.tsv"
    group:
        "inputs"
    conda:
        "../../../envs/model.yaml"
    threads: config["threads"]
    resources:
        **ask("forward", gpu=True),
    params:
        code=code_of("beyond/read_hans.py"),
        task=entry_of_task(*EXAMPLE_KEYS),
        models=lambda wildcards: trained_models(wildcards.task)[1:],
        reading=READING,
    message:
        "Read HANS with models of {wildcards.task}"
    script:
        "../../../scripts/beyond/read_hans.py"


rule collect_hans:
    """Gather what models of entailment say of HANS."""
    input:
        hans=expand("<results>/hans/{task}.csv", task=HANS_TASKS),
    output:
        hans=table("hans"),
    log:
        "<logs>/collect_hans.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=["hans"],
    message:
        "Gather what models of entailment say of HANS"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule collect_inputs:
    """Gather what fine-tuned models do with inputs that make no sense."""
    input:
        changed_inputs=expand("<results>/inputs/{task}.csv", task=TASKS_OF_INPUTS),
    output:
        changed_inputs=table("changed_inputs"),
    log:
        "<logs>/collect_inputs.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        code=code_of("beyond/collect_tables.py"),
        tables=["changed_inputs"],
    message:
        "Gather what fine-tuned models do with inputs that make no sense"
    script:
        "../../../scripts/beyond/collect_tables.py"


rule draw_inputs:
    """Draw which changed inputs models do not notice."""
    input:
        changed_inputs="<results>/tables/changed_inputs.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/changed_inputs.svg",
            caption="../../report/changed_inputs.rst",
            category=INPUTS,
            labels={"result": "Inputs that make no sense (Ettinger 2020)"},
        ),
        multiext("<results>/figures/changed_inputs", ".pdf", ".png"),
    log:
        "<logs>/draw_inputs.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("changed_inputs"),
        code=code_of("beyond/draw_inputs.py"),
        metrics=metrics_of(TASKS_OF_INPUTS),
    message:
        "Draw changed_inputs"
    script:
        "../../../scripts/beyond/draw_inputs.py"


rule changed_inputs:
    """How many decisions stay the same on inputs that make no sense."""
    input:
        multiext("<results>/figures/changed_inputs", ".svg", ".pdf", ".png"),
    message:
        "Finished: changed_inputs"


rule draw_hans:
    """Draw how models decide examples that follow a heuristic."""
    input:
        hans="<results>/tables/hans.csv",
        learned="<results>/tables/learned.csv",
    output:
        report(
            "<results>/figures/hans.svg",
            caption="../../report/hans.rst",
            category=INPUTS,
            labels={"result": "Heuristics of entailment (McCoy et al. 2019)"},
        ),
        multiext("<results>/figures/hans", ".pdf", ".png"),
    log:
        "<logs>/draw_hans.log",
    group:
        "features"
    conda:
        "../../../envs/figures.yaml"
    params:
        **captioned("hans"),
        code=code_of("beyond/draw_inputs.py"),
        metrics=metrics_of(HANS_TASKS),
    message:
        "Draw hans"
    script:
        "../../../scripts/beyond/draw_inputs.py"


rule hans:
    """How often models of entailment are right where heuristics are wrong."""
    input:
        multiext("<results>/figures/hans", ".svg", ".pdf", ".png"),
    message:
        "Finished: hans"


RESULTS_OF["inputs"] += tables("changed_inputs")
if TASKS_OF_INPUTS:
    RESULTS_OF["inputs"] += figures("changed_inputs")
if HANS_TASKS:
    RESULTS_OF["inputs"] += [*tables("hans"), *figures("hans")]
