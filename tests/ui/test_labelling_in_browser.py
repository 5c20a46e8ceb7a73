"""The labelling page in a browser, served as a user serves it."""

import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
import processes
import pytest
from needs import needs, path_of
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from toy_maps import toy_set

pytestmark = needs("chromium", "chromedriver")
SECONDS = 20
PRESSED = ("vS", "D", "msS", "B", "H", "hW", "b" + Keys.ENTER, "m1W", "d1" + Keys.ENTER, "vpS")
"""Keys of ten labels; Shift with the last key saves, as Enter does."""
GIVEN = (
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
)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = path_of("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # No sandbox: tests may run as root, and the only page shown is our own.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.add_argument("--host-resolver-rules=MAP *.example 127.0.0.1")
    running = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(path_of("chromedriver"))
    )
    yield running
    running.quit()


def show_as(browser, width=1280, height=800, scheme="light"):
    """The size of the window and the colour scheme of the system."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


@pytest.fixture(autouse=True)
def desktop(browser):
    show_as(browser)


@pytest.fixture
def serve(root, tmp_path):
    """Start the page on the same annotation folder; return its process and address."""
    running = []

    def serve(number=1, maps=14):
        if not (tmp_path / "maps").exists():
            toy_set(maps).save(tmp_path / "maps")
        command = [sys.executable, "-m", "darksecrets.paper.patterns", "label", "--port", "0"]
        command += ["--maps", str(tmp_path / "maps"), "--annotator", "someone"]
        command += ["--annotations", str(tmp_path / "annotations"), "--pass", str(number)]
        process = processes.start(command, root, stdout=subprocess.PIPE)
        running.append(process)
        said = process.stdout.readline() + process.stdout.readline()
        return process, re.search(r"http://127\.0\.0\.1:\d+/\S+/", said)[0]

    yield serve
    for process in running:
        processes.stop(process)
        process.stdout.close()


@pytest.fixture
def elsewhere():
    """A page of another site, under its own host name."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Elsewhere</title>")

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://elsewhere.example:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


class Page:
    """What an annotator sees and does."""

    def __init__(self, browser, address):
        self.browser = browser
        browser.get(address)
        self.wait(lambda: self.map)

    def wait(self, condition):
        WebDriverWait(self.browser, SECONDS, poll_frequency=0.02).until(lambda _: condition())

    @property
    def map(self):
        return self.browser.find_element(By.ID, "map").get_attribute("data-name")

    @property
    def count(self):
        return self.browser.find_element(By.ID, "count").text

    @property
    def status(self):
        return self.browser.find_element(By.ID, "status").text

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
        """Press keys, and wait until the page shows another map and the server has answered."""
        before = self.map
        self.type(keys)
        self.wait(lambda: self.map != before)
        self.wait(lambda: self.status.startswith(("Saved", "Skipped", "Taken", "Another")))
        return before


def table(tmp_path):
    return pd.read_csv(tmp_path / "annotations" / "labels.csv")


def rows(tmp_path):
    return list(table(tmp_path)[["map", "label"]].itertuples(index=False, name=None))


def answers(tmp_path):
    columns = ["map", "label", "columns", "number", "diagonal"]
    return list(table(tmp_path)[columns].itertuples(index=False, name=None))


def test_ten_labels_by_keyboard_survive_a_reload_and_a_kill(browser, serve, tmp_path):
    process, address = serve()
    page = Page(browser, address)
    assert page.count == "0 of 14 labelled"
    given = []
    for keys, expected in zip(PRESSED, GIVEN, strict=True):
        given.append((page.press(keys), *expected))
        assert answers(tmp_path) == given, "on disk when the page says so"
    eleventh = page.map
    assert eleventh not in [row[0] for row in given]
    assert set(table(tmp_path)["tokens"]) == {"shown"}

    page = Page(browser, address)  # reload
    assert (page.map, page.count) == (eleventh, "10 of 14 labelled")

    process.send_signal(signal.SIGKILL)
    process.wait()
    page.type("B")
    page.wait(lambda: "does not answer" in page.status)
    assert "Not saved: 1" in page.status
    assert (page.map, page.count) == (eleventh, "10 of 14 labelled")

    _, address = serve()
    page = Page(browser, address)
    assert (page.map, page.count) == (eleventh, "10 of 14 labelled")
    assert answers(tmp_path) == given

    assert page.press("u") == eleventh
    assert answers(tmp_path) == given[:9]
    assert page.map == given[9][0]
    assert page.count == "9 of 14 labelled"


def test_clicks_and_the_focused_button_work_and_the_end_is_said(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    first = page.map

    def find(selector):
        return browser.find_element(By.CSS_SELECTOR, selector)

    find("[data-label='vertical+diagonal']").click()
    assert not find("#save").is_enabled(), "the columns are missing"
    for selector in ("[data-kind=w]", "[data-kind=s]", "[data-diagonal='1']"):
        find(selector).click()
    assert "columns: word, special · weak diagonal" in find("#answer").text
    page.press(Keys.ENTER)  # saves, instead of pressing the button that was clicked
    assert answers(tmp_path) == [(first, "vertical+diagonal", "ws", 2, 1)]
    second = page.map
    find("#skip").click()
    page.wait(lambda: page.map != second)
    third = page.map
    browser.execute_script("arguments[0].focus()", find("[data-label='block']"))
    page.type(Keys.ENTER)  # presses the focused button
    assert "block" in find("#answer").text
    find("#save").click()
    page.wait(lambda: "Saved" in page.status)
    assert rows(tmp_path)[1:] == [(third, "block")]
    find("#undo").click()
    page.wait(lambda: page.map == third and "Taken back" in page.status)
    assert len(rows(tmp_path)) == 1

    for _ in range(12):
        page.press("H")
    assert page.map == second, "the skipped map comes last"
    page.type("H")
    done = browser.find_element(By.ID, "done")
    page.wait(done.is_displayed)
    assert "All 14 maps" in done.text
    assert page.count == "14 of 14 labelled"
    assert len(set(rows(tmp_path))) == 14


def test_no_key_is_lost_when_typing_fast(browser, serve, tmp_path):
    """Six labels in a row without a pause between their keys: faster than anyone types."""
    _, address = serve(maps=60)
    page = Page(browser, address)
    ahead = "return upcoming.slice(0, 12).every((name) => loaded.has(name))"
    given = []
    for _ in range(5):
        page.wait(lambda: browser.execute_script(ahead))
        for keys in ("DBvsS", "HmS", "d1w" + Keys.ENTER):
            page.type(keys)
        given += [GIVEN[1], GIVEN[3], ("vertical", "s", 2, 0), GIVEN[4]]
        given += [("vertical+diagonal", "s", 1, 2), ("diagonal", "w", 1, 1)]
        expected = f"{len(given)} of 60 labelled"
        page.wait(lambda: page.count == expected)  # noqa: B023 - called before the next round
    page.wait(lambda: len(rows(tmp_path)) == 30)
    labels = answers(tmp_path)
    assert [row[1:] for row in labels] == given
    assert len({row[0] for row in labels}) == 30
    page.wait(lambda: "Saved" in page.status)


def test_answers_can_be_corrected_before_they_are_saved(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    first = page.map
    page.type("sv" + Keys.ENTER)
    assert "what are the columns?" in page.status
    page.type("psw" + Keys.BACKSPACE + "1")
    page.type("dw0" + Keys.ENTER)
    assert "how plain is the diagonal?" in page.status
    page.type("vu")  # undo takes back the answers first
    assert page.map == first
    assert not (tmp_path / "annotations" / "labels.csv").exists()
    assert page.press("mw" + Keys.ESCAPE + "hpp" + Keys.BACKSPACE + "W") == first
    assert answers(tmp_path) == [(first, "heterogeneous", "pw", 2, 0)]


def test_a_held_key_and_a_shortcut_of_the_browser_give_no_labels(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    press = (
        "document.dispatchEvent(new KeyboardEvent('keydown', "
        "{key: 'H', shiftKey: true, bubbles: true, %s}))"
    )
    for held in ("repeat: true", "ctrlKey: true", "metaKey: true", "altKey: true"):
        browser.execute_script(press % held)
    before = page.map
    browser.execute_script((press % "repeat: false") + ";" + (press % "repeat: true"))
    page.wait(lambda: page.map != before and "Saved" in page.status)
    assert len(rows(tmp_path)) == 1


def test_a_second_window_cannot_label_a_map_that_is_labelled(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    window = browser.current_window_handle
    browser.switch_to.new_window("tab")
    show_as(browser)
    first = Page(browser, address).press("vS")
    browser.close()
    browser.switch_to.window(window)
    assert page.map == first
    page.type("D")
    page.wait(lambda: "Another window" in page.status)
    assert rows(tmp_path) == [(first, "vertical")]
    assert page.count == "1 of 14 labelled"


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_out_of_sight(browser, serve):
    _, address = serve()
    browser.get_log("browser")  # of the tests before: reading empties it
    page = Page(browser, address)
    page.press("H")
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    assert loaded
    assert all(name.startswith(address) for name in loaded)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    for element in browser.find_elements(By.CSS_SELECTOR, "button, #map"):
        box = element.rect
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
        assert box["y"] + box["height"] <= 800
    for button in browser.find_elements(By.TAG_NAME, "button"):
        assert button.accessible_name


def test_a_page_from_elsewhere_cannot_label(browser, serve, elsewhere, tmp_path):
    _, address = serve()
    name = Page(browser, address).map
    browser.get(elsewhere)
    attempt = """
        const [address, name, mode, kind, done] = arguments;
        const body = JSON.stringify({
          map: name, label: "block", columns: "-", number: 0, diagonal: 0, tokens: "shown"
        });
        fetch(address + "label", {method: "POST", mode, headers: {"Content-Type": kind}, body})
          .then((answer) => done(answer.type), () => done("refused"));
    """
    kinds = (("cors", "application/json"), ("cors", "text/plain"), ("no-cors", "text/plain"))
    answers = [browser.execute_async_script(attempt, address, name, *kind) for kind in kinds]
    assert answers[:2] == ["refused", "refused"]
    assert answers[2] in ("refused", "opaque"), "sent, but the answer cannot be read"
    assert not (tmp_path / "annotations" / "labels.csv").exists()
