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

from darksecrets.patterns.classes import KEYS

pytestmark = needs("chromium", "chromedriver")
SECONDS = 20
PRESSED = "vdmbhhbmdv"


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
    running.set_window_size(1280, 800)
    yield running
    running.quit()


@pytest.fixture
def serve(root, tmp_path):
    """Start the page on the same annotation folder; return its process and address."""
    toy_set(14).save(tmp_path / "maps")
    running = []

    def serve(number=1):
        command = [sys.executable, "-m", "darksecrets.patterns", "label", "--port", "0"]
        command += ["--maps", str(tmp_path / "maps"), "--annotator", "someone"]
        command += ["--annotations", str(tmp_path / "annotations"), "--pass", str(number)]
        process = processes.start(command, root, stdout=subprocess.PIPE)
        running.append(process)
        said = process.stdout.readline() + process.stdout.readline()
        return process, re.search(r"http://127\.0\.0\.1:\d+/", said)[0]

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

    def press(self, key):
        """Press a key anywhere, and wait until the page shows another map."""
        before = self.map
        ActionChains(self.browser).send_keys(key).perform()
        self.wait(lambda: self.map != before)
        return before


def rows(tmp_path):
    table = pd.read_csv(tmp_path / "annotations" / "labels.csv")
    return list(zip(table["map"], table["label"], strict=True))


def test_ten_labels_by_keyboard_survive_a_reload_and_a_kill(browser, serve, tmp_path):
    process, address = serve()
    page = Page(browser, address)
    assert page.count == "0 of 14 labelled"
    given = []
    for key in PRESSED:
        given.append((page.press(key), KEYS[key]))
        assert rows(tmp_path) == given, "on disk before the next map is shown"
    eleventh = page.map
    assert eleventh not in dict(given)

    page = Page(browser, address)  # reload
    assert (page.map, page.count) == (eleventh, "10 of 14 labelled")

    process.send_signal(signal.SIGKILL)
    process.wait()
    ActionChains(browser).send_keys("v").perform()
    page.wait(lambda: "does not answer" in page.status)
    assert page.map == eleventh

    _, address = serve()
    page = Page(browser, address)
    assert (page.map, page.count) == (eleventh, "10 of 14 labelled")
    assert rows(tmp_path) == given

    assert page.press("u") == eleventh
    assert rows(tmp_path) == given[:9]
    assert page.map == given[9][0]
    assert page.count == "9 of 14 labelled"


def test_clicks_and_the_focused_button_work_and_the_end_is_said(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    first = page.map
    browser.find_element(By.CSS_SELECTOR, "[data-label='vertical+diagonal']").click()
    page.wait(lambda: page.map != first)
    assert rows(tmp_path) == [(first, "vertical+diagonal")]
    second = page.map
    browser.find_element(By.ID, "skip").click()
    page.wait(lambda: page.map != second)
    third = page.map
    block = browser.find_element(By.CSS_SELECTOR, "[data-label='block']")
    browser.execute_script("arguments[0].focus()", block)
    page.press(Keys.ENTER)
    assert rows(tmp_path)[1:] == [(third, "block")]
    browser.find_element(By.ID, "undo").click()
    page.wait(lambda: page.map == third)
    assert len(rows(tmp_path)) == 1

    for _ in range(12):
        page.press("h")
    assert page.map == second, "the skipped map comes last"
    ActionChains(browser).send_keys("h").perform()
    done = browser.find_element(By.ID, "done")
    page.wait(done.is_displayed)
    assert "All 14 maps" in done.text
    assert page.count == "14 of 14 labelled"
    assert len(set(rows(tmp_path))) == 14


def test_a_held_key_and_a_shortcut_of_the_browser_give_no_labels(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    press = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'v', bubbles: true, %s}))"
    for held in ("repeat: true", "ctrlKey: true", "metaKey: true", "altKey: true"):
        browser.execute_script(press % held)
    before = page.map
    browser.execute_script((press % "repeat: false") + ";" + (press % "repeat: true"))
    page.wait(lambda: page.map != before)
    assert len(rows(tmp_path)) == 1


def test_a_second_window_cannot_label_a_map_it_does_not_show(browser, serve, tmp_path):
    _, address = serve()
    page = Page(browser, address)
    window = browser.current_window_handle
    browser.switch_to.new_window("tab")
    first = Page(browser, address).press("v")
    browser.close()
    browser.switch_to.window(window)
    assert page.map == first
    page.press("d")
    assert "Another window" in page.status
    assert rows(tmp_path) == [(first, "vertical")]


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_out_of_sight(browser, serve):
    _, address = serve()
    browser.get_log("browser")  # of the tests before: reading empties it
    Page(browser, address)
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    assert loaded
    assert all(name.startswith((address, f"blob:{address}")) for name in loaded)
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
        const body = JSON.stringify({map: name, label: "block"});
        fetch(address + "label", {method: "POST", mode, headers: {"Content-Type": kind}, body})
          .then((answer) => done(answer.type), () => done("refused"));
    """
    kinds = (("cors", "application/json"), ("cors", "text/plain"), ("no-cors", "text/plain"))
    answers = [browser.execute_async_script(attempt, address, name, *kind) for kind in kinds]
    assert answers[:2] == ["refused", "refused"]
    assert answers[2] in ("refused", "opaque"), "sent, but the answer cannot be read"
    assert not (tmp_path / "annotations" / "labels.csv").exists()


def test_a_foreign_name_that_points_here_is_refused(browser, serve):
    _, address = serve()
    browser.get(address.replace("127.0.0.1", "rebound.example"))
    assert "answers to 127.0.0.1 and localhost only" in browser.page_source
    assert not browser.find_elements(By.TAG_NAME, "button")
