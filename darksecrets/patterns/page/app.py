"""The labelling page as a web application; `darksecrets.patterns.page.server` serves it.

To keep labels unbiased, it shows only the map, its tokens and the progress of the pass: not the
map's task, layer or head, nobody's labels, and no prediction of a model.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, abort, render_template, request
from werkzeug.exceptions import HTTPException

from darksecrets.patterns.annotation import Pass
from darksecrets.patterns.classes import KEYS, PATTERNS, Answers
from darksecrets.patterns.page.pictures import picture_of_example, picture_of_map
from darksecrets.run.errors import InputError

_HEADERS = {
    # Nothing is loaded from other hosts (maps are shown from memory, hence blob:), and no other
    # page may frame, embed or cache this one.
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_LARGEST_REQUEST = 10_000


def create_app(labelling: Pass) -> Flask:
    """The page for one annotator's pass."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_REQUEST
    places = {name: place for place, name in enumerate(labelling.mapset.table["map"])}
    examples = {key: picture_of_example(pattern) for key, pattern in KEYS.items()}

    app.before_request(_refuse_others)
    app.after_request(_add_headers)
    app.register_error_handler(HTTPException, _explain)
    app.register_error_handler(OSError, _explain_disk)

    @app.get("/")
    def page() -> str:
        classes = [(key, name, PATTERNS[name]) for key, name in KEYS.items()]
        return render_template(
            "page.html", classes=classes, annotator=labelling.annotator, number=labelling.number
        )

    @app.get("/state")
    def state() -> dict[str, Any]:
        return _state(labelling)

    @app.get("/maps/<name>.png")
    def map_picture(name: str) -> Response:
        if name not in places:
            abort(404)
        tokens = labelling.mapset.table["tokens"][places[name]].split(" ")
        return _image(picture_of_map(labelling.mapset.maps[places[name]], tokens))

    @app.get("/examples/<key>.png")
    def example_picture(key: str) -> Response:
        if key not in examples:
            abort(404)
        return _image(examples[key])

    @app.post("/label")
    def label() -> tuple[dict[str, Any], int]:
        name, pattern = _texts("map", "label")
        try:
            return _answer(labelling, labelling.label(name, Answers(pattern)))
        except InputError as error:
            abort(400, str(error))

    @app.post("/skip")
    def skip() -> tuple[dict[str, Any], int]:
        return _answer(labelling, labelling.skip(*_texts("map")))

    @app.post("/undo")
    def undo() -> tuple[dict[str, Any], int]:
        _texts()
        return _answer(labelling, labelling.undo())

    return app


def _refuse_others() -> None:
    """Refuse requests that another web page could send through the annotator's browser.

    ``Host`` must be a loopback name, so that a foreign name that resolves to this machine cannot
    read the page (DNS rebinding). A request that changes something must be JSON, which browsers do
    not let a foreign page send without a preflight request. Foreign ``Origin``s are refused.
    """
    port = request.environ["SERVER_PORT"]
    hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
    if port == "80":
        hosts |= {"127.0.0.1", "localhost"}
    if request.headers.get("Host") not in hosts:
        abort(403, "This page answers to 127.0.0.1 and localhost only.")
    origin = request.headers.get("Origin")
    if origin is not None and origin.removeprefix("http://") not in hosts:
        abort(403, "This request comes from another page.")
    if request.method not in ("GET", "HEAD") and request.mimetype != "application/json":
        abort(415, "Expected JSON.")


def _add_headers(response: Response) -> Response:
    response.headers.update(_HEADERS)
    return response


def _explain(error: HTTPException) -> tuple[dict[str, str | None], int]:
    return {"error": error.description}, error.code or 500


def _explain_disk(error: OSError) -> tuple[dict[str, str], int]:
    return {"error": f"Nothing was saved or taken back: {error.strerror}."}, 500


def _texts(*names: str) -> list[str]:
    """The values of the request's JSON object, which must have these keys and no others."""
    content = request.get_json()
    if not isinstance(content, dict) or set(content) != set(names):
        abort(400, f"Expected an object with the keys {list(names)}.")
    if not all(isinstance(text, str) for text in content.values()):
        abort(400, "Expected texts.")
    return [content[name] for name in names]


def _state(labelling: Pass) -> dict[str, Any]:
    waiting = labelling.waiting[:2]
    return {
        "map": waiting[0] if waiting else None,
        "next": waiting[1] if len(waiting) > 1 else None,
        "labelled": labelling.labelled,
        "total": labelling.total,
        "undo": labelling.can_undo,
    }


def _answer(labelling: Pass, done: bool) -> tuple[dict[str, Any], int]:
    """The new state; status 409 if the page was out of date, for example in a second tab."""
    return _state(labelling), 200 if done else 409


def _image(content: bytes) -> Response:
    return Response(content, mimetype="image/png")
