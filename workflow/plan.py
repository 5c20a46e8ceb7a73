"""Say what a run would cost, without running it.

python workflow/plan.py config/paper.yaml                     the whole run
python workflow/plan.py config/paper.yaml figure5             one figure, and what it needs
python workflow/plan.py config/paper.yaml --config gpu=0      without GPUs

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

import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import (
    ConfigSettings,
    DAGSettings,
    GroupSettings,
    OutputSettings,
    ResourceSettings,
)

from workflow.lib import plan


def main() -> None:
    """Build the graph of jobs and print what it costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="configuration file")
    parser.add_argument("target", nargs="*", help="targets (default: all)")
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="other keys")
    arguments = parser.parse_args()
    pairs = (pair.partition("=") for pair in arguments.config)
    settings = ConfigSettings(
        configfiles=[arguments.file], config={key: yaml.safe_load(text) for key, _, text in pairs}
    )
    print(describe(settings, set(arguments.target or ["all"])))


def describe(settings: ConfigSettings, targets: set[str]) -> str:
    """Cost of every rule, and the sum."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), SnakemakeApi(OutputSettings(dryrun=True)) as api:
            workflow_api = api.workflow(
                resource_settings=ResourceSettings(cores=sys.maxsize),
                config_settings=settings,
                snakefile=ROOT / "Snakefile",
            )
            workflow_api.dag(DAGSettings(targets=targets)).execute_workflow(
                executor="dryrun",
                group_settings=GroupSettings(group_components=submitted_together()),
            )
            workflow = workflow_api._workflow_store  # the public interface hands out no graph
            config = workflow.globals["config"]
            steps = plan.steps(workflow.dag)
    except Exception as error:  # whatever stops a run stops its plan, with the same message
        sys.exit(f"{said.getvalue()}{error}")
    said_in_a_line = plan.summary(steps, config)
    if not steps:
        return said_in_a_line
    table = plan.table(steps, config).to_markdown(index=False, floatfmt=".1f")
    return f"{table}\n\n{said_in_a_line}"


def submitted_together() -> dict[str, int]:
    """How many parts of a group the Slurm profile makes one job of."""
    profile = ROOT / "profiles" / "slurm" / "profile.yaml"
    entries = yaml.safe_load(profile.read_text(encoding="utf-8"))["group-components"]
    return {name: int(count) for name, count in (entry.split("=") for entry in entries)}


if __name__ == "__main__":
    main()
