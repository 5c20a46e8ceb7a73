"""The browser of all tests of pages."""

import pytest
from needs import path_of
from selenium import webdriver


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = path_of("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # No sandbox: tests may run as root, and the only page shown is our own.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    service = webdriver.ChromeService(path_of("chromedriver"))
    running = webdriver.Chrome(options=options, service=service)
    running.set_window_size(1280, 1000)
    running.set_script_timeout(300)  # a script draws every measure, on a machine that may be busy
    yield running
    running.quit()
