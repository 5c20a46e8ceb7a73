"""The part of every script that touches Snakemake: the log, the threads, the provenance.

Importing it puts the project's root on the path, so that a script finds the package `darksecrets`
without an installation, with conda environments too.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.run import gpus, provenance
from darksecrets.run.errors import InputError
from darksecrets.run.files import PROVENANCE, write_json

if TYPE_CHECKING:
    from snakemake.iocontainers import Snakemake

_log = logging.getLogger("darksecrets")


@contextlib.contextmanager
def job(snakemake: Snakemake) -> Iterator[dict[str, Any]]:
    """Run a rule's script: log to the rule's file and record provenance when it succeeds.

    It sees a GPU if the rule asks for one and there is one.

    Yields:
        A dictionary for what only the script knows (a resolved revision, the precision in use);
        it becomes part of the provenance.
    """
    _redirect(Path(snakemake.log[0]))
    details: dict[str, Any] = {}
    start = time.perf_counter()
    try:
        _take_gpu(snakemake.resources.get("gpu", 0))
        yield details
        _record(snakemake, details, time.perf_counter() - start)
    except InputError as error:
        _log.error("%s", error)
        sys.exit(1)
    except Exception:
        _log.error("%s", traceback.format_exc())
        sys.exit(1)


def _redirect(log: Path) -> None:
    """Send everything that is printed or logged to the rule's log, at the level of the system.

    On a terminal the standard error stays where it is: progress bars are drawn there.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    stream = log.open("w", encoding="utf-8", buffering=1)
    os.dup2(stream.fileno(), sys.stdout.fileno())
    if not sys.stderr.isatty():
        os.dup2(stream.fileno(), sys.stderr.fileno())
    logging.basicConfig(
        level=logging.INFO, stream=stream, format="%(asctime)s %(message)s", datefmt="%H:%M:%S"
    )


def _take_gpu(asked: int) -> None:
    if gpus.take(asked) is None and asked:
        _log.warning("Found no GPU, which this job asked for: it runs on the processor.")


def _record(snakemake: Snakemake, details: dict[str, Any], seconds: float) -> None:
    """Write provenance into every folder made, or to the output that is named for it."""
    target = snakemake.output.get("provenance")
    outputs = [str(path) for path in snakemake.output if path != target]
    folders = [Path(path) for path in outputs if Path(path).is_dir()]
    record = {
        "rule": snakemake.rule,
        "wildcards": dict(snakemake.wildcards.items()),
        "params": dict(snakemake.params.items()),
        "threads": snakemake.threads,
        "inputs": provenance.identify(
            str(path) for path in snakemake.input if not str(path).endswith(".py")
        ),
        "outputs": provenance.identify(outputs),
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(seconds, 1),
        "environment": provenance.environment(),
        **details,
    }
    for path in [folder / PROVENANCE for folder in folders] + ([Path(target)] if target else []):
        write_json(record, path)
