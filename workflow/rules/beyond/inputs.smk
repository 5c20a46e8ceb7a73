# Section 5, further: what do fine-tuned models do with inputs that make no sense?


INPUTS = "Section 5, inputs that make no sense"
TASKS_OF_INPUTS = config["inputs"]["tasks"]
# Without annotated words, subjects and names are not known.
ANNOTATION_OF_INPUTS = [] if config["left_out"]["words"] else "<results>/annotation/{task}.jsonl"


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
    of="inputs",
    group="features",
)


add_results("changed_inputs", of="inputs")
