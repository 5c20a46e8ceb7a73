"""The page of an inspection in a browser, opened from disk as a reader opens it."""

import numpy as np
import pytest
from needs import needs
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from tiny_models import inspected

pytestmark = needs("chromium", "chromedriver")
PAIRS = [["the dogs bark .", "the unbelievable dog ."], ["bark .", "the dog"]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return inspected(tmp_path_factory.mktemp("model"), PAIRS)


@pytest.fixture
def page(browser, seen, tmp_path):
    file = tmp_path / "heads.html"
    file.write_text(seen.page(), encoding="utf-8")
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(file.as_uri())
    yield browser
    assert not browser.get_log("browser"), "errors, or something that was not loaded"


def press(page, place):
    page.find_element(By.CSS_SELECTOR, f'.grid [data-place="{place}"]').click()


def heading(page) -> str:
    return page.find_element(By.CSS_SELECTOR, "#card h2").text


def cells(page) -> dict[tuple[str, str], float]:
    """What the cells of the large map say, by query and key; equal ones are added up."""
    found: dict[tuple[str, str], float] = {}
    titles = page.execute_script(
        "return [...document.querySelectorAll('#card .cell title')].map((e) => e.textContent)"
    )
    for title in titles:
        pair, _, weight = title.rpartition(": ")
        query, _, key = pair.partition(" → ")
        found[query, key] = found.get((query, key), 0) + float(weight)
    return found


def expected(weights, tokens) -> dict[tuple[str, str], float]:
    names = [token.removeprefix("##") for token in tokens]
    found: dict[tuple[str, str], float] = {}
    for i, query in enumerate(names):
        for j, key in enumerate(names):
            found[query, key] = found.get((query, key), 0) + float(weights[i, j])
    return found


def agree(ours, theirs):
    """Cells that are nearly white are not drawn."""
    return all(abs(ours.get(pair, 0) - theirs[pair]) < 0.01 for pair in theirs)


def test_a_click_enlarges_a_head_with_its_weights(page, seen):
    assert len(page.find_elements(By.CSS_SELECTOR, ".grid button")) == seen.maps[0][..., 0, 0].size
    press(page, "2.3")
    row = seen.patterns.query("idx == 0 and layer == 2 and head == 3").iloc[0]
    certain = f"{100 * row['probability']:.0f} %"
    assert heading(page) == f"Layer 2, head 3: {row['pattern']}, {certain} certain"
    assert agree(cells(page), expected(seen.maps[0][1, 2], seen.tokens[0]))


def test_arrow_keys_move_from_head_to_head_and_stop_at_the_edge(page):
    press(page, "1.1")
    focused = page.switch_to.active_element
    focused.send_keys(Keys.ARROW_RIGHT)
    assert heading(page).startswith("Layer 1, head 2")
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert heading(page).startswith("Layer 2, head 2")
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert heading(page).startswith("Layer 2, head 2")


def test_the_filter_keeps_attention_from_the_first_sentence_to_the_second(page, seen):
    press(page, "1.2")
    Select(page.find_element(By.ID, "part")).select_by_value("across")
    segments = np.array(seen.pieces["segments"][0])
    kept = np.outer(segments == 0, segments == 1)
    weights = np.where(kept, seen.maps[0][0, 1].astype(float), 0)
    assert agree(cells(page), expected(weights, seen.tokens[0]))
    assert cells(page)


def test_words_attend_as_the_mean_and_are_attended_to_as_the_sum_of_their_pieces(page, seen):
    press(page, "1.4")
    page.find_element(By.ID, "words").click()
    tokens, weights = seen.tokens[0], seen.maps[0][0, 3].astype(float)
    words, groups = [], []
    for place, token in enumerate(tokens):
        if token.startswith("##"):
            words[-1] += token[2:]
            groups[-1].append(place)
        else:
            words.append(token)
            groups.append([place])
    assert len(words) < len(tokens)
    merged = np.array(
        [[weights[np.ix_(query, key)].sum(axis=1).mean() for key in groups] for query in groups]
    )
    assert agree(cells(page), expected(merged, words))


def test_the_threshold_and_chosen_tokens_say_what_they_show(page, seen):
    press(page, "2.1")
    slider = page.find_element(By.ID, "least")
    page.execute_script(
        "arguments[0].value = 0.2; arguments[0].dispatchEvent(new Event('input'))", slider
    )
    weights = seen.maps[0][1, 0].astype(float)
    kept = np.where(weights >= 0.2, weights, 0)
    assert agree(cells(page), expected(kept, seen.tokens[0]))
    page.execute_script(
        "arguments[0].value = 0; arguments[0].dispatchEvent(new Event('input'))", slider
    )
    for place in (1, 2):
        page.find_elements(By.CSS_SELECTOR, "#card .token")[place].click()
    first, second = seen.tokens[0][1:3]
    assert page.find_element(By.CSS_SELECTOR, "#card h3").text == (
        f"Attention of {first}, {second}, mean"
    )
    said = page.find_element(By.CSS_SELECTOR, "#card .pairs li").text
    most = weights[1:3].mean(axis=0)
    assert said == f"{seen.tokens[0][most.argmax()].removeprefix('##')} {most.max():.2f}"


def test_another_example_and_a_strongest_head_are_shown(page, seen):
    Select(page.find_element(By.ID, "example")).select_by_value("1")
    assert page.find_element(By.ID, "text").text == " ||| ".join(PAIRS[1])
    strongest = page.find_element(By.CSS_SELECTOR, "#strong button")
    layer, head = (int(number) for number in strongest.text.split(" ")[0].split("."))
    strongest.click()
    assert heading(page).startswith(f"Layer {layer}, head {head}")
    assert agree(cells(page), expected(seen.maps[1][layer - 1, head - 1], seen.tokens[1]))


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
