"""The files of FrameNet 1.7: find them on this machine, or download them with NLTK (§4.2)."""

from __future__ import annotations

from pathlib import Path

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic

PACKAGE = "framenet_v17"
INDEXES = ("frameIndex.xml", "luIndex.xml", "frRelation.xml", "fulltextIndex.xml", "semTypes.xml")


def download(output: Path) -> None:
    """Download FrameNet 1.7 with NLTK into an NLTK data folder (about 100 MB, 855 MB unpacked).

    Raises:
        InputError: The download fails.
    """
    import nltk

    with atomic(output) as temporary:
        temporary.mkdir()
        allow(temporary)
        try:
            nltk.download(PACKAGE, download_dir=str(temporary), quiet=True, raise_on_error=True)
        except (OSError, ValueError) as error:
            raise InputError(
                f"FrameNet 1.7 cannot be downloaded with NLTK ({error}). Download it elsewhere "
                f"(python -m nltk.downloader {PACKAGE}) and set framenet.path to that NLTK data "
                "folder, or use another source of links (framenet.source)."
            ) from error
        locate(temporary)


def locate(folder: Path) -> Path:
    """Folder of FrameNet's files: ``folder`` itself, or the one in an NLTK data folder.

    Raises:
        InputError: There is no such folder, or an index is missing.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder. Set framenet.path to FrameNet 1.7.")
    inside = folder / "corpora" / PACKAGE
    found = inside if inside.is_dir() else folder
    if missing := [name for name in INDEXES if not (found / name).is_file()]:
        raise InputError(
            f"{found} has no {', '.join(missing)} and is not the unpacked FrameNet 1.7, which has "
            f"{', '.join(INDEXES)} and the folders frame and lu. Unpack it there, or set "
            "framenet.path to the folder that has it."
        )
    return found


def allow(folder: Path) -> None:
    """Allow NLTK to read a folder that the user named; by default it reads only its own."""
    import nltk.data

    if str(folder.resolve()) not in nltk.data.path:
        nltk.data.path.append(str(folder.resolve()))
