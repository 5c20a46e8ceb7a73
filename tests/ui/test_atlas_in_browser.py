"""The atlas in a browser, opened from disk as a reader opens it."""

import json
import re
from xml.etree import ElementTree

import pytest
from atlas_run import AWKWARD, page, tables
from needs import needs
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from darksecrets.pages.atlas.measures import SHOWN
from darksecrets.pages.claims import registry

pytestmark = needs("chromium", "chromedriver")
SECONDS = 60
SHAPE = (3, 4)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlas")
    path = folder / "atlas.html"
    path.write_text(page(folder, shape=SHAPE), encoding="utf-8")
    return path


class Atlas:
    """What a reader sees and does."""

    def __init__(self, browser, path, address="", width=1280):
        self.browser = browser
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get("about:blank")
        for log in ("browser", "performance"):
            browser.get_log(log)  # of the pages before: reading empties it
        browser.get(f"{path.as_uri()}#{address}")
        self.wait("return !document.getElementById('page').hasAttribute('aria-busy')")

    def run(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def wait(self, script, *arguments):
        WebDriverWait(self.browser, SECONDS, poll_frequency=0.02).until(
            lambda _: self.run(script, *arguments)
        )

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )

    def choose(self, name, value):
        """Choose in a menu, as a reader does."""
        self.run(
            "const e = document.getElementById(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event('change'))",
            name,
            value,
        )

    def drawn(self):
        """Wait until all maps of the cards are drawn."""
        self.wait(
            "return [...document.querySelectorAll('.card .maps:not(.tokens), .card .example,"
            " #thumbnails')].every((e) => e.dataset.painted)"
        )

    def taken_away(self, button):
        """The file that a button gives."""
        return self.run(
            "const real = URL.createObjectURL; let kept = null;"
            "URL.createObjectURL = (blob) => { kept = blob; return real.call(URL, blob); };"
            "document.querySelector(arguments[0]).click(); URL.createObjectURL = real;"
            "return kept.text()",
            button,
        )

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    @property
    def address(self):
        return self.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def complaints(self):
        """Errors of the console, and requests other than for the page itself."""
        errors = [e["message"] for e in self.browser.get_log("browser") if e["level"] == "SEVERE"]
        sent = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        places = [
            each["params"]["request"]["url"]
            for each in sent
            if each["method"] == "Network.requestWillBeSent"
        ]
        return errors + [
            p for p in places if not p.startswith(("file:", "data:", "blob:", "about:"))
        ]


@pytest.mark.parametrize(
    "state",
    [
        "finetuned",
        "difference",
        *(pytest.param(one, marks=pytest.mark.thorough) for one in ("pretrained", "random")),
    ],
)
def test_every_measure_is_drawn_in_every_state_without_errors(browser, file, state):
    atlas = Atlas(browser, file)
    measures = atlas.run(
        "return [...new Set([...document.querySelectorAll('#measure option')].map(o => o.value))]"
    )
    assert len(measures) > 40
    found = atlas.run(
        """
        const [measures, state, done] = [arguments[0], arguments[1], []];
        for (const measure of measures) {
          location.hash = new URLSearchParams({measure, state, x: measure});
          dispatchEvent(new HashChangeEvent("hashchange"));
          const cells = document.querySelectorAll("#grid [data-head]").length;
          const named = document.querySelector("#title").textContent;
          const bars = Boolean(document.querySelector("#histogram"));
          done.push([measure, cells, named, bars]);
        }
        return done;
        """,
        measures,
        state,
    )
    assert len(found) == len(measures)
    assert [each for each in found if each[1] != 12 or not each[2] or not each[3]] == []
    assert atlas.complaints() == []


def test_every_measure_has_the_numbers_of_its_table(browser, file):
    """Read from the page's table, and looked up in the run's by what the menu names."""
    made = tables(shape=SHAPE)
    atlas = Atlas(browser, file)
    read = atlas.run(
        """
        const found = {};
        for (const option of document.querySelectorAll("#measure option")) {
          const address = {measure: option.value, state: "finetuned", seed: 1, view: "table"};
          location.hash = new URLSearchParams(address);
          dispatchEvent(new HashChangeEvent("hashchange"));
          const rows = [...document.querySelectorAll("#table tr")];
          const note = document.querySelector("#note").textContent;
          const instead = note.includes("not measured in this state");
          const texts = rows.map((row) => [...row.children].map((cell) => cell.textContent));
          found[option.value] = [instead, ...texts];
        }
        return found;
        """
    )
    compared = {"pattern_heads.share"}  # computed by the page, from its kinds
    for shown in SHOWN:
        frame = made[shown.table.name]
        fixed = [str(value) for value in shown.fixed.values()]
        kinds = shown.where.get(shown.kind) or set(frame[shown.kind] if shown.kind else [""])
        named = {kind if isinstance(kind, str) else f"{kind:g}": kind for kind in kinds}
        if shown.kind == "metric":
            named[""] = "f1"  # the main metric of the first task
        for name, kind in named.items():
            key = ".".join(filter(None, [shown.table.name, shown.value, *fixed, name]))
            _compare(shown, frame, kind, *read[key])
            compared.add(key)
    assert compared == {*read}


def _compare(shown, frame, kind, instead, names, *rows):
    """Compare the page's table of a measure with rows of the first task in the run's table."""
    wanted = {shown.kind: kind, "task": "one", "seed": 1, "state": "finetuned"}
    wanted |= shown.fixed
    if instead:
        wanted |= {"state": "pretrained", "seed": None}
    for name, value in wanted.items():
        if name in frame:
            frame = frame[frame[name].isna() if value is None else frame[name] == value]
    for row in rows:
        texts = dict(zip(names, row, strict=True))
        layer, head = (int(part[1:]) for part in row[0].split(" "))
        own = frame[frame["head"] == head]
        if "layer" in frame:
            own = own[own["layer"] == layer]
        elif layer < SHAPE[0]:
            assert texts["value"] == "–", "of the last layer only"
            continue
        if shown.chosen:
            label, direction = texts["chosen"].split(", ")
            own = own[(own["label"] == label) & (own["direction"] == direction.replace(" ", "_"))]
        (expected,) = own[shown.value].astype(float)
        found = float(texts["value"].replace("−", "-"))
        assert found == pytest.approx(expected, rel=6e-3, abs=5.1e-5), shown.name


def test_numbers_are_those_of_the_table_and_a_click_opens_the_right_head(browser, file):
    frame = tables(shape=SHAPE)["equal_words"]
    rows = frame[(frame["task"] == "one") & (frame["state"] == "finetuned") & (frame["seed"] == 2)]
    atlas = Atlas(browser, file, "task=one&seed=2&measure=equal_words.weight&view=table")
    shown = {
        row[0]: float(row[1].replace("−", "-"))
        for row in atlas.run(
            "return [...document.querySelectorAll('#table tbody tr')]"
            ".map((r) => [...r.children].map((c) => c.textContent))"
        )
    }
    assert len(shown) == 12
    for row in rows.itertuples():
        found = shown[f"L{row.layer} H{row.head}"]
        assert found == pytest.approx(row.weight, rel=6e-3, abs=5.1e-5), "at most four decimals"
    atlas.find("#view input[value=grid]").find_element(By.XPATH, "..").click()
    atlas.find("#grid [data-head='6']").click()
    atlas.wait("return document.querySelector('.card h3')?.textContent === 'Layer 2, head 3'")
    atlas.drawn()
    assert atlas.address["head"] == "2.3"
    (value,) = rows[(rows["layer"] == 2) & (rows["head"] == 3)]["weight"]
    label = atlas.find("#grid [data-head='6']").get_attribute("aria-label")
    assert label.startswith("Layer 2, head 3; ")
    said = float(label.split("; ")[1].split(" ")[0])
    assert said == pytest.approx(value, rel=6e-3)


def test_the_keyboard_alone_reaches_everything(browser, file):
    atlas = Atlas(browser, file)
    reached = []
    for _ in range(200):
        atlas.press(Keys.TAB)
        now = atlas.run(
            "const e = document.activeElement; return e === document.body ? '' :"
            " (e.closest('#grid, #scatter')?.id ?? (e.id || e.name || e.textContent))"
        )
        if now == "" or (reached and now == reached[0]):
            break
        reached.append(now)
    wanted = ["copy", "theme", "claims-undecided", "task", "state", "seed", "measure", "view"]
    wanted += ["csv", "svg", "grid", "y", "x", "svg-scatter", "scatter"]
    assert [name for name in wanted if name not in reached] == []
    assert reached.count("grid") == 1, "one stop; arrows go on"

    atlas.run("document.querySelector('#grid [tabindex=\"0\"]').focus()")
    atlas.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ENTER)
    atlas.wait("return document.querySelector('.card h3')?.textContent === 'Layer 2, head 2'")
    assert atlas.run("return document.activeElement.dataset.head") == "5", "the focus stays"
    atlas.press("p", Keys.ARROW_LEFT, "p", Keys.ARROW_LEFT, " ")
    address = atlas.address
    assert (address["pins"], address["brush"]) == ("2.2,2.1", "2.1")
    assert len(atlas.texts(".card h3")) == 2
    atlas.press(Keys.ESCAPE)
    assert "brush" not in atlas.address
    atlas.run("document.querySelector('#scatter [tabindex=\"0\"]').focus()")
    before = atlas.run("return document.activeElement.getAttribute('aria-label')")
    atlas.press(Keys.ARROW_RIGHT)
    after = atlas.run("return document.activeElement.getAttribute('aria-label')")
    assert before != after or before.startswith("Layer")
    assert atlas.run("return Boolean(document.activeElement.closest('#scatter'))")
    atlas.drawn()
    atlas.run("document.querySelector('.sentence-tokens').focus()")
    atlas.press(Keys.ARROW_RIGHT)
    assert "attends to" in atlas.find(".said").text
    assert atlas.complaints() == []


def test_everything_has_a_name_for_screen_readers(browser, file):
    atlas = Atlas(browser, file, "head=1.1")
    atlas.drawn()
    for element in browser.find_elements(By.CSS_SELECTOR, "button, select, input, [role=img]"):
        assert element.accessible_name, element.get_attribute("outerHTML")[:200]
    ids = atlas.run("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_a_card_says_what_is_known_of_the_layer(browser, file):
    atlas = Atlas(browser, file, "task=one&head=2.3&state=pretrained")
    names, values = atlas.texts(".card .layer dt"), atlas.texts(".card .layer dd")
    shown = dict(zip(names, values, strict=True))
    assert shown["Probe finds tense"] == "0.700 [0.100, 0.950] majority 0.250"
    assert shown["Score with all its heads disabled, difference (fine-tuned)"] == "−2.75"
    assert "Layer 2" in atlas.texts(".card h4")


def test_awkward_tokens_are_text(browser, file):
    atlas = Atlas(browser, file, "head=1.1&maps=arcs")
    atlas.drawn()
    tokens = atlas.texts(".token")
    assert set(AWKWARD[:4]) <= set(tokens)
    options = atlas.texts(".card select option")
    assert len(options) == 4
    assert atlas.texts("#task option") == ["one", "<b>two</b>"]
    assert "label: <i>yes</i>" in atlas.find(".card .facts").text
    assert atlas.run("return document.querySelectorAll('script').length") == 3
    assert atlas.find("#made summary").text.startswith("Commit 0123abcd"), "what made the run"
    atlas.find("#made summary").click()
    assert atlas.find("#made dd").text == "files in <b>data</b>"
    assert atlas.run("return document.querySelectorAll('.card i, #task b').length") == 0
    atlas.choose("task", "<b>two</b>")
    assert atlas.address["task"] == "<b>two</b>"
    text = atlas.taken_away("#csv")
    lines = text.splitlines()
    assert len(lines) == 13
    assert lines[1].startswith("<b>two</b>,finetuned,mean,")
    assert atlas.complaints() == []


def test_a_drawing_can_be_taken_away(browser, file):
    atlas = Atlas(browser, file, "measure=head_ablation.delta&head=1.1")
    for button, shapes in (("#svg", "rect"), ("#svg-scatter", "path")):
        root = ElementTree.fromstring(atlas.taken_away(button))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(root.findall(f".//{{*}}{shapes}")) >= 12
        assert all("class" not in each.attrib for each in root.iter())
        assert root.find("{*}title").text
    assert atlas.complaints() == []


def test_dragging_brushes_both_drawings(browser, file):
    atlas = Atlas(browser, file)
    atlas.run("document.querySelector('#bar').scrollIntoView()")
    first, last = (atlas.find(f"#grid [data-head='{i}']") for i in (0, 5))
    ActionChains(browser).drag_and_drop(first, last).perform()
    assert atlas.address["brush"] == "1.1,1.2,2.1,2.2"
    dim = atlas.run(
        "return [...document.querySelectorAll('#scatter .dim')].map(e => +e.dataset.head)"
    )
    assert not {0, 1, 4, 5} & set(dim)
    assert len(dim) == 8
    area = atlas.find("#scatter .ground")
    half = area.rect["width"] / 2 - 3, area.rect["height"] / 2 - 3
    actions = ActionChains(browser).move_to_element_with_offset(area, -half[0], -half[1])
    actions.click_and_hold().move_by_offset(2 * half[0], 2 * half[1]).release().perform()
    assert atlas.address["brush"].count(",") == 11, "all heads"
    atlas.find("#unbrush").click()
    assert "brush" not in atlas.address


def test_the_address_says_all_and_a_damaged_one_is_understood(browser, file):
    wanted = (
        "task=%3Cb%3Etwo%3C%2Fb%3E&state=difference&seed=1&measure=stripes.weight.noun&view=maps"
    )
    wanted += "&head=3.4&pins=1.1%2C2.2&brush=1.1&maps=arcs&claims=undecided&theme=dark"
    atlas = Atlas(browser, file, wanted)
    atlas.drawn()
    assert atlas.texts(".card h3") == ["Layer 3, head 4", "Layer 1, head 1", "Layer 2, head 2"]
    assert atlas.find("#task").get_property("value") == "<b>two</b>"
    every = sum(len(paper.claims) for paper in registry.read(registry.files()))
    assert len(atlas.texts(".claims > li")) == every
    ground = atlas.run("return getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, ground[4:-1].split(","))) < 150, "dark"
    damaged = Atlas(browser, file, "task=none&head=9.9&pins=a,1.1&measure=x&view=%3Cscript%3E")
    assert damaged.find("#task").get_property("value") == "one"
    assert damaged.texts(".card h3") == ["Layer 1, head 1"]
    assert atlas.complaints() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_head_can_be_named_and_its_card_is_on_the_screen(browser, file, width):
    atlas = Atlas(browser, file, width=width)
    on_screen = (
        "const y = document.querySelector('#dock .card').getBoundingClientRect().top;"
        "return y > -1 && y < innerHeight - 40"
    )
    field = atlas.find("#go-to")
    for written, title in (("2.3", "Layer 2, head 3"), ("L1 H4", "Layer 1, head 4")):
        field.send_keys(written, Keys.ENTER)
        assert atlas.texts("#dock .card h3") == [title]
        assert atlas.run(on_screen)
    for unknown in ("9.1", "layer"):
        field.clear()
        field.send_keys(unknown, Keys.ENTER)
        assert "Layer 1 to 3 and head 1 to 4" in field.get_property("validationMessage")
        assert atlas.texts("#dock .card h3") == ["Layer 1, head 4"]
    other = Atlas(browser, file, "head=2.2", width=width)
    assert other.texts("#dock .card h3") == ["Layer 2, head 2"]
    assert other.run(on_screen)
    assert other.complaints() == []


def test_what_was_found_comes_first_and_claims_come_after_the_heads(browser, file):
    atlas = Atlas(browser, file)
    assert atlas.texts(".findings li") == [
        "Heads give <b>up to 45%</b> to [SEP] (figure6).",
        "The run is made up.",
    ]
    order = (".findings", "#grid", "#cards", "#claims-list")
    tops = [atlas.find(name).rect["y"] for name in order]
    assert tops == sorted(tops)


def test_claims_are_grouped_and_searched(browser, file):
    atlas = Atlas(browser, file)
    papers = registry.read(registry.files())
    groups = {f"{paper.short}, §{claim.section}" for paper in papers for claim in paper.claims}
    assert set(atlas.texts("#claims-list h3")) == groups
    atlas.find("#claims-search").send_keys("Block TWO")
    shown = (
        "return [...document.querySelectorAll('#claims-list li')].filter((e) => !e.hidden).length"
    )
    assert atlas.run(shown) == 1
    assert atlas.run(
        "return [...document.querySelectorAll('#claims-list > section:not([hidden])')]"
        ".map((e) => e.firstElementChild.textContent)"
    ) == ["Kovaleva et al. 2019, §4.1"]
    atlas.find("#claims-undecided").click()
    assert atlas.run(shown) == 1, "the search is kept"
    atlas.find("#claims-search").clear()
    atlas.find("#claims-search").send_keys("no claim says this")
    assert atlas.run(shown) == 0


@pytest.mark.parametrize("view", ["grid", "maps", "table"])
@pytest.mark.parametrize(
    "measure",
    ["pattern_heads.share", "syntactic_heads.over_offset", "stripes.weight.[SEP]"],
)
def test_a_phone_has_no_horizontal_scroll(browser, file, view, measure):
    chosen = f"head=1.1&claims=all&view={view}&pins=2.2&measure={measure}"
    atlas = Atlas(browser, file, chosen, width=390)
    atlas.drawn()
    width = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert atlas.run(width) == 0
    outside = atlas.run(
        "return [...document.querySelectorAll('button, select, .card, #grid, #scatter')]"
        ".filter((e) => !e.closest('#table'))"
        ".filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML)"
    )
    assert outside == [], "nothing is cut off"


def test_a_run_with_little_works(browser, tmp_path):
    """One task, one seed, one layer, no sweep, no equal words, no frames."""
    few = ("head_ablation", "seed_effects", "equal_words", "framenet_heads", "cls_attention")
    few += ("syntactic_heads", "head_importance", "remaining_heads", "subnetworks", "faithfulness")
    few += ("head_gates",)
    path = tmp_path / "atlas.html"
    text = page(tmp_path, metrics={"one": ["f1"]}, seeds=(3,), shape=(1, 2), without=few)
    path.write_text(text, encoding="utf-8")
    atlas = Atlas(browser, path, "head=1.2&view=maps")
    atlas.drawn()
    names = " ".join(atlas.texts("#measure option"))
    assert "Pattern" in names
    assert "Effect" not in names
    assert not {"Frames", "norms", "relation", "Importance"} & set(names.split())
    assert atlas.texts("#seed option") == ["Seed 3"]
    assert "Effect of disabling" not in atlas.find(".card").text
    assert atlas.complaints() == []


def test_significance_names_its_test_over_seeds_or_of_each(browser, file):
    """Figure 8 marks single models; a mean over two seeds may not be significant all the same."""
    atlas = Atlas(
        browser, file, "measure=head_ablation.delta.f1&state=finetuned&seed=mean&head=1.1"
    )
    atlas.drawn()
    said = atlas.run(
        "return [...document.querySelectorAll('.card [role=img]')]"
        ".map(e => e.getAttribute('aria-label')).join()"
    )
    assert re.search(r"significant in \d of 2 seeds, (not )?over seeds \(n = 2; corrected p", said)
    legend = atlas.find("#under .legend").text
    assert re.search(r"\d+ of 12 heads over seeds \(n = 2\), \d+ in more than half", legend)
    single = Atlas(browser, file, "measure=head_ablation.delta.f1&state=finetuned&seed=1")
    single.drawn()
    assert "over seeds" not in single.find("#under .legend").text


def test_tasks_that_are_not_learned_are_marked_wherever_they_are_named(browser, tmp_path):
    """One task of two, beside a page of the same run that learned both."""
    for unlearned in ([], ["<b>two</b>"]):
        path = tmp_path / f"{len(unlearned)}.html"
        text = page(tmp_path / f"{len(unlearned)}", shape=SHAPE, unlearned=unlearned)
        path.write_text(text, encoding="utf-8")
        notes = dict.fromkeys(["#head", ".card"], len(unlearned))
        atlas = Atlas(browser, path, "task=%3Cb%3Etwo%3C%2Fb%3E&head=1.1")
        named = "<b>two</b>‡" if unlearned else "<b>two</b>"
        assert atlas.texts("#task option") == ["one", named]
        assert [text.split(" ")[0] for text in atlas.texts(".scores li > span:first-child")] in (
            [],
            ["one", named],
        )
        assert atlas.texts("#note")[0].startswith(f"{named} · ")
        assert f"Mean map and distances on {named}" in atlas.texts(".card h4")
        assert {place: len(atlas.texts(f"{place} .unlearned")) for place in notes} == notes
        for said in atlas.texts(".unlearned"):
            assert "<b>two</b> (21.3, majority class 20.0, bag of words 25.5)" in said
        atlas.choose("task", "one")
        assert {place: len(atlas.texts(f"{place} .unlearned")) for place in notes} == notes
        assert (f"{named} " in " ".join(atlas.texts(".effects text"))) or not unlearned
