"""The labelling page in a browser, opened from disk as a user opens it."""

import subprocess
import sys

import pandas as pd
import pytest
from needs import needs
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from toy_maps import toy_set

from darksecrets.paper.patterns.maps.labelling import add_labels, prepare, write_page
from darksecrets.paper.patterns.maps.mapset import MapSet

pytestmark = needs("chromium", "chromedriver")
SECONDS = 20
PRESSED = ("vS", "D", "msS", "B", "H", "hW", "b" + Keys.ENTER, "m1W", "d1" + Keys.ENTER, "vpS")
"""Keys of ten labels; Shift with the last key saves, as Enter does."""
GIVEN = [
    ("vertical", "s", 1, 0),
    ("diagonal", "-", 0, 2),
    ("vertical+diagonal", "s", 2, 2),
    ("block", "-", 0, 0),
    ("heterogeneous", "-", 0, 0),
    ("heterogeneous", "w", 1, 0),
    ("block", "-", 0, 0),
    ("vertical+diagonal", "w", 1, 1),
    ("diagonal", "-", 0, 1),
    ("vertical", "ps", 2, 0),
]


def show_as(browser, width=1280, height=800, scheme="light"):
    """The size of the window and the colour scheme of the system."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


class Page:
    """What an annotator sees and does."""

    def __init__(self, browser, folder, annotator="someone", number=1):
        self.browser, self.folder = browser, folder
        self.address = write_page(folder, annotator, number)
        self.name = f"labels-{annotator}-{number}.csv"
        self.open()

    def open(self):
        self.browser.get("about:blank")  # else another pass of one file is no new page
        self.browser.get(self.address)
        self.wait(lambda: self.count)

    def wait(self, condition):
        WebDriverWait(self.browser, SECONDS, poll_frequency=0.02).until(lambda _: condition())

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    @property
    def map(self):
        return self.find("#map").get_attribute("data-name")

    @property
    def count(self):
        return self.find("#count").text

    @property
    def status(self):
        return self.find("#status").text

    def type(self, keys):
        """Press keys anywhere, one after the other; capitals with Shift."""
        chain = ActionChains(self.browser, duration=0)
        for key in keys:
            if key.isupper():
                chain.key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT)
            else:
                chain.send_keys(key)
        chain.perform()

    def press(self, keys):
        """Press keys, and return the map that they were for."""
        before = self.map
        self.type(keys)
        return before

    def download(self):
        """Download the labels, and return the file."""
        behaviour = {"behavior": "allow", "downloadPath": str(self.folder)}
        self.browser.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
        file = self.folder / self.name
        file.unlink(missing_ok=True)
        self.find("#download").click()
        self.wait(file.is_file)
        return file

    def answers(self):
        """Map and answers of every label, as they are downloaded."""
        columns = ["map", "label", "columns", "number", "diagonal"]
        table = pd.read_csv(self.download())
        return list(table[columns].itertuples(index=False, name=None))


@pytest.fixture
def folder(browser, tmp_path):
    show_as(browser)
    toy_set(14, seed=len(tmp_path.name)).save(tmp_path / "maps")
    prepare(tmp_path / "annotations", tmp_path / "maps")
    return tmp_path / "annotations"


@pytest.fixture
def page(browser, folder):
    page = Page(browser, folder)
    browser.execute_script("localStorage.clear()")
    page.open()
    return page


def test_ten_labels_by_keyboard_survive_a_reload_and_are_added(page, folder):
    assert page.count == "0 of 14 labelled"
    given = [(page.press(keys), *expected) for keys, expected in zip(PRESSED, GIVEN, strict=True)]
    assert page.answers() == given
    eleventh = page.map
    assert eleventh not in [row[0] for row in given]
    page.type("hs")  # not saved
    page.open()  # reload
    assert (page.map, page.count) == (eleventh, "10 of 14 labelled")

    assert add_labels(folder, page.download()) == 10
    labels = MapSet.load(folder).labels
    assert list(labels["map"]) == [row[0] for row in given]
    assert set(labels["annotator"]) == {"someone"}
    assert set(labels["tokens"]) == {"shown"}
    assert labels["time"].str.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ").all()

    page.type("u")
    assert (page.map, page.count) == (given[9][0], "9 of 14 labelled")
    assert page.answers() == given[:9]


def test_clicks_and_the_focused_button_work_and_the_end_is_said(page, browser):
    first, find = page.map, page.find
    find("[data-label='vertical+diagonal']").click()
    assert not find("#save").is_enabled(), "the columns are missing"
    for selector in ("[data-kind=w]", "[data-kind=s]", "[data-diagonal='1']"):
        find(selector).click()
    assert "columns: word, special · weak diagonal" in find("#answer").text
    page.type(Keys.ENTER)  # saves, instead of pressing the button that was clicked
    assert page.answers() == [(first, "vertical+diagonal", "ws", 2, 1)]
    second = page.map
    find("#skip").click()
    third = page.map
    assert third not in (first, second)
    browser.execute_script("arguments[0].focus()", find("[data-label='block']"))
    page.type(Keys.ENTER)  # presses the focused button
    assert "block" in find("#answer").text
    find("#save").click()
    assert page.answers()[1:] == [(third, "block", "-", 0, 0)]
    find("#undo").click()
    assert page.map == third
    find("#undo").click()  # of the skip
    assert page.map == second
    find("#skip").click()
    for _ in range(12):
        page.type("H")
    assert page.map == second, "the skipped map comes last"
    page.type("H")
    assert "All 14 maps" in find("#done").text
    assert page.count == "14 of 14 labelled"
    assert len({name for name, *_ in page.answers()}) == 14


def test_a_click_on_an_earlier_label_goes_back_to_it(page):
    first = [page.press(keys) for keys in ("B", "H", "D")]
    page.find("#recent button:nth-child(2)").click()
    assert (page.map, page.count) == (first[1], "1 of 14 labelled")
    assert page.press("B") == first[1]
    assert page.map == first[2], "in the old order"


def test_answers_can_be_corrected_before_they_are_saved(page):
    first = page.map
    page.type("sv" + Keys.ENTER)
    assert "what are the columns?" in page.status
    page.type("psw" + Keys.BACKSPACE + "1")
    page.type("dw0" + Keys.ENTER)
    assert "how plain is the diagonal?" in page.status
    page.type("vu")  # undo takes back the answers first
    assert (page.map, page.count) == (first, "0 of 14 labelled")
    assert page.press("mw" + Keys.ESCAPE + "hpp" + Keys.BACKSPACE + "W") == first
    assert page.answers() == [(first, "heterogeneous", "pw", 2, 0)]


def test_a_held_key_and_a_shortcut_of_the_browser_give_no_labels(page, browser):
    press = (
        "document.dispatchEvent(new KeyboardEvent('keydown', "
        "{key: 'H', shiftKey: true, bubbles: true, %s}))"
    )
    for held in ("repeat: true", "ctrlKey: true", "metaKey: true", "altKey: true"):
        browser.execute_script(press % held)
    assert page.count == "0 of 14 labelled"
    browser.execute_script((press % "repeat: false") + ";" + (press % "repeat: true"))
    assert page.count == "1 of 14 labelled"


def test_a_second_window_cannot_label_a_map_that_is_labelled(page, browser, folder):
    window, first = browser.current_window_handle, page.map
    browser.switch_to.new_window("tab")
    show_as(browser)
    assert Page(browser, folder).press("vS") == first
    browser.close()
    browser.switch_to.window(window)
    page.wait(lambda: page.count == "1 of 14 labelled")
    assert page.map != first
    browser.execute_script("localStorage.setItem(key, '[]')")  # as if behind the page's back
    page.type("D")
    assert "Another window" in page.status
    assert (page.map, page.count) == (first, "0 of 14 labelled")


def test_a_browser_that_keeps_nothing_more_says_so(page, browser):
    browser.execute_script(
        "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
    )
    first = page.map
    page.type("B")
    assert "keeps no more labels" in page.status
    assert (page.map, page.count) == (first, "0 of 14 labelled")


def test_annotators_and_passes_have_orders_and_labels_of_their_own(page, browser, folder):
    orders = {}
    for annotator, number in (("someone", 1), ("someone", 2), ("Zoë O", 1)):
        other = Page(browser, folder, annotator, number)
        assert other.count == "0 of 14 labelled"
        orders[annotator, number] = tuple(browser.execute_script("return order"))
        other.type("B")
    assert len(set(orders.values())) == 3
    assert {tuple(sorted(order)) for order in orders.values()} == {
        tuple(MapSet.load(folder).table["map"])
    }
    page.open()
    assert page.count == "1 of 14 labelled"


def test_an_address_without_a_name_says_what_to_do(page, browser, folder):
    browser.get("about:blank")
    browser.get(page.address.split("#")[0])
    page.wait(lambda: "names annotator and pass" in page.status)
    page.type("B")
    assert browser.execute_script("return labels.length") == 0


def test_nothing_is_loaded_and_nothing_is_out_of_sight(page, browser):
    browser.get_log("browser")  # of the tests before: reading empties it
    page.open()
    page.type("H")
    loaded = "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    assert browser.execute_script(loaded) == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    for element in browser.find_elements(By.CSS_SELECTOR, "button, #map"):
        box = element.rect
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
        assert box["y"] + box["height"] <= 800
    for button in browser.find_elements(By.TAG_NAME, "button"):
        assert button.accessible_name


def test_the_command_prints_the_address(root, folder):
    command = [sys.executable, "-m", "darksecrets.paper.patterns", "label"]
    command += ["--annotations", str(folder), "--annotator", "ada", "--pass", "2"]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert f"{(folder / 'label.html').as_uri()}#annotator=ada&pass=2" in said
