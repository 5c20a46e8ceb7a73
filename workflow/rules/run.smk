# What is done with all rules, and before the first and after the last job.


import atexit

from darksecrets.core.run.shipped import check as check_shipped_data
from workflow.lib import plan
from workflow.lib.summary import readable, summarize
from workflow.lib.targets import explain_unknown

INSPECTION_RULES = {
    "inspect",
    "inspect_text",
    "get_pretrained_model",
    "cross_validate_patterns",
    "train_pattern_classifier",
}


def require_known_targets() -> None:
    """Refuse a target on the command line that is a misspelled name."""
    if mistake := explain_unknown(sys.argv, [each.name for each in workflow.rules]):
        raise WorkflowError(mistake)


def print_plan() -> None:
    """After a plan: print what would be submitted, and what that requests."""
    if workflow.dryrun and len(workflow.dag) and (said := plan.describe(workflow.dag, sys.argv)):
        print(f"\n{said}")


def start_run() -> None:
    """Before the first job: check what ships, disk, Hub and needs of the jobs, and record the configuration."""
    rules_of_jobs = {job.rule for job in compat.jobs_of(workflow.dag)}
    names = {each.name for each in rules_of_jobs}
    looking = has_text and names <= INSPECTION_RULES
    if GPU and workflow.local_exec and not gpus_here():
        logger.warning(
            "Found no GPU here: jobs that request one run on the CPU, as many at a time as `--resources gpu=` "
            "allows. `--config gpu=0` removes that limit."
        )
    try:
        check_shipped_data()
        if GPU and workflow.local_exec and gpus_here():
            limit = workflow.global_resources.get("gpu")
            at_a_time = limit.value if limit else workflow.cores
            preflight.check_shared_gpus(config, len(gpus_here()), at_a_time)
        preflight.check_surroundings(config, looking=looking)
        preflight.check_packages(config, {Path(each.snakefile).stem for each in rules_of_jobs})
        for name in names & set(CHECKS):
            CHECKS[name](config)
        preflight.record_run(config, looking=looking)
    except InputError as error:
        raise WorkflowError(str(error)) from None


def finish_run() -> None:
    """After the last job: show Table 1 and where the results are."""
    made = {str(path) for job in workflow.dag.jobs for path in job.output}
    said = summarize(RESULTS, made)
    logger.info(readable(said, sys.stderr.encoding))


if workflow.is_main_process:
    atexit.register(print_plan)  # Snakemake calls no handler of a workflow after a plan
