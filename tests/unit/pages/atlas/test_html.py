"""The page as a file: text stays text, nothing is loaded, its size has a limit."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from atlas_run import AWKWARD, METRICS, claims, page, tables

from darksecrets.beyond.importance.declared import HEAD_GATES
from darksecrets.core.run.series import Model, find_series
from darksecrets.pages.atlas import html
from darksecrets.pages.atlas.claims import content, links
from darksecrets.pages.atlas.measures import SHOWN
from darksecrets.pages.claims import registry


class Reader(HTMLParser):
    """Elements of a page with their attributes, and the content of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.texts.append("")

    def handle_data(self, data):
        if self.texts:
            self.texts[-1] += data

    def of(self, tag, **attributes):
        pairs = zip(self.elements, self.texts, strict=True)
        return next(
            text for (name, own), text in pairs if name == tag and attributes.items() <= own.items()
        )


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return page(tmp_path_factory.mktemp("atlas"))


def test_awkward_tokens_stay_text(text):
    reader = Reader(text)
    assert [tag for tag, _ in reader.elements].count("script") == 3
    found = json.loads(reader.of("script", id="content"))
    tokens = {token for own in found["maps"]["one"]["examples"] for token in own["tokens"]}
    assert set(AWKWARD) <= tokens
    assert list(found["maps"]) == ["one", "<b>two</b>"]
    assert found["run"]["label"] == "a <model> & data"


def test_the_policy_allows_our_script_and_style_and_nothing_else(text):
    reader = Reader(text)
    policy = next(own["content"] for tag, own in reader.elements if "http-equiv" in own)
    assert "default-src 'none'" in policy
    script, style = text.rsplit("<script>", 1)[1], text.split("<style>", 1)[1]
    for name, part, end in (("script", script, "</script>"), ("style", style, "</style>")):
        digest = hashlib.sha256(part.split(end)[0].encode()).digest()
        assert f"{name}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_the_page_names_no_place_to_load_from(text):
    reader = Reader(text)
    loaded = [own.get("src") or own.get("href") for _, own in reader.elements]
    assert [place for place in loaded if place] == ["data:,"]
    for name in html._SCRIPTS:
        source = html._read(f"{name}.js")
        banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        banned += r"|fetch\(|XMLHttp|import\("
        assert not re.search(banned, source), name


def test_a_page_of_a_limited_size_has_the_first_examples(text):
    whole = len(text.encode())
    own = {"examples": [{"tokens": ["x" * 1000], "n": n} for n in range(4)], "frame": []}
    maps = {"one": own, "two": own}
    for limit in (2500, 4500, 9000):
        kept = html.fitting(maps, limit)
        assert len(html.embedded(kept)) <= limit
        numbers = [[each["n"] for each in kept[task]["examples"]] for task in maps]
        assert all(found == list(range(len(found))) for found in numbers), "the first ones"
        assert max(map(len, numbers)) - min(map(len, numbers)) <= 1, "shared evenly"
        assert all(len(kept[task]["examples"]) + kept[task]["left out"] == 4 for task in maps)
    assert sum(map(len, numbers)) == 8
    assert whole < html.LIMIT
    without = len(html.page({"maps": {}}, "").encode())
    for room in (2500, 9000):
        made = html.page({"maps": maps}, "", limit=without + room)
        assert without + room - 2000 < len(made.encode()) <= without + room


def test_every_claim_that_a_head_table_decides_leads_to_its_heads():
    metrics = {"RTE": ["accuracy"], "MRPC": ["f1"]}
    made = tables(metrics)
    series = [one for each in SHOWN for one in find_series(each, made, metrics, (3, 4))]
    paper, *others = registry.read(registry.files())
    by_id = {claim.id: links(claim, series) for claim in paper.claims}
    assert by_id["15"][0]["measure"] == "framenet_heads.weight.element_to_predicate"
    assert by_id["1"][0] == {"measure": "head_ablation.delta", "state": "finetuned"}
    assert by_id["12"][0]["measure"] == "pattern_heads.share.block"
    assert {link["measure"] for link in by_id["20"]} == {"cosine.similarity"}
    linked = {claim.id for other in others for claim in other.claims if links(claim, series)}
    assert {"N1", "S1", "T1", "J1", "L1", "L2", "B5"} <= linked
    figures = {"figures/figure5.svg": ["cosine"], "figures/figure8.svg": ["head_ablation"]}
    rows = content([paper], claims().assign(of="RTE [SEP]"), series, figures, metrics)
    assert len(rows) == len(paper.claims)
    assert {row["paper"] for row in rows} == {"Kovaleva et al. 2019"}
    found = {row["id"]: row for row in rows}
    assert found["1"]["figures"] == ["figures/figure8.svg"], "of the heads behind it"
    assert found["20"]["figures"] == ["figures/figure5.svg"]
    assert found["1"]["links"][0]["task"] == "RTE"


def test_a_gate_of_every_penalty_is_a_measure():
    """Kinds that are numbers, in their order, are words in names, keys and the page's address."""
    made = tables()
    (shown,) = (each for each in SHOWN if each.table is HEAD_GATES)
    series = find_series(shown, made, METRICS, (3, 4))
    assert [one.name for one in series] == ["Learned gate: λ = 0.01", "Learned gate: λ = 0.03"]
    assert [one.key for one in series] == ["head_gates.gate.0.01", "head_gates.gate.0.03"]
    rows = made["head_gates"]
    for one, penalty in zip(series, (0.01, 0.03), strict=True):
        for column in ("gate", "open_probability"):
            values = one.of("one", Model("finetuned", 2), column)
            for layer, head in np.ndindex(3, 4):
                at = (rows["penalty"] == penalty) & (rows["task"] == "one") & (rows["seed"] == 2)
                at &= (rows["layer"] == layer + 1) & (rows["head"] == head + 1)
                assert values[layer, head] == rows.loc[at, column].item()


def test_tasks_that_are_not_learned_are_known_to_the_page(tmp_path):
    for unlearned in ([], ["<b>two</b>"]):
        text = page(tmp_path / f"{len(unlearned)}", unlearned=unlearned)
        found = json.loads(Reader(text).of("script", id="content"))
        scores = "21.3, majority class 20.0, bag of words 25.5"
        said = {task["name"]: task["unlearned"] for task in found["tasks"]}
        assert said == {task: scores if task in unlearned else "" for task in METRICS}
    assert found["learning"]["mark"] == "‡"
