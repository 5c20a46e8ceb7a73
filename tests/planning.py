"""The graph of jobs that a run would have, for tests that look into it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def dry_run(config_file: Path, targets: Iterable[str], **keys: Any) -> Any:
    """Snakemake's workflow with its graph of jobs.

    Args:
        config_file: Configuration of the run.
        targets: Rules or files to make.
        keys: Values that override the configuration.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        OutputSettings,
        ResourceSettings,
    )

    with SnakemakeApi(OutputSettings(dryrun=True)) as api:
        planned = api.workflow(
            resource_settings=ResourceSettings(cores=sys.maxsize),
            config_settings=ConfigSettings(configfiles=[config_file], config=keys),
            snakefile=ROOT / "Snakefile",
        )
        planned.dag(DAGSettings(targets=set(targets))).execute_workflow(executor="dryrun")
        return planned._workflow_store
