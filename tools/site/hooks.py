"""Links between the project's files as links of the site (a hook of MkDocs)."""

import posixpath
import re
from typing import Any

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
"""A link of Markdown: image or not, text, target, anchor."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:  # noqa: ANN401 - MkDocs's
    """Adapt the links of a page of the site."""
    folder = posixpath.dirname(page.file.src_uri)
    return rewrite_links(markdown, posixpath.join("docs", folder), folder)


def rewrite_links(markdown: str, source: str, folder: str) -> str:
    """Adapt links of a file of the project to a page of the site.

    Links to files outside ``docs`` are replaced by the path of the file, since the site does not
    have them.

    Args:
        markdown: The text.
        source: Folder of the file, from that of the project.
        folder: Folder of the page, from that of the site.
    """

    def adapt(match: re.Match[str]) -> str:
        image, text, target, anchor = match.groups()
        if "://" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(source, target))
        if path.startswith("docs/"):
            inside = posixpath.relpath(path.removeprefix("docs/"), folder or ".")
            return f"{image}[{text}]({inside}{anchor or ''})"
        if path.startswith("../"):
            return match[0]  # building strictly names it
        return f"`{path}`" if text.strip("`") == path else f"{text} (`{path}`)"

    return LINK.sub(adapt, markdown)
