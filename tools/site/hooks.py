"""Links of the pages to files of the project, which are not part of the site (a hook of MkDocs)."""

import posixpath
import re
from typing import Any

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
"""A link of Markdown: image or not, text, target, anchor."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401 - MkDocs's
    """Replace links that lead out of the documentation by the path of the file."""
    here = posixpath.dirname(page.file.src_uri)

    def adapt(match: re.Match[str]) -> str:
        image, text, target, _ = match.groups()
        if "://" in target or image:
            return match[0]
        path = posixpath.normpath(posixpath.join(here, target))
        if not path.startswith("../") or path.startswith("../../"):
            return match[0]  # building strictly names it if it is not there
        inside = path.removeprefix("../")
        return f"{text} (`{inside}`)" if text.strip("`") != inside else f"`{inside}`"

    return LINK.sub(adapt, markdown)
