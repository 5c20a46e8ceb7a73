"""Signals at moments of every rule, to Snakemake, to its jobs, and to all, as from a terminal."""

import pytest
from failures.trial import EQUAL, SIGNALS, strike, wait_for_end

pytestmark = pytest.mark.failures

TESTS = 40
"""Tests that share the rules, each of which is struck once."""
WHOM = ("snakemake", "job", "all")
KILLS = 6


@pytest.mark.parametrize("first", range(TESTS))
def test_one_call_makes_what_a_signal_left_undone(trial, jobs, chance, first, outcomes):
    assert len(jobs) >= TESTS, "every test has a rule"
    tried = []
    for moment, rule in list(enumerate(sorted(jobs)))[first::TESTS]:
        targets = chance.choice(sorted(jobs[rule]))
        whom = WHOM[moment % len(WHOM)]
        number = SIGNALS[(moment // len(WHOM)) % len(SIGNALS)]
        started = trial.start(*targets, "--forcerun", rule)
        running = strike(started, whom, number, chance.uniform(0, 4))
        wait_for_end(started, running)
        assert trial.end_after(*targets) == EQUAL
        if running is not None:
            tried.append(f"{number.name} to {whom}: {rule}")
    for what in tried:
        outcomes.add("signal", what, EQUAL)
    outcomes.nothing = not tried


def test_a_run_that_is_killed_again_and_again_is_completed_by_one_call(empty, chance, outcomes):
    tried = []
    for kill in range(KILLS):
        # Not to a job: the others go on without it.
        whom, number = ("snakemake", "all")[kill % 2], SIGNALS[(kill + kill // 2) % len(SIGNALS)]
        started = empty.start("all", "report", log=f"started-{kill}.txt")
        running = strike(started, whom, number, chance.uniform(0, 30), between=True)
        wait_for_end(started, running)
        tried.append(f"{number.name} to {whom}")
    assert empty.end_after("all", "report") == EQUAL
    for what in tried:
        outcomes.add("signal, whole run", what, EQUAL)
