"""Which file format for attention maps? Size, and time to write and to read them.

    pip install h5py zarr        # for this program only
    python benchmarks/store_format.py [--examples 200] [--repetitions 3]
    python benchmarks/store_format.py --store results/<run>/attention/<task>/<model>

Maps are drawn to look like BERT-base's (12 layers, 12 heads) on texts as long as GLUE's, or taken
from an attention store that exists. Examples of equal length are one array, [example, layer, head,
query, key]. Every format is written and read in turn, repeatedly; medians are reported.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pandas as pd
import zarr
from _examples import glue_lengths, peaked_maps
from _machine import describe, write_results
from safetensors import safe_open
from safetensors.numpy import save_file
from zarr.codecs import BloscCodec

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.attention.store import AttentionStore

LAYERS = HEADS = 12
BATCH = 16
SHARD_BYTES = 2**26
Array = Any  # an array, or what can be sliced like one
Groups = list[np.ndarray]  # one array per length


class Format(NamedTuple):
    """A file format for groups of maps in a folder."""

    name: str
    write: Callable[[Path, Groups], None]
    #: Opens the folder; returns a function from a group's number to a sliceable array.
    open: Callable[[Path], Callable[[int], Array]]


def _write_flat(folder: Path, groups: Groups) -> None:
    with (folder / "maps.npy").open("wb") as stream:
        header = {"descr": "<f2", "fortran_order": False, "shape": (sum(g.size for g in groups),)}
        np.lib.format.write_array_header_1_0(stream, header)
        for group in groups:
            stream.write(group.data)
    (folder / "shapes.json").write_text(json.dumps([group.shape for group in groups]))


def _open_flat(folder: Path) -> Callable[[int], Array]:
    flat = np.load(folder / "maps.npy", mmap_mode="r")
    shapes = json.loads((folder / "shapes.json").read_text())
    starts = np.cumsum([0] + [int(np.prod(shape)) for shape in shapes])
    return lambda group: flat[starts[group] : starts[group + 1]].reshape(shapes[group])


def _write_npy(folder: Path, groups: Groups) -> None:
    for number, group in enumerate(groups):
        np.save(folder / f"{number}.npy", group)


def _write_head_major(folder: Path, groups: Groups) -> None:
    for number, group in enumerate(groups):
        np.save(folder / f"{number}.npy", np.ascontiguousarray(group.transpose(1, 2, 0, 3, 4)))


def _open_npy(folder: Path) -> Callable[[int], Array]:
    return lambda group: np.load(folder / f"{group}.npy", mmap_mode="r")


def _open_head_major(folder: Path) -> Callable[[int], Array]:
    return lambda group: _open_npy(folder)(group).transpose(2, 0, 1, 3, 4)


def _write_safetensors(folder: Path, groups: Groups) -> None:
    shards: list[dict[str, np.ndarray]] = [{}]
    for number, group in enumerate(groups):
        if sum(g.nbytes for g in shards[-1].values()) + group.nbytes > SHARD_BYTES:
            shards.append({})
        shards[-1][str(number)] = group
    index = {}
    for number, shard in enumerate(filter(None, shards)):
        save_file(shard, folder / f"{number}.safetensors")
        index |= dict.fromkeys(shard, f"{number}.safetensors")
    (folder / "index.json").write_text(json.dumps(index))


def _open_safetensors(folder: Path) -> Callable[[int], Array]:
    index = json.loads((folder / "index.json").read_text())
    files = {
        name: safe_open(folder / name, framework="numpy") for name in sorted(set(index.values()))
    }
    return lambda group: files[index[str(group)]].get_slice(str(group))


def _hdf5(**options: str | int | bool) -> Callable[[Path, Groups], None]:
    def write(folder: Path, groups: Groups) -> None:
        with h5py.File(folder / "maps.h5", "w") as file:
            for number, group in enumerate(groups):
                file.create_dataset(
                    str(number), data=group, chunks=(1, 1, *group.shape[2:]), **options
                )

    return write


def _open_hdf5(folder: Path) -> Callable[[int], Array]:
    file = h5py.File(folder / "maps.h5", "r")
    return lambda group: file[str(group)]


def _zarr_with(compressor: BloscCodec | None) -> Callable[[Path, Groups], None]:
    def write(folder: Path, groups: Groups) -> None:
        root = zarr.open_group(folder / "maps.zarr", mode="w")
        for number, group in enumerate(groups):
            root.create_array(
                str(number),
                data=group,
                chunks=(1, 1, *group.shape[2:]),
                compressors=compressor,
            )

    return write


def _open_zarr(folder: Path) -> Callable[[int], Array]:
    root = zarr.open_group(folder / "maps.zarr", mode="r")
    return lambda group: root[str(group)]


def _write_npz(folder: Path, groups: Groups) -> None:
    np.savez_compressed(folder / "maps.npz", **{str(n): group for n, group in enumerate(groups)})


def _open_npz(folder: Path) -> Callable[[int], Array]:
    file = np.load(folder / "maps.npz")
    return lambda group: file[str(group)]


FORMATS = (
    Format("npy, one file, memory-mapped", _write_flat, _open_flat),
    Format("npy, file per length, memory-mapped", _write_npy, _open_npy),
    Format("npy, file per length, head first", _write_head_major, _open_head_major),
    Format("safetensors, shards of 64 MiB", _write_safetensors, _open_safetensors),
    Format("HDF5, chunk per layer", _hdf5(), _open_hdf5),
    Format("HDF5, + shuffle, lzf", _hdf5(compression="lzf", shuffle=True), _open_hdf5),
    Format(
        "HDF5, + shuffle, gzip 1",
        _hdf5(compression="gzip", compression_opts=1, shuffle=True),
        _open_hdf5,
    ),
    Format("zarr, chunk per layer", _zarr_with(None), _open_zarr),
    Format(
        "zarr, + shuffle, zstd 1",
        _zarr_with(BloscCodec(cname="zstd", clevel=1, shuffle="shuffle")),
        _open_zarr,
    ),
    Format("npz, compressed", _write_npz, _open_npz),
)


def read_all(folder: Path, form: Format, groups: Groups) -> None:
    """Read the whole store in batches."""
    read = form.open(folder)
    for number, group in enumerate(groups):
        source = read(number)
        for first in range(0, len(group), BATCH):
            touch(source[first : min(first + BATCH, len(group))])


def read_batch(folder: Path, form: Format, groups: Groups) -> None:
    """Open the store and read a batch from the middle."""
    middle = len(groups) // 2
    touch(form.open(folder)(middle)[: min(BATCH, len(groups[middle]))])


def read_head(folder: Path, form: Format, groups: Groups) -> None:
    """Read one head of all examples."""
    read = form.open(folder)
    for number, group in enumerate(groups):
        touch(read(number)[:, group.shape[1] // 2, group.shape[2] // 2])


def touch(maps: np.ndarray) -> None:
    """Make sure that every number has been read."""
    np.ascontiguousarray(maps).view(np.uint16).max()


def files_of(folder: Path) -> Iterator[Path]:
    """All files below a folder."""
    return (path for path in folder.rglob("*") if path.is_file())


def forget(folder: Path) -> None:
    """Drop the files from the system's cache, so that they are read from the disk."""
    for path in files_of(folder):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def seconds(action: Callable[..., None], *arguments: object) -> float:
    """Time a call."""
    start = time.perf_counter()
    action(*arguments)
    return time.perf_counter() - start


def measure(form: Format, groups: Groups, folder: Path) -> dict[str, float]:
    """Write and read one format once."""
    folder.mkdir()
    try:
        result = {"write s": seconds(form.write, folder, groups)}
        result["MB"] = sum(path.stat().st_size for path in files_of(folder)) / 1e6
        result["files"] = sum(1 for _ in files_of(folder))
        reads = {"read all": read_all, "a batch": read_batch, "one head": read_head}
        for name, read in reads.items():
            forget(folder)
            result[f"{name} s, disk"] = seconds(read, folder, form, groups)
            result[f"{name} s, cached"] = seconds(read, folder, form, groups)
    finally:
        shutil.rmtree(folder)
    return result


def drawn_groups(examples: int) -> Groups:
    """Draw maps like BERT-base's, grouped by length."""
    rng = np.random.default_rng(0)
    lengths, counts = np.unique(glue_lengths(examples), return_counts=True)
    return [
        np.stack([peaked_maps(int(length), LAYERS, HEADS, rng) for _ in range(count)])
        for length, count in zip(lengths, counts, strict=True)
    ]


def stored_groups(store: AttentionStore, examples: int) -> Groups:
    """Take examples of a store, evenly over its lengths, grouped by length."""
    groups: dict[int, list[np.ndarray]] = defaultdict(list)
    for example in np.linspace(0, store.examples - 1, min(examples, store.examples)).astype(int):
        groups[int(store.lengths[example])].append(store.maps(example))
    return [np.stack(group) for group in groups.values()]


def main() -> None:
    """Measure every format and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--store", type=Path, help="take the maps from this attention store")
    parser.add_argument("--folder", type=Path, help="where to write (default: temporary)")
    parser.add_argument("--name", default="store_format", help="name of the results")
    options = parser.parse_args()
    if options.store:
        groups = stored_groups(AttentionStore.open(options.store), options.examples)
        source = "Maps of a model on real text"
    else:
        groups = drawn_groups(options.examples)
        source = "Maps drawn to look like BERT-base's"

    runs = defaultdict(list)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for repetition in range(options.repetitions):
            for form in FORMATS:
                runs[form.name].append(measure(form, groups, Path(folder) / "maps"))
                print(f"{repetition + 1}/{options.repetitions} {form.name}", file=sys.stderr)
    rows = [
        {"format": name}
        | {key: round(statistics.median(run[key] for run in of), 4) for key in of[0]}
        for name, of in runs.items()
    ]
    examples = sum(len(group) for group in groups)
    notes = (
        f"{source}: {examples} examples, {groups[0].shape[1]} layers, {groups[0].shape[2]} heads, "
        f"{groups[0].shape[-1]} to {groups[-1].shape[-1]} tokens, half precision, "
        f"{sum(group.nbytes for group in groups) / 1e6:.0f} MB. Medians of {options.repetitions} "
        f"repetitions. A batch is at most {BATCH} examples of equal length; its time includes "
        "opening the store. *disk*: the files were dropped from the system's cache before reading."
    )
    machine = describe("numpy", "h5py", "zarr", "safetensors")
    write_results(options.name, "Formats for attention maps", pd.DataFrame(rows), machine, notes)


if __name__ == "__main__":
    main()
