"""Digests of a run's tables and figures: the page ``docs/hashes.md``, and comparing a run with it.

python -m darksecrets.run.hashes results/demo > docs/hashes.md     write the page
python -m darksecrets.run.hashes results/demo docs/hashes.md       compare
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from darksecrets.run.errors import InputError
from darksecrets.run.files import PROVENANCE, visible
from darksecrets.run.provenance import environment

FOLDERS = ("tables", "figures")
BEFORE_MODELS = ("tables/framenet_links.csv",)
"""Results that no model has a part in: the same on every machine."""
TIMED = ("compression_times",)
"""Tables and figures of measured times, which differ from run to run."""
_CPU = ("cpu family", "model", "stepping", "cache size")
_INSTRUCTIONS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
_LIMITS = ("ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA")
"""Variables that keep libraries from using all of these."""
_ROW = re.compile(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|$", re.MULTILINE)
_MADE_ON = re.compile(r"^Made on: (.*)$", re.MULTILINE)

_PAGE = """\
# Digests of the demonstration

SHA-256 of every table and figure of `make demo ANALYSES=all`, but those of measured times. That
of an `.npz` file is of its arrays: the container differs between releases of Python. The same
commit gives the same digests on the same class of CPUs, with the libraries of
`requirements.lock` and `threads: 1`. On another class, only results that no model has a part in
must agree; [failures.md](failures.md#the-same-numbers-again) says how far the others move.

```sh
python -m darksecrets.run.hashes results/demo docs/hashes.md    # compare a run with this page
python -m darksecrets.run.hashes results/demo > docs/hashes.md  # make this page
```

Made on: {machine}

| file | SHA-256 |
| --- | --- |
{rows}
"""


def digests(run: Path) -> dict[str, str]:
    """SHA-256 of the tables and figures of a run, by path from its folder.

    Those of measured times are left out. The digest of an ``.npz`` file is that of its arrays.

    Raises:
        InputError: The folder has no samples, tables or figures.
    """
    files = [file for name in FOLDERS for file in visible(run / name)]
    found = {
        file.relative_to(run).as_posix(): hashlib.sha256(_content(file)).hexdigest()
        for file in files
        if not file.name.endswith(PROVENANCE) and file.stem not in TIMED
    }
    if not found:
        raise InputError(
            f"{run}: found no tables or figures, expected those of a finished run. "
            "Name the folder of a run: results/<run>."
        )
    return found


def _content(file: Path) -> bytes:
    """What is digested of a file; an archive's headers differ between releases of Python."""
    if file.suffix != ".npz":
        return file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        return b"".join(name.encode() + archive.read(name) for name in archive.namelist())


def machine(run: Path) -> str:
    """What decides the bytes of results besides the code: CPU, libraries, threads, as recorded."""
    records = [json.loads(path.read_bytes()) for path in sorted(run.glob("models/*/*/*/*.json"))]
    record = next((each for each in records if "environment" in each), None)
    where = record["environment"] if record else environment()
    libraries = (
        f"{name} {where['libraries'][name]}"
        for name in ("torch", "numpy", "matplotlib")
        if name in where["libraries"]
    )
    threads = record["threads"] if record else 1
    return ", ".join([where["processor"], *kind_of_cpu(), *libraries, f"threads: {threads}"])


def kind_of_cpu() -> list[str]:
    """What libraries choose their kernels by, on Linux: model, cache and vector instructions."""
    information = Path("/proc/cpuinfo")
    text = information.read_text(encoding="utf-8") if information.is_file() else ""
    known = {name.strip(): value for name, value in re.findall(r"^(.+?)\s*: (.*)$", text, re.M)}
    numbers = [f"{key} {known[key]}" for key in _CPU if key in known]
    flags = known.get("flags", "").split()
    limits = [f"{name}={os.environ[name]}" for name in _LIMITS if name in os.environ]
    return [*numbers, *(name for name in _INSTRUCTIONS if name in flags), *limits]


def page(run: Path) -> str:
    """The page of a run's digests."""
    rows = "\n".join(f"| `{name}` | `{digest}` |" for name, digest in digests(run).items())
    return _PAGE.format(machine=machine(run), rows=rows)


def compare(run: Path, text: str) -> str:
    """Compare a run with a page.

    Returns:
        What was compared, and that it agrees.

    Raises:
        InputError: Names the files that differ, though machines and libraries are the same.
    """
    listed, found = dict(_ROW.findall(text)), digests(run)
    there = _MADE_ON.search(text)
    here = machine(run)
    same = there is not None and there[1] == here
    names = [name for name in found if same or name.startswith(BEFORE_MODELS)]
    if wrong := differing(found, listed, names):
        raise InputError(
            f"{run}: found other bytes than the page lists in {', '.join(wrong)}; expected the "
            "same from the same code. If the code has changed results, make the page again: "
            f"python -m darksecrets.run.hashes {run} > docs/hashes.md"
        )
    if same:
        return f"All {len(names)} files are as the page lists them."
    return (
        f"The {len(names)} files that no model has a part in are as the page lists them. The "
        f"others were not compared: they were made on another machine ({here}) than the page's "
        f"({there[1] if there else 'unknown'})."
    )


def differing(
    found: Mapping[str, str], listed: Mapping[str, str], names: Sequence[str]
) -> list[str]:
    """Of some files, those that are not listed, or with another digest."""
    return [name for name in names if found[name] != listed.get(name)]


def main() -> int:
    """Print the page of a run, or compare a run with one; return 1 if they differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="folder of the run: results/<run>")
    parser.add_argument("page", type=Path, nargs="?", help="page to compare it with")
    given = parser.parse_args()
    try:
        if given.page:
            sys.stdout.write(f"{compare(given.run, given.page.read_text(encoding='utf-8'))}\n")
        else:
            sys.stdout.write(page(given.run))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
