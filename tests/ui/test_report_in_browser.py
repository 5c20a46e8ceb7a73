"""The report in a browser: nothing of what users call things runs, or is read as markup."""

import os
import re
import subprocess
import sys
from html import unescape

import pytest
import yaml
from hub.client import ROOT
from needs import needs
from selenium.webdriver.support.ui import WebDriverWait

from workflow.lib import captions

pytestmark = needs("chromium", "chromedriver")
RUNS = "window.hacked = true"
NAMES = [
    f"</script><script>{RUNS}</script>",
    f"</SCRIPT ><img src=x onerror='{RUNS}'>",
    f"<!--<script>{RUNS}</script>",
    f"--><script>{RUNS}</script>",
    f'"></script><svg onload="{RUNS}">',
    f"';{RUNS};'",
    f'";{RUNS};"',
    f"\\u0022;{RUNS};//",
    "</script",
    "<script>",
    "]]>",
    "&lt;script&gt;",
    "&quot;&amp;",
    f"`x <javascript:{RUNS}>`_",
    f"javascript:{RUNS}",
    ".. raw:: html",
    f"a\n\n.. raw:: html\n\n   <script>{RUNS}</script>\n",
    ":raw-html:`<b>`",
    "*emphasis* **strong** `title` |part| name_ [1]_",
    "line\u2028separator\u2029",
    "back\\slash \\` {{ 7 * 7 }} {% raw %}",
]
SNAKEFILE = """
from workflow.lib import captions

report: "workflow.rst"

rule all:
    input: "shown.txt"

rule show:
    output: report("shown.txt", caption="caption.rst", category="Chapter", labels={"result": "One"})
    params:
        names=lambda wildcards: config["names"],
        task=lambda wildcards: {"labels": config["names"], "name": config["name"]},
        shown=lambda wildcards: [captions.escape(name) for name in config["names"]],
    shell: "echo 1 >{output}"
"""
CAPTION = """\
Names:
{% for name in snakemake.params.shown %}

- first {{ name }} last
{% endfor %}
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report of a rule with such names in its parameters, its caption and the configuration."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    (folder / "caption.rst").write_text(CAPTION, encoding="utf-8")
    macro = (ROOT / "workflow" / "report" / "workflow.rst").read_text(encoding="utf-8")
    head = macro[: macro.index("{% endmacro %}") + len("{% endmacro %}\n")]
    text = (
        head
        + "\n{% for name in snakemake.config['names'] %}\n"
        + "- first {{ shown(name) }} last\n{% endfor %}\n"
    )
    (folder / "workflow.rst").write_text(text, encoding="utf-8")
    content = yaml.safe_dump({"names": NAMES, "name": NAMES[0]}, allow_unicode=True)
    (folder / "config.yaml").write_text(content, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    common = ("--configfile", "config.yaml", "--cores", "1", "--profile", "none")
    for command in (
        ("snakemake", *common),
        ("workflow.lib.report", *common, "--report", "page.html"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return folder / "page.html"


def text_of(browser) -> str:
    return " ".join(browser.execute_script("return document.body.innerText").split())


def test_nothing_runs_and_every_name_is_shown_as_it_is(report, browser):
    browser.get(report.as_uri())
    WebDriverWait(browser, 60).until(lambda page: "first" in text_of(page))
    assert browser.execute_script("return window.hacked") is None
    assert (
        browser.execute_script("return document.querySelectorAll('a[href^=javascript]').length")
        == 0
    )
    shown = text_of(browser)
    for name in NAMES:
        whole = " ".join(f"first {name} last".split())
        assert whole in shown, name
    severe = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not severe


def test_a_caption_has_the_names_and_no_error_of_markup(report):
    page = report.read_text(encoding="utf-8")
    assert "system-message" not in unescape(page)
    assert not re.search(rf"<script>{RUNS}", page)


@pytest.mark.parametrize("name", NAMES)
def test_an_escaped_name_is_one_line_of_plain_text(name):
    from docutils.core import publish_doctree

    tree = publish_doctree(
        f"first {captions.escape(name)} last",
        settings_overrides={"report_level": 1, "halt_level": 1},
    )
    assert tree.astext() == " ".join(f"first {name} last".split())
    assert [node.tagname for node in tree.children] == ["paragraph"]
    assert {node.tagname for node in tree.children[0].children} == {"#text"}
