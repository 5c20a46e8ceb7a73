"""The machine of a benchmark, and its results as files."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.run.records import find_commit

RESULTS = Path(__file__).parent / "results"


def describe(*packages: str) -> str:
    """CPU, cores, memory, GPU (where torch is among the packages), versions, on one line."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    memory = psutil.virtual_memory().total / 2**30
    return ", ".join(
        [
            models[0] if models else platform.processor(),
            f"{len(os.sched_getaffinity(0))} cores",
            f"{memory:.0f} GiB memory",
            *(gpu() if "torch" in packages else ()),
            system(platform.platform()),
            f"Python {platform.python_version()}",
            *(f"{package} {version(package)}" for package in packages),
        ]
    )


def gpu() -> list[str]:
    """The GPU that PyTorch sees, if it sees one."""
    import torch

    return [torch.cuda.get_device_name()] if torch.cuda.is_available() else []


def peaks() -> dict[str, float]:
    """Operations per second of a large product of matrices, by precision."""
    import torch

    from darksecrets.core.models import devices

    device = devices.best()
    devices.use_float32()
    side = 8192 if device.type == "cuda" else 2048
    found = {}
    for name in ("float32", "bfloat16"):
        matrix = torch.randn(side, side, device=device, dtype=getattr(torch, name))
        (matrix @ matrix).sum().item()
        start = time.perf_counter()
        for _ in range(5):
            product = matrix @ matrix
        product.sum().item()
        found[name] = 5 * 2 * side**3 / (time.perf_counter() - start)
    return found


def system(name: str) -> str:
    """An operating system and its release, of `platform.platform`, without the build's name."""
    found = re.match(r"(\w+)-(\d+(?:\.\d+)?)", name)
    return " ".join(found.groups()) if found else name


def write_results(
    name: str, title: str, table: pd.DataFrame, machine: str, notes: str, shown: str = ""
) -> None:
    """Write ``results/<name>.csv`` and ``.md``, and print the latter.

    The page has what is *shown* of the table, in Markdown, or else all of it.
    """
    # Before anything is written: results are files of the repository, too.
    program = f"Program: `benchmarks/{Path(sys.argv[0]).name}`, commit `{find_commit()}`."
    RESULTS.mkdir(exist_ok=True)
    table.assign(machine=machine).to_csv(RESULTS / f"{name}.csv", index=False)
    above = "\n\n".join([f"# {title}", notes, f"Machine: {machine}.", program])
    page = f"{above}\n\n{shown or table.to_markdown(index=False)}\n"
    (RESULTS / f"{name}.md").write_text(page, encoding="utf-8")
    print(page)
