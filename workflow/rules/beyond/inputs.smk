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
        hans=compat.mark_in_place(config["inputs"]["hans"] or ""),
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


collect(
    "collect_hans",
    "Gather what models of entailment say of HANS.",
    tables={"hans": expand("<results>/hans/{task}.csv", task=HANS_TASKS)},
    group="features",
)


collect(
    "collect_inputs",
    "Gather what fine-tuned models do with inputs that make no sense.",
    tables={"changed_inputs": expand("<results>/inputs/{task}.csv", task=TASKS_OF_INPUTS)},
    group="features",
)


draw(
    "draw_inputs",
    figure(
        "changed_inputs",
        "How many decisions stay the same on inputs that make no sense.",
        section=INPUTS,
        label="Inputs that make no sense (Ettinger 2020)",
        when=bool(TASKS_OF_INPUTS),
        tasks=TASKS_OF_INPUTS,
        table="<results>/tables/changed_inputs.csv",
        learned="<results>/tables/learned.csv",
    ),
    figure(
        "hans",
        "How often models of entailment are right where heuristics are wrong.",
        section=INPUTS,
        label="Heuristics of entailment (McCoy et al. 2019)",
        when=bool(HANS_TASKS),
        tasks=HANS_TASKS,
        table="<results>/tables/hans.csv",
        learned="<results>/tables/learned.csv",
    ),
    of="inputs",
    group="features",
)


add_results("changed_inputs", of="inputs")
add_results("hans", of="inputs", when=bool(HANS_TASKS))
