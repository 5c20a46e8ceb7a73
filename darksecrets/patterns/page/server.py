"""Serve the labelling page, to this machine only."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

from darksecrets.patterns.annotation import Pass, check_annotator, open_labels, prepare
from darksecrets.patterns.mapset import MapSet
from darksecrets.patterns.page.app import create_app
from darksecrets.run.errors import InputError

HOST = "127.0.0.1"
_THREADS = 8  # browsers open several connections at once


def serve(folder: Path, sample: Path | None, annotator: str, number: int, port: int) -> None:
    """Label the maps of a folder until the process is stopped.

    Args:
        folder: The annotation folder, see `darksecrets.patterns.annotation`.
        sample: The maps to copy into a new folder.
        annotator: Name of the annotator.
        number: Number of the pass.
        port: Port to listen on; 0 takes a free one.

    Raises:
        InputError: The folder, the name or the port cannot be used.
    """
    import waitress

    check_annotator(annotator)
    prepare(folder, sample)
    with open_labels(folder) as file:
        labelling = Pass(MapSet.load(folder), file, annotator, number)
        token = secrets.token_urlsafe(16)
        try:
            server = waitress.create_server(
                create_app(labelling, token), host=HOST, port=port, threads=_THREADS
            )
        except OSError as error:
            raise InputError(
                f"Port {port} of {HOST} cannot be used: {error.strerror}. Stop what uses it, or "
                "choose another with --port."
            ) from None
        sys.stdout.write(
            f"Pass {number} of {labelling.annotator}: {labelling.labelled} of {labelling.total} "
            f"maps are labelled.\nOpen http://{HOST}:{server.effective_port}/{token}/ in a "
            f"browser; stop with Ctrl+C. Every label is saved to {file.path} immediately.\n"
        )
        sys.stdout.flush()
        server.run()
