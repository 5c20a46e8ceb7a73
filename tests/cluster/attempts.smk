"""Four jobs that Slurm or the job itself ends, each in another way, at their first attempt."""

# Groups and threads are not the matter here: one core, little memory.


rule all:
    input:
        expand("{way}.done", way=["fails", "cancelled", "slow", "greedy"]),


rule fails:
    output:
        "fails.done",
    log:
        "fails.log",
    resources:
        mem_mb=300,
        attempt=lambda wildcards, attempt: attempt,
    shell:
        "echo {resources.attempt} >> fails.attempts; test {resources.attempt} -gt 1; touch {output}"


rule cancelled:
    output:
        "cancelled.done",
    log:
        "cancelled.log",
    resources:
        mem_mb=300,
        attempt=lambda wildcards, attempt: attempt,
    shell:
        "echo {resources.attempt} >> cancelled.attempts;"
        " if test {resources.attempt} = 1; then echo $SLURM_JOB_ID > cancelled.id; sleep 600; fi;"
        " touch {output}"


rule slow:
    output:
        "slow.done",
    log:
        "slow.log",
    resources:
        mem_mb=300,
        runtime=lambda wildcards, attempt: attempt,
        attempt=lambda wildcards, attempt: attempt,
    shell:
        "echo {resources.attempt} >> slow.attempts;"
        " test {resources.attempt} -gt 1 || sleep 600; touch {output}"


rule greedy:
    output:
        "greedy.done",
    log:
        "greedy.log",
    resources:
        mem_mb=lambda wildcards, attempt: 400 * attempt,
        attempt=lambda wildcards, attempt: attempt,
    shell:
        "echo {resources.attempt} >> greedy.attempts;"
        " python3 -c 'held = bytearray(450_000_000)'; touch {output}"
