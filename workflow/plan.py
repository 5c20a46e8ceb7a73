"""Say what a run would cost, without running it.

python workflow/plan.py config/paper.yaml            the whole run
python workflow/plan.py config/paper.yaml figure5    what one figure takes

Steps that are done already are not counted. docs/resources.md says where the numbers come from.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    OutputSettings,
    Quietness,
    ResourceSettings,
)

from darksecrets import plan


def main() -> None:
    """Build the graph of jobs and print what it costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("config", type=Path, help="configuration file")
    parser.add_argument("target", nargs="*", default=["all"], help="targets (default: all)")
    arguments = parser.parse_args()
    quiet = OutputSettings(dryrun=True, quiet={Quietness.ALL})
    with SnakemakeApi(quiet) as api:
        workflow_api = api.workflow(
            resource_settings=ResourceSettings(cores=sys.maxsize),
            config_settings=ConfigSettings(configfiles=[arguments.config]),
            snakefile=ROOT / "Snakefile",
        )
        graph = workflow_api.dag(DAGSettings(targets=set(arguments.target)))
        with contextlib.redirect_stdout(io.StringIO()):
            graph.execute_workflow(executor="dryrun")
        workflow = workflow_api._workflow_store
        steps, config = plan.steps(workflow.dag), workflow.globals["config"]
        print(plan.table(steps, config).to_markdown(index=False, floatfmt=".1f"))
        print(plan.summary(steps, config))


if __name__ == "__main__":
    main()
