"""Shared by the scripts of sweeps: all of a sweep, a chunk of it, or what joins chunks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _job import Job

    from darksecrets.ablation.sweep import Settings


def run_sweep(job: Job, output: Path, settings: Settings) -> dict[str, Any]:
    """Sweep over the chunk of the job; or over everything, or join the chunks of other jobs."""
    from darksecrets.ablation.sweep import sweep, sweep_chunk

    places = job.input.model, job.input.dataset, output, settings
    if chunk := job.wildcards.get("chunk"):
        own, of = int(chunk), int(job.wildcards.chunks)
        return sweep_chunk(*places, threads=job.threads, chunk=own, chunks=of)
    return sweep(*places, threads=job.threads, chunks=job.input.all("chunks"))
