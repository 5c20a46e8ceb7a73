"""What a run shows: one line a step, failures with their cause, links at the end.

Snakemake finds plugins for its log only among installed packages, and this workflow runs without
being installed; it uses their interface, the events. The rule files exchange Snakemake's own
handler for `Screen` when they are read. Nothing is lost: Snakemake's complete log is in
``.snakemake/log``. Dry runs, runs with ``--verbose``, jobs that are submitted elsewhere, workflows
that use this one as a module, and versions of Snakemake that were not tested keep Snakemake's
output.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import re
import shutil
import textwrap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

from darksecrets.run import progress
from darksecrets.run.errors import STOPPED
from darksecrets.run.learned import warnings
from workflow.lib import compat
from workflow.lib.plan import Outlook, duration

FILES = 5
"""Files that are named at the end of a run of single targets."""

LINES_OF_LOG = 8
"""Lines that are shown of the log of a job that failed without an `InputError`."""

LONG = 30.0
"""Seconds after which a step's progress is shown; in a file, again whenever its age has doubled."""

RARELY = 600.0
"""Seconds after which a file tells the progress of a step again, however old the step is."""

SECONDS_BETWEEN_LOOKS = 5.0

_ROOT = Path(__file__).resolve().parents[2]
SNAKEFILES = (_ROOT / "Snakefile", _ROOT / "workflow" / "Snakefile")

# Messages of Snakemake that tell a user nothing, by their first words.
_NOISE = re.compile(
    "Assuming unrestricted|Building DAG|host:|Using shell|Group jobs|Select jobs|Config file"
    "|Conda environments: ignored|Singularity containers: ignored|Waiting at most|Removing output"
    "|Removing temporary|Exiting because|Shutting down|Complete log|Elapsed time"
    "|Trying to restart|Will exit after"
)
_KILLED = re.compile("SIG(KILL|ABRT|SEGV|BUS)|exit status (137|134|139|135)")
_INTERRUPTED = "Terminating processes on user request"
_CODE = re.compile(rf'(?<=File ")(?:[^"]*/site-packages/|{re.escape(str(_ROOT))}/)')
_TIME = re.compile(r"^\d\d:\d\d:\d\d ", re.MULTILINE)


@dataclass(frozen=True)
class Started:
    """A job as Snakemake announces it.

    Attributes:
        rule: Name of its rule.
        message: What it does.
        wildcards: What distinguishes it from the rule's other jobs.
        logs: Its log files.
        start: When it started (`time.monotonic`).
    """

    rule: str
    message: str
    wildcards: Mapping[str, str] = field(default_factory=dict)
    logs: tuple[str, ...] = ()
    start: float = 0.0


class Screen(logging.Handler):
    """Shows the events of a run on a terminal, or in a file that its output goes to.

    Args:
        default: Handler that writes Snakemake's own output; its stream and filters are used.
        own: Whether to show steps; if not, only errors that stop the workflow differ from
            Snakemake's own output.
    """

    def __init__(self, default: logging.StreamHandler[Any], *, own: bool = True) -> None:
        super().__init__()
        self.default, self.own = default, own
        self.filters = list(default.filters)
        self.failed = 0
        self._stopping = self._killed = False
        self._outlook: Outlook | None = None
        self._steps: dict[int, Started] = {}
        self._running: dict[int, Started] = {}
        self._start = time.monotonic()
        self._status = False  # whether the last line shows what is running
        self._turn = 0  # which of the running steps is shown first
        self._due: dict[int, float] = {}  # age at which a file tells a step's progress again
        self._show: dict[LogEvent | None, Callable[[Any], None]] = {
            LogEvent.JOB_INFO: self._started,
            LogEvent.JOB_FINISHED: self._finished,
            LogEvent.JOB_ERROR: self._failed,
            None: self._said,
        }

    @property
    def width(self) -> int | None:
        """Columns of the terminal; None if the output goes elsewhere, or the terminal is dumb."""
        stream = self.default.stream
        if not stream.isatty() or os.environ.get("TERM") == "dumb":
            return None
        try:
            return os.get_terminal_size(stream.fileno()).columns or 80
        except OSError:
            return shutil.get_terminal_size().columns

    def start(self, outlook: Outlook | None) -> None:
        """Begin to count the steps of a run on this machine; None if its jobs run elsewhere."""
        self._outlook, self._start = outlook, time.monotonic()
        self.own = self.own and outlook is not None
        if self.own:
            threading.Thread(target=self._look_again, daemon=True).start()

    @property
    def spent(self) -> str:
        """Time since the first step, as minutes and seconds."""
        return _clock(time.monotonic() - self._start)

    @property
    def done(self) -> int:
        """Finished steps."""
        return len(self._outlook.took) if self._outlook else 0

    @property
    def total(self) -> int:
        """Steps of the run."""
        return len(self._outlook.expected) if self._outlook else 0

    def emit(self, record: logging.LogRecord) -> None:
        """Show a record of Snakemake's log."""
        try:
            event = getattr(record, "event", None)
            if event == LogEvent.ERROR:
                self._stopped(record)
            elif not self.own:
                self.default.handle(record)
            elif event in self._show:
                self._show[event](record)
        except Exception:
            self.handleError(record)

    def _look_again(self) -> None:
        while True:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            self.tell_progress()

    def tell_progress(self) -> None:
        """Tell how far the steps are that have run for long, as their logs have it."""
        with self.lock or contextlib.nullcontext():  # as for events, which other threads emit
            long = {job: said for job in self._running if (said := self._progress(job))}
            if self.width is not None and long:
                self._turn += 1
                self._write()
            for job, said in long.items() if self.width is None else ():
                age = time.monotonic() - self._running[job].start
                if age >= self._due.get(job, LONG):
                    self._due[job] = age + min(age, RARELY)
                    self._write(f"  {self._running[job].message}: {said}")

    def _progress(self, job: int) -> str:
        """Progress of a running step from its log; empty if it is not long, or says nothing."""
        step = self._running[job]
        age = time.monotonic() - step.start
        if age < LONG:
            return ""
        return next(filter(None, (_since(Path(log), age) for log in step.logs)), "")

    def _started(self, record: Any) -> None:  # noqa: ANN401 - a record with Snakemake's attributes
        message = record.rule_msg or record.rule_name
        logs = tuple(map(str, record.log))
        step = Started(record.rule_name, message, record.wildcards, logs, time.monotonic())
        self._steps[record.jobid] = self._running[record.jobid] = step
        self._write()

    def _finished(self, record: Any) -> None:  # noqa: ANN401
        step = self._running.pop(record.job_id, None)
        if step is None or self._outlook is None or record.job_id not in self._outlook.expected:
            return
        took = time.monotonic() - step.start
        self._outlook.took[record.job_id] = took
        self._write(self._line(step, took))

    def _line(self, step: Started, took: float) -> str:
        """A finished step; on a terminal, its message is shortened to one line."""
        head = f"[{self.done:{len(str(self.total))}}/{self.total}] {self.spent}  "
        seconds, left = f"{took:.0f} s", self._left()
        tails = [f"({seconds}, about {left} left)", f"({seconds}, ~{left})"] if left else []
        tails = tails or [f"({seconds})"]
        width = self.width
        if width is None:
            return f"{head}{step.message:<70} {tails[0]}"
        room = {tail: width - len(head) - len(tail) - 1 for tail in tails}
        tail = next((tail for tail in tails if room[tail] >= len(step.message)), tails[-1])
        return f"{head}{_shorten(step.message, room[tail]):<{min(70, room[tail])}} {tail}"

    def _left(self) -> str:
        if self._outlook is None or self.done == self.total:
            return ""
        now = time.monotonic()
        return duration(self._outlook.left({n: now - s.start for n, s in self._running.items()}))

    def _failed(self, record: Any) -> None:  # noqa: ANN401
        running = self._running.pop(record.jobid, None)
        step = self._steps.get(record.jobid)
        if self._stopping or (step and not running):
            return  # its job ended because the run was interrupted; or this was said already
        step = step or Started(record.rule_name, record.rule_name, {}, tuple(map(str, record.log)))
        self.failed += 1
        self._write(failure(step, killed=self._killed))

    def _stopped(self, record: logging.LogRecord) -> None:
        """An exception: that of a job was already shown, any other stops the workflow."""
        message = str(record.msg)
        if "CalledProcessError" in message or "At least one job did not" in message:
            self._killed = bool(_KILLED.search(message))
            if not self.own:
                self.default.handle(record)
            return
        self._write(compat.plain(message))

    def _said(self, record: logging.LogRecord) -> None:
        message = str(record.msg or "")
        if message.startswith(_INTERRUPTED):
            self._stopping = True
            self._running.clear()
            self._write("\nStopping …")
        elif message and not _NOISE.match(message):
            self._write(message, getattr(record, "links", ()))

    def _shown(self, width: int) -> str:
        """What is running, on one line: of a long step also its progress, of several in turn."""
        jobs = list(self._running)
        first = self._turn % len(jobs)
        return "; ".join(self._with_progress(job, width) for job in jobs[first:] + jobs[:first])

    def _with_progress(self, job: int, width: int) -> str:
        message, said = self._running[job].message, self._progress(job)
        return f"{_shorten(message, max(10, width - len(said) - 4))}: {said}" if said else message

    def _write(self, text: str = "", links: Iterable[Path] = ()) -> None:
        """Write text above the last line, which on a terminal shows what is running."""
        width, stream = self.width, self.default.stream
        if width is None:
            if text:
                stream.write(f"{text}\n")
        else:
            if self._status:
                stream.write("\r\033[K")
            if text:
                stream.write(f"{linked(_wrap(text, width), links)}\n")
            self._status = bool(self._running)
            if self._running:
                room = width - 1 - len("Running: ")
                stream.write(f"Running: {_cut(self._shown(room), room)}")
        stream.flush()


def _since(log: Path, age: float) -> str:
    """Progress in a log, unless the log is older than its step: then an earlier job wrote it."""
    try:
        written = log.stat().st_mtime
    except OSError:
        return ""
    return progress.latest(log) if time.time() - written <= age else ""


def is_own(workflow: Any, snakefiles: Iterable[Path] = SNAKEFILES) -> bool:  # noqa: ANN401
    """Whether a workflow is this one, not one that uses it as a module."""
    return Path(str(workflow.main_snakefile)).resolve() in snakefiles


def install(workflow: Any, snakefiles: Iterable[Path] = SNAKEFILES) -> Screen:  # noqa: ANN401
    """Show the events of a workflow on a `Screen`, unless it only uses this one as a module.

    Args:
        workflow: Snakemake's workflow.
        snakefiles: Main files of the workflows that have a `Screen`.
    """
    default = compat.own_handler()
    shown = default is not None and is_own(workflow, snakefiles) and workflow.is_main_process
    own = shown and compat.shows_steps(workflow)
    screen = Screen(default or logging.StreamHandler(), own=own)
    if default and shown:
        compat.exchange_handler(default, screen)
    return screen


def relative(logs: Iterable[str]) -> str:
    """Paths of Snakemake's log files, from the working directory."""
    return ", ".join(os.path.relpath(log) for log in logs) or "none"


MARKS = "- †", "- ‡"
"""Beginnings of the notes that explain marks of Table 1."""


def closing(
    results: Path, made: Iterable[str], logs: Iterable[str], screen: Screen, advice: str = ""
) -> tuple[str, list[Path]]:
    """What a run ends with, and the paths in it that can be opened.

    Args:
        results: Folder of the run.
        made: Files that were asked for; with Table 1 among them, it and the folders are shown.
        logs: Snakemake's log files.
        screen: Knows how long the run took.
        advice: What to do next, said of a run with Table 1.
    """
    made, table = list(made), results / "figures" / "table1.md"
    lines, links = [""], [Path(path) for path in made[:FILES]]
    if str(table) in made:
        text = table.read_text(encoding="utf-8")
        marked = [line for line in text.splitlines() if line.startswith(MARKS)]
        lines += ["Table 1", "", *_first_table(text), "", *marked, *warnings(results), ""]
        wanted = (results / name for name in ("atlas.html", "report.html", "figures", "tables"))
        links = [path for path in wanted if path.exists()]
        lines += [f"Open {links[0]} first. {advice}".rstrip(), ""]
    lines += [f"  {path}" for path in links]
    lines += ["", f"Done in {screen.spent}. Full log: {relative(logs)}"]
    return "\n".join(lines), links


def _first_table(text: str) -> Iterator[str]:
    """Lines of the Markdown table that a page begins with."""
    return itertools.takewhile(lambda line: line.startswith("|"), text.splitlines())


def how_to_go_on(logs: Iterable[str], screen: Screen) -> str:
    """The last words of a run that failed or was interrupted."""
    count = screen.failed
    said = f"{count} step{'s' * (count > 1)} failed" if count else "The run ended early"
    done = f" ({screen.done} of {screen.total} steps)" if screen.own else ""
    advice = "Once that is repaired, the same command" if count else "The same command"
    return (
        f"\n{said} after {screen.spent}; what is finished{done} is kept. {advice} goes on from "
        f"here. Full log: {relative(logs)}"
    )


def failure(step: Started, *, killed: bool = False) -> str:
    """Which step failed, and why: the end of its log, or all of an `InputError`."""
    advice = "  It was killed or crashed, as happens when memory runs out. "
    advice += "Give it more, or fewer --cores."
    keys = ", ".join(f"{name} {value}" for name, value in step.wildcards.items())
    return "\n".join(
        [
            "",
            f"Failed: {step.message}",
            f"  Rule: {step.rule}" + (f" ({keys})" if keys else ""),
            *(f"  Log:  {log}" for log in step.logs),
            "",
            *(f"  {line}" for log in step.logs for line in _reason(Path(log))),
            *([advice] if killed else []),
        ]
    )


def _reason(log: Path) -> list[str]:
    """The message of the `InputError` that ended a job, or the last lines of its log."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace").rstrip()
    except OSError:
        return ["It wrote no log: it ended before it began, as happens without memory or disk."]
    if STOPPED in text:
        return text.rpartition(STOPPED)[2].strip().splitlines()
    text = _CODE.sub("", _TIME.sub("", text))
    lines = [line for line in text.splitlines() if line.strip(" ^~")]
    return lines[-LINES_OF_LOG:] or ["It wrote nothing into its log."]


def linked(text: str, links: Iterable[Path]) -> str:
    """Make paths in a text links that a terminal can open (OSC 8)."""
    for path in links:
        link = f"\033]8;;{path.absolute().as_uri()}\033\\{path}\033]8;;\033\\"
        text = f"{text}\n".replace(f" {path}\n", f" {link}\n")[:-1]
    return text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:02}:{rest:02}"


def _shorten(text: str, width: int) -> str:
    """Leave out the middle of a text that is too long: its end names task and seed."""
    if len(text) <= width:
        return text
    half = max(0, width - 1) // 2
    return f"{text[: max(0, width - 1 - half)]}…{text[len(text) - half :]}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _wrap(text: str, width: int) -> str:
    """Break lines at spaces; paths stay whole, and tables lose the columns that do not fit."""
    return "\n".join(part for line in text.splitlines() for part in _fit(line, width))


def _fit(line: str, width: int) -> list[str]:
    if line.startswith("|"):
        while len(line) > width and line.count("|") > 2:
            line = f"{line[:-1].rpartition('|')[0]}|"
        return [line]
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
