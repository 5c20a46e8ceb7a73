# Section 4.6: what if a head, or a whole layer, is disabled?


rule sweep_heads:
    """Predict the validation set with every head alone, every layer and every set of your own disabled.

    One job loads the model once for all sets, and shares what they have in common.
    """
    input:
        code=code("ablation.sweep"),
        dataset="<results>/data/{task}",
        model=classifier_folder,
    output:
        sweep=directory("<results>/ablation/{task}/{state}/seed-{seed}"),
    log:
        "<logs>/sweep_heads/{task}/{state}/seed-{seed}.log",
    benchmark:
        "<benchmarks>/sweep_heads/{task}/{state}/seed-{seed}.tsv"
    wildcard_constraints:
        state="|".join(STATES),
    conda:
        "../../envs/model.yaml"
    threads: config["threads"]
    resources:
        mem_mb=6000,
        runtime=720,
    params:
        mode=lookup(dpath="ablation/mode", within=config),
        sets=lookup(dpath="ablation/sets", within=config),
        screening=lookup(dpath="ablation/screening", within=config),
        max_length=lookup(dpath="fine_tuning/max_length", within=config),
    message:
        "Disable heads and layers on {wildcards.task}: {wildcards.state}, seed {wildcards.seed}"
    script:
        "../../scripts/sweep_heads.py"


RESULTS_OF_RUN += expand(
    "<results>/ablation/{task}/{state}/seed-{seed}",
    task=config["tasks"],
    state=config["ablation"]["states"],
    seed=config["seeds"],
)
