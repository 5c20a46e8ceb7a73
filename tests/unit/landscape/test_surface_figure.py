"""The figure of loss surfaces: colours, marks, path."""

import numpy as np
import pandas as pd
import pytest
from drawn import draw_with
from made_up_models import made_surface

from darksecrets.landscape.loss_surfaces import draw, levels
from darksecrets.landscape.surface import tables


def test_colours_are_even_on_a_logarithmic_scale_and_robust():
    losses = np.concatenate([np.linspace(0.1, 1, 99), [1e6]])
    found = levels(losses)
    assert found[0] == pytest.approx(0.1)
    assert found[-1] < 2, "one huge loss does not hide all others"
    assert np.allclose(np.diff(np.log(found)), np.log(found[1] / found[0]))
    assert (np.diff(levels(np.full(9, 0.5))) > 0).all()
    assert (np.diff(levels(np.zeros(9))) > 0).all()


@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_models_are_marked_at_their_places(path, flat):
    rows = tables(made_surface(path=path, flat=flat), "RTE", 1)
    second = tables(made_surface(), "RTE", 2)
    both = [pd.concat([rows[name], second[name]]) for name in ("loss_surfaces", "surface_points")]
    figure = draw_with(draw, ["RTE"], surfaces=both[0], points=both[1])
    axes = {each.get_label(): each for each in figure.axes}
    models = axes["RTE models"]
    marks = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in models.lines
        if line.get_linestyle() == "None"
    }
    assert marks == {(1, 0), (0, 0), (0, 1)}
    assert {text.get_text() for text in models.texts} == {
        "pre-trained",
        "fine-tuned",
        "random init.",
    }
    paths = [line for line in models.lines if len(line.get_xdata()) > 1]
    assert len(paths) == path
    if path:
        assert list(paths[0].get_xdata()) == [1, 0.4, 0]
    assert len(axes["RTE random"].texts) == 1
    assert sum(len(line.get_xdata()) == 13 for line in axes["RTE line"].lines) == 2
