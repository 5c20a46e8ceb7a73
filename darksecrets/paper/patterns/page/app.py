"""The labelling page as a web application; `darksecrets.paper.patterns.page.server` serves it.

To keep labels unbiased, it shows only the map under its opaque name, its tokens, the annotator's
own last labels and the progress of the pass: not the map's model, task, layer or head, nobody
else's labels, and no prediction of a model.
"""

from __future__ import annotations

import dataclasses
import hmac
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Flask, Response, abort, render_template, request
from werkzeug.exceptions import HTTPException

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import KEYS, NAMES_OF_KINDS, PATTERNS, STRENGTHS, Answers
from darksecrets.paper.patterns.labelled_maps import BORDERLINE
from darksecrets.paper.patterns.labelling import Pass
from darksecrets.paper.patterns.mapset import MapSet, answers
from darksecrets.paper.patterns.page.pictures import colours, drawn, example, levels
from darksecrets.paper.patterns.tables import TOKENS

_HEADERS = {
    # Nothing is loaded from other hosts, and no other page may frame, embed or cache this one.
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_LARGEST_REQUEST = 10_000
_AHEAD = 12
"""Maps that the page loads before they are labelled."""
_LAST = 5
"""Labels that the page shows again."""


def create_app(labelling: Pass, token: str) -> Flask:
    """The page for one annotator's pass.

    Args:
        labelling: The pass.
        token: First part of the path of every address; whoever does not know it is refused.
    """
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = _LARGEST_REQUEST
    app.before_request(_refuse_others(token))
    app.after_request(_add_headers)
    app.register_error_handler(HTTPException, _explain)
    app.register_error_handler(OSError, _explain_disk)
    page = Blueprint("page", __name__, url_prefix=f"/{token}", static_folder="static")
    _add_views(page, labelling)
    _add_actions(page, labelling)
    app.register_blueprint(page)
    return app


def _add_views(page: Blueprint, labelling: Pass) -> None:
    places = {name: place for place, name in enumerate(labelling.mapset.table["map"])}
    borderline = MapSet.load(BORDERLINE)

    @page.get("/")
    def show() -> str:
        classes = [(key, name, PATTERNS[name], levels(example(name))) for key, name in KEYS.items()]
        return render_template(
            "page.html",
            classes=classes,
            kinds=NAMES_OF_KINDS,
            strengths=STRENGTHS,
            colours=colours(),
            annotator=labelling.annotator,
            number=labelling.number,
        )

    @page.get("/state")
    def state() -> dict[str, Any]:
        return _state(labelling)

    @page.get("/maps/<name>")
    def one_map(name: str) -> dict[str, Any]:
        if name not in places:
            abort(404)
        return _drawn(labelling.mapset, places[name])

    @page.get("/borderline")
    def borderline_maps() -> list[dict[str, Any]]:
        settled = answers(borderline.settled().set_index("map").loc[borderline.table["map"]])
        return [_drawn(borderline, place) | _shown(given) for place, given in enumerate(settled)]


def _add_actions(page: Blueprint, labelling: Pass) -> None:
    @page.post("/label")
    def label() -> tuple[dict[str, Any], int]:
        texts = dict.fromkeys(("map", "label", "columns", "tokens"), str)
        sent = _content({**texts, "number": int, "diagonal": int})
        if sent["tokens"] not in TOKENS:
            abort(400, f"Expected one of {', '.join(TOKENS)}.")
        given = Answers(sent["label"], sent["columns"], sent["number"], sent["diagonal"])
        try:
            return _answer(labelling, labelling.label(sent["map"], given, sent["tokens"]))
        except InputError as error:
            abort(400, str(error))

    @page.post("/skip")
    def skip() -> tuple[dict[str, Any], int]:
        return _answer(labelling, labelling.skip(_content({"map": str})["map"]))

    @page.post("/undo")
    def undo() -> tuple[dict[str, Any], int]:
        _content({})
        return _answer(labelling, labelling.undo())


def _refuse_others(token: str) -> Callable[[], None]:
    """Refuse requests of other people of this machine, and of other pages in the same browser.

    Other people do not know the token. ``Host`` must be a loopback name, so that a foreign name
    that resolves to this machine cannot read the page (DNS rebinding). A request that changes
    something must be JSON, which browsers do not let a foreign page send without a preflight
    request. Foreign ``Origin``s are refused.
    """

    def check() -> None:
        port = request.environ["SERVER_PORT"]
        hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        if port == "80":
            hosts |= {"127.0.0.1", "localhost"}
        if request.headers.get("Host") not in hosts:
            abort(403, "This page answers to 127.0.0.1 and localhost only.")
        origin = request.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in hosts:
            abort(403, "This request comes from another page.")
        if not hmac.compare_digest(request.path.split("/")[1].encode(), token.encode()):
            abort(403, "Open the whole address that the server printed when it started.")
        if request.method not in ("GET", "HEAD") and request.mimetype != "application/json":
            abort(415, "Expected JSON.")

    return check


def _add_headers(response: Response) -> Response:
    response.headers.update(_HEADERS)
    return response


def _explain(error: HTTPException) -> tuple[dict[str, str | None], int]:
    return {"error": error.description}, error.code or 500


def _explain_disk(error: OSError) -> tuple[dict[str, str], int]:
    return {"error": f"Nothing was saved or taken back: {error.strerror}."}, 500


def _content(kinds: dict[str, type]) -> dict[str, Any]:
    """The request's JSON object, which must have these keys, of these types, and no others."""
    try:
        content = request.get_json()
    except RecursionError:
        abort(400, "The JSON is nested too deeply.")
    if not isinstance(content, dict) or set(content) != set(kinds):
        abort(400, f"Expected an object with the keys {list(kinds)}.")
    if not all(type(content[key]) is kind for key, kind in kinds.items()):
        abort(400, "Expected texts and whole numbers.")
    return content


def _drawn(mapset: MapSet, place: int) -> dict[str, Any]:
    row = mapset.table.iloc[place]
    tokens = row["tokens"].split(" ")
    return drawn(mapset.maps[place], tokens, row["segments"], row["special"])


def _shown(given: Answers | None) -> dict[str, Any]:
    """An annotator's answers; an empty object for a skipped map."""
    return {} if given is None else dataclasses.asdict(given)


def _state(labelling: Pass) -> dict[str, Any]:
    return {
        "maps": labelling.waiting[:_AHEAD],
        "done": [{"map": name} | _shown(given) for name, given in labelling.last(_LAST)],
        "labelled": labelling.labelled,
        "total": labelling.total,
    }


def _answer(labelling: Pass, done: bool) -> tuple[dict[str, Any], int]:
    """The new state; status 409 if the page was out of date, for example in a second tab."""
    return _state(labelling), 200 if done else 409
