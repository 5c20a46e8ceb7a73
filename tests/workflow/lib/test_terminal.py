"""What the terminal shows of made events: one line a step, causes of failures, links."""

import io
import logging
import re
import time

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from workflow.lib import plan, resources, terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


def steps(seconds, *, threads=1, gpu=False):
    need = resources.Need(100, seconds=seconds)
    return plan.Step("finetune", need, threads, gpu, object())


@pytest.fixture
def screen():
    """Make a screen that writes to a stream, in a run of two steps of ten minutes each."""

    def make(stream, *, own=True):
        made = terminal.Screen(logging.StreamHandler(stream), own=own)
        made.start(plan.Outlook({1: steps(600), 2: steps(600)}, cores=2))
        return made

    return make


def emit(screen, event=None, message=None, level=logging.INFO, **attributes):
    record = logging.LogRecord("snakemake", level, "", 0, message, (), None)
    vars(record).update(event=event, **attributes)
    screen.handle(record)


def start(screen, job, message, log=(), **wildcards):
    job = {"jobid": job, "rule_name": "finetune", "rule_msg": message, "log": log}
    emit(screen, LogEvent.JOB_INFO, wildcards=wildcards, **job)


def fail(screen, job, log=(), status=1):
    error = (
        f"CalledProcessError in file x, line 3:\nCommand returned non-zero exit status {status}."
    )
    emit(screen, LogEvent.ERROR, f"RuleException:\n{error}")
    emit(screen, LogEvent.JOB_ERROR, jobid=job, rule_name="finetune", log=log, aux={})


@pytest.mark.parametrize("width", [50, 80, 120])
def test_lines_fit_a_terminal_and_end_in_what_tells_steps_apart(screen, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    shown = screen(stream)
    start(shown, 1, f"Fine-tune on RTE: {'very ' * 9}long, seed 12")
    start(shown, 2, "Draw figure1")
    emit(shown, LogEvent.JOB_FINISHED, job_id=1)
    emit(shown, message="| a | b |\n| 1 | " + "2" * 200 + " |\n" + "word " * 60)
    emit(shown, LogEvent.JOB_FINISHED, job_id=2)
    parts = re.split(r"\n|\r\033\[K", stream.getvalue())
    assert max(map(len, parts)) <= width
    assert any(part.startswith("[1/2]") and "seed 12 " in part for part in parts)
    assert parts[-3].startswith("[2/2]") or parts[-2].startswith("[2/2]")
    assert "Running: Draw figure1" in parts


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when they are added, for steps; files have the machine's times."""
    passed = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: passed[0])
    return passed


SAID = "120/300 steps in 95 s, 1.26 steps a second, about 143 s left"


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "seed-1.log"
    file.write_text(f"12:00:00 Loading\nTraining: 1/300 steps in 1 s\nTraining: {SAID}\nmore\n")
    return file


def test_a_file_tells_the_progress_of_long_steps_more_and_more_rarely(screen, clock, log):
    stream = io.StringIO()
    shown = screen(stream)
    start(shown, 1, "Fine-tune on RTE", log=[str(log.with_name("none.log")), str(log)])
    start(shown, 2, "Draw figure1")  # without a log
    told = []
    for _ in range(400):
        shown.tell_progress()
        told.append(len(stream.getvalue().splitlines()))
        clock[0] += 5
    at = [5 * n for n in range(1, 400) if told[n] > told[n - 1]]
    assert at == [30, 60, 120, 240, 480, 960, 1560]
    assert set(stream.getvalue().splitlines()) == {f"  Fine-tune on RTE: {SAID}"}
    emit(shown, LogEvent.JOB_FINISHED, job_id=1)
    clock[0] += 10_000
    shown.tell_progress()
    assert len(stream.getvalue().splitlines()) == len(at) + 1


def test_time_left_follows_the_pace_and_the_cores():
    outlook = plan.Outlook({job: steps(600) for job in range(4)}, cores=2)
    own = resources.SNAKEMAKE  # of every step
    assert outlook.left() == pytest.approx((4 * 600 + 4 * own) / 2)
    outlook.took[0] = 1200.0
    pace = (1200 + plan.PRIOR) / (600 + plan.PRIOR)
    assert outlook.left() == pytest.approx(3 * (600 * pace + own) / 2)
    assert outlook.left({1: 60.0}) == pytest.approx((3 * (600 * pace + own) - 60) / 2)
    outlook.took |= {1: 1200.0, 2: 1200.0}
    pace = (3600 + plan.PRIOR) / (1800 + plan.PRIOR)
    assert outlook.left() == pytest.approx(600 * pace)  # one step does not use both cores
    on_gpu = plan.Outlook({job: steps(100, gpu=True) for job in range(4)}, cores=8)
    # The operations of a step are 0, so its time on a GPU is that of the rest.
    assert on_gpu.left() == pytest.approx(400)
    two = plan.Outlook({job: steps(100, gpu=True) for job in range(4)}, cores=8, gpus=2)
    assert two.left() == pytest.approx(200)
    assert two.left({0: 40.0}) == pytest.approx((400 - 40) / 2)


def test_a_failure_shows_the_end_of_a_traceback(screen, tmp_path):
    log = tmp_path / "seed-1.log"
    trace = [
        f'  File "/x/lib/site-packages/torch/part{i}.py", line {i}\n    ^^^^' for i in range(30)
    ]
    log.write_text("\n".join(["12:00:00 Traceback", *trace, "ValueError: no such layer"]))
    stream = io.StringIO()
    shown = screen(stream)
    start(shown, 1, "Fine-tune on RTE", log=[str(log)])
    fail(shown, 1, [str(log)])
    lines = stream.getvalue().splitlines()
    assert lines[-1] == "  ValueError: no such layer"
    assert lines[-2] == '    File "torch/part29.py", line 29'
    assert len(lines) == 5 + terminal.LINES_OF_LOG
    assert "CalledProcessError" not in stream.getvalue()


@pytest.mark.parametrize("status", [1, 134, 137, 139])
def test_a_killed_job_is_called_that(screen, tmp_path, status):
    stream = io.StringIO()
    shown = screen(stream)
    start(shown, 1, "Fine-tune on RTE", log=[str(tmp_path / "none.log")])
    fail(shown, 1, [str(tmp_path / "none.log")], status)
    assert "wrote no log" in stream.getvalue()
    assert ("memory runs out" in stream.getvalue()) == (status > 1)


def test_interrupted_jobs_are_no_failures(screen):
    stream = io.StringIO()
    shown = screen(stream)
    start(shown, 1, "Fine-tune on RTE")
    emit(shown, message="Terminating processes on user request, this might take some time.")
    fail(shown, 1)
    assert stream.getvalue() == "\nStopping …\n"
    assert terminal.how_to_go_on([], shown).startswith("\nThe run ended early after 00:00")


@pytest.mark.parametrize("own", [True, False])
def test_errors_of_the_configuration_do_not_name_rule_files(screen, own):
    stream = io.StringIO()
    emit(
        screen(stream, own=own),
        LogEvent.ERROR,
        'WorkflowError in file "/x/common.smk", line 30:\nseeds: found 1.\nExpected a list.\n'
        '  File "/x/Snakefile", line 35, in <module>\n  File "/x/common.smk", line 3, in <module>',
        level=logging.ERROR,
    )
    assert stream.getvalue() == "seeds: found 1.\nExpected a list.\n"
