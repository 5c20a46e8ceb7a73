"""What is said of a head, and the thresholds for it."""

from darksecrets.pages.atlas.measures import SHOWN
from darksecrets.pages.atlas.sentences import said


def shown(table):
    return next(s for s in SHOWN if s.table.name == table)


def pattern(**shares):
    return said(shown("pattern_heads"), {name: {"share": share} for name, share in shares.items()})


def test_a_pattern_is_dominant_from_half_of_the_maps_on():
    assert pattern(vertical=0.5, block=0.3) == ["mostly vertical (50% of its maps)"]
    assert pattern(vertical=0.3, block=0.49) == ["no dominant pattern (block in 49% of its maps)"]
    assert pattern(vertical=0.5, block=0.5) == ["mostly vertical (50% of its maps)"], "once"


def cosine(value, other=0.5):
    return said(shown("cosine"), {"": {"similarity": value, "other_heads": other}})


def test_a_change_is_said_at_either_end():
    assert cosine(0.95) == ["hardly changed by fine-tuning (cosine 0.95)"]
    assert cosine(0.94) == cosine(0.81) == []
    (text,) = cosine(0.8)
    assert text == "changed much by fine-tuning (cosine 0.80; other heads of the layer: 0.50)"
    assert "layer: –)" in cosine(0.5, float("nan"))[0], "one head in a layer"


def statistics(**values):
    return said(
        shown("head_statistics"),
        {kind: {"value": value, "uniform": uniform} for kind, (value, uniform) in values.items()},
    )


def test_attention_is_said_if_great_and_twice_the_uniform_one():
    found = statistics(previous=(0.25, 0.1), self=(0.2, 0.1), entropy=(2.5, 3.0))
    text = "gives 25% of its attention to the previous token (uniform attention: 10%)"
    assert found == [text], "an entropy is no share"
    assert statistics(previous=(0.24, 0.1)) == []
    assert statistics(previous=(0.5, 0.26)) == [], "uniform attention would do as much"


def effect(value, q, low=-3.0, high=-1.0):
    columns = {"delta": value, "q_value": q, "ci_low": low, "ci_high": high}
    return said(shown("head_ablation"), {"f1": columns})


def test_an_effect_is_said_with_its_interval_if_significant():
    assert effect(-2.0, 0.049) == ["disabling it costs 2.0 points [1.0, 3.0] of F1"]
    assert effect(2.0, 0.01, 1.0, 3.0) == ["disabling it gains 2.0 points [1.0, 3.0] of F1"]
    assert effect(-2.0, 0.05) == ["no significant effect on F1 when disabled"]
    assert effect(-2.0, 0.01, float("nan"), float("nan")) == ["disabling it costs 2.0 points of F1"]
    assert effect(float("nan"), 0.01) == [], "not measured"
