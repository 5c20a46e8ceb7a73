"""Serve the labelling page, to this machine only."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.labelling import Pass, check_annotator, open_labels, prepare
from darksecrets.paper.patterns.mapset import MapSet
from darksecrets.paper.patterns.page.app import create_app

if TYPE_CHECKING:
    from waitress.server import BaseWSGIServer

HOST = "127.0.0.1"
SETTINGS = {
    "threads": 8,  # browsers open several connections at once
    # Connections that send nothing, or half a request, do not keep others waiting: there may be
    # many, and each is closed after a few seconds.
    "connection_limit": 400,
    "channel_timeout": 10,
    "cleanup_interval": 2,
    "max_request_body_size": 2**20,  # a label has some hundred bytes
    "asyncore_use_poll": True,
}


def serve(folder: Path, sample: Path | None, annotator: str, number: int, port: int) -> None:
    """Label the maps of a folder until the process is stopped.

    Args:
        folder: The annotation folder, see `darksecrets.paper.patterns.labelling`.
        sample: The maps to copy into a new folder.
        annotator: Name of the annotator.
        number: Number of the pass.
        port: Port to listen on; 0 takes a free one.

    Raises:
        InputError: The folder, the name or the port cannot be used.
    """
    check_annotator(annotator)
    prepare(folder, sample)
    with open_labels(folder) as file:
        labelling = Pass(MapSet.load(folder), file, annotator, number)
        token = secrets.token_urlsafe(16)
        server = listen(create_app(labelling, token), port)
        sys.stdout.write(
            f"Pass {number} of {labelling.annotator}: {labelling.labelled} of {labelling.total} "
            f"maps are labelled.\nOpen http://{HOST}:{server.effective_port}/{token}/ in a "
            f"browser; stop with Ctrl+C. Every label is saved to {file.path} immediately.\n"
        )
        sys.stdout.flush()
        server.run()


def listen(app: Flask, port: int) -> BaseWSGIServer:
    """Open a port of this machine for a page; ``run`` of what is returned serves it.

    Raises:
        InputError: The port is in use, or is not for users.
    """
    import waitress

    try:
        return waitress.create_server(app, host=HOST, port=port, **SETTINGS)
    except OSError as error:
        raise InputError(
            f"Port {port} of {HOST} cannot be used: {error.strerror}. Stop what uses it, or "
            "choose another with --port."
        ) from None


def check(annotator: str, port: int) -> None:
    """Check what `serve` needs besides maps, before they are sampled.

    Raises:
        InputError: The name or the port cannot be used.
    """
    check_annotator(annotator)
    listen(Flask("check"), port).close()
