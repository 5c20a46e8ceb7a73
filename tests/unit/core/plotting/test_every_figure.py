"""Every figure of the workflow: legible at the width it is meant for, and text drawn as text.

The names of tasks, models and tokens are awkward: formulas that do not close, markup, the start of
a spreadsheet's formula, right-to-left text, emoji.
"""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from drawn import written
from made_up_figures import LABEL, METRICS, drawing, names, sources
from matplotlib.figure import Figure

from darksecrets.core.plotting import style
from darksecrets.core.plotting.user_text import drawable

ROOT = Path(__file__).parents[4]
SVG = "{http://www.w3.org/2000/svg}"
SMALLEST = 7.0
WITHOUT_TASKS = (
    "figure1",
    "figure3",
    "figure3_controls",
    "figure4",
    "head_statistics",
    "pattern_quality",
    "syntactic_heads",
    "attention_probes",
    "coreference_heads",
    "attention_trees",
    "attention_to_subjects",
    "weights_and_norms",
    "stripes_by_measure",
    "layer_probes",
    "structural_probes",
    "layer_geometry",
    "minimal_pairs",
    "agreement_heads",
    "cloze",
    "trees",
)
"""These figures are the same for any tasks."""


def squeezed(text: str) -> str:
    """Text without spaces and line breaks, as names are wrapped to their panels."""
    return re.sub(r"[\s\u200e\u200f]", "", drawable(text))


@pytest.mark.slow
@pytest.mark.parametrize("name", names(ROOT))
def test_text_is_legible_and_drawn_as_it_is_written(
    name: str,
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
) -> None:
    drawn = drawing(ROOT, name)(sources(ROOT, name, tmp_path))
    figure = drawn if isinstance(drawn, Figure) else next(iter(drawn.values()))
    path = tmp_path / "figure.svg"
    style.save(figure, [path], script=name, title=f"{name} {LABEL}", description=f"See {LABEL}")
    texts = [text.get_text() for text in written(figure)]
    assert not recwarn.list, "a character without a glyph, or a layout that does not fit"

    meant = style.COLUMN if figure.get_figwidth() <= style.COLUMN else style.PAGE
    scale = meant / figure.get_figwidth()
    small = {t.get_text() for t in written(figure) if t.get_fontsize() * scale < SMALLEST - 1e-9}
    assert not small

    content = squeezed("".join(texts))
    assert squeezed(LABEL) in content
    if name not in WITHOUT_TASKS:
        assert [task for task in METRICS if squeezed(task) not in content] == []
    assert not [text for text in texts if "\\math" in text or re.search(r"(?<!\w)-\d", text)]

    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert (title.text, description.text) == (f"{name} {LABEL}", f"See {LABEL}")
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    selectable = squeezed("".join("".join(text.itertext()) for text in root.iter(f"{SVG}text")))
    for text in texts:
        assert squeezed(text) in selectable or "\n" in text, text
    assert not list(root.iter(f"{SVG}script"))
