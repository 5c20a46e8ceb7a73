"""Revealing the Dark Secrets of BERT (Kovaleva et al. 2019), from data to tables and figures.

snakemake --cores 2                                 the demonstration
snakemake --cores 8 --configfile config/paper.yaml  the paper
snakemake figure5 --cores 2                         one figure
"""

import sys

from snakemake.utils import min_version

min_version("9.19")
sys.path.insert(0, str(workflow.current_basedir))


# A configuration given on the command line replaces the demonstration's entirely.
if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/core/data.smk"  # section 3
include: "workflow/rules/core/models.smk"  # 3
include: "workflow/rules/core/attention.smk"  # 3
include: "workflow/rules/paper/finetuning.smk"  # 3, 4.3
include: "workflow/rules/paper/patterns.smk"  # 4.1
include: "workflow/rules/paper/framenet.smk"  # 4.2
include: "workflow/rules/paper/features.smk"  # 4.4, 4.5
include: "workflow/rules/paper/ablation.smk"  # 4.6, 5


# Beyond the paper, by name: see darksecrets/beyond/analyses.py.
for name in analyses.find():

    include: f"workflow/rules/beyond/{analyses.package_of(name)}.smk"


include: "workflow/rules/pages/inspect.smk"
include: "workflow/rules/pages/claims.smk"
include: "workflow/rules/pages/atlas.smk"
include: "workflow/rules/pages/report.smk"
include: "workflow/rules/run.smk"


onstart:
    start_run()


onsuccess:
    finish_run()


onerror:
    logger.error("Finished results are kept. Fix the cause and rerun the same command.")


rule all:
    default_target: True
    input:
        results_of_run(),
    message:
        "Finished: all results"


if workflow.is_main_process:
    require_known_targets()
