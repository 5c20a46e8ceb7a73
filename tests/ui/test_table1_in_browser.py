"""Table 1 as a page: on a desk, on a phone, in both colour schemes."""

import pandas as pd
import pytest
from needs import needs, path_of
from selenium import webdriver

from darksecrets.finetuning.table1 import Table1, html

pytestmark = needs("chromium", "chromedriver")
TASKS = {"<b>one</b>": ["f1", "accuracy"], "$x^{2$": ["pearson"]}
STATES = ("pretrained", "frozen", "finetuned-from-normal", "finetuned")
ENDS = {"ci_low": -2.0, "ci_high": 1.0, "q_value": 0.01}


def page():
    """A page with negative scores and differences, and names that look like markup."""
    scored = [
        {"task": task, "state": state, "seed": 1, "metric": metric, "score": -12.25}
        for task, metrics in TASKS.items()
        for state in STATES
        for metric in metrics
    ]
    scores = pd.DataFrame(scored).assign(constant=False)
    means = scores.rename(columns={"state": "model"}).assign(constant=0, **ENDS)
    pairs = {"model": "finetuned", "reference": "pretrained", "difference": -3.25}
    differences = means[means["model"] == "finetuned"].assign(**pairs)
    averaged = pd.DataFrame([{**pairs, **ENDS, "tasks": 2}])
    return html(Table1(scores, means, differences, averaged, TASKS, "run x"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = path_of("chromium")
    # No sandbox: tests may run as root, and the only page shown is our own.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    running = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(path_of("chromedriver"))
    )
    path = tmp_path_factory.mktemp("page") / "table1.html"
    path.write_text(page(), encoding="utf-8")
    running.get(path.as_uri())
    yield running
    running.quit()


def show(browser, width, scheme):
    size = {"width": width, "height": 844, "deviceScaleFactor": 2, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_lies_beside_the_page_and_every_cell_can_be_read(browser, width, scheme):
    show(browser, width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    cells = browser.execute_script(
        """return [...document.querySelectorAll('td')].filter((e) => e.textContent).map((e) => {
            const box = e.getBoundingClientRect(), look = getComputedStyle(e);
            return [e.textContent, box.left, box.right, parseFloat(look.fontSize),
                    getComputedStyle(e, '::before').content]})"""
    )
    assert len(cells) > 12
    for text, left, right, size, heading in cells:
        assert left >= 0, text
        assert right <= width, text
        assert size >= 14, text
        assert (heading not in ("none", "normal")) == (width < 700), text
        assert "-" not in text, "a real minus sign"
    assert any(text.startswith("−12.2") for text, *_ in cells)
    assert {"<b>one</b>", "$x^{2$"} <= {text for text, *_ in cells}


def test_text_stands_out_from_the_ground_in_both_schemes(browser):
    for scheme, dark in (("light", False), ("dark", True)):
        show(browser, 390, scheme)
        ink, ground = (
            browser.execute_script(
                "return getComputedStyle(document.body)[arguments[0]].match(/\\d+/g).map(Number)",
                name,
            )
            for name in ("color", "backgroundColor")
        )
        assert abs(sum(ink[:3]) - sum(ground[:3])) > 450
        assert (sum(ground[:3]) < 200) == dark
