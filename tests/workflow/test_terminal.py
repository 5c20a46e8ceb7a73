"""What real, tiny runs of Snakemake show, in a pipe and on a terminal."""

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

import pytest

WIDTH = 72

# Rules as the workflow's; only the main Snakefile has a screen.
SNAKEFILE = """
import sys
from pathlib import Path
from snakemake.logging import logger
sys.path.insert(0, {root!r})
from workflow.lib import plan, terminal

SCREEN = terminal.install(workflow, [Path(workflow.main_snakefile).resolve()])

onstart: SCREEN.start(plan.outlook(workflow.dag, workflow.cores, gpus=1))
onerror: logger.error(terminal.how_to_go_on(log, SCREEN))

rule all:
    input: expand("made/{{n}}.txt", n=range(6)), "made/last.txt"

rule make:
    output: "made/{{n,[0-9]+}}.txt"
    log: "logs/{{n}}.log"
    message: "Make the number {{wildcards.n}}, which has a rather long description"
    shell: "touch {{output}}"

rule last:
    input: expand("made/{{n}}.txt", n=range(6))
    output: "made/last.txt"
    log: "logs/last.log"
    message: "Make the last file"
    {how}
"""
FAILS = """
import sys
sys.path.insert(0, {scripts!r})
from _job import script
from darksecrets.run.errors import InputError

@script
def main(job):
    raise InputError("model.safetensors: found 3 bytes.")
"""


@pytest.fixture
def call(root, tmp_path):
    """The command of a run, in a folder with the default profile."""

    def prepare(how='shell: "touch {output}"'):
        (tmp_path / "Snakefile").write_text(SNAKEFILE.format(root=str(root), how=how))
        (tmp_path / "fail.py").write_text(FAILS.format(scripts=str(root / "scripts")))
        shutil.copytree(root / "profiles" / "default", tmp_path / "profiles" / "default")
        return [sys.executable, "-m", "snakemake", "--cores", "2"]

    return prepare


def on_terminal(command, folder):
    """Run a command on a terminal; return what it writes there."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    streams = {"stdin": follower, "stdout": follower, "stderr": follower}
    with subprocess.Popen(command, cwd=folder, **streams) as process:
        os.close(follower)
        said = b""
        while True:
            try:
                said += os.read(leader, 65536)
            except OSError:  # the other side is closed
                break
    os.close(leader)
    assert process.returncode == 0, said
    return said.decode()


def in_pipe(command, folder):
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def test_a_pipe_gets_one_line_a_step_and_one_if_nothing_is_to_be_done(call, tmp_path):
    command = call()
    code, said = in_pipe(command, tmp_path)
    lines = said.splitlines()
    assert code == 0
    assert lines[0].startswith("Using workflow specific profile")
    assert [line[:5] for line in lines[1:]] == [f"[{n}/7]" for n in range(1, 8)]
    assert lines[-1].endswith(" s)")
    assert "left)" in lines[1]
    assert "\033" not in said
    assert "\r" not in said
    _, again = in_pipe(command, tmp_path)
    assert [line for line in again.splitlines() if "profile" not in line] == [
        "Nothing to be done (all requested files are present and up to date)."
    ]


def test_a_terminal_gets_lines_that_fit(call, tmp_path):
    said = on_terminal(call(), tmp_path).replace("\r\n", "\n")
    parts = re.split(r"\r\033\[K|\n", said)[1:]  # the first line is not the workflow's
    assert max(map(len, parts)) <= WIDTH
    assert [part[:5] for part in parts if "/7]" in part] == [f"[{n}/7]" for n in range(1, 8)]
    assert any(part.startswith("Running: Make the number") for part in parts)


def test_a_failure_names_rule_log_and_cause_and_nothing_of_snakemake(call, tmp_path):
    code, said = in_pipe(call('script: "fail.py"'), tmp_path)
    assert code != 0
    _, _, failed = re.sub(r"\d\d:\d\d", "…", said).partition("\n\n")
    *shown, end = failed.split("\n\n")
    assert shown == [
        "Failed: Make the last file\n  Rule: last\n  Log:  logs/last.log",
        "  model.safetensors: found 3 bytes.",
    ]
    start = "1 step failed after …; what is finished (6 of 7 steps) is kept. Once that is "
    assert end.startswith(
        f"{start}repaired, the same command goes on from here. Full log: .snakemake/log/"
    )
    assert end.count("\n") == 1
